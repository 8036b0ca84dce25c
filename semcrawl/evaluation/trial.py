"""Measures one run of a strategy on a world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from semcrawl.evaluation.graph import SiteMap
from semcrawl.evaluation.metrics import (
    LabelFigures,
    RuleTable,
    Truth,
    auc,
    auc_relative,
    depth_histogram,
    label_figures,
    requests_to,
    rule_table,
)
from semcrawl.evaluation.run import Run
from semcrawl.evaluation.world import status_class
from semcrawl.relevance import Label


@dataclass(frozen=True)
class Trial:
    """The figures of one strategy on one world with one seed."""

    strategy: str
    seed: int
    #: distinct targets after each request made
    curve: Sequence[int]
    auc: int
    auc_relative: float | None
    requests_to_50: int | None
    requests_to_90: int | None
    labels: Mapping[Label, LabelFigures] = field(default_factory=dict)
    rules: RuleTable = field(default_factory=RuleTable)
    depths: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    #: microseconds of the strategy per judged link
    link_time: float | None = None
    error: str = ""
    #: in a topical crawl: documents that it took for targets, and how many of these are targets
    kept: tuple[int, int] = (0, 0)
    #: number of distinct statements in the fetched RDF documents
    statements: int | None = None
    #: number of targets in the world
    targets: int = 0
    #: number of targets by how they were found
    found_by: Mapping[str, int] = field(default_factory=dict)
    #: URL requested → class of its status, true label; only in runs as in the thesis, like the
    #: next two
    met: Mapping[str, tuple[str, Label | None]] = field(default_factory=dict)
    #: targets with an extension or a content type of RDF; RDF documents among links labelled N
    clear: int = 0
    called_n: int = 0

    @property
    def found(self) -> int:
        """Distinct targets found."""
        return self.curve[-1] if self.curve else 0

    @property
    def requests(self) -> int:
        """Requests made."""
        return len(self.curve)


def measure(
    run: Run,
    truth: Truth,
    site: SiteMap,
    bound: Sequence[int],
    budget: int,
    *,
    topical: bool,
    thesis: bool = False,
) -> Trial:
    """Return the figures of a run.

    ``bound`` is what the areas are related to, over ``budget`` requests; a ``topical`` crawl has
    no labels, which speak of RDF. A run as in the ``thesis`` also keeps what it met.
    """
    targets = bound[-1] if bound else 0
    area = auc(run.curve, budget)
    judged = bool(run.fetches) and bool(run.judged) and not topical
    return Trial(
        strategy=run.strategy,
        seed=run.seed,
        curve=run.curve,
        auc=area,
        auc_relative=auc_relative(run.curve, bound, budget) if targets else None,
        requests_to_50=requests_to(run.curve, 0.5 * targets) if targets else None,
        requests_to_90=requests_to(run.curve, 0.9 * targets) if targets else None,
        labels=label_figures(run, truth) if judged else {},
        rules=rule_table(run, truth) if judged else RuleTable(),
        depths=depth_histogram(run),
        link_time=1e6 * run.seconds / run.ranked if run.ranked else None,
        error=run.error,
        kept=_kept(run, truth, site),
        targets=len(site.target_depth),
        statements=run.statements if run.fetches else None,
        found_by=Counter(str(fetch.found_by) for fetch in run.fetches if fetch.new_target),
        met={
            fetch.url: (status_class(fetch.status), truth.label(fetch.url))
            for fetch in (run.fetches if thesis else ())
        },
        clear=sum(fetch.new_target and truth.is_clear(fetch.url) for fetch in run.fetches),
        called_n=_called_n(run, truth) if thesis else 0,
    )


def _called_n(run: Run, truth: Truth) -> int:
    """Count the RDF documents among the links that a run labelled N."""
    named = (url for url, judged in run.judged.items() if judged[0] is Label.N)
    return sum(truth.label(url) is Label.R for url in named)


def _kept(run: Run, truth: Truth, site: SiteMap) -> tuple[int, int]:
    """Count the documents that a run took for targets, and the true targets among them."""
    kept = {truth.document(fetch.url) for fetch in run.fetches if fetch.kept}
    return len(kept), len(kept & site.target_depth.keys())
