"""Running totals of a crawl, for displays."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.web.hosts import netloc_of

#: outcomes of attempts that sent nothing, and those that count as errors
UNSENT = frozenset(outcome for outcome in FetchOutcome if not outcome.means.sent)
PROBLEMS = frozenset(outcome for outcome in FetchOutcome if outcome.means.problem)
#: prefix of the error of a link that was not sent because its robots.txt could not be fetched
ROBOTS_FIRST = "robots.txt: "
#: hosts shown as current
_CURRENT_HOSTS = 3


def was_sent(outcome: str, errors: str) -> bool:
    """Whether an attempt with this outcome and these errors sent a request for its URL."""
    return outcome not in UNSENT and not errors.startswith(ROBOTS_FIRST)


def is_context_fetch(rules: str | Iterable[str]) -> bool:
    """Whether an attempt with these rules fetched a JSON-LD context."""
    return "context" in (rules.split() if isinstance(rules, str) else rules)


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

    #: requests sent, except for robots.txt and JSON-LD contexts
    requests: int = 0
    #: requests sent for JSON-LD contexts
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
        if is_context_fetch(record.rules):
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
