"""Studies: strategies over worlds and seeds, beside references.

Two reference crawlers that know the whole site in advance.

``omniscient`` knows the link graph and always takes the cheapest path to the richest page; areas
are given relative to its area. ``perfect-links`` fetches only targets, as if each were a seed.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, Self

from semcrawl.errors import SemcrawlError
from semcrawl.lab.graph import Aim, IsTarget, LinkGraph, SiteMap, graph_of, is_rdf, map_site
from semcrawl.lab.metrics import (
    LabelFigures,
    RuleTable,
    Truth,
    area_budget,
    auc,
    auc_relative,
    depth_histogram,
    harvest_rate,
    label_figures,
    requests_to,
    rule_table,
)
from semcrawl.lab.rivals import RIVALS
from semcrawl.lab.simulator import Run, simulate
from semcrawl.lab.worlds import Aimed, Labelled, World, status_class
from semcrawl.lab.worldsets import WorldSet
from semcrawl.relevance import Label, Relevance
from semcrawl.relevance.focus import about_text
from semcrawl.sources.endpoints import endpoint_of_seed
from semcrawl.web.vocabulary import AMBIGUOUS_MEDIA_TYPES


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


REFERENCES = ("omniscient", "perfect-links")


def reference_curve(name: str, site: SiteMap, budget: int) -> list[int]:
    """Return the curve of a reference, one of :data:`REFERENCES`."""
    return {"omniscient": omniscient, "perfect-links": perfect_links}[name](site, budget)


def perfect_links(site: SiteMap, budget: int) -> list[int]:
    """Return the targets after each of ``budget`` requests if every request is a target."""
    total = len(site.target_depth)
    return [min(i + 1, total) for i in range(budget)]


def omniscient(site: SiteMap, budget: int) -> list[int]:
    """Return the targets after each request of a greedy crawler that knows the graph.

    Each step takes the page with the most new targets per request: g / (p + g) for its g unfetched
    targets and the p unfetched pages on the shortest path to it, itself included. Then it fetches
    the path and those targets. Ties go to the page nearest to the start. Targets that are starts
    come first. A page may also be a target.
    """
    parent: dict[str, str | None] = dict.fromkeys(site.starts)
    queue = deque(site.starts)
    while queue:
        page = queue.popleft()
        for child in site.pages.get(page, ((), ()))[0]:
            if child not in parent:
                parent[child] = page
                queue.append(child)

    paths: dict[str, list[str]] = {}  # rich page → pages to fetch, itself first
    below: dict[str, list[str]] = defaultdict(list)  # page → rich pages whose path it is on
    holders: dict[str, list[str]] = defaultdict(list)  # target → rich pages
    for page in parent:
        targets = site.pages.get(page, ((), ()))[1]
        if not targets:
            continue
        path = paths[page] = []
        step: str | None = page
        while step is not None:
            path.append(step)
            below[step].append(page)
            step = parent[step]
        for target in targets:
            holders[target].append(page)

    rank = {page: number for number, page in enumerate(paths)}
    cost = {page: len(path) for page, path in paths.items()}
    gain = {page: len(site.pages[page][1]) for page in paths}

    def worth(page: str) -> tuple[float, int, str]:
        return -gain[page] / (cost[page] + gain[page]), rank[page], page

    fetched: set[str] = set()
    had: set[str] = set()
    curve: list[int] = []
    changed: set[str] = set()

    def fetch(document: str) -> None:
        """Fetch a page, a target, or a page that is a target."""
        if document in parent:
            fetched.add(document)
            for rich in below[document]:
                cost[rich] -= 1
                changed.add(rich)
        if document in site.target_depth:
            had.add(document)
            for rich in holders[document]:
                gain[rich] -= 1
                changed.add(rich)
        curve.append(len(had))

    for target, depth in site.target_depth.items():
        if not depth:
            fetch(target)
    heap = [worth(page) for page in paths if gain[page]]
    heapq.heapify(heap)
    while heap and len(curve) < budget:
        entry = heapq.heappop(heap)
        best = entry[2]
        if not gain[best] or entry != worth(best):
            continue  # stale: the current entry comes later
        changed.clear()
        for page in reversed(paths[best]):
            if page not in fetched:
                fetch(page)
        for target in site.pages[best][1]:
            if target not in had:
                fetch(target)
        for rich in changed:
            if gain[rich]:
                heapq.heappush(heap, worth(rich))
    curve = curve[:budget]
    return curve + [curve[-1] if curve else 0] * (budget - len(curve))


#: Names of the strategies in the thesis.
TITLES: Mapping[str, str] = {
    "breadth-first": "BC",
    "rules": "FC-R",
    "rules-parents": "FC-R+HR",
    "association-rules": "FC-R2",
    "url-distance": "FC-R+HR2",
}

#: Classes that stand for a strategy where crawls run as in the thesis.
THESIS_CLASSES: Mapping[str, str] = {
    "breadth-first": "semcrawl.relevance.orders.Traditional",
}

#: Settings that undo our departures from the thesis.
THESIS_SETTINGS: Mapping[str, Any] = {
    "SEMCRAWL_PROMOTE_WAITING": False,
    "SEMCRAWL_KEEP_UNLIKELY": False,
    "SEMCRAWL_AMBIGUOUS_TYPES": [],
    "SEMCRAWL_MAX_LINKS_PER_PAGE": 500,
    "SEMCRAWL_FORESEE_SLASHES": False,
    "RETRY_TIMES": 0,
    "SEMCRAWL_SITEMAPS": "never",
    "SEMCRAWL_CATALOGUES": False,
    "SEMCRAWL_NEGOTIATION": "never",
    "SEMCRAWL_WELL_KNOWN": [],
}

#: Makes a strategy by name for a set of settings; may raise anything.
Load = Callable[[str, Mapping[str, Any]], Relevance]
#: Crawls a world with a strategy, given its name and settings; else like :func:`simulate`.
Crawl = Callable[[LinkGraph, str, Mapping[str, Any], int, int], Run]


@dataclass(frozen=True)
class Plan:
    """The plan of a study."""

    strategies: Sequence[str]
    #: most requests per world and strategy
    pages: int = 2000
    #: runs of a strategy that depends on the seed; of generated worlds, each with its own
    repeat: int = 1
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    #: settings that the user chose, and that thesis mode leaves alone; ``pages``, ``repeat`` and
    #: ``strategies``, where the user chose these
    chosen: frozenset[str] = frozenset()
    is_target: IsTarget = is_rdf
    #: whether links inside RDF documents are followed, as the spider ``rdf`` does
    follow_rdf: bool = False

    def for_set(self, worlds: WorldSet) -> Self:
        """Return the plan for a set, whose strategies and repetitions hold if none are chosen."""
        mine = "strategies" in self.chosen or not worlds.strategies
        return replace(
            self,
            strategies=self.strategies if mine else worlds.strategies,
            repeat=self.repeat if "repeat" in self.chosen else max(self.repeat, worlds.repeat),
        )

    def truth_of(self, world: World, aim: Aim | None = None) -> IsTarget:
        """Return what counts as found in a world: as the world knows, or as the topic judges."""
        if isinstance(world, Labelled):
            topical = world.topical
            return lambda node: node.answer.is_success and topical(node.answer.document)
        if aim is None:
            return self.is_target
        return lambda node: aim.reached(node)

    def settings_for(self, thesis: bool, seed: int) -> dict[str, Any]:
        """Return the settings of one run."""
        settings = dict(self.settings)
        if thesis:
            settings |= {k: v for k, v in THESIS_SETTINGS.items() if k not in self.chosen}
        return settings | {"SEMCRAWL_RANDOM_SEED": seed}


@dataclass
class WorldResult:
    """The results of a study on one world.

    A generated world is another in each repetition. Trials are measured on their own; all else is
    of the first one.
    """

    world: str
    hosts: Sequence[str]
    starts: Sequence[str]
    site: SiteMap
    #: requests over which areas are taken
    budget: int
    bound: Sequence[int]
    #: the topic of the crawls; empty for crawls for RDF
    about: str = ""
    #: requests at most
    pages: int = 0
    #: strategy → its trials, one per seed
    trials: dict[str, list[Trial]] = field(default_factory=dict)
    #: URLs that any run of the first repetition requested, by outcome, and documents by type
    merged: Mapping[str, int] = field(default_factory=dict)
    #: fault of the world; empty = none
    problem: str = ""


@dataclass
class SetResult:
    """The results of a study on a set of worlds."""

    name: str
    thesis: bool
    worlds: list[WorldResult] = field(default_factory=list)
    #: measurements other than crawls, one of each repetition
    figures: list[Mapping[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a study."""

    world: str
    strategy: str
    seed: int
    requests: int
    found: int
    finished: bool = False
    note: str = ""


