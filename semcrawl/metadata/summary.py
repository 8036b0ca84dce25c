"""Adds up a crawl from its records."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from http import HTTPStatus
from typing import Any

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from semcrawl.config.targets import Targets
from semcrawl.items import FAILED, FetchOutcome, FetchRecord
from semcrawl.links import Reason
from semcrawl.metadata.history import means_gone
from semcrawl.metadata.records import ERRORS, Fetch
from semcrawl.topics import STOPPED
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import TRIED_UNLINKED, Kind

#: outcomes of attempts that sent nothing, and those that count as errors
UNSENT = frozenset(outcome for outcome in FetchOutcome if not outcome.means.sent)
PROBLEMS = frozenset(outcome for outcome in FetchOutcome if outcome.means.problem)
#: prefix of the error of a link that was not sent because its robots.txt could not be fetched
ROBOTS_FIRST = "robots.txt: "
#: rules of attempts that belong to no link: for a JSON-LD context, and for a part of a page that
#: is in the browser
CONTEXT, PART = "context", "browser"
ERRANDS = frozenset((CONTEXT, PART))
#: the type, in records, of pages that were read after their scripts had run
RENDERED = f"{Kind.HTML}:rendered"
#: hosts shown as current
_CURRENT_HOSTS = 3


def was_sent(outcome: str, errors: str) -> bool:
    """Whether an attempt with this outcome and these errors sent a request for its URL."""
    return outcome not in UNSENT and not errors.startswith(ROBOTS_FIRST)


def is_errand(rules: str | Iterable[str]) -> bool:
    """Whether an attempt with these rules was made for a document, and belongs to no link.

    It fetched a JSON-LD context, or a part of a page in the browser.
    """
    return not ERRANDS.isdisjoint(rules.split() if isinstance(rules, str) else rules)


def is_part(rules: str) -> bool:
    """Whether an attempt with these rules fetched a part of a page in the browser."""
    return PART in rules.split()


def is_guess(rules: str | Iterable[str]) -> bool:
    """Whether an attempt with these rules guessed its address."""
    return "guess" in (rules.split() if isinstance(rules, str) else rules)


def is_robots(url: str, outcome: str) -> bool:
    """Whether an attempt was for a robots.txt, whatever its outcome."""
    return outcome == FetchOutcome.FETCHED_ROBOTS or (
        url.endswith("/robots.txt") and url.count("/") == 3
    )


@dataclass
class Tally:
    """The sums of this run's attempts."""

    #: requests sent, except for robots.txt, JSON-LD contexts and parts of pages in the browser
    requests: int = 0
    #: requests sent for JSON-LD contexts and for such parts
    context_requests: int = 0
    rdf_documents: int = 0
    html_documents: int = 0
    #: quads of the RDF documents
    quads: int = 0
    #: quads of the data embedded in pages
    embedded_quads: int = 0
    errors: int = 0
    bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    #: functions that are called with each record
    listeners: list[Callable[[FetchRecord], None]] = field(default_factory=list)
    _hosts: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def add(self, record: FetchRecord) -> None:
        """Count an attempt."""
        self.outcomes[str(record.outcome)] += 1
        for listener in self.listeners:
            listener(record)
        if is_robots(record.url, record.outcome):
            return
        if is_errand(record.rules):
            self.context_requests += was_sent(record.outcome, record.errors)
            return
        if was_sent(record.outcome, record.errors):
            self.requests += 1
        self.rdf_documents += record.outcome is FetchOutcome.FETCHED_RDF
        self.html_documents += record.outcome is FetchOutcome.FETCHED_HTML
        if record.outcome is FetchOutcome.FETCHED_RDF:
            self.quads += record.quads
        elif record.outcome is FetchOutcome.FETCHED_HTML:
            self.embedded_quads += record.quads
        self.errors += record.outcome in PROBLEMS and not is_guess(record.rules)
        self.bytes += record.bytes
        host = netloc_of(record.url)
        self._hosts[host] = None
        self._hosts.move_to_end(host)
        while len(self._hosts) > _CURRENT_HOSTS:
            self._hosts.popitem(last=False)

    @property
    def current_hosts(self) -> list[str]:
        """The hosts of the last attempts, the latest first."""
        return list(reversed(self._hosts))

    @property
    def harvest_rate(self) -> float:
        """RDF documents per request (sources.md T.7), 0 to 1."""
        return self.rdf_documents / self.requests if self.requests else 0.0


#: reasons that are no names of outcomes
UNAUTHORIZED, FORBIDDEN, NOT_FOUND = "unauthorized", "forbidden", "not-found"
_WITH_WORDS = [outcome for outcome in FetchOutcome if outcome.means.words]

