"""Converts a study's results to plain data for ``results.json``.

``docs/evaluation.md`` says what each figure means.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import semcrawl
from semcrawl.lab.metrics import Comparison, RuleTable, compare, harvest_rate, padded, spread
from semcrawl.lab.study import TITLES, Plan, SetResult, Trial, WorldResult, harvest_average
from semcrawl.lab.thesis.comparison import thesis_tables
from semcrawl.relevance import Label

#: points kept per curve
_POINTS = 200
#: version of the layout
VERSION = 1


def as_data(results: Sequence[SetResult], plan: Plan, mode: str) -> dict[str, Any]:
    """Return all results as dictionaries, lists, numbers and strings."""
    return {
        "version": VERSION,
        "semcrawl": getattr(semcrawl, "__version__", ""),
        "mode": mode,
        "pages": plan.pages,
        "repeat": plan.repeat,
        "seed": plan.seed,
        "strategies": [{"name": name, "title": TITLES.get(name, name)} for name in plan.strategies],
        "sets": [_set(result, plan) for result in results],
    }


def _set(result: SetResult, plan: Plan) -> dict[str, Any]:
    pages = max((world.pages for world in result.worlds), default=0) or plan.pages
    points = checkpoints(pages)
    names = _strategies(result)
    return {
        "name": result.name,
        "thesis": result.thesis,
        "repeat": max((len(t) for w in result.worlds for t in w.trials.values()), default=1),
        "worlds": [_world(world) for world in result.worlds],
        "requests": points,
        "figures": _over_seeds(result.figures) if result.figures else {},
        "repetitions": [dict(each) for each in result.figures],
        "tables": thesis_tables(result) if result.thesis else [],
        "strategies": {name: _average(result, name, points) for name in names},
        "comparisons": [
            asdict(comparison)
            for first, second in itertools.combinations(names, 2)
            if (comparison := _compare(result, first, second, plan.seed)) is not None
        ],
    }


def _strategies(result: SetResult) -> list[str]:
    """Return the names of the strategies that ran, in order."""
    return list(dict.fromkeys(name for world in result.worlds for name in world.trials))


def _world(world: WorldResult) -> dict[str, Any]:
    points = checkpoints(world.budget)
    return {
        "name": world.world,
        "hosts": list(world.hosts),
        "starts": list(world.starts),
        "problem": world.problem,
        "about": world.about,
        "html": len(world.site.pages),
        "targets": len(world.site.target_depth),
        "parents": world.site.parents,
        "target_depths": {
            str(depth): count
            for depth, count in sorted(Counter(world.site.target_depth.values()).items())
        },
        "budget": world.budget,
        "merged": dict(world.merged),
        "requests": points,
        "bound": {
            "found": world.bound[-1] if world.bound else 0,
            "auc": sum(world.bound),
            "curve": [world.bound[p - 1] for p in points],
        },
        "strategies": {
            name: _trials(trials, world, points) | _about(trials, world)
            for name, trials in world.trials.items()
        },
    }


def _trials(trials: Sequence[Trial], world: WorldResult, points: Sequence[int]) -> dict[str, Any]:
    """Return the figures of one strategy on one world, over its seeds."""
    good = [trial for trial in trials if trial.curve]
    data: dict[str, Any] = {
        "errors": [f"seed {t.seed}: {t.error}" for t in trials if t.error],
        "seeds": [trial.seed for trial in trials],
    }
    if not good:
        return data
    first = good[0]
    curves = [padded(trial.curve, world.budget) for trial in good]
    return data | {
        "found": _spread([trial.found for trial in good]),
        "requests": _spread([trial.requests for trial in good]),
        "harvest_rate": _spread([t.found / t.requests for t in good]),
        "auc": _spread([trial.auc for trial in good]),
        "auc_relative": _spread([t.auc_relative for t in good]),
        "requests_to_50": _spread([trial.requests_to_50 for trial in good]),
        "requests_to_90": _spread([trial.requests_to_90 for trial in good]),
        "link_microseconds": _spread([trial.link_time for trial in good]),
        "statements": _spread([trial.statements for trial in good]),
        "curve": [sum(curve[p - 1] for curve in curves) / len(curves) for p in points],
        "found_by": dict(first.found_by),
        # labels, rules and depths are those of the first seed: plain counts, easy to check
        "labels": {
            str(label): {**asdict(figures), "precision": figures.precision}
            for label, figures in first.labels.items()
        },
        "rules": _rules(first.rules),
        "depths": {
            str(depth): {"requests": every, "targets": targets}
            for depth, (every, targets) in first.depths.items()
        },
    }


def _about(trials: Sequence[Trial], world: WorldResult) -> dict[str, Any]:
    """Return precision and discovery of a topical crawl, and of what it kept: means over seeds."""
    good = [trial for trial in trials if trial.curve]
    if not world.about or not good:
        return {}
    kept, right = (sum(each) / len(good) for each in zip(*(t.kept for t in good), strict=True))
    return {
        "steps": [
            {
                "requests": step,
                **_with_deviation("precision", [harvest_rate(t.curve, n) for t, n in at]),
                **_with_deviation("discovery", [t.curve[n - 1] / max(1, t.targets) for t, n in at]),
            }
            for step in steps(world.pages)
            # the last step is the end of each, as worlds of other seeds may have more requests
            for at in [
                [(t, t.requests if step == world.pages else min(step, t.requests)) for t in good]
            ]
        ],
        "kept": {
            "documents": kept,
            "right": right,
            **_with_deviation("precision", [t.kept[1] / t.kept[0] for t in good if t.kept[0]]),
            **_with_deviation("recall", [t.kept[1] / max(1, t.targets) for t in good]),
        },
    }


def _with_deviation(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Return the mean of a figure, and its deviation; ``None`` without values."""
    found = spread(values) if values else None
    return {
        name: found.mean if found else None,
        f"{name}_deviation": found.deviation if found else None,
    }


