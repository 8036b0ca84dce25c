"""The aim of a crawl, as far as a link can show it: extensions, media types, words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from semcrawl.config.targets import extensions_of_type, types_like
from semcrawl.errors import UsageError
from semcrawl.web.vocabulary import (
    ARCHIVE_EXTENSIONS,
    NON_SEMANTIC_EXTENSIONS,
    PLAIN_EXTENSIONS,
    RDF_CONCEPT_WORDS,
    RDF_EXTENSIONS,
    RDF_MEDIA_TYPES,
)

_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+*-]+")
#: Words for data embedded in pages (RDFa, microdata, JSON-LD in a script element).
_EMBEDDED_WORDS = frozenset({"rdfa", "microdata", "jsonld", "schema"})


@dataclass(frozen=True, slots=True)
class TargetSigns:
    """Signs by which a link to a target may be known, before anything is learned."""

    #: file extensions of targets, without the dot
    extensions: frozenset[str]
    #: media types of targets
    media_types: frozenset[str]
    #: words that speak for a target
    words: frozenset[str]
    #: extensions that are never fetched
    dropped: frozenset[str]
    #: extensions of known but unlikely bodies: asked for last
    unlikely: frozenset[str]

    @classmethod
    def parse(cls, targets: str) -> Self:
        """Read ``rdf``, ``embedded`` or media types separated by commas.

        Raises ``UsageError`` for anything else.
        """
        names = [t.strip().lower() for t in targets.split(",") if t.strip()]
        extensions: set[str] = set()
        types: set[str] = set()
        words: set[str] = set()
        if not names:
            raise UsageError("no targets given: rdf, embedded or media types")
        for name in names:
            if name == "rdf":
                extensions |= RDF_EXTENSIONS
                types |= RDF_MEDIA_TYPES
                words |= RDF_CONCEPT_WORDS
            elif name == "embedded":
                words |= _EMBEDDED_WORDS
            elif _MEDIA_TYPE.fullmatch(name):
                types |= {name, *types_like(name)}
                found = {e[1:] for e in extensions_of_type(name)}
                found |= {name.rpartition("/")[2].rpartition("+")[2]} - {"*", "plain", "xml"}
                extensions |= found
                words |= found
            else:
                raise UsageError(f"targets: {name!r} is neither rdf, embedded nor a media type")
        return cls(
            extensions=frozenset(extensions),
            media_types=frozenset(types),
            words=frozenset(words),
            dropped=NON_SEMANTIC_EXTENSIONS - extensions,
            unlikely=(PLAIN_EXTENSIONS | ARCHIVE_EXTENSIONS) - extensions,
        )
