"""Every table of the thesis with ours beside it, over all repetitions of a study (T.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from semcrawl.lab.metrics import RuleTable, spread
from semcrawl.lab.study import TITLES, SetResult, Trial, WorldResult
from semcrawl.lab.thesis import figures
from semcrawl.relevance import Label

BC, FC_R, FC_R_HR, FC_R2, FC_R_HR2 = (
    *("breadth-first", "rules", "rules-parents", "association-rules"),
    "url-distance",
)
_STATUSES = ("success", "redirect", "refused", "error")
#: a request from which on the order of the curves must hold
_ORDERED_FROM = 50

#: the trials of one repetition: world → strategy → trial
Repetition = Mapping[str, Mapping[str, Trial]]
#: figures of one repetition, in the order of the thesis's; ``None`` where there is none
Measure = Callable[[Repetition], Sequence[float | None]]


def thesis_tables(result: SetResult) -> list[dict[str, Any]]:
    """Return the tables of a study as plain data.

    A row has the thesis's figures (``None`` = not told) and ours, each with its spread.
    """
    repetitions = _repetitions(result.worlds)
    if not repetitions:
        return []
    names = [world.world for world in result.worlds]
    ran = {name for one in repetitions for trials in one.values() for name in trials}
    places = [(name, place) for place, name in enumerate(figures.DOMAINS) if name in names]
    whole = len(places) == len(figures.DOMAINS)
    tables = [
        _found(places, ran, whole=whole),
        _curves(ran),
        _merged(places, ran, whole=whole),
        _overlap(places, ran, whole=whole),
        _depths(ran if "rossettiarchive" in names else set()),
        _labels(places, ran, whole=whole),
        _rules(ran, whole=whole),
        _kinds(ran, whole=whole),
    ]
    return [
        {
            "title": title,
            "columns": columns,
            "rows": [
                {"what": what, "thesis": list(told), "ours": _spreads(repetitions, measure)}
                for what, told, measure in rows
            ],
        }
        for title, columns, rows in tables
        if rows
    ] + _frameworks(result.figures)


def cells(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the thesis's figures of a row, the means of ours, and their least and most."""
    told = [_number(value) for value in row["thesis"]]
    ours = [_mean(one) for one in row["ours"]]
    least = [
        "–" if one is None else f"{_number(one['low'])}…{_number(one['high'])}"
        for one in row["ours"]
    ]
    return " / ".join(told), " / ".join(ours), " / ".join(least)


