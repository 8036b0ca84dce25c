"""Makes the report of a job from its records, ledgers and statements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from semcrawl.frontier.contract import Frontier, WaitingLink, table_of
from semcrawl.frontier.links import LinkState, digest
from semcrawl.items import FetchOutcome
from semcrawl.metadata.history import Changes, changes_since
from semcrawl.metadata.records import (
    Contribution,
    Document,
    Fetch,
    PageLinks,
    read_errors,
    read_links,
    url_key,
)
from semcrawl.metadata.summary import MISSED_WORDS, RENDERED, is_part
from semcrawl.results.job import Job
from semcrawl.results.quadsource import store_errors
from semcrawl.results.reporting.checklist import CHECKS, Area
from semcrawl.results.reporting.findings import Finding, ReadDocument, Report, Verdict
from semcrawl.results.reporting.visits import (
    AS_RDF,
    HostFacts,
    StatementsRead,
    Visit,
    Visits,
    namespace_of,
    subjects_of,
    verdicts_of,
)
from semcrawl.sources.negotiation import as_rdf
from semcrawl.terminal import amount
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


def report_of(
    job: Job, hosts: Collection[str] = (), since: float | None = None, shapes: bytes = b""
) -> Report:
    """Return the report of a job, of all hosts or of some.

    ``hosts``: only these (with their ports), and the links on their pages. ``since``: moment to
    compare with, in seconds since the epoch. ``shapes``: SHACL in N-Quads, which all statements are
    validated against. It reads records and statements once, and the
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
    if shapes:
        from semcrawl.results.reporting._conformance import violations  # an extra, slow to import

        found += violations(job.quads(), shapes)
        report.areas = list(Area)
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


_MOST_HOPS = 30
#: most attempts, documents that mention the address, and pages that are named
_MOST = 20

