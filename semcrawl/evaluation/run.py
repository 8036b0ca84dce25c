"""A run of a strategy in a world: its requests and their results."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from semcrawl.evaluation.graph import IsTarget
from semcrawl.evaluation.nodes import Node
from semcrawl.relevance.contract import Label
from semcrawl.web.vocabulary import FoundBy, Kind


@dataclass(frozen=True, slots=True)
class Fetch:
    """One request of a run."""

    url: str
    #: the link's URL, which differs from ``url`` after a redirect
    asked: str
    status: int
    #: real type of the body; ``None`` without one, after a redirect, an error or the filter
    kind: Kind | None
    label: Label
    rules: tuple[str, ...]
    parent: str | None
    depth: int
    #: whether it found a new target
    new_target: bool = False
    #: abandoned after its headers (the content-type filter)
    filtered: bool = False
    #: the crawl took it for a target
    kept: bool = False
    #: how it was found
    found_by: FoundBy = FoundBy.LINK


@dataclass
class Run:
    """One strategy's run in a world."""

    world: str
    strategy: str
    seed: int = 0
    fetches: list[Fetch] = field(default_factory=list)
    #: number of distinct targets after each request
    curve: list[int] = field(default_factory=list)
    #: URL of each judged link → (label, rules, parent) of the judgement that counted
    judged: dict[str, tuple[Label, tuple[str, ...], str]] = field(default_factory=dict)
    #: number of judged links, with duplicates, and the strategy's total seconds
    ranked: int = 0
    seconds: float = 0.0
    #: number of distinct statements in the RDF documents
    statements: int = 0
    #: why the run failed; empty if it did not
    error: str = ""
    #: names of the targets, and hashes of the statements
    _targets: set[str] = field(default_factory=set, repr=False, compare=False)
    _said: set[int] = field(default_factory=set, repr=False, compare=False)

    def add(self, fetch: Fetch, node: Node, is_target: IsTarget) -> None:
        """Record a request, and whether it found a new target."""
        if fetch.kind is Kind.RDF:
            self._said.update(node.statements)
            self.statements = len(self._said)
        if fetch.kind is not None and is_target(node):
            document = node.answer.document or fetch.url
            if document not in self._targets:
                self._targets.add(document)
                fetch = replace(fetch, new_target=True)
        self.fetches.append(fetch)
        self.curve.append(len(self._targets))

    @property
    def order(self) -> list[str]:
        """URLs in the order of their requests."""
        return [fetch.url for fetch in self.fetches]

    @property
    def found(self) -> int:
        """Distinct targets found."""
        return self.curve[-1] if self.curve else 0

    @property
    def requests(self) -> int:
        """Requests made; fewer than allowed if the frontier became empty."""
        return len(self.fetches)
