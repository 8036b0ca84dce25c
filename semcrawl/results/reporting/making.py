"""Makes the report of a job from its records, ledgers and statements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator

from sqlalchemy import select

from semcrawl.metadata.changes import Changes, changes_since
from semcrawl.metadata.models import Document, Fetch, PageLinks
from semcrawl.metadata.pagelinks import read_links
from semcrawl.results.job import Job
from semcrawl.results.quadsource import store_errors
from semcrawl.results.reporting._hostchecks import HostFacts, verdicts_of
from semcrawl.results.reporting.checklist import CHECKS, Area
from semcrawl.results.reporting.findings import Finding, ReadDocument, Report, Verdict
from semcrawl.results.reporting.visits import AS_RDF, Visit, Visits
from semcrawl.results.reporting.whatissaid import (
    StatementsRead,
    namespace_of,
    subjects_of,
)
from semcrawl.web.hosts import netloc_of

_ROWS = 1000
_NUMBERS = {name: number for number, name in enumerate(CHECKS)}
_AREAS = list(Area)
_OF_VISIT = [getattr(Fetch, name) for name in Visit._fields]
#: properties that are numbered without end, and defined by their shape
_MEMBERS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#_"

#: what no report of records can tell
_LIMITS = (
    "Whether the data are true: only form, addresses and the way they are served are judged.",
    "Addresses that the crawl did not ask for: out of scope, excluded, over a limit or still "
    "waiting (`semcrawl why URL DIR` tells of each).",
    "Terms of vocabularies whose document the crawl did not read, or not without errors.",
)


_FIRST_PAGES = (
    "All pages that lead to an address: of pages, the one that brought it first is on record. A "
    "harvest with -s SEMCRAWL_RECORD_LINKS=1 records all. Of data, every document that mentions "
    "it is named."
)


def report_of(job: Job, hosts: Collection[str] = (), since: float | None = None) -> Report:
    """Return the report of a job, of all hosts or of some.

    ``hosts``: only these (with their ports), and the links on their pages. ``since``: moment to
    compare with, in seconds since the epoch. It reads records and statements once, and the
    vocabularies among the documents twice. Raises ``StoreError`` for records that cannot be read.
    """
    report = Report(job.folder.resolve().name, not_judged=list(_LIMITS))
    documents = [_read(document) for document in job.documents()]
    visits = _visits(job)
    found = list(visits.findings())
    dead, only_pages = visits.dead(), visits.only_pages()
    read = StatementsRead(dead.keys() | only_pages)
    for url, pieces in _documents(job):
        read.add(url, pieces)
    _note_mentions(read, dead)
    if not _note_links(job, dead | {s: dead[e] for s, e in visits.leading_to(dead).items()}):
        report.not_judged.append(_FIRST_PAGES)
    found = [one for one in found if one.page_count or one.subject not in visits.tried]
    found += _bare_things(read, only_pages, documents)
    found += _undefined_terms(job, read, visits, documents)
    verdicts = list(_verdicts(read, visits, documents))
    found += [
        Finding(one.check, f"http://{one.host}/", one.host, one.evidence)
        for one in verdicts
        if one.passed is False
    ]
    report.documents = [one for one in documents if not hosts or netloc_of(one.url) in hosts]
    report.verdicts = [one for one in verdicts if not hosts or one.host in hosts]
    if since is not None:
        report.changes = _changes(job, since, hosts)
    report.findings = sorted((one for one in found if _concerns(one, hosts)), key=_place)
    return report


def _concerns(finding: Finding, hosts: Collection[str]) -> bool:
    """Whether a finding is about one of these hosts, or on its pages."""
    return (
        not hosts
        or finding.host in hosts
        or any(netloc_of(page) in hosts for page in finding.pages)
    )


def _visits(job: Job) -> Visits:
    visits = Visits()
    source = job.sources[0]
    with store_errors(source.ledger), source.engine.connect() as connection:
        reading = connection.execution_options(read_only=True, yield_per=_ROWS)
        for row in reading.execute(select(*_OF_VISIT).order_by(Fetch.id)):
            visits.note(Visit(*row))
    return visits


def _documents(job: Job, wanted: Collection[str] = ()) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield addresses of documents with their lines, of all or of the wanted ones."""
    for source in job.sources:
        with source.snapshot() as snapshot:
            for span in snapshot.spans():
                if not wanted or span.url in wanted:
                    yield span.url, snapshot.lines(span)


