"""The contract of a relevance strategy: what to fetch next.

A strategy puts every link in a *group* and gives every group a *value*; the frontier hands
out the best group's first link. Inside a group links go by ascending ``key``, ties first in,
first out. Values may change at any time, and keys of waiting links may be updated in place
(:meth:`Relevance.rekeyed`). A strategy knows nothing of Scrapy or Redis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, Self, runtime_checkable

from semcrawl.links import Link, Page
from semcrawl.web.vocabulary import Kind


class Label(StrEnum):
    """Prediction for a link before it is fetched (sources.md T.1)."""

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


@dataclass(frozen=True, slots=True)
class Ranked:
    """A link with the strategy's judgement."""

    link: Link
    label: Label
    #: group that the link waits in; ``None`` = dropped, and not judged again unless it is found
    #: with other texts or attributes
    group: str | None
    #: place inside the group: smaller first, ties first in, first out
    key: float = 0.0
    #: names of the rules that held (``ex1``, ``an2``, ``r1`` …), in a fixed order
    rules: tuple[str, ...] = ()
    #: numbers of the judgement, which come back to the strategy with the link's outcome,
    #: in whichever worker
    judged: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a fetch; the strategy learns it once per fetched link.

    ``kind`` is ``None`` when nothing usable came (error, refused, filtered, too large).
    A redirect is no outcome: the strategy hears of the link again when its target is known.
    """

    url: str
    kind: Kind | None
    #: does it count as a target of this crawl (by default: is it RDF)?
    target: bool
    final_url: str = ""
    #: page on which the link was first found; ``None`` for seeds
    parent: str | None = None
    depth: int = 0
    status: int | None = None
    label: Label = Label.H
    rules: tuple[str, ...] = ()
    group: str = ""
    #: the document had been had before under another URL
    duplicate: bool = False
    #: links of this page that entered the frontier (were neither dropped nor seen before)
    new_links: tuple[Ranked, ...] = ()
    #: family of its link (:mod:`semcrawl.relevance.families`), which other workers do not hear of
    family: str = ""
    #: where its redirects led, known already or not, else the hash of a page; other workers do not
    #: hear of it
    led_to: str = ""
    #: what the crawl's topic makes of the document, 0 to 1; ``None`` without a topic
    relevance: float | None = None
    #: how much of a target it is, 0 to 1 (:func:`semcrawl.relevance.grading.grade`); ``None``: 1
    #: for a target, 0 for everything else
    gain: float | None = None

    @property
    def worth(self) -> float:
        """How much of a target it is, 0 to 1; a copy is nothing new."""
        if self.duplicate:
            return 0.0
        return float(self.target) if self.gain is None else self.gain

    @property
    def wanted(self) -> bool:
        """Whether it is what label R promises: RDF, or another target of this crawl."""
        return self.target or self.kind is Kind.RDF


@runtime_checkable
class Relevance(Protocol):
    """One strategy. Instances are made by :meth:`from_settings` and belong to one crawl."""

    #: name on the command line
    name: str

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Make a strategy from ``SEMCRAWL_*`` settings; raise ``UsageError`` for wrong ones."""
        ...

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        """Judge the links of a page, in their order; exactly one result per link."""
        ...

    def learn(self, outcome: Outcome) -> None:
        """Take in what a fetch turned out to be (this worker's or another's)."""
        ...

    def taken(self, urls: Sequence[str]) -> None:
        """Hear that these links are being fetched and their outcomes are yet to come."""
        ...

    def values(self) -> Mapping[str, float]:
        """Values of the groups (larger first) that are new or changed since the last call."""
        ...

    def rekeyed(self) -> Mapping[str, float]:
        """New keys by URL of waiting links whose key changed since the last call."""
        ...

    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Say in (topic, text) rows why the link is ranked as it is."""
        ...

    def dump_state(self) -> bytes:
        """Everything learned, as bytes that :meth:`load_state` reads; ``b""`` if nothing."""
        ...

    def load_state(self, state: bytes) -> None:
        """Continue with a saved state; raise ``UsageError`` for a foreign one."""
        ...


@runtime_checkable
class Restrained(Protocol):
    """A strategy that limits the requests in flight while it knows little.

    Optional: who takes links off the frontier asks for it before every take.
    """

    def room(self, in_flight: int) -> int:
        """How many more fetches to start while ``in_flight`` are under way; > 0 when none is."""
        ...


@runtime_checkable
class Rekeying(Protocol):
    """A strategy that may give waiting links new keys; optional, asked once per crawl.

    The crawler then remembers where links wait, and passes on :meth:`Relevance.rekeyed`.
    """

    #: whether it does
    rekeys: bool


@runtime_checkable
class Citing(Protocol):
    """A strategy to which a link counts where it is known already, as a vote; optional."""

    def cited(self, page: Page, links: Sequence[Link]) -> None:
        """Hear of all links of a page, or of a part of it, before the new ones are ranked."""
        ...


@runtime_checkable
class Weighing(Protocol):
    """A strategy that knows how important pages are; optional."""

    def importance(self, url: str) -> float:
        """PageRank of a page, as far as it is known: 1 on average, or less where rank is lost."""
        ...


@runtime_checkable
class Selective(Protocol):
    """A strategy that learns nothing from some outcomes; optional, asked after each fetch."""

    def worth_telling(self, outcome: Outcome) -> bool:
        """Whether other workers' strategies learn anything from an outcome."""
        ...


@runtime_checkable
class Synchronised(Protocol):
    """A strategy that is to learn the same in all workers; optional.

    Called once, before anything is learned, when several workers process all outcomes in one order.
    """

    def keep_in_step(self) -> None:
        """From now on learn only from outcomes, in the order in which they come."""
        ...


@runtime_checkable
class Forecasting(Protocol):
    """A strategy that expects a number of targets from the next requests; optional.

    Asked when the crawl's patience has run out. It may look at every waiting link.
    """

    def expected_next(self, requests: int) -> float:
        """Targets that the next ``requests`` requests are expected to bring."""
        ...


@runtime_checkable
class Estimating(Protocol):
    """A strategy that estimates the targets left; optional, called once at a crawl's end."""

    def expected_remaining(self) -> float:
        """Targets expected among the waiting links and on the pages that they lead to."""
        ...


@runtime_checkable
class Pretrained(Protocol):
    """A strategy that can start from what another crawl learned; optional."""

    def load_model(self, state: bytes) -> None:
        """Start from another crawl's state; raise ``UsageError`` as ``load_state`` does."""
        ...