def _over_seeds(values: Sequence[Any]) -> Any:
    """Return the means of equal structures of numbers; else the first of them."""
    first = values[0]
    if isinstance(first, Mapping):
        shared = (key for key in first if all(key in each for each in values))
        return {key: _over_seeds([each[key] for each in values]) for key in shared}
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in values):
        mean = sum(values) / len(values)
        return round(mean) if isinstance(first, int) else mean
    return first


def steps(pages: int) -> list[int]:
    """Return the request counts at which figures are given: every 500, or an eighth of fewer."""
    step = 500 if pages >= 1000 else max(1, pages // 8)
    points = list(range(step, pages, step))
    return [*points[: -1 if points and pages - points[-1] < step / 2 else None], pages]


def _average(result: SetResult, name: str, points: Sequence[int]) -> dict[str, Any]:
    """Return the figures of one strategy over a set's worlds."""
    trials = [
        [trial for trial in world.trials.get(name, ()) if trial.curve] for world in result.worlds
    ]
    ran = [several for several in trials if several]
    if not ran:
        return {}
    # the seeds of a world are averaged first, so that every world counts the same
    relative = [
        sum(values) / len(values)
        for several in ran
        if (values := [t.auc_relative for t in several if t.auc_relative is not None])
    ]
    found = [sum(t.found for t in several) / len(several) for several in ran]
    requests = sum(sum(t.requests for t in several) / len(several) for several in ran)
    firsts = [several[0] for several in ran]
    return {
        "worlds": len(ran),
        "found": sum(found),
        "requests": requests,
        "harvest_rate": sum(found) / requests,
        "auc_relative": _spread(relative),
        "harvest_curve": [harvest_average(result, name, p) for p in points],
        "precision": {
            str(label): _mean([t.labels[label].precision for t in firsts if label in t.labels])
            for label in Label
        },
        "rules": _rules(sum((trial.rules for trial in firsts), RuleTable())),
    }


def _compare(result: SetResult, first: str, second: str, seed: int) -> Comparison | None:
    """Compare two strategies in pairs; return ``None`` if there is no pair.

    Each world is a pair, with the mean of its seeds; in a set of one world, each seed is a pair.
    """
    pairs: list[tuple[float | None, float | None]] = []
    for world in result.worlds:
        ones, twos = world.trials.get(first, ()), world.trials.get(second, ())
        if len(result.worlds) > 1:
            pairs.append((_mean(_areas(ones)), _mean(_areas(twos))))
        else:
            seeds = sorted({trial.seed for trial in (*ones, *twos)})
            pairs += [(_area_at(ones, seed), _area_at(twos, seed)) for seed in seeds]
    whole = [(one, two) for one, two in pairs if one is not None and two is not None]
    return compare(first, second, whole, seed) if whole else None


def _areas(trials: Sequence[Trial]) -> list[float | None]:
    return [trial.auc_relative for trial in trials if trial.curve]


def _area_at(trials: Sequence[Trial], seed: int) -> float | None:
    """Return the area with a seed; a strategy that ignores seeds has one area for all."""
    areas = _areas([trial for trial in trials if trial.seed == seed or len(trials) == 1])
    return areas[0] if areas else None


def _rules(table: RuleTable) -> dict[str, Any]:
    return {
        rule: {
            "label": str(figures.label),
            "selected": figures.selected,
            "right": figures.right,
            "confidence": figures.confidence,
            "support": figures.support,
        }
        for rule, figures in table.figures().items()
    }


def _spread(values: Sequence[float | None]) -> dict[str, Any] | None:
    """Return the mean with its spread; ``None`` if a value is missing."""
    numbers = [value for value in values if value is not None]
    if not numbers or len(numbers) < len(values):
        return None
    return asdict(spread(numbers))


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def checkpoints(pages: int) -> list[int]:
    """Return at most 200 evenly spaced numbers of requests; the last is ``pages``."""
    step = max(1, -(-pages // _POINTS))
    points = list(range(step, pages + 1, step))
    if pages and (not points or points[-1] != pages):
        points.append(pages)
    return points