#: texts by reason, in order of display
MISSED_WORDS: Mapping[str, str] = {
    Reason.OUT_OF_SCOPE: FetchOutcome.OUT_OF_SCOPE.means.words,
    Reason.EXCLUDED: FetchOutcome.EXCLUDED.means.words,
    Reason.TOO_DEEP: "deeper than DEPTH_LIMIT",
    Reason.DYNAMIC_DEPTH: "behind SEMCRAWL_DYNAMIC_DEPTH documents without a target",
    Reason.HARD_FOCUS: "of documents that are not about the topic (SEMCRAWL_FOCUS=hard)",
    Reason.NOFOLLOW: "that their page asks robots not to follow",
    Reason.SITEMAPS_ONLY: "of pages, as only sitemaps are followed",
    Reason.OTHER_PROPERTY: "of properties that SEMCRAWL_RDF_LINKS leaves out",
    Reason.LINKS_PER_PAGE: "after SEMCRAWL_MAX_LINKS_PER_PAGE links of a document",
    Reason.CATALOGUE_PAGES: "after SEMCRAWL_MAX_CATALOGUE_PAGES pages of a catalogue",
    Reason.PRUNED: "dropped by the strategy",
    Reason.OTHER_TYPE: "to images, styles and other types by their address",
    **{each: each.means.words for each in _WITH_WORDS if not each.means.problem},
    UNAUTHORIZED: "only with a password (401)",
    FORBIDDEN: "refused (403)",
    NOT_FOUND: "not found (404, 410)",
    FAILED: "failed, retries included",
    **{each: each.means.words for each in _WITH_WORDS if each.means.problem},
}

_BY_STATUS: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: UNAUTHORIZED,
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: UNAUTHORIZED,
    HTTPStatus.FORBIDDEN: FORBIDDEN,
    HTTPStatus.NOT_FOUND: NOT_FOUND,
    HTTPStatus.GONE: NOT_FOUND,
    HTTPStatus.REQUEST_TIMEOUT: FAILED,
    HTTPStatus.TOO_EARLY: FAILED,
    HTTPStatus.TOO_MANY_REQUESTS: FAILED,
}

_REASONS = {
    str(each): each.means.missed or str(each)
    for each in FetchOutcome
    if each.means.missed or each.means.words
}


def why_missed(outcome: str, status: int | None, errors: str) -> str:
    """Return why an attempt gave nothing; empty if it gave something or was redirected."""
    if errors.startswith(ROBOTS_FIRST):
        return FAILED
    if outcome == FetchOutcome.HTTP_ERROR and status is not None:
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return FAILED
        return _BY_STATUS.get(status, outcome)
    return _REASONS.get(outcome, "")


class Missed:
    """Addresses whose last attempt gave nothing, by reason."""

    def __init__(self) -> None:
        #: by address, reason and host
        self._last: dict[str, tuple[str, str]] = {}

    def note(self, url: str, final_url: str, outcome: str, status: int | None, errors: str) -> None:
        """Note an attempt; the last one of an address counts."""
        reason = why_missed(outcome, status, errors)
        if reason:
            where = final_url if outcome == FetchOutcome.OUT_OF_SCOPE and final_url else url
            self._last[url] = reason, netloc_of(where)
        else:
            self._last.pop(url, None)

    def by_reason(self) -> dict[str, Counter[str]]:
        """Count the addresses by reason and host (with its port)."""
        found: dict[str, Counter[str]] = {}
        for reason, host in self._last.values():
            found.setdefault(reason, Counter())[host] += 1
        return found


#: kinds of bodies that may be targets, by their outcome
_KINDS = {
    FetchOutcome.FETCHED_RDF: Kind.RDF,
    FetchOutcome.FETCHED_HTML: Kind.HTML,
    FetchOutcome.FETCHED_IMAGE: Kind.OTHER,
    FetchOutcome.FETCHED_OTHER: Kind.OTHER,
}


@dataclass
class WaySummary:
    """The sums of one way in which addresses were found."""

    requests: int = 0
    rdf_documents: int = 0
    html_documents: int = 0


@dataclass
class HostSummary(WaySummary):
    """The sums of one host."""

    #: addresses of images that were kept
    images: int = 0
    targets: int = 0
    quads: int = 0
    errors: int = 0

    @property
    def harvest_rate(self) -> float:
        """Targets per request, 0 to 1."""
        return self.targets / self.requests if self.requests else 0.0


