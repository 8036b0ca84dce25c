"""Judges the records of attempts: which addresses are broken, dead or badly served.

Nothing here reads a database: :class:`Visits` is told each attempt, the oldest first, and the last
one of an address counts. Memory goes by the number of faults and redirects, not of attempts.

Reads the statements of a job once, for what records of attempts cannot tell.
It finds the documents that mention dead addresses, things that are described and do not
dereference, and what each host says about its data. Memory goes by hosts, terms, imports, data sets
and mentions of dead addresses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from semcrawl.items import FetchOutcome
from semcrawl.metadata.records import NO_SLASH, read_errors
from semcrawl.metadata.summary import CONTEXT, ROBOTS_FIRST, is_errand, is_guess, is_robots
from semcrawl.rdf.shortnames import PREFIXES
from semcrawl.results.reporting.findings import Finding, Verdict
from semcrawl.sources.negotiation import as_rdf, is_as_rdf
from semcrawl.terminal import amount
from semcrawl.web.hosts import domain_key, netloc_of
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import (
    ARCHIVE_EXTENSIONS,
    RDF_EXTENSIONS,
    TRIED_UNLINKED,
    FoundBy,
    Kind,
    RdfFormat,
)

#: ends the address of a page that is requested again as RDF
AS_RDF = as_rdf("")
#: relations of links in headers that lead programs to data
_SIGNPOSTS = ("describedby", "linkset", 'type="text/turtle', "ld+json", "rdf+xml")
#: redirects from one link that make a long chain
LONG_CHAIN = 3
_MOST_HOPS = 30
_MISSING = (404, 410)
_CLOSED = (401, 403, 407)
#: an answer to a crawler that asks too often says nothing about the address
_TOO_MANY = 429
_SILENT = (FetchOutcome.NETWORK_ERROR, FetchOutcome.TIMEOUT, FetchOutcome.HOST_DOWN)
_SYNTAXES: dict[str, RdfFormat] = {syntax.value: syntax for syntax in RdfFormat}
#: names of the syntaxes for people
_NAMES = {
    RdfFormat.N_QUADS: "N-Quads", RdfFormat.TRIG: "TriG", RdfFormat.N_TRIPLES: "N-Triples",
    RdfFormat.TURTLE: "Turtle", RdfFormat.RDF_XML: "RDF/XML", RdfFormat.JSON_LD: "JSON-LD",
    RdfFormat.N3: "N3", RdfFormat.RDF_JSON: "RDF/JSON", RdfFormat.YAML_LD: "YAML-LD",
    RdfFormat.TRIX: "TriX", RdfFormat.OWL_XML: "OWL/XML",
}  # fmt: skip
#: syntaxes of which every document of another is one too
_WIDER = {
    RdfFormat.N_TRIPLES: (
        RdfFormat.TURTLE, RdfFormat.N_QUADS, RdfFormat.TRIG, RdfFormat.N3,
    ),
    RdfFormat.TURTLE: (RdfFormat.TRIG, RdfFormat.N3),
}  # fmt: skip
#: syntaxes whose documents are always in UTF-8
_UTF_8 = (
    RdfFormat.TURTLE, RdfFormat.N_TRIPLES, RdfFormat.N_QUADS, RdfFormat.TRIG, RdfFormat.JSON_LD,
)  # fmt: skip
#: true types that do not tell RDF
_VAGUE = {
    RdfFormat.RDF_XML: ("application/xml", "text/xml"),
    RdfFormat.TRIX: ("application/xml", "text/xml"),
    RdfFormat.OWL_XML: ("application/xml", "text/xml"),
    RdfFormat.JSON_LD: ("application/json", "application/activity+json"),
    RdfFormat.RDF_JSON: ("application/json",),
    RdfFormat.YAML_LD: ("application/yaml", "text/yaml", "application/x-yaml", "text/x-yaml"),
}
#: words in the types of archives and compressed files, which hide what is in them
_PACKED = ("zip", "tar", "tgz", "bzip", "xz", "zstd", "compress")
#: ways to addresses that a publisher names as data
_AS_DATA = (FoundBy.CATALOGUE,)


class Visit(NamedTuple):
    """An attempt, with the columns of ``fetch`` of the same names."""

    url: str
    final_url: str
    parent_url: str | None
    found_by: str
    rules: str
    outcome: str
    status: int | None
    content_type: str
    real_type: str
    quads: int
    errors: str
    #: ``None`` if the record does not have these headers
    served: str | None = None

    @property
    def is_rdf(self) -> bool:
        """Whether the answer was RDF."""
        return self.real_type.startswith(f"{Kind.RDF}:")

    def header(self, name: str) -> str:
        """Return a header that the record has, in lower case; empty if it has not."""
        if not self.served:
            return ""
        lines = self.served.lower().split("\n")
        start = f"{name.lower()}: "
        return next((line[len(start) :] for line in lines if line.startswith(start)), "")


@dataclass(frozen=True, slots=True)
class _Fault:
    check: str
    reason: str
    evidence: str = ""
    line: int = 0
    column: int = 0


#: stands in messages about what N3 has and RDF has not
_BEYOND_RDF = "is beyond RDF"


#: checks whose subject gives nothing at all
DEAD = frozenset({"not-found", "server-error", "no-answer"})


class Visits:
    """The faults of the addresses of a crawl."""

    def __init__(self) -> None:
        self._found: dict[str, list[Finding]] = {}
        #: address → where its last attempt was redirected
        self._redirects: dict[str, str] = {}
        #: pages without data
        self._bare: set[str] = set()
        #: addresses that gave a page to a request for RDF
        self._asked_as_rdf: set[str] = set()
        #: addresses that redirect by what is asked for, and do not say so (``Vary``)
        self._unsaid: set[str] = set()
        #: hosts → answers with RDF whose headers are on record, and those open to scripts
        self.answers: Counter[str] = Counter()
        self.open_answers: Counter[str] = Counter()
        #: hosts → answers with a header that leads programs to data
        self.signposts: Counter[str] = Counter()
        #: addresses that the crawl tried by itself, and found no data there
        self.tried: set[str] = set()
        #: hosts → whether a sitemap was read; absent if none was looked for
        self.sitemaps: dict[str, bool] = {}

    def note(self, visit: Visit) -> None:
        """Note the next attempt."""
        if is_robots(visit.url, visit.outcome):
            return
        if visit.errors.endswith(NO_SLASH):
            visit = visit._replace(url=visit.url.removesuffix("/"))
        url = visit.url
        before = self._found.pop(url, ())
        self._redirects.pop(url, None)
        self._note_page(visit)
        self._note_sitemap(visit)
        self._note_headers(visit)
        if visit.outcome == FetchOutcome.REDIRECTED:
            if visit.final_url and visit.final_url != url:
                self._redirects[url] = visit.final_url
            return
        faults = list(faults_of(visit))
        if not faults:
            return
        pages = [page for finding in before for page in finding.pages]
        if visit.found_by in TRIED_UNLINKED:
            if not visit.is_rdf:  # no fault unless a link leads there
                self.tried.add(url)
        elif visit.parent_url:
            pages.append(visit.parent_url)
        self._found[url] = [_finding(url, fault, pages) for fault in faults]

    def _note_page(self, visit: Visit) -> None:
        self._bare.discard(visit.url)
        page = visit.url.removesuffix(AS_RDF)
        if visit.outcome == FetchOutcome.FETCHED_HTML:
            if not visit.quads:
                self._bare.add(page)
            if visit.found_by == FoundBy.RDF:
                self._asked_as_rdf.add(page)
        elif page != visit.url and visit.outcome == FetchOutcome.DUPLICATE:
            self._asked_as_rdf.add(page)

    def _note_sitemap(self, visit: Visit) -> None:
        if visit.outcome == FetchOutcome.FETCHED_SITEMAP:
            self.sitemaps[netloc_of(visit.url)] = True
        elif "sitemap" in visit.rules.split():
            self.sitemaps.setdefault(netloc_of(visit.url), False)

    def _note_headers(self, visit: Visit) -> None:
        self._unsaid.discard(visit.url)
        if visit.served is None:
            return
        host = netloc_of(visit.url)
        if visit.outcome == FetchOutcome.REDIRECTED and "accept" not in visit.header("Vary"):
            if is_as_rdf(visit.url):
                self._unsaid.add(visit.url)
        elif visit.outcome == FetchOutcome.FETCHED_RDF:
            self.answers[host] += 1
            self.open_answers[host] += bool(visit.header("Access-Control-Allow-Origin"))
        if link := visit.header("Link"):
            self.signposts[host] += any(word in link for word in _SIGNPOSTS)

    def leading_to(self, ends: Collection[str]) -> dict[str, str]:
        """Return addresses that redirect to one of these in the end, with the end."""
        found = ((start, self.end_of(start)) for start in self._redirects)
        return {start: end for start, end in found if end in ends}

    def dead(self) -> dict[str, Finding]:
        """Return the findings of the addresses that give nothing at all."""
        return {
            url: finding
            for url, findings in self._found.items()
            for finding in findings
            if finding.check in DEAD
        }

    def only_pages(self) -> set[str]:
        """Return the addresses that give programs a page without data, redirects included."""
        bare = self._bare & self._asked_as_rdf
        return bare | {
            start
            for start in self._redirects
            if self.end_of(start) in bare and start + AS_RDF not in self._redirects
        }

    def end_of(self, url: str) -> str:
        """Return the address to which an address redirects in the end, or itself."""
        for _ in range(_MOST_HOPS):
            if url not in self._redirects:
                break
            url = self._redirects[url]
        return url

    def findings(self) -> Iterator[Finding]:
        """Yield the findings of all addresses, in the order in which they were noted."""
        targets = set(self._redirects.values())
        leading: dict[str, list[str]] = {}
        for start in self._redirects:
            if start in targets or is_as_rdf(start):
                continue
            chain = [start]
            while len(chain) <= _MOST_HOPS and chain[-1] in self._redirects:
                chain.append(self._redirects[chain[-1]])
            leading.setdefault(chain[-1], []).append(" → ".join(chain[:-1]))
            if len(chain) > LONG_CHAIN:
                yield Finding(
                    check="redirect-chain",
                    subject=start,
                    host=netloc_of(start),
                    reason=f"{len(chain) - 1} redirects",
                    evidence=" → ".join(chain),
                )
        for url in sorted(self._unsaid):
            page = url.removesuffix(AS_RDF)
            if self._redirects.get(page, "") not in ("", self._redirects.get(url, "")):
                reason = "it redirects by what is asked for, without Vary: Accept"
                yield Finding("no-vary", page, netloc_of(page), reason)
        for url, findings in self._found.items():
            for finding in findings:
                if ways := leading.get(url):
                    more = f" and {len(ways) - 1:,} others" if len(ways) > 1 else ""
                    redirected = f"reached by redirect from {ways[0]}{more}"
                    finding.evidence = "; ".join(filter(None, [finding.evidence, redirected]))
                yield finding


def _finding(url: str, fault: _Fault, pages: list[str]) -> Finding:
    found = Finding(
        check=fault.check,
        subject=url.removesuffix(AS_RDF),
        host=netloc_of(url),
        reason=fault.reason,
        evidence=fault.evidence,
        line=fault.line,
        column=fault.column,
    )
    found.lead(pages)
    return found


def faults_of(visit: Visit) -> Iterator[_Fault]:
    """Yield what is wrong with the answer of one attempt."""
    outcome = visit.outcome
    if is_errand(visit.rules):
        failed = outcome in (FetchOutcome.HTTP_ERROR, FetchOutcome.PARSE_ERROR, *_SILENT)
        if failed and CONTEXT in visit.rules.split():
            yield _Fault("context-missing", _why(visit))
        return
    if is_guess(visit.rules):  # nobody said that there is anything
        return
    if outcome == FetchOutcome.HTTP_ERROR or outcome in _SILENT:
        yield from _dead(visit)
    elif outcome == FetchOutcome.ROBOTS_DENIED:
        if _is_data(visit):
            yield _Fault("robots-forbid-data", "robots.txt forbids it")
    elif _BEYOND_RDF in visit.errors:
        yield _unread("beyond-rdf", visit)
    elif outcome == FetchOutcome.PARSE_ERROR:
        yield _unread("unreadable", visit)
    elif outcome in (FetchOutcome.FETCHED_SITEMAP, FetchOutcome.FETCHED_LIST):
        if visit.errors:
            yield _unread("broken-list", visit)
    elif outcome == FetchOutcome.FETCHED_HTML:
        if visit.errors and read_errors(visit.errors).count:
            yield _unread("broken-in-page", visit)
        dotted = "." in visit.url[visit.url.find("/", 8) :]  # most pages have no extension
        if dotted and _extension(visit.url) in RDF_EXTENSIONS and _is_near(visit):
            yield _Fault("page-for-data", "it gives a page", _typed(visit))
    elif outcome in (FetchOutcome.FETCHED_RDF, FetchOutcome.OFF_TOPIC) and visit.errors:
        yield _unread("partly-read", visit)
    if outcome == FetchOutcome.FETCHED_RDF and is_as_rdf(visit.url) and visit.served is not None:
        vary = visit.header("Vary")
        if "accept" not in vary.replace("accept-", "") and "*" not in vary:
            yield _Fault("no-vary", "it gives a page or RDF by what is asked for, without Vary")
    if visit.is_rdf and visit.status == 200:
        yield from _served(visit)


def _dead(visit: Visit) -> Iterator[_Fault]:
    asked_by_us = visit.found_by in (FoundBy.NEGOTIATION, FoundBy.ENDPOINT)
    if is_as_rdf(visit.url) or (asked_by_us and "query=" in visit.url):
        return
    if visit.outcome in _SILENT or visit.errors.startswith(ROBOTS_FIRST):
        yield _Fault("no-answer", _why(visit))
    elif visit.status in _MISSING:
        yield _Fault("not-found", f"answers {visit.status}")
    elif visit.status in _CLOSED:
        yield _Fault("closed", f"answers {visit.status}")
    elif visit.status is not None and visit.status >= 400 and visit.status != _TOO_MANY:
        yield _Fault("server-error", f"answers {visit.status}")


def _why(visit: Visit) -> str:
    if visit.outcome == FetchOutcome.HTTP_ERROR and visit.status:
        return f"answers {visit.status}"
    text = visit.errors.partition("\n")[0].removeprefix(ROBOTS_FIRST)
    kind, colon, rest = text.partition(": ")  # the class of an exception says little
    return (rest if colon and kind.isidentifier() else text) or str(visit.outcome)


def _unread(check: str, visit: Visit) -> _Fault:
    read = read_errors(visit.errors)
    return _Fault(check, str(read), _typed(visit), read.line, read.column)


def _typed(visit: Visit) -> str:
    return f"served as {visit.content_type}" if visit.content_type else "served without a type"


def _served(visit: Visit) -> Iterator[_Fault]:
    """Yield what is wrong with the header of an answer that is RDF."""
    syntax = _SYNTAXES.get(visit.real_type.partition(":")[2])
    if syntax is None:
        return
    media, _, parameters = visit.content_type.lower().partition(";")
    media = media.strip()
    if not media:
        yield _Fault("no-type", f"it is {_named(syntax)}")
        return
    packed = path_of(visit.url).lower().rpartition(".")[2] in ARCHIVE_EXTENSIONS
    if packed or any(word in media for word in _PACKED):
        return
    right = {kind.media_types[0] for kind in (syntax, *_WIDER.get(syntax, ()))}
    old = {name for kind in (syntax, *_WIDER.get(syntax, ())) for name in kind.media_types}
    if media in old - right or media in _VAGUE.get(syntax, ()):
        yield _Fault("vague-type", f"{media}, and it is {_named(syntax)}")
    elif media not in right:
        yield _Fault("wrong-type", f"{media}, and it is {_named(syntax)}")
    charset = _parameter(parameters, "charset")
    if syntax in _UTF_8 and charset and charset not in ("utf-8", "utf8", "us-ascii"):
        yield _Fault("charset", f"it says {charset}, and it is {_named(syntax)}")


def _named(syntax: RdfFormat) -> str:
    return f"{_NAMES[syntax]} ({syntax.media_types[0]})"


def _parameter(parameters: str, name: str) -> str:
    for part in parameters.split(";"):
        key, _, value = part.partition("=")
        if key.strip() == name:
            return value.strip().strip('"')
    return ""


def _extension(url: str) -> str:
    return extension_of(path_of(url))


def _is_data(visit: Visit) -> bool:
    return _extension(visit.url) in RDF_EXTENSIONS or visit.found_by in _AS_DATA


def _is_near(visit: Visit) -> bool:
    """Whether a page of the same host links to it; pages elsewhere show files, highlighted."""
    return visit.parent_url is not None and netloc_of(visit.parent_url) == netloc_of(visit.url)


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


_REQUIRED, _RECOMMENDED = ("name", "description"), ("licence", "creator", "distribution")
_NAMED = 3
#: ways by which a page leads a program to data
_LED = (FoundBy.HEADER, FoundBy.EMBEDDED, FoundBy.LINK, FoundBy.NEGOTIATION)


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What records tell of a host, besides its statements."""

    #: documents by the way in which they were found
    found_by: Counter[str]
    #: documents that are served over https
    secure: int
    #: answers with RDF whose headers are on record, those open to scripts, and answers of any kind
    #: with a header that leads programs to data
    answers: int
    open_answers: int
    signposts: int
    #: whether a sitemap was read; ``None``: none was looked for
    sitemap: bool | None