def _mean(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "–"
    digits = 1 if abs(one["mean"]) < 100 and one["mean"] != int(one["mean"]) else 0
    mean = f"{one['mean']:,.{digits}f}"
    return f"{mean} ± {one['deviation']:,.{digits}f}" if one["count"] > 1 else mean


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


#: title, columns, rows of (name, figures of the thesis, measure)
Table = tuple[str, str, list[tuple[str, Sequence[float | None], Measure]]]


def _found(places: Sequence[tuple[str, int]], ran: set[str], *, whole: bool) -> Table:
    rows: list[tuple[str, Sequence[float | None], Measure]] = []
    for strategy in (FC_R_HR, BC, FC_R, FC_R2, FC_R_HR2):
        if strategy not in ran:
            continue
        told = figures.FOUND.get(strategy)
        for name, place in places:
            row = (f"{TITLES[strategy]}, {name}", [told[place] if told else None])
            rows.append((*row, _of_trial(name, strategy, lambda trial: [trial.found])))
        if whole:
            total: list[float | None] = [None, None]
            if told:
                total = [sum(told), round(100 * sum(told) / 8000, 2)]
            rows.append((f"{TITLES[strategy]}, all / harvest %", total, _total(strategy)))
    return "RDF documents found", "documents", rows


def _total(strategy: str) -> Measure:
    def measure(one: Repetition) -> Sequence[float | None]:
        trials = [trials[strategy] for trials in one.values() if strategy in trials]
        requests = sum(trial.requests for trial in trials)
        found = sum(trial.found for trial in trials)
        return [found, 100 * found / max(1, requests)]

    return measure


def _curves(ran: set[str]) -> Table:
    """Return how often the order of the harvest curves holds, in % of the repetitions."""
    pairs = [(FC_R_HR, FC_R, ">"), (FC_R, FC_R2, ">"), (FC_R2, BC, ">"), (FC_R_HR2, FC_R, "=")]
    rows: list[tuple[str, Sequence[float | None], Measure]] = []
    for first, second, sign in pairs:
        if first in ran and second in ran:
            name = f"{TITLES[first]} {sign} {TITLES[second]}"
            rows.append((name, [100, 100], _ordered(first, second, sign)))
    columns = f"% of the repetitions: at the end / at each request from the {_ORDERED_FROM}th on"
    return "Order of the harvest curves (Figure 4-2)", columns, rows


def _ordered(first: str, second: str, sign: str) -> Measure:
    def measure(one: Repetition) -> Sequence[float | None]:
        curves = []
        for strategy in (first, second):
            each = [trials[strategy].curve for trials in one.values() if strategy in trials]
            longest = max(map(len, each), default=0)
            curves.append([sum(c[min(n, len(c) - 1)] for c in each if c) for n in range(longest)])
        pairs = list(zip(*curves, strict=False))
        held = [a > b if sign == ">" else a == b for a, b in pairs]
        return [100 * held[-1], 100 * all(held[_ORDERED_FROM - 1 :])] if held else [None, None]

    return measure


def _merged(places: Sequence[tuple[str, int]], ran: set[str], *, whole: bool) -> Table:
    title = "The merged graph of the crawls (Table 4-3)"
    if not ran.issuperset(TITLES):
        return title, "", []

    def statuses(name: str) -> Measure:
        def measure(one: Repetition) -> Sequence[float | None]:
            counts = Counter(status for status, _ in _union(one, [name]).values())
            return [sum(counts.values()), *(counts[status] for status in _STATUSES)]

        return measure

    def sums(one: Repetition) -> Sequence[float | None]:
        labels = Counter(label for _, label in _union(one, list(one)).values())
        return [sum(labels.values()), labels[Label.R], labels[Label.HR]]

    rows: list[tuple[str, Sequence[float | None], Measure]] = []
    for name, _ in places:
        told = figures.MERGED[name]
        rows.append((name, [sum(told), *told], statuses(name)))
    if whole:
        told_sums = [figures.MERGED_URLS, figures.MERGED_RDF, figures.MERGED_PARENTS]
        rows.append(("all: URLs / RDF / parents of RDF", told_sums, sums))
    return title, "URLs / success / redirect / refused / error", rows


def _union(one: Repetition, names: Iterable[str]) -> dict[str, tuple[str, Label | None]]:
    """Return what the thesis's crawlers met in some worlds."""
    met: dict[str, tuple[str, Label | None]] = {}
    for name in names:
        for strategy in TITLES:
            if strategy in one.get(name, {}):
                met |= one[name][strategy].met
    return met


def _overlap(places: Sequence[tuple[str, int]], ran: set[str], *, whole: bool) -> Table:
    rows: list[tuple[str, Sequence[float | None], Measure]] = []
    columns = "documents / RDF among them / RDF that BC told"

    def both(names: Sequence[str]) -> Measure:
        def measure(one: Repetition) -> Sequence[float | None]:
            counts, rdf, told = 0, 0, 0
            for name in names:
                if not {BC, FC_R_HR} <= one.get(name, {}).keys():
                    return [None, None, None]
                first, second = one[name][BC].met, one[name][FC_R_HR].met
                shared = first.keys() & second.keys()
                counts += len(shared)
                rdf += sum(first[url][1] is Label.R for url in shared)
                told += one[name][BC].found
            return [counts, rdf, told]

        return measure

    if {BC, FC_R_HR} <= ran:
        for name, place in places:
            told = [*figures.MET_BY_BOTH[name], figures.FOUND[BC][place]]
            rows.append((name, told, both([name])))
        if whole:
            total = [sum(each) for each in zip(*figures.MET_BY_BOTH.values(), strict=True)]
            names = [name for name, _ in places]
            rows.append(("all", [*total, sum(figures.FOUND[BC])], both(names)))
    return "What BC and FC-R+HR both met (Table 4-4)", columns, rows


def _depths(ran: set[str]) -> Table:
    rows: list[tuple[str, Sequence[float | None], Measure]] = []
    for strategy, depths in figures.DEPTHS.items():
        for depth, told in depths.items() if strategy in ran else ():

            def measure(trial: Trial, depth: int = depth) -> Sequence[float | None]:
                return trial.depths.get(depth, (0, 0))

            name = f"{TITLES[strategy]}, depth {depth}"
            rows.append((name, told, _of_trial("rossettiarchive", strategy, measure)))
    return "Where domain 4 was crawled (Table 4-5)", "requests / RDF found", rows


def _labels(places: Sequence[tuple[str, int]], ran: set[str], *, whole: bool) -> Table:
    rows: list[tuple[str, Sequence[float | None], Measure]] = []
    for label, counts in figures.LABELS.items() if FC_R_HR in ran else ():

        def of_label(trial: Trial, label: str = label) -> Sequence[float | None]:
            one = trial.labels.get(Label(label))
            return [one.predicted, one.fetched, one.right] if one else [0, 0, 0]

        def mean(one: Repetition, label: str = label) -> Sequence[float | None]:
            values = [
                trials[FC_R_HR].labels[Label(label)].precision
                for trials in one.values()
                if FC_R_HR in trials and Label(label) in trials[FC_R_HR].labels
            ]
            known = [value for value in values if value is not None]
            return [100 * sum(known) / len(known) if known else None]

        for name, place in places:
            measure = _of_trial(name, FC_R_HR, of_label)
            rows.append((f"{label}, {name}", counts[place], measure))
        if whole:
            rows.append((f"{label}, mean precision %", [figures.PRECISION[label]], mean))
    title = "Precision of the labels of FC-R+HR (Table 4-6)"
    return title, "predicted / fetched / right", rows


def _rules(ran: set[str], *, whole: bool) -> Table:
    rows: list[tuple[str, Sequence[float | None], Measure]] = []
    for rule, told in figures.RULES.items() if FC_R_HR in ran and whole else ():

        def measure(one: Repetition, rule: str = rule) -> Sequence[float | None]:
            tables = [trials[FC_R_HR].rules for trials in one.values() if FC_R_HR in trials]
            found = sum(tables, RuleTable()).figures().get(rule)
            if found is None:
                return [0, 0]
            return [100 * (found.support or 0), 100 * (found.confidence or 0)]

        rows.append((rule, [told.support, told.confidence], measure))
    return "Rules of FC-R+HR (Figure 4-1)", "support % / confidence %", rows


def _kinds(ran: set[str], *, whole: bool) -> Table:
    rows: list[tuple[str, Sequence[float | None], Measure]] = []

    def called_n(one: Repetition) -> Sequence[float | None]:
        links = [
            (label.fetched, label.right, trials[FC_R2].called_n)
            for trials in one.values()
            if FC_R2 in trials and (label := trials[FC_R2].labels.get(Label.N))
        ]
        fetched = sum(each[0] for each in links)
        right = sum(each[1] for each in links)
        rdf = sum(each[2] for each in links)
        return [fetched, rdf, 100 * right / fetched if fetched else None]

    def clear(one: Repetition) -> Sequence[float | None]:
        trials = [trials[FC_R_HR] for trials in one.values() if FC_R_HR in trials]
        found = sum(trial.found for trial in trials)
        return [100 * sum(trial.clear for trial in trials) / found if found else None]

    if FC_R2 in ran and whole:
        what = "FC-R2's links called N / RDF among them / precision %"
        rows.append((what, figures.CALLED_N, called_n))
    if FC_R_HR in ran and whole:
        what = "FC-R+HR's finds with an extension or content type of RDF, %"
        rows.append((what, [figures.CLEAR], clear))
    return "What was not told", "", rows


def _frameworks(measured: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the table of the frameworks, one measurement for each repetition."""
    rows = [
        {
            "what": what,
            "thesis": [None] * len(first),
            "ours": [asdict(spread(c)) for c in zip(*(m[what] for m in measured), strict=True)],
        }
        for what, first in (measured[0].items() if measured else ())
    ]
    title = "The frameworks, where RDF links on (§4.4, which the thesis leaves open)"
    columns = "RDF after 1,000 requests / 2,000 requests / half an hour at one a second"
    return [{"title": title, "columns": columns, "rows": rows}] if rows else []


def _of_trial(
    world: str, strategy: str, measure: Callable[[Trial], Sequence[float | None]]
) -> Measure:
    def of(one: Repetition) -> Sequence[float | None]:
        trial = one.get(world, {}).get(strategy)
        return [] if trial is None else measure(trial)

    return of


def _spreads(repetitions: Sequence[Repetition], measure: Measure) -> list[dict[str, Any] | None]:
    measured = [values for one in repetitions if (values := measure(one))]
    spreads = []
    for column in zip(*measured, strict=True):
        known = [value for value in column if value is not None]
        spreads.append(asdict(spread(known)) if known else None)
    return spreads


def _repetitions(worlds: Sequence[WorldResult]) -> list[Repetition]:
    """Return the trials of each seed that all worlds have."""
    seeds = [{t.seed for trials in w.trials.values() for t in trials} for w in worlds]
    shared = set.intersection(*seeds) if seeds else set()
    return [
        {
            world.world: {
                name: trial
                for name, trials in world.trials.items()
                for trial in trials
                if trial.seed == seed and trial.curve
            }
            for world in worlds
        }
        for seed in sorted(shared)
    ]
