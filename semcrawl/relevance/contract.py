"""The contract of a strategy, which decides what to fetch next.

A strategy puts every link into a *group* and gives every group a *value*. The frontier leases the
first link of the group with the largest value. Inside a group links are ordered by ascending
``key``, equal ones first in, first out. Values may change at any time, and so may the keys of
waiting links (:meth:`Relevance.rekeyed`). A strategy knows nothing of Scrapy or Redis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, Self, runtime_checkable

from semcrawl.links import Link, Page
from semcrawl.web.vocabulary import Kind


class Label(StrEnum):
    """Predicted class of a link (sources.md T.1)."""

    R = "R"  #: an RDF document
    HR = "HR"  #: an HTML parent of RDF
    H = "H"  #: any other HTML document
    N = "N"  #: everything else

    @classmethod
    def read(cls, text: str) -> Label:
        """Return the label of that name; H for any other text."""
        try:
            return cls(text)
        except ValueError:
            return cls.H


@dataclass(slots=True, unsafe_hash=True)
class Ranked:  # not frozen, for the speed of making one; nothing changes it
    """A link with the strategy's judgement."""

    link: Link
    label: Label
    #: group in which the link waits; ``None`` = dropped, and judged again only if it is found with
    #: other texts or attributes
    group: str | None
    #: order inside the group: smaller first, equal ones first in, first out
    key: float = 0.0
    #: names of the rules that hold (``ex1``, ``an2``, ``r1`` …), in a fixed order
    rules: tuple[str, ...] = ()
    #: numbers behind the judgement; every worker's strategy gets them with the outcome of the page
    judged: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a fetch, which the strategy learns once per fetched link.

    ``kind`` is ``None`` without a usable body (error, refused, filtered, too large). A redirect is
    no outcome; the outcome follows when its target is known.
    """

    url: str
    kind: Kind | None
    #: whether it is a target of this crawl, by default RDF
    target: bool
    final_url: str = ""
    #: page on which the link was first found; ``None`` for seeds
    parent: str | None = None
    depth: int = 0
    status: int | None = None
    label: Label = Label.H
    rules: tuple[str, ...] = ()
    group: str = ""
    #: whether the document was fetched before under another URL
    duplicate: bool = False
    #: links of this page that entered the frontier, neither dropped nor seen before
    new_links: tuple[Ranked, ...] = ()
    #: family of its link (:mod:`semcrawl.relevance.families`); not sent to other workers
    family: str = ""
    #: target of its redirects, known or not, else the hash of a page; not sent to other workers
    led_to: str = ""
    #: relevance of the document to the crawl's topic, 0 to 1; ``None`` without a topic
    relevance: float | None = None
    #: how much of a target it is, 0 to 1 (:func:`semcrawl.relevance.focus.grade`); ``None``: 1
    #: for a target, 0 for everything else
    gain: float | None = None

    @property
    def worth(self) -> float:
        """How much of a target it is, 0 to 1; 0 for a duplicate."""
        if self.duplicate:
            return 0.0
        return float(self.target) if self.gain is None else self.gain

    @property
    def wanted(self) -> bool:
        """Whether label R would be right: it is RDF, or another target of this crawl."""
        return self.target or self.kind is Kind.RDF


@runtime_checkable
class Relevance(Protocol):
    """A strategy, made by :meth:`from_settings` for one crawl."""

    #: name on the command line
    name: str

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Make a strategy from ``SEMCRAWL_*`` settings; raise ``UsageError`` for a wrong one."""
        ...

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        """Judge the links of a page; return one result per link, in the same order."""
        ...

    def learn(self, outcome: Outcome) -> None:
        """Learn the outcome of a fetch by this or another worker."""
        ...

    def taken(self, urls: Sequence[str]) -> None:
        """Note that these links are being fetched; their outcomes follow."""
        ...

    def values(self) -> Mapping[str, float]:
        """Return the group values, larger first, that are new or changed since the last call."""
        ...

    def rekeyed(self) -> Mapping[str, float]:
        """Return new keys by URL, for waiting links whose key changed since the last call."""
        ...

    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Return (topic, text) rows with the reasons for the link's rank."""
        ...

    def dump_state(self) -> bytes:
        """Return everything learned as bytes for :meth:`load_state`; ``b""`` if nothing."""
        ...

    def load_state(self, state: bytes) -> None:
        """Continue with a saved state; raise ``UsageError`` for a foreign one."""
        ...