#: what became of an address by the outcome of its last attempt, for people
OUTCOME_WORDS: Mapping[FetchOutcome, str] = {
    FetchOutcome.FETCHED_RDF: "It was read as RDF.",
    FetchOutcome.FETCHED_HTML: "It was read as a page.",
    FetchOutcome.FETCHED_ROBOTS: "It is a robots.txt, and was read.",
    FetchOutcome.FETCHED_CONTEXT: "It is a JSON-LD context, and was read.",
    FetchOutcome.FETCHED_SITEMAP: "It is a sitemap, and its entries were taken.",
    FetchOutcome.FETCHED_LIST: "It is a catalogue or linkset, and its links were taken.",
    FetchOutcome.FETCHED_IMAGE: "It is an image, and was kept.",
    FetchOutcome.FETCHED_OTHER: "It was fetched, and is neither RDF nor a page.",
    FetchOutcome.NOT_MODIFIED: "Its server says that it has not changed since the visit before.",
    FetchOutcome.SITEMAP_UNCHANGED: "Its sitemap says that it is unchanged; it was not asked for.",
    FetchOutcome.DUPLICATE: "It was fetched, and its content or address had been had before.",
    FetchOutcome.NOT_KEPT: "It was read and not kept, as it asks robots to keep no copy.",
    FetchOutcome.OFF_TOPIC: "It was read, and is not about the topic of the crawl.",
    FetchOutcome.FILTERED_TYPE: "Its body was refused for its media type, before it came.",
    FetchOutcome.TOO_LARGE: "It is larger than DOWNLOAD_MAXSIZE.",
    FetchOutcome.REDIRECTED: "It redirects.",
    FetchOutcome.OUT_OF_SCOPE: "It leads out of the scope of the crawl, and was not followed.",
    FetchOutcome.ROBOTS_DENIED: "robots.txt forbids it, so it was not asked for.",
    FetchOutcome.HTTP_ERROR: "Its server answered with an error.",
    FetchOutcome.NETWORK_ERROR: "No answer came: the network, the name or the connection failed.",
    FetchOutcome.TIMEOUT: "No answer came in DOWNLOAD_TIMEOUT.",
    FetchOutcome.ADDRESS_REFUSED: "Its host has a private address, so it was not asked for.",
    FetchOutcome.HOST_DOWN: "Its host was down for long, so it was not asked for.",
    FetchOutcome.OVER_BUDGET: "The budget of its host or domain was spent; it was not asked for.",
    FetchOutcome.EXCLUDED: "A pattern of the user excludes it now; it was not asked for.",
    FetchOutcome.IGNORED: "A middleware or a limit of lists left it out.",
    FetchOutcome.PARSE_ERROR: "It claims to be RDF, and not one statement could be read.",
    FetchOutcome.INTERRUPTED: "It was asked for, and the crawl ended before it was read.",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a link is in the frontier."""

    #: ``waiting``, ``in-flight``, ``failed``, ``withheld``, ``left-out``, ``seen``, ``unseen``, or
    #: ``unknown``
    kind: str
    #: the link, if it is kept there
    link: WaitingLink | None = None
    #: waiting links that come before it, by the values and keys of now
    ahead: int = 0
    #: value of its group; ``None`` if the group has none
    value: float | None = None
    #: why it was left out or withheld, or why the frontier is not known
    reason: str = ""
    #: links that were dropped so far because the frontier was full
    dropped: int = 0

    @property
    def state(self) -> LinkState | None:
        """The state of the link, if it is kept."""
        return LinkState.unpack(self.link.entry) if self.link else None


@dataclass(slots=True)
class Known:
    """What records and data know of an address."""

    url: str
    attempts: list[dict[str, Any]] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    #: documents with statements in a graph of this name
    contributors: list[str] = field(default_factory=list)
    #: documents that mention it → the property, or ``subject``
    mentions: dict[str, str] = field(default_factory=dict)
    #: pages that link to it → the words of the link; empty if these are not on record
    words: dict[str, str] = field(default_factory=dict)
    #: addresses that redirect to it
    redirected_from: list[str] = field(default_factory=list)

    @property
    def last(self) -> dict[str, Any] | None:
        """The last attempt."""
        return self.attempts[-1] if self.attempts else None

    @property
    def pages(self) -> list[str]:
        """The pages and documents that brought it into the crawl."""
        return list(dict.fromkeys(p for one in self.attempts if (p := one["parent_url"])))


@dataclass(slots=True)
class Fate:
    """What is known of an address, and of where its redirects lead."""

    known: Known
    place: Place
    #: the fates of the addresses to which it redirects, in order
    then: list[Fate] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """The outcome of its last attempt, or its place; ``left-out`` with the reason after it."""
        if self.known.last and self.place.kind not in ("waiting", "in-flight"):
            return str(self.known.last["outcome"])
        if self.place.kind == "left-out":
            return f"left-out:{self.place.reason}"
        if self.place.kind == "unseen" and self.known.documents:
            return "known-document"
        return self.place.kind

    def lines(self) -> Iterator[str]:
        """Yield what became of it, a sentence a line."""
        last, place = self.known.last, self.place
        if last:
            yield _of_attempt(last)
        yield from _of_place(place, asked=last is not None, documents=bool(self.known.documents))

    def as_dict(self) -> dict[str, Any]:
        """Return it as ``why --json`` prints it."""
        link, state = self.place.link, self.place.state
        return {
            "url": self.known.url,
            "fate": self.kind,
            "said": list(self.lines()),
            "pages": self.known.pages or ([state.parent] if state and state.parent else []),
            "words": self.known.words,
            "mentions": self.known.mentions,
            "redirected_from": self.known.redirected_from,
            "attempts": self.known.attempts,
            "documents": self.known.documents,
            "contributors": self.known.contributors,
            "frontier": {
                "place": self.place.kind,
                "reason": self.place.reason,
                "ahead": self.place.ahead if self.place.kind == "waiting" else None,
                "label": link.entry.label if link else None,
                "group": link.entry.group if link else None,
                "value": self.place.value,
                "key": link.entry.key if link else None,
                "rules": list(state.rules) if state else [],
            },
            "then": [fate.as_dict() for fate in self.then],
        }


def _of_attempt(last: Mapping[str, Any]) -> str:
    outcome = FetchOutcome(last["outcome"])
    words = OUTCOME_WORDS[outcome]
    if outcome is FetchOutcome.HTTP_ERROR and last["status"]:
        words = f"Its server answers {last['status']}."
    elif outcome in (FetchOutcome.REDIRECTED, FetchOutcome.OUT_OF_SCOPE):
        led_to = last["final_url"]
        words = words[:-1] + (f": {led_to}." if led_to != last["url"] else ".")
    elif last["real_type"] == RENDERED:
        words = "It was read as a page, after its scripts had run in a browser."
    if is_part(last["rules"]):
        words = f"A script of {last['parent_url']} asked for it in the browser. {words}"
    told = "" if outcome is FetchOutcome.HTTP_ERROR else str(read_errors(last["errors"]))
    return f"{words} ({told})" if told else words


def _of_place(place: Place, *, asked: bool, documents: bool) -> Iterator[str]:
    """Yield what the frontier says."""
    if place.kind == "waiting":
        again = " again" if asked else ""
        value = "" if place.value is None else f" (value of its group {place.value:.4g})"
        yield f"It waits{again} behind {amount(place.ahead, 'link')}{value}."
    elif place.kind == "in-flight":
        yield "A worker has it now, or it is about to be tried again."
    elif place.kind == "failed":
        yield "It is kept among the failed links: `semcrawl frontier DIR --requeue` tries it again."
    elif place.kind == "withheld":
        yield f"It is withheld: {place.reason}."
    elif place.kind == "unknown":
        yield f"The frontier is not known: {place.reason}."
    elif asked or documents:
        return
    elif place.kind == "left-out":
        words = MISSED_WORDS.get(place.reason, place.reason)
        yield f"A document links to it; it was left out, as one of the links {words}."
    elif place.kind == "seen":
        yield (
            "It was in the frontier, and no attempt is on record: the strategy or a full frontier "
            "dropped it, or its result was lost."
        )
    else:
        yield "No document that was read links to it, as far as is known: it was never seen."
        if place.dropped:
            yield f"{amount(place.dropped, 'link')} were dropped, as the frontier was full."


def known_of(job: Job, url: str) -> Known:
    """Read what records and data know of an address; raise ``StoreError``."""
    known = Known(url)
    source = job.sources[0]
    with store_errors(source.ledger), Session(source.engine) as session:
        rows = session.scalars(
            select(Fetch).where(Fetch.url.in_((url, as_rdf(url)))).order_by(Fetch.id)
        )
        known.attempts = [_attempt(row) for row in rows][-_MOST:]
        sources = select(Fetch.url).where(
            Fetch.final_url == url, Fetch.url != url, Fetch.outcome == FetchOutcome.REDIRECTED
        )
        known.redirected_from = list(dict.fromkeys(session.scalars(sources.limit(_MOST))))
    for each in job.sources:
        with store_errors(each.ledger), Session(each.engine) as session:
            found = session.scalars(
                select(Document).where(
                    or_(
                        Document.url_key.in_((url_key(url), url_key(as_rdf(url)))),
                        Document.request_url == url,
                    )
                )
            )
            known.documents += [_document(row) for row in found]
            graph = select(Contribution.document_key).where(
                Contribution.graph_key == url_key(f"<{url}>")
            )
            keys = list(session.scalars(graph.limit(_MOST)))
            named = select(Document.url).where(Document.url_key.in_(keys))
            known.contributors += session.scalars(named)
    known.mentions = dict(_mentions(job, url))
    known.words = dict(islice(_linking(job, url), _MOST))
    return known


def _attempt(row: Fetch) -> dict[str, Any]:
    names = (
        "url", "final_url", "parent_url", "found_by", "label", "rules", "depth", "outcome",
        "status", "content_type", "real_type", "bytes", "quads", "errors", "started_at",
        "elapsed", "spider", "worker", "relevance", "reasons",
    )  # fmt: skip
    return {name: getattr(row, name) for name in names}


def _document(row: Document) -> dict[str, Any]:
    names = (
        "url", "format", "quads", "error_count", "parent_url", "found_by", "first_seen_at",
        "last_seen_at", "visits", "changes", "gone_at",
    )  # fmt: skip
    return {name: getattr(row, name) for name in names}


def _linking(job: Job, url: str) -> Iterator[tuple[str, str]]:
    """Yield the pages that link to an address, with the words of the link."""
    source = job.sources[0]
    with store_errors(source.ledger), source.engine.connect() as connection:
        reading = connection.execution_options(read_only=True, yield_per=1000)
        for page, links in reading.execute(select(PageLinks.url, PageLinks.links)):
            for target, words in read_links(links):
                if target == url:
                    yield page, words
                    break


def _mentions(job: Job, url: str) -> Iterator[tuple[str, str]]:
    """Yield the first documents that mention an address, and by which property."""
    begin = f"<{url}".encode("utf-8", "surrogatepass")
    whole = (begin + b">", begin + b"#")
    found = 0
    for source in job.sources:
        with source.snapshot() as snapshot:
            for span in snapshot.spans():
                how = next(
                    (
                        how
                        for piece in snapshot.lines(span)
                        if begin in piece and span.url != url
                        for line in piece.splitlines()
                        if begin in line and (how := _said_by(line, whole))
                    ),
                    "",
                )
                if how:
                    yield span.url, how
                    found += 1
                if found >= _MOST:
                    return


def _said_by(line: bytes, whole: tuple[bytes, bytes]) -> str:
    subject, _, rest = line.partition(b" ")
    predicate, _, value = rest.partition(b" ")
    if value.startswith(whole):
        return predicate[1:-1].decode("utf-8", "replace")
    return "subject" if subject.startswith(whole) else ""


async def place_of(frontier: Frontier, url: str) -> Place:
    """Find a link in a frontier; it reads all links, and locks nothing."""
    inspector = frontier.inspector
    async for link in inspector.rows("leased"):
        if link.entry.url == url:
            return Place("in-flight", link)
    async for link in inspector.rows("failed"):
        if link.entry.url == url:
            return Place("failed", link)
    async for link in inspector.rows("withheld"):
        if link.entry.url == url:
            return Place("withheld", link, reason=await _why_withheld(frontier, link))
    if (waiting := await _waiting(frontier, url)) is not None:
        return waiting
    if await _is_seen(frontier, url):
        return Place("seen")
    if reason := await frontier.aside.reason(url):
        return Place("left-out", reason=str(reason))
    totals = await table_of(inspector, "total")
    return Place("unseen", dropped=int(totals.get("dropped", 0)))


async def _waiting(frontier: Frontier, url: str) -> Place | None:
    values = await table_of(frontier.inspector, "value")
    found: WaitingLink | None = None
    numbers: dict[tuple[str, str], int] = {}
    before = 0
    async for link in frontier.inspector.rows("waiting"):
        group = link.entry.queue, link.entry.group
        numbers[group] = numbers.get(group, 0) + 1
        if link.entry.url == url:
            found = link
    if found is None:
        return None
    own = found.entry
    value = values.get(own.group)
    async for link in frontier.inspector.rows("waiting"):
        entry = link.entry
        if (entry.queue, entry.group) == (own.queue, own.group):
            before += (entry.key, link.sequence) < (own.key, found.sequence)
    before += sum(
        number
        for (queue, group), number in numbers.items()
        if queue == own.queue and group != own.group
        and values.get(group, 0.0) > (value or 0.0)
    )  # fmt: skip
    return Place("waiting", found, before, value)


async def _why_withheld(frontier: Frontier, link: WaitingLink) -> str:
    families = await table_of(frontier.inspector, "family")
    facts = families.get(LinkState.unpack(link.entry).family, {})
    return (
        f"none of the first links of {facts.get('document', 'a document')} like "
        f"{facts.get('pattern', link.entry.url)} gave a result"
    )


async def _is_seen(frontier: Frontier, url: str) -> bool:
    name = digest(url)
    async for digests in frontier.inspector.rows("seen"):
        if name in digests:
            return True
    return False


def redirect_ends(job: Job, url: str) -> Sequence[str]:
    """Return an address and those to which it redirects, in order."""
    chain = [url]
    with store_errors(job.sources[0].ledger), Session(job.sources[0].engine) as session:
        while len(chain) <= _MOST_HOPS:
            query = select(Fetch.outcome, Fetch.final_url).where(Fetch.url == chain[-1])
            row = session.execute(query.order_by(Fetch.id.desc()).limit(1)).first()
            is_redirect = row is not None and row.outcome == FetchOutcome.REDIRECTED
            if row is None or not is_redirect or row.final_url in chain:
                break
            chain.append(row.final_url)
    return chain