def simulated(load: Load, plan: Plan, report: Callable[[Progress], None]) -> Crawl:
    """Return a function that crawls offline."""

    def crawl(
        graph: LinkGraph, name: str, settings: Mapping[str, Any], pages: int, seed: int
    ) -> Run:
        def progress(run: Run) -> None:
            if not run.requests % 200:
                report(Progress(run.world, name, seed, run.requests, run.found))

        aim = Aim.from_settings(settings)
        return simulate(
            graph,
            load(name, settings),
            pages,
            seed,
            is_target=plan.truth_of(graph.world, aim),
            aim=aim,
            ambiguous_types=_words(settings.get("SEMCRAWL_AMBIGUOUS_TYPES", AMBIGUOUS_MEDIA_TYPES)),
            progress=progress,
        )

    return crawl


def _words(value: str | Collection[str]) -> Collection[str]:
    """Return a list setting, given as text or as a list."""
    words = value.split(",") if isinstance(value, str) else value
    return [word.strip().lower() for word in words]


def study(
    sets: Sequence[WorldSet],
    plan: Plan,
    crawl: Crawl,
    report: Callable[[Progress], None] = lambda progress: None,
    results: list[SetResult] | None = None,
) -> list[SetResult]:
    """Run every strategy on every world.

    A world or strategy that fails is noted in the results; the others go on. A strategy is run
    with further seeds only if its first two runs differ. Every run that has ended is in
    ``results``, a list of the caller's, should a ``KeyboardInterrupt`` come.
    """
    results = [] if results is None else results
    for worlds in sets:
        result = SetResult(worlds.name, worlds.thesis)
        results.append(result)
        mine = plan.for_set(worlds)
        if worlds.again is None:
            for world in worlds.worlds:
                _study_world(world, result, mine, crawl, report)
            result.figures += _measured(worlds, report)
            continue
        for seed in range(mine.seed, mine.seed + mine.repeat):
            each = worlds if seed == mine.seed else worlds.again(seed)
            one = replace(mine, seed=seed, repeat=1)
            for number, world in enumerate(each.worlds):
                _study_world(world, result, one, crawl, report, number)
            result.figures += _measured(each, report)
    return results