def verdicts_of(host: str, says: HostSays, facts: HostFacts) -> Iterator[Verdict]:
    """Yield a verdict for each check of a host with documents."""
    all_of = f"of {amount(says.documents, 'document')}"

    def some(check: str, number: int) -> Verdict:
        return Verdict(check, host, number > 0, f"{number:,} {all_of}")

    for check in ("licence", "creator", "dates"):
        yield some(check, says.says[check])
    labelled = says.says["labels"]
    yield Verdict("labels", host, 2 * labelled >= says.documents, f"{labelled:,} {all_of}")
    evidence = f"{says.blank:,} of {amount(says.subjects, 'thing')} without an address"
    yield Verdict("addresses", host, 2 * says.blank <= says.subjects, evidence)
    yield some("well-known-terms", says.well_known)
    yield some("links-out", says.linked_out)
    yield some("catalogue", says.catalogues)
    yield _of_sets("set-required", host, says.sets, _REQUIRED)
    yield _of_sets("set-recommended", host, says.sets, _RECOMMENDED)
    yield some("void", says.void)
    yield Verdict(
        "sitemap",
        host,
        facts.sitemap,
        {True: "read", False: "none at the usual places", None: "none was looked for"}[
            facts.sitemap
        ],
    )
    if facts.answers:
        evidence = f"{facts.open_answers:,} of {amount(facts.answers, 'answer')} with RDF"
        yield Verdict("scripts", host, facts.open_answers == facts.answers, evidence)
    else:
        yield Verdict("scripts", host, None, "no headers of answers with RDF are on record")
    led = facts.signposts + sum(facts.found_by[way] for way in _LED)
    ways = ", ".join(f"{way} {number:,}" for way, number in facts.found_by.most_common())
    yield Verdict("described-by", host, True if led else None, f"found by {ways}")
    yield Verdict("https", host, facts.secure == says.documents, f"{facts.secure:,} {all_of}")


def _of_sets(
    check: str, host: str, sets: Mapping[str, set[str]], parts: tuple[str, ...]
) -> Verdict:
    if not sets:
        return Verdict(check, host, None, "no data set is described")
    lacking = {name: [part for part in parts if part not in said] for name, said in sets.items()}
    lacking = {name: missing for name, missing in lacking.items() if missing}
    if not lacking:
        return Verdict(check, host, True, amount(len(sets), "data set"))
    named = [f"{name} lacks {', '.join(missing)}" for name, missing in lacking.items()][:_NAMED]
    more = len(lacking) - len(named)
    named += [f"and {more:,} more"] if more else []
    of_all = f"{len(lacking):,} of {amount(len(sets), 'data set')}: "
    return Verdict(check, host, False, of_all + "; ".join(named))
