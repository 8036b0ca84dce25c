"""Reads the statements of a job once, for what records of attempts cannot tell.

It finds the documents that mention dead addresses, things that are described and do not
dereference, and what each host says about its data. Memory goes by hosts, terms, imports, data sets
and mentions of dead addresses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from semcrawl.rdf.shortnames import PREFIXES
from semcrawl.web.hosts import domain_key, netloc_of

_TYPE = b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_IMPORTS = b"<http://www.w3.org/2002/07/owl#imports>"
#: most documents that are remembered for a term, and of data sets for a host
_MOST_USERS, _MOST_SETS = 200, 10_000


def _names(*names: str) -> frozenset[bytes]:
    """Return the IRIs of prefixed names as N-Quads writes them, schema.org's by both schemes."""
    found = set()
    for name in names:
        prefix, _, local = name.partition(":")
        iri = PREFIXES[prefix] + local
        found.add(f"<{iri}>".encode())
        if prefix == "schema":
            found.add(f"<{_other_scheme(iri)}>".encode())
    return frozenset(found)


def _other_scheme(iri: str) -> str:
    scheme, colon, rest = iri.partition(":")
    return ("https" if scheme == "http" else "http") + colon + rest


#: what properties tell, by the name of the check that asks for it
SAID: Mapping[str, frozenset[bytes]] = {
    "licence": _names(
        "dcterms:license", "dcterms:rights", "dce:rights", "cc:license", "schema:license",
        "dcterms:accessRights", "doap:license", "xhv:license",
    ),
    "dates": _names(
        "dcterms:issued", "dcterms:modified", "dcterms:created", "dcterms:date", "dce:date",
        "schema:dateModified", "schema:datePublished", "schema:dateCreated",
        "prov:generatedAtTime", "owl:versionInfo", "pav:lastUpdateOn", "pav:createdOn",
    ),
    "creator": _names(
        "dcterms:creator", "dcterms:publisher", "dce:creator", "dce:publisher", "schema:creator",
        "schema:author", "schema:publisher", "foaf:maker", "prov:wasAttributedTo", "pav:createdBy",
    ),
    "labels": _names(
        "rdfs:label", "rdfs:comment", "skos:prefLabel", "dcterms:title", "dce:title",
        "dcterms:description", "foaf:name", "schema:name", "schema:headline", "schema:description",
        "skos:definition",
    ),
}  # fmt: skip
_BY_PROPERTY = {name: check for check, names in SAID.items() for name in names}
#: classes of data sets, and of catalogues
_SETS = _names("schema:Dataset", "dcat:Dataset")
_CATALOGUES = _names("dcat:Catalog", "schema:DataCatalog") | _SETS
_VOID = _names("void:Dataset", "void:DatasetDescription")
#: properties of data sets by what they tell
SET_PARTS: Mapping[str, frozenset[bytes]] = {
    "name": _names("schema:name", "dcterms:title", "rdfs:label"),
    "description": _names("schema:description", "dcterms:description", "rdfs:comment"),
    "licence": _names("schema:license", "dcterms:license", "dcterms:rights"),
    "creator": _names(
        "schema:creator", "schema:publisher", "dcterms:creator", "dcterms:publisher",
    ),
    "distribution": _names("schema:distribution", "dcat:distribution", "void:dataDump"),
}  # fmt: skip
#: namespaces of the languages themselves, which every document uses
_BASICS = ("rdf", "rdfs", "owl", "xsd")
#: well-known vocabularies, without scheme and last character
_WELL_KNOWN = frozenset(
    iri.partition(":")[2].rstrip("#/") for name, iri in PREFIXES.items() if name not in _BASICS
)


@dataclass(slots=True)
class HostSays:
    """What the documents of one host say."""

    documents: int = 0
    statements: int = 0
    #: documents that say something, by the name of the check that asks for it
    says: Counter[str] = field(default_factory=Counter)
    #: things described, and those without an address (blank nodes)
    subjects: int = 0
    blank: int = 0
    #: documents with an address of another pay-level domain as a value
    linked_out: int = 0
    #: documents with terms of a well-known vocabulary
    well_known: int = 0
    catalogues: int = 0
    void: int = 0
    #: data sets → the parts that are said of them
    sets: dict[str, set[str]] = field(default_factory=dict)