def _measured(worlds: WorldSet, report: Callable[[Progress], None]) -> list[Mapping[str, Any]]:
    """Take a set's measurements other than crawls; a fault is recorded as that of a world."""
    if worlds.measure is None:
        return []
    try:
        return [worlds.measure(lambda pages: report(Progress(worlds.name, "", 0, pages, 0)))]
    except (ImportError, OSError, SemcrawlError) as error:
        missing = f"{error.name} is not installed" if isinstance(error, ImportError) else ""
        report(Progress(worlds.name, "", 0, 0, 0, True, missing or str(error)))
        return []


def _study_world(
    world: World,
    into: SetResult,
    plan: Plan,
    crawl: Crawl,
    report: Callable[[Progress], None],
    number: int | None = None,
) -> None:
    """Run every strategy on a world; its result joins the set before the first run.

    ``number``: the place of a repeated world in the set, whose result has the first repetition.
    """
    settings, pages = plan.settings_for(into.thesis, 0), plan.pages
    if isinstance(world, Labelled):
        if "SEMCRAWL_ABOUT" not in plan.chosen:
            settings["SEMCRAWL_ABOUT"] = world.about
        pages = pages if "pages" in plan.chosen else world.requests
        topic = world.topic
    else:
        topic = about_text(settings)
    if topic and "SEMCRAWL_TARGETS" not in plan.chosen:
        settings["SEMCRAWL_TARGETS"] = world.targets if isinstance(world, Aimed) else ""
    report(Progress(world.name, "", 0, 0, 0))
    try:
        aim = Aim.from_settings(settings)
        if aim is not None:
            settings["SEMCRAWL_TARGETS"] = aim.targets.names
        follow_rdf = plan.follow_rdf and not into.thesis
        graph = graph_of(world, settings, aim, follow_rdf=follow_rdf)
        is_target = plan.truth_of(world, aim)
        site = map_site(graph, is_target)
    except (OSError, SemcrawlError) as error:  # such as an unreadable file
        report(Progress(world.name, "", 0, 0, 0, True, str(error)))
        nothing = SiteMap((), {}, {}, {})
        hosts, starts = sorted(world.hosts), world.starts
        failed = WorldResult(
            world.name, hosts, starts, nothing, 0, [], topic, pages, problem=str(error)
        )
        into.worlds.append(failed)
        return
    budget = area_budget(site, pages)
    bound = reference_curve("omniscient", site, budget)
    hosts = sorted(world.hosts)
    repeated = number is not None and number < len(into.worlds)
    if repeated:
        result = into.worlds[number or 0]
    else:
        result = WorldResult(world.name, hosts, world.starts, site, budget, bound, topic, pages)
        into.worlds.append(result)
    result.problem = result.problem or _problem(graph, site)
    if result.problem:
        report(Progress(world.name, "", 0, 0, 0, True, result.problem))
        if not site.pages:
            return
    truth = Truth(graph, is_target)
    asked: dict[str, int] = {}
    for name in plan.strategies:
        orders: list[list[str]] = []
        load = RIVALS.get(name, name)
        if into.thesis:
            load = THESIS_CLASSES.get(load, load)
        for seed in range(plan.seed, plan.seed + plan.repeat):
            if name in REFERENCES:
                run = Run(world.name, name, seed)
                run.curve = reference_curve(name, site, budget)
                orders.append([])
            else:
                run = _run(graph, load, settings, pages, seed, crawl)
                orders.append(run.order)
                asked.update((fetch.url, fetch.status) for fetch in run.fetches)
            if len(orders) == 2 and orders[0] == orders[1]:
                break  # the strategy ignores the seed: one run is enough
            topical = bool(result.about)
            result.trials.setdefault(name, []).append(
                measure(run, truth, site, bound, budget, topical=topical, thesis=into.thesis)
            )
            report(Progress(world.name, name, seed, len(run.curve), run.found, True, run.error))
        if not repeated:
            result.merged = _merge(asked, truth)