def _note_links(job: Job, dead: dict[str, Finding]) -> bool:
    """Add the pages that link to dead addresses; return whether links of pages are on record."""
    any_links = False
    source = job.sources[0]
    with store_errors(source.ledger), source.engine.connect() as connection:
        reading = connection.execution_options(read_only=True, yield_per=_ROWS)
        for page, links in reading.execute(select(PageLinks.url, PageLinks.links)):
            any_links = True
            for url in dict.fromkeys(url for url, _ in read_links(links)):
                if url in dead:
                    dead[url].lead([page])
    return any_links


def _note_mentions(read: StatementsRead, dead: dict[str, Finding]) -> None:
    """Add the documents that mention dead addresses, and what they are there."""
    imports: defaultdict[str, list[str]] = defaultdict(list)
    for target, importers in read.imports.items():
        imports[target.partition("#")[0]] += importers
    for url, finding in dead.items():
        finding.lead(read.mentions.get(url, ()))
        if url in imports:
            finding.check = "import-dead"
            finding.lead(imports[url])
        elif read.described.get(url):
            finding.check = "subject-dead"


def _bare_things(
    read: StatementsRead, only_pages: Collection[str], documents: Iterable[ReadDocument]
) -> Iterator[Finding]:
    """Yield the things that are described elsewhere on their host, and give only a page."""
    leading = {one.page for one in documents}  # a page that links to its data is found by it
    for url in sorted(only_pages):
        if url in leading or not (described := read.described.get(url)):
            continue
        finding = Finding("only-a-page", url, netloc_of(url), "asked for RDF, it gives a page")
        finding.lead(described)
        yield finding


def _undefined_terms(
    job: Job, read: StatementsRead, visits: Visits, documents: Iterable[ReadDocument]
) -> Iterator[Finding]:
    """Yield the terms that the documents at their addresses do not describe."""
    whole = {
        one.url
        for one in documents
        if one.syntax != "embedded" and not one.errors and one.url not in read.importing
    }
    places: dict[str, set[str]] = {}
    for term in read.users:
        if term.startswith(_MEMBERS) or not term.startswith("http"):
            continue
        asked = {term.partition("#")[0], namespace_of(term).rstrip("#")}
        ends = {visits.end_of(url + suffix) for url in asked for suffix in ("", AS_RDF)}
        if found := (ends | {end + AS_RDF for end in ends}) & whole:
            places[term] = found
    described: dict[str, set[str]] = {}
    if places:
        vocabularies = set[str]().union(*places.values())
        for url, pieces in _documents(job, vocabularies):
            described.setdefault(url, set()).update(subjects_of(pieces))
    for term, found in places.items():
        if any(term in described.get(url, ()) for url in found):
            continue
        users: defaultdict[str, list[str]] = defaultdict(list)
        for document in read.users[term]:
            users[netloc_of(document)].append(document)
        for host, using in users.items():
            place = ", ".join(sorted(found))
            finding = Finding("term-undefined", term, host, f"not described in {place}")
            finding.lead(using)
            yield finding


def _verdicts(
    read: StatementsRead, visits: Visits, documents: Iterable[ReadDocument]
) -> Iterator[Verdict]:
    ways: defaultdict[str, Counter[str]] = defaultdict(Counter)
    secure: Counter[str] = Counter()
    for one in documents:
        host = netloc_of(one.url)
        ways[host][one.found_by or "seed"] += 1
        secure[host] += one.url.startswith("https:")
    for host, says in sorted(read.hosts.items()):
        facts = HostFacts(
            ways[host],
            secure[host],
            visits.answers[host],
            visits.open_answers[host],
            visits.signposts[host],
            visits.sitemaps.get(host),
        )
        yield from verdicts_of(host, says, facts)


def _changes(job: Job, since: float, hosts: Collection[str]) -> Changes:
    with store_errors(job.sources[0].ledger):
        found = changes_since([source.engine for source in job.sources], since, hosts)
    return found


def _read(document: Document) -> ReadDocument:
    return ReadDocument(
        document.url,
        document.format,
        document.quads,
        document.error_count,
        document.parent_url or "",
        document.found_by,
    )


def _place(finding: Finding) -> tuple[int, int, str, str]:
    """Return the order of a report: by area, check, host and address."""
    area = _AREAS.index(finding.of.area)
    return area, _NUMBERS[finding.check], finding.host, finding.subject
