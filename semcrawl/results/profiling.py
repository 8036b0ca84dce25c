"""Profiles the quads of a job: vocabularies, terms, languages, datatypes, links between hosts.

One pass over the lines counts them without a parser. Memory is bounded: of each kind only the most
frequent entries, up to :data:`MOST`, are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from semcrawl.rdf.shortnames import namespace_of, shorten
from semcrawl.rdf.terms import RDF, XSD
from semcrawl.results.quadsource import QuadSource, Snapshot, Span
from semcrawl.web.hosts import netloc_of

#: entries kept per kind; above it, the rarer half is dropped
MOST = 50_000
_TYPE = f"<{RDF}type>".encode()
#: a line: predicate; first byte of the object; class; host of another IRI; language; datatype
_LINE = re.compile(
    rb"\S+ (<[^>]*>) (?=(<<|.))"
    rb"(?:(?<=" + _TYPE + rb" )(<(?!<)[^>]*>)"
    rb"|<(?!<)(?:https?://([^/?#>]*))?[^>]*>"
    rb'|"[^"\\]*(?:\\.[^"\\]*)*"(?:@([A-Za-z0-9-]+)|\^\^(<[^>]*>))?'
    rb")?.*\n"
)


@dataclass(frozen=True, slots=True)
class Use:
    """How often an entry occurs."""

    name: str  #: IRI, language tag, host or format
    documents: int
    statements: int


@dataclass(frozen=True, slots=True)
class HostLink:
    """Statements of one host's documents whose objects are IRIs of another host."""

    source: str
    target: str
    documents: int
    statements: int


@dataclass
class Profile:
    """The figures of a job; in every list the most frequent come first."""

    documents: int = 0  #: RDF documents
    pages: int = 0  #: pages with embedded data
    statements: int = 0
    bytes: int = 0  #: of N-Quads
    #: statements by kind of object: ``IRI``, ``literal``, ``blank node``, ``triple``
    objects: dict[str, int] = field(default_factory=dict)
    #: whether rare entries were dropped
    is_cut: bool = False
    hosts: list[Use] = field(default_factory=list)
    formats: list[Use] = field(default_factory=list)
    vocabularies: list[Use] = field(default_factory=list)
    classes: list[Use] = field(default_factory=list)
    properties: list[Use] = field(default_factory=list)
    languages: list[Use] = field(default_factory=list)
    datatypes: list[Use] = field(default_factory=list)
    links: list[HostLink] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the profile as ``profile --json`` prints it."""
        found = asdict(self)
        for name in ("vocabularies", "classes", "properties", "datatypes"):
            for use in found[name]:
                use["short"] = shorten(use["name"])
        return found


def profile_of(sources: Sequence[QuadSource], most: int = MOST) -> Profile:
    """Return the profile of the sources. Raises ``StoreError``."""
    builder = _ProfileBuilder(most)
    for number, source in enumerate(sources):
        with source.snapshot() as snapshot:
            for span in snapshot.spans():
                builder.add(snapshot, span, is_page=number > 0)
    return builder.profile()


class _Tally:
    """Counts documents and statements of the most frequent keys."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._statements: Counter[Any] = Counter()
        self._documents: Counter[Any] = Counter()
        self.is_cut = False

    def add(self, counts: Counter[Any]) -> None:
        """Add the counts of a document."""
        self._statements.update(counts)
        self._documents.update(counts.keys())
        if len(self._statements) > self._most:
            self.is_cut = True
            kept = self._statements.most_common(self._most // 2)
            self._statements = Counter(dict(kept))
            self._documents = Counter({key: self._documents[key] for key, _ in kept})

    def ranked(self) -> Iterable[tuple[Any, int, int]]:
        """Return keys with documents and statements, most statements first."""
        pairs = sorted(self._statements.items(), key=lambda pair: (-pair[1], pair[0]))
        return ((key, self._documents[key], count) for key, count in pairs)

    def uses(self) -> list[Use]:
        """Return the counts with the keys as names."""
        return [Use(str(key), *figures) for key, *figures in self.ranked()]


_KINDS = ("hosts", "formats", "vocabularies", "classes", "properties", "languages", "datatypes")
_OBJECTS = {b"<": "IRI", b'"': "literal", b"_": "blank node", b"<<": "triple"}


class _ProfileBuilder:
    """Builds a profile."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._profile = Profile()
        self._tallies = {name: _Tally(most) for name in (*_KINDS, "links")}
        self._objects: Counter[str] = Counter()

    def add(self, snapshot: Snapshot, span: Span, *, is_page: bool) -> None:
        """Count a document."""
        host = netloc_of(span.url)
        counts: dict[str, Counter[Any]] = {name: Counter() for name in self._tallies}
        statements = 0
        for lines in snapshot.lines(span):
            # the loop handles each distinct combination once
            for match, count in Counter(_LINE.findall(lines)).items():
                statements += count
                self._count(counts, match, count, host)
            if any(len(each) > self._most for each in counts.values()):
                self._merge(counts)  # the parts of so large a document count as documents
        counts["hosts"][host] = counts["formats"][span.format] = statements
        self._merge(counts)
        profile = self._profile
        profile.pages += is_page
        profile.documents += not is_page
        profile.statements += statements
        profile.bytes += span.length

    def _count(
        self, counts: dict[str, Counter[Any]], match: tuple[bytes, ...], count: int, host: str
    ) -> None:
        predicate, first, kind, target, language, datatype = match
        counts["properties"][_iri(predicate)] += count
        counts["vocabularies"][_namespace(predicate)] += count
        self._objects[_OBJECTS[first]] += count
        if kind:
            counts["classes"][_iri(kind)] += count
            if (namespace := _namespace(kind)) != _namespace(predicate):
                counts["vocabularies"][namespace] += count
        elif target:
            if (other := target.decode("utf-8", "replace").lower()) != host:
                counts["links"][host, other] += count
        elif language:
            counts["languages"][language.decode().lower()] += count
            counts["datatypes"][f"{RDF}langString"] += count
        elif first == b'"':
            counts["datatypes"][_iri(datatype) if datatype else f"{XSD}string"] += count

    def _merge(self, counts: dict[str, Counter[Any]]) -> None:
        for name, each in counts.items():
            self._tallies[name].add(each)
            each.clear()

    def profile(self) -> Profile:
        """Return the profile of all documents added."""
        profile = self._profile
        for name in _KINDS:
            setattr(profile, name, self._tallies[name].uses())
        profile.links = [
            HostLink(source, target, *figures)
            for (source, target), *figures in self._tallies["links"].ranked()
        ]
        profile.objects = dict(self._objects.most_common())
        profile.is_cut = any(tally.is_cut for tally in self._tallies.values())
        return profile


@lru_cache(maxsize=10_000)
def _iri(term: bytes) -> str:
    return term[1:-1].decode("utf-8", "replace")


@lru_cache(maxsize=10_000)
def _namespace(term: bytes) -> str:
    return namespace_of(_iri(term))
