"""A profile of the quads of a job: vocabularies, terms, languages, datatypes, links.

Counted in one pass over the lines, without parsing them, in bounded memory: of every kind of thing
the most frequent :data:`MOST` are kept.
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
from semcrawl.results.quadsource import Place, QuadSource, Snapshot
from semcrawl.web.hosts import netloc_of

#: distinct things of a kind that are kept, at least half of them
MOST = 50_000
_TYPE = f"<{RDF}type>".encode()
#: a whole line: predicate; first sign of the object; class; host of another IRI; language; datatype
_LINE = re.compile(
    rb"\S+ (<[^>]*>) (?=(<<|.))"
    rb"(?:(?<=" + _TYPE + rb" )(<(?!<)[^>]*>)"
    rb"|<(?!<)(?:https?://([^/?#>]*))?[^>]*>"
    rb'|"[^"\\]*(?:\\.[^"\\]*)*"(?:@([A-Za-z0-9-]+)|\^\^(<[^>]*>))?'
    rb")?.*\n"
)


@dataclass(frozen=True, slots=True)
class Use:
    """How much something is used."""

    name: str  #: IRI, language tag, or host
    documents: int
    statements: int


@dataclass(frozen=True, slots=True)
class HostLink:
    """Statements in documents of one host about things of another."""

    source: str
    target: str
    documents: int
    statements: int


@dataclass
class Profile:
    """The figures of a job; every list has the most used first."""

    documents: int = 0  #: RDF documents
    pages: int = 0  #: pages with data in them
    statements: int = 0
    bytes: int = 0  #: of N-Quads
    #: statements by what their object is: ``IRI``, ``literal``, ``blank node``, ``triple``
    objects: dict[str, int] = field(default_factory=dict)
    #: whether rare things were left out
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
        """Return it in the form of ``profile --json``."""
        found = asdict(self)
        for name in ("vocabularies", "classes", "properties", "datatypes"):
            for use in found[name]:
                use["short"] = shorten(use["name"])
        return found


def profile_of(sources: Sequence[QuadSource], most: int = MOST) -> Profile:
    """Count; raises ``StoreError`` for what cannot be read."""
    counting = _Counting(most)
    for number, source in enumerate(sources):
        with source.snapshot() as snapshot:
            for place in snapshot.places():
                counting.add(snapshot, place, is_page=number > 0)
    return counting.profile()


class _Tally:
    """Documents and statements by key, the most frequent keys."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._statements: Counter[Any] = Counter()
        self._documents: Counter[Any] = Counter()
        self.is_cut = False

    def add(self, counts: Counter[Any]) -> None:
        """Take in the counts of a document."""
        self._statements.update(counts)
        self._documents.update(counts.keys())
        if len(self._statements) > self._most:
            self.is_cut = True
            kept = self._statements.most_common(self._most // 2)
            self._statements = Counter(dict(kept))
            self._documents = Counter({key: self._documents[key] for key, _ in kept})

    def ranked(self) -> Iterable[tuple[Any, int, int]]:
        """Return keys with documents and statements, the most frequent first."""
        pairs = sorted(self._statements.items(), key=lambda pair: (-pair[1], pair[0]))
        return ((key, self._documents[key], count) for key, count in pairs)

    def uses(self) -> list[Use]:
        """Return them, named by the keys."""
        return [Use(str(key), *figures) for key, *figures in self.ranked()]


_KINDS = ("hosts", "formats", "vocabularies", "classes", "properties", "languages", "datatypes")
_OBJECTS = {b"<": "IRI", b'"': "literal", b"_": "blank node", b"<<": "triple"}


class _Counting:
    """A profile under way."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._profile = Profile()
        self._tallies = {name: _Tally(most) for name in (*_KINDS, "links")}
        self._objects: Counter[str] = Counter()

    def add(self, snapshot: Snapshot, place: Place, *, is_page: bool) -> None:
        """Take in a document."""
        host = netloc_of(place.url)
        counts: dict[str, Counter[Any]] = {name: Counter() for name in self._tallies}
        statements = 0
        for lines in snapshot.lines(place):
            # (the loop sees each distinct combination once)
            for match, count in Counter(_LINE.findall(lines)).items():
                statements += count
                self._count(counts, match, count, host)
            if any(len(each) > self._most for each in counts.values()):
                self._merge(counts)  # (of a document as large as this each part counts as one)
        counts["hosts"][host] = counts["formats"][place.format] = statements
        self._merge(counts)
        profile = self._profile
        profile.pages += is_page
        profile.documents += not is_page
        profile.statements += statements
        profile.bytes += place.length

    def _count(
        self, counts: dict[str, Counter[Any]], match: tuple[bytes, ...], count: int, host: str
    ) -> None:
        predicate, sign, kind, target, language, datatype = match
        counts["properties"][_iri(predicate)] += count
        counts["vocabularies"][_namespace(predicate)] += count
        self._objects[_OBJECTS[sign]] += count
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
        elif sign == b'"':
            counts["datatypes"][_iri(datatype) if datatype else f"{XSD}string"] += count

    def _merge(self, counts: dict[str, Counter[Any]]) -> None:
        for name, each in counts.items():
            self._tallies[name].add(each)
            each.clear()

    def profile(self) -> Profile:
        """Return the figures."""
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