@runtime_checkable
class Restrained(Protocol):
    """A strategy that limits the requests in flight while it knows little; optional.

    The caller asks before every take.
    """

    def room(self, in_flight: int) -> int:
        """Return how many more fetches to start while ``in_flight`` are under way.

        At least 1 when none is.
        """
        ...


@runtime_checkable
class Rekeying(Protocol):
    """A strategy that may change the keys of waiting links; optional, asked once per crawl.

    The crawler then remembers the groups of waiting links, and passes on :meth:`Relevance.rekeyed`.
    """

    #: whether it changes keys
    rekeys: bool


@runtime_checkable
class Citing(Protocol):
    """A strategy that also uses links to known URLs, as votes; optional."""

    def cited(self, page: Page, links: Sequence[Link]) -> None:
        """Note all links of a page, or of a part of it, before the new ones are ranked."""
        ...


@runtime_checkable
class Ascending(Protocol):
    """A strategy that also judges addresses that no page links to; optional.

    Many of them do not exist.
    """

    #: whether it wants the folders that pages are in, as links of the pages
    ascends: bool
    #: whether it wants documents whose addresses are made from those of pages (``links.twins``)
    guesses: bool


@runtime_checkable
class Weighing(Protocol):
    """A strategy that knows the importance of pages; optional."""

    def importance(self, url: str) -> float:
        """Return the PageRank of a page as far as known; 1 on average, less where rank is lost."""
        ...


@dataclass(frozen=True, slots=True)
class ScoredDomain:
    """A strategy's judgement of a pay-level domain."""

    name: str
    #: w0 + w1·x1 + w2·x2 + w3·x3
    estimate: float
    #: w0 … w3
    weights: tuple[float, float, float, float]
    learning_rate: float


@runtime_checkable
class Scoring(Protocol):
    """A strategy that scores pages and domains; optional, asked at the end of a crawl."""

    def page_score(self, url: str) -> float:
        """Return the score of a page."""
        ...

    def scored_domains(self) -> list[ScoredDomain]:
        """Return the scores of all domains."""
        ...


@runtime_checkable
class Selective(Protocol):
    """A strategy that learns nothing from some outcomes; optional, asked after each fetch."""

    def worth_telling(self, outcome: Outcome) -> bool:
        """Whether other workers' strategies would learn from an outcome."""
        ...


@runtime_checkable
class Synchronised(Protocol):
    """A strategy that can learn the same in all workers; optional.

    It is told once, before anything is learned, when several workers learn all outcomes in the same
    order.
    """

    def keep_in_step(self) -> None:
        """Learn from now on only from outcomes, in their order."""
        ...


@runtime_checkable
class Forecasting(Protocol):
    """A strategy that predicts the targets of the next requests; optional.

    It is asked when the crawl's patience has run out, and may examine every waiting link.
    """

    def expected_next(self, requests: int) -> float:
        """Return the expected number of targets from the next ``requests`` requests."""
        ...


@runtime_checkable
class Estimating(Protocol):
    """A strategy that estimates the targets left; optional, asked once at a crawl's end."""

    def expected_remaining(self) -> float:
        """Return the expected number of targets among waiting links and the pages behind them."""
        ...


@runtime_checkable
class Pretrained(Protocol):
    """A strategy that can start from what another crawl learned; optional."""

    def load_model(self, state: bytes) -> None:
        """Start from another crawl's state; raise ``UsageError`` as ``load_state`` does."""
        ...