def _merge(asked: Mapping[str, int], truth: Truth) -> dict[str, int]:
    """Count the merged crawl graph's URLs by status, and its targets and their parents (T.7)."""
    counts = dict.fromkeys(("success", "redirect", "refused", "error", "targets", "parents"), 0)
    for url, status in asked.items():
        counts[status_class(status)] += 1
        if status == 200:
            label = truth.label(url)
            counts["targets"] += label is Label.R
            counts["parents"] += label is Label.HR
    return counts


def _run(
    graph: LinkGraph,
    name: str,
    settings: Mapping[str, Any],
    pages: int,
    seed: int,
    crawl: Crawl,
) -> Run:
    try:
        return crawl(graph, name, {**settings, "SEMCRAWL_RANDOM_SEED": seed}, pages, seed)
    except SemcrawlError as error:
        return Run(graph.world.name, name, seed, error=str(error))
    except Exception as error:  # whatever a strategy under test may raise while it is made
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        return Run(graph.world.name, name, seed, error=reason)


def _problem(graph: LinkGraph, site: SiteMap) -> str:
    """Return in one line why a world is not a fair test; empty if it is."""
    starts = graph.world.starts
    if not starts:
        return "the world names no start page"
    for start in starts:
        if endpoint_of_seed(start):
            continue  # an endpoint need not have a page
        _, node = graph.follow(start)
        if node.answer.status != 200:
            return f"the start page {start} is missing (status {node.answer.status})"
    if not site.target_depth:
        return "no target can be reached from the start page"
    return ""


def harvest_average(result: SetResult, strategy: str, requests: int) -> float | None:
    """Return the harvest rate after so many requests, averaged over worlds (Figure 4-2).

    The seeds of a world are averaged first, so that every world counts the same.
    """
    rates = [
        fmean(harvest_rate(curve, requests) for curve in curves)
        for world in result.worlds
        if (curves := [trial.curve for trial in world.trials.get(strategy, ()) if trial.curve])
    ]
    return fmean(rates) if rates else None
