"""What a crawl is after: RDF documents, data embedded in pages, bodies of given media types."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Self

from semcrawl.errors import UsageError
from semcrawl.vocabulary import Kind

_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+*-]+")


@dataclass(frozen=True, slots=True)
class Targets:
    """Which fetched documents count as targets, and so as relevant (sources.md T.1)."""

    rdf: bool = True
    #: pages with embedded data count
    embedded: bool = False
    #: media types of bodies that count and are kept as files; ``text/*`` names all of a kind
    media_types: tuple[str, ...] = ()

    @classmethod
    def parse(cls, names: str | Iterable[str]) -> Self:
        """Read ``rdf``, ``embedded`` and media types, a list or with commas between them.

        Raises ``UsageError`` for anything else.
        """
        given = names.split(",") if isinstance(names, str) else names
        wanted = list(dict.fromkeys(name.strip().lower() for name in given if name.strip()))
        if not wanted:
            raise UsageError("no targets given: rdf, embedded or media types")
        types = [name for name in wanted if name not in ("rdf", "embedded")]
        for name in types:
            if not _MEDIA_TYPE.fullmatch(name):
                raise UsageError(f"targets: {name!r} is neither rdf, embedded nor a media type")
        return cls("rdf" in wanted, "embedded" in wanted, tuple(types))

    def has_type(self, content_type: str) -> bool:
        """Whether bodies with this Content-Type header are targets for it alone."""
        media_type = content_type.partition(";")[0].strip().lower()
        return any(fnmatchcase(media_type, wanted) for wanted in self.media_types)

    def include(self, kind: Kind, content_type: str, embedded_quads: int = 0) -> bool:
        """Whether a body that was read is a target."""
        if kind is Kind.RDF and self.rdf:
            return True
        if kind is Kind.HTML and self.embedded and embedded_quads > 0:
            return True
        return self.has_type(content_type)

    @property
    def extensions(self) -> frozenset[str]:
        """File extensions of the media types, without the dot; none for ``text/*``."""
        return frozenset(
            extension[1:]
            for name in self.media_types
            for extension in mimetypes.guess_all_extensions(name, strict=False)
        )