@dataclass
class Summary:
    """The sums of a whole job, all its runs together."""

    #: requests sent, except for robots.txt, JSON-LD contexts and parts of pages in the browser
    requests: int = 0
    robots_requests: int = 0
    context_requests: int = 0
    #: pages read after their scripts had run, and requests for what these asked for
    browser_pages: int = 0
    browser_requests: int = 0
    rdf_documents: int = 0
    html_documents: int = 0
    #: documents, pages and files of the kind that the crawl is for
    targets: int = 0
    #: quads of the RDF documents
    quads: int = 0
    #: pages with embedded data, and the quads of these
    embedded_documents: int = 0
    embedded_quads: int = 0
    #: bytes of bodies received
    bytes: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    #: by host, with its port
    hosts: dict[str, HostSummary] = field(default_factory=dict)
    #: by the way in which addresses were found (:class:`semcrawl.web.vocabulary.FoundBy`)
    found_by: dict[str, WaySummary] = field(default_factory=dict)
    #: addresses whose last attempt gave nothing, by reason and host
    missed: dict[str, Counter[str]] = field(default_factory=dict)
    #: addresses of RDF in formats that are not read, by format
    unread: dict[str, int] = field(default_factory=dict)
    #: documents and pages that were read with errors, by their last attempt
    with_errors: int = 0
    #: checks of shapes that were stopped as they took too much time or memory
    checks_stopped: int = 0

    @property
    def harvest_rate(self) -> float:
        """Targets per request (sources.md T.7), 0 to 1."""
        return self.targets / self.requests if self.requests else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the content of ``summary.json``."""
        return {
            "requests": self.requests,
            "robots_requests": self.robots_requests,
            "context_requests": self.context_requests,
            "rdf_documents": self.rdf_documents,
            "html_documents": self.html_documents,
            "targets": self.targets,
            "quads": self.quads,
            "embedded_documents": self.embedded_documents,
            "embedded_quads": self.embedded_quads,
            **(
                {"browser_pages": self.browser_pages, "browser_requests": self.browser_requests}
                if self.browser_pages or self.browser_requests
                else {}
            ),
            "harvest_rate": round(self.harvest_rate, 6),
            "bytes": self.bytes,
            "outcomes": self.outcomes,
            "not_read": self.unread,
            "read_with_errors": self.with_errors,
            "found_by": {way: asdict(sums) for way, sums in self.found_by.items()},
            "hosts": {
                name: {
                    "requests": host.requests,
                    "rdf_documents": host.rdf_documents,
                    "html_documents": host.html_documents,
                    **({"images": host.images} if host.images else {}),
                    "targets": host.targets,
                    "quads": host.quads,
                    "harvest_rate": round(host.harvest_rate, 6),
                }
                for name, host in self.hosts.items()
            },
        }


#: outcomes of documents and pages of which something was read
_READ = (FetchOutcome.FETCHED_RDF, FetchOutcome.FETCHED_HTML)
#: begins the type of a body in a known format that is not read
_UNREAD = f"{Kind.OTHER}:"
_STOPPED = select(func.count()).where(Fetch.reasons.contains(f": {STOPPED}"))


class Sums:
    """Adds up attempts, which come in the order of their rows: :data:`COLUMNS` of each.

    Documents and pages count once, by their last attempt, as in ``quads.nq``. One that has changed
    counts with its new quads; one that is gone does not count. ``threshold``: least relevance of a
    target, if there is a topic.
    """

    def __init__(self, targets: Targets | None = None, threshold: float = 0.0) -> None:
        self._targets = targets or Targets()
        self._threshold = threshold
        self._summary = Summary()
        self._outcomes: Counter[str] = Counter()
        self._missed = Missed()
        self._ways: defaultdict[str, WaySummary] = defaultdict(WaySummary)
        kinds = (FetchOutcome.FETCHED_RDF, FetchOutcome.FETCHED_HTML, FetchOutcome.FETCHED_IMAGE)
        #: by outcome and final URL: host, quads and way
        self._found: dict[str, dict[str, tuple[HostSummary, int, WaySummary]]] = {
            kind: {} for kind in kinds
        }
        self._wanted: dict[str, HostSummary] = {}
        self._unread: dict[str, str] = {}
        self._faulty: set[str] = set()
        #: by host, with its port
        self._hosts: dict[str, HostSummary] = {}

    def add(self, row: Sequence[Any]) -> None:
        """Add an attempt."""
        url, final_url, outcome, status, quads, size, rules, way, errors, *judged = row
        media_type, relevance, real_type, has_errors = judged
        summary, found, wanted = self._summary, self._found, self._wanted
        self._unread.pop(url, None)
        self._faulty.discard(url)
        if has_errors and outcome in _READ:
            self._faulty.add(url)
        if real_type.startswith(_UNREAD):
            self._unread[url] = real_type.removeprefix(_UNREAD)
        summary.bytes += size
        if is_part(rules):
            summary.browser_requests += was_sent(outcome, errors)
            return
        self._outcomes[outcome] += 1
        if is_robots(url, outcome):
            summary.robots_requests += 1
            return
        summary.browser_pages += real_type == RENDERED
        if is_errand(rules):
            summary.context_requests += was_sent(outcome, errors)
            return
        # if nothing was there, that is no failure
        guess = is_guess(rules) or way in TRIED_UNLINKED
        if not guess:
            self._missed.note(url, final_url, outcome, status, errors)
        host, found_by = self._hosts.setdefault(netloc_of(url), HostSummary()), self._ways[way]
        if was_sent(outcome, errors):
            summary.requests += 1
            host.requests += 1
            found_by.requests += 1
        host.errors += outcome in PROBLEMS and not guess
        if outcome == FetchOutcome.FETCHED_RDF or means_gone(outcome, status):
            for known in found.values():
                known.pop(url, None)
            wanted.pop(url, None)
        if outcome in found:
            found[outcome][final_url or url] = host, quads, found_by
        if outcome in _KINDS:
            wanted.pop(final_url or url, None)
            about_it = relevance is None or relevance >= self._threshold
            if about_it and (
                outcome == FetchOutcome.FETCHED_IMAGE
                or self._targets.include(_KINDS[outcome], media_type, quads, url=url)
            ):
                wanted[final_url or url] = host

    @property
    def requests(self) -> int:
        """Requests so far."""
        return self._summary.requests

    @property
    def targets(self) -> int:
        """Targets so far."""
        return len(self._wanted)

    def summary(self) -> Summary:
        """Return the sums so far; more attempts may follow."""
        ways = {way: WaySummary(sums.requests) for way, sums in self._ways.items()}
        hosts = {
            name: HostSummary(requests=host.requests, errors=host.errors)
            for name, host in self._hosts.items()
        }
        renewed = {id(host): hosts[name] for name, host in self._hosts.items()}
        renewed_ways = {id(sums): ways[way] for way, sums in self._ways.items()}
        summary = replace(
            self._summary,
            missed=self._missed.by_reason(),
            with_errors=len(self._faulty),
            unread=dict(Counter(self._unread.values()).most_common()),
            outcomes=dict(sorted(self._outcomes.items())),
        )
        documents, pages, images = (known.values() for known in self._found.values())
        for host, _, _ in images:
            renewed[id(host)].images += 1
        for old, quads, way in documents:
            host, found_by = renewed[id(old)], renewed_ways[id(way)]
            summary.rdf_documents += 1
            summary.quads += quads
            host.rdf_documents += 1
            found_by.rdf_documents += 1
            host.quads += quads
        for old, quads, way in pages:
            summary.html_documents += 1
            renewed[id(old)].html_documents += 1
            renewed_ways[id(way)].html_documents += 1
            summary.embedded_documents += quads > 0
            summary.embedded_quads += quads
        for host in self._wanted.values():
            summary.targets += 1
            renewed[id(host)].targets += 1
        summary.found_by = {way: sums for way, sums in sorted(ways.items()) if way}
        summary.hosts = dict(
            sorted(hosts.items(), key=lambda pair: (-pair[1].targets, -pair[1].requests, pair[0]))
        )
        return summary


#: what :class:`Sums` adds up
COLUMNS = (
    Fetch.url, Fetch.final_url, Fetch.outcome, Fetch.status, Fetch.quads, Fetch.bytes,
    Fetch.rules, Fetch.found_by, func.substr(Fetch.errors, 1, len(ROBOTS_FIRST)),
    Fetch.content_type, Fetch.relevance, Fetch.real_type, Fetch.errors.contains(ERRORS),
)  # fmt: skip


def summarise(engine: Engine, targets: Targets | None = None, threshold: float = 0.0) -> Summary:
    """Add up the table ``fetch``, over all runs of the job, as :class:`Sums` does."""
    sums = Sums(targets, threshold)
    with Session(engine) as session:
        stopped = session.scalar(_STOPPED) or 0
        for row in session.execute(select(*COLUMNS).order_by(Fetch.id)).yield_per(1000):
            sums.add(row)
    return replace(sums.summary(), checks_stopped=stopped)


def last_problem(engine: Engine) -> str:
    """Return the error of the last failed attempt; empty if there is none."""
    failed = (
        select(Fetch.errors)
        .where(Fetch.outcome.in_(map(str, PROBLEMS)), Fetch.errors != "")
        .where(Fetch.outcome != FetchOutcome.HOST_DOWN)
        .order_by(Fetch.id.desc())
        .limit(1)
    )
    with Session(engine) as session:
        return (session.scalar(failed) or "").partition("\n")[0]