class StatementsRead:
    """What the statements of a job tell; give it each document once."""

    def __init__(self, watched: Collection[str]) -> None:
        """``watched``: addresses whose mentions are noted, without fragments."""
        self._watched = {url.encode("utf-8", "surrogatepass"): url for url in watched}
        self.hosts: defaultdict[str, HostSays] = defaultdict(HostSays)
        #: watched address → documents that mention it
        self.mentions: defaultdict[str, dict[str, None]] = defaultdict(dict)
        #: watched address → documents on its own host that describe it or a part of it
        self.described: defaultdict[str, dict[str, None]] = defaultdict(dict)
        #: imported address → documents that import it
        self.imports: defaultdict[str, list[str]] = defaultdict(list)
        #: documents that import others
        self.importing: set[str] = set()
        #: class or property → documents that use it
        self.users: defaultdict[str, list[str]] = defaultdict(list)

    def add(self, url: str, pieces: Iterable[bytes]) -> None:
        """Read the N-Quads lines of a document, in pieces of whole lines."""
        says = self.hosts[netloc_of(url)]
        says.documents += 1
        home = netloc_of(url)
        domain = domain_key(url)
        terms: set[bytes] = set()
        told: set[str] = set()
        subjects: set[bytes] = set()
        sets: dict[bytes, set[bytes]] = {}
        typed: set[bytes] = set()
        linked = False
        last = b""
        for piece in pieces:
            for line in piece.splitlines():
                parts = line.split(b" ", 2)
                if len(parts) < 3:
                    continue
                says.statements += 1
                subject, predicate, rest = parts
                terms.add(predicate)
                if subject != last:
                    last = subject
                    if subject not in subjects:
                        subjects.add(subject)
                        self._note_subject(subject, url, home)
                if check := _BY_PROPERTY.get(predicate):
                    told.add(check)
                if len(sets) < _MOST_SETS or subject in sets:
                    sets.setdefault(subject, set()).add(predicate)
                if not rest.startswith(b"<"):
                    continue
                value = rest[: rest.find(b">") + 1]
                if predicate == _TYPE:
                    terms.add(value)
                    if value in _SETS:
                        typed.add(subject)
                    told.update(_told_by_class(value))
                    continue
                address = value[1:-1].partition(b"#")[0]
                if address in self._watched:
                    self.mentions[self._watched[address]][url] = None
                if predicate == _IMPORTS:
                    self.imports[_text(value)].append(url)
                    self.importing.add(url)
                elif not linked and address.startswith(b"http"):
                    linked = domain_key(address.decode("utf-8", "replace")) not in ("", domain)
        self._sum_up(says, url, terms, told, subjects)
        says.linked_out += linked
        for subject in typed:
            known = {
                part
                for part, names in SET_PARTS.items()
                if not names.isdisjoint(sets.get(subject, ()))
            }
            name = _text(subject) if subject.startswith(b"<") else f"{url} (without an address)"
            says.sets.setdefault(name, set()).update(known)

    def _note_subject(self, subject: bytes, url: str, home: str) -> None:
        if not subject.startswith(b"<"):
            return
        address = self._watched.get(subject[1:-1].partition(b"#")[0])
        if address is None:
            return
        self.mentions[address][url] = None
        if netloc_of(address) == home and address != url:
            self.described[address][url] = None

    def _sum_up(
        self, says: HostSays, url: str, terms: set[bytes], told: set[str], subjects: set[bytes]
    ) -> None:
        says.says.update(told)
        says.catalogues += "catalogue" in told
        says.void += "void" in told
        says.subjects += len(subjects)
        says.blank += sum(subject.startswith(b"_:") for subject in subjects)
        well_known = False
        for term in terms:
            name = _text(term)
            well_known |= namespace_of(name).partition(":")[2].rstrip("#/") in _WELL_KNOWN
            users = self.users[name]
            if len(users) < _MOST_USERS:
                users.append(url)
        says.well_known += well_known


def _told_by_class(name: bytes) -> Iterator[str]:
    if name in _CATALOGUES:
        yield "catalogue"
    if name in _VOID:
        yield "void"


def namespace_of(iri: str) -> str:
    """Return the part of a term's IRI up to its ``#``, or else up to its last slash."""
    head, sharp, _ = iri.partition("#")
    return head + sharp if sharp else iri[: iri.rfind("/") + 1]


def subjects_of(pieces: Iterable[bytes]) -> set[str]:
    """Return the IRIs that N-Quads lines describe."""
    found: set[bytes] = set()
    for piece in pieces:
        found.update(line.partition(b" ")[0] for line in piece.splitlines())
    return {_text(subject) for subject in found if subject.startswith(b"<")}


def _text(term: bytes) -> str:
    return term[1:-1].decode("utf-8", "replace")
