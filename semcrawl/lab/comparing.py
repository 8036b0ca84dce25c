"""Studies that a program or a notebook starts, with their figures as a data frame."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semcrawl import settings as defaults
from semcrawl.config.extras import install_hint
from semcrawl.errors import UsageError
from semcrawl.lab.rivals import RIVALS
from semcrawl.lab.study import REFERENCES, Plan, Progress, SetResult, Trial, simulated, study
from semcrawl.lab.worlds import World
from semcrawl.lab.worldsets import WorldSet, load_worlds
from semcrawl.relevance import load_strategy, strategies
from semcrawl.settings.reader import read

if TYPE_CHECKING:
    import pandas as pd

#: strategies that only differ from others with a topic
TOPICAL = ("relevance-weighting", "ipagerank", "keyword-focused", "domain-score")
#: most requests
PAGES = 2000


def usual_strategies(about: str) -> list[str]:
    """Return the strategies that a study compares if none are named."""
    left_out = () if about else TOPICAL
    return [name for name in (*strategies(), *REFERENCES) if name not in left_out]


def evaluate(
    worlds: str | Path | World | Iterable[str | Path | World],
    strategies: str | Iterable[str] | None = None,
    *,
    pages: int | None = None,
    repeat: int | None = None,
    seed: int = 0,
    about: str = "",
    settings: Mapping[str, Any] | None = None,
    progress: bool | Callable[[Progress], None] = True,
) -> pd.DataFrame:
    """Run strategies on worlds in the simulator; return a row per world, strategy and seed.

    ``worlds`` are those of ``semcrawl evaluate``, by name or path, or objects with the methods of
    :class:`~semcrawl.lab.worlds.World`. ``pages``: most requests of a run (2000, or as the world
    says); ``repeat``: runs with further seeds; ``about``: a topic, whose documents count as targets
    instead of RDF. ``progress``: whether lines on standard error tell of it, or what is called.

    Columns: ``set``, ``world``, ``strategy``, ``seed``, ``requests``, ``found`` and ``targets``
    (numbers of documents), ``harvest_rate``, ``auc_relative`` (to the best order possible),
    ``requests_to_50`` and ``requests_to_90`` (per cent of the targets), ``statements``,
    ``link_microseconds``, ``curve`` (targets after each request) and ``error``.

    Raises ``UsageError`` for unknown worlds, strategies and settings, and without pandas.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise UsageError(f"data frames need pandas: {install_hint('frames')}") from None
    given = dict(settings or {}) | ({"SEMCRAWL_ABOUT": about} if about else {})
    read(given)
    all_settings = {name: getattr(defaults, name) for name in dir(defaults) if name.isupper()}
    all_settings |= given
    named = [strategies] if isinstance(strategies, str) else strategies
    names = list(usual_strategies(about) if named is None else named)
    for name in names:
        if name not in REFERENCES:
            load_strategy(RIVALS.get(name, name), all_settings)
    chosen = {"pages": pages, "repeat": repeat, "strategies": named}
    plan = Plan(
        names,
        pages=pages or PAGES,
        repeat=repeat or 1,
        seed=seed,
        settings=all_settings,
        chosen=frozenset(given) | {name for name, value in chosen.items() if value is not None},
        follow_rdf=True,
    )
    several = [worlds] if isinstance(worlds, str | Path | World) else worlds
    sets = [_world_set(each, seed) for each in several]
    report = progress if callable(progress) else _tell if progress else _be_silent
    results = study(sets, plan, simulated(load_strategy, plan, report), report)
    return pd.DataFrame.from_records(list(_rows(results)), columns=_COLUMNS)


def _world_set(world: str | Path | World, seed: int) -> WorldSet:
    if isinstance(world, str | Path):  # by name
        return load_worlds(str(world), seed)
    return WorldSet(type(world).__name__, [world])


_COLUMNS = (
    *("set", "world", "strategy", "seed", "requests", "found", "targets", "harvest_rate"),
    *("auc_relative", "requests_to_50", "requests_to_90", "statements", "link_microseconds"),
    *("curve", "error"),
)


def _rows(results: Iterable[SetResult]) -> Iterator[tuple[Any, ...]]:
    for each in results:
        for world in each.worlds:
            if world.problem:
                nothing = [None] * (len(_COLUMNS) - 3)
                yield (each.name, world.world, *nothing, world.problem)
            for trials in world.trials.values():
                for trial in trials:
                    yield (each.name, world.world, *_figures(trial))


def _figures(trial: Trial) -> tuple[Any, ...]:
    return (
        trial.strategy,
        trial.seed,
        trial.requests,
        trial.found,
        trial.targets,
        trial.found / trial.requests if trial.requests else None,
        trial.auc_relative,
        trial.requests_to_50,
        trial.requests_to_90,
        trial.statements,
        trial.link_time,
        list(trial.curve),
        trial.error,
    )


def _tell(progress: Progress) -> None:
    if progress.finished:
        found = f"{progress.found:,} targets after {progress.requests:,} requests"
        what = f"{progress.world}: {progress.strategy} (seed {progress.seed}): {found}"
        print(f"{what} {progress.note}".rstrip(), file=sys.stderr)


def _be_silent(progress: Progress) -> None:
    pass
