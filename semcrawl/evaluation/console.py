"""Prints the progress and the result tables of ``semcrawl evaluate``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from semcrawl.evaluation.study import Progress as Step
from semcrawl.evaluation.studytables import image_rows, kept_cells, keyword_rows
from semcrawl.evaluation.thesis.comparison import cells
from semcrawl.terminal.messages import aligned, fitted
from semcrawl.terminal.printable import printable

Data = Mapping[str, Any]


class ProgressDisplay:
    """Shows a live bar on a terminal, else a line per finished run; problems are always lines."""

    def __init__(self, console: Console, runs: int) -> None:
        self._console = console
        self._started = time.monotonic()
        self._bar: Progress | None = None
        self.problems: list[str] = []
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
                TimeElapsedColumn(), console=console, transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task("starting", total=runs)

    def __enter__(self) -> Self:
        """Start the bar."""
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def report(self, step: Step) -> None:
        """Show the progress of a study."""
        what = " ".join(part for part in (step.world, step.strategy) if part)
        if step.note:
            self.problems.append(f"{what}: {step.note}")
            self._console.print(
                f"semcrawl: {what}: {step.note}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
        if self._bar is not None:
            text = f"{what}: {step.found:,} found in {step.requests:,} requests"
            if not step.strategy:
                text = f"{what}: mapping the links"
            self._bar.update(self._task, description=printable(text))
            if step.finished and step.strategy:
                self._bar.advance(self._task)
        elif step.finished and step.strategy and not step.note:
            seconds = time.monotonic() - self._started
            self._console.print(
                f"{seconds:6.1f} s  {what}: {step.found:,} found in {step.requests:,} requests",
                markup=False,
                highlight=False,
            )


def show(results: Data, console: Console) -> None:
    """Print the tables of every set of worlds."""
    titles = {each["name"]: each["title"] for each in results["strategies"]}
    for each in results["sets"]:
        if each["strategies"]:
            console.print(fitted(_totals(each, titles), console))
            if len(each["worlds"]) > 1:
                console.print(fitted(_by_world(each), console))
            for table in each.get("tables", ()):
                console.print(fitted(_beside_the_thesis(table), console))
            if measured := image_rows(each.get("figures", {}), each["repetitions"]):
                columns = dict.fromkeys(("measured", "figure", ""), False)
                table = aligned("near texts, search, links", columns, measured)
                console.print(fitted(table, console))
            head, rows = keyword_rows(each)
            if rows:
                columns = {name: number > 0 for number, name in enumerate(head)}
                title = "precision / recall in %, beside K"
                console.print(fitted(aligned(title, columns, rows), console))
            about = [world for world in each["worlds"] if _judged(world)]
            if len(about) == 1:
                console.print(fitted(_about(about[0]), console))
            elif about:
                console.print(fitted(_kept(about), console))


def _beside_the_thesis(data: Data) -> Table:
    """Return a table of the thesis with ours beside it."""
    columns = {"": False, "thesis": True, "ours": True, "least … most": True}
    title = ": ".join(filter(None, (data["title"], data["columns"])))
    table = aligned(title, columns)
    for row in data["rows"]:
        table.add_row(row["what"], *cells(row))
    return table


def _totals(data: Data, titles: Mapping[str, str]) -> Table:
    worlds = data["worlds"]
    figures_of = dict.fromkeys(("found", "requests", "harvest", "area", "µs/link"), True)
    table = aligned(data["name"], {"strategy": False, "thesis": False, **figures_of})
    for name, figures in data["strategies"].items():
        ones = [world["strategies"].get(name, {}) for world in worlds]
        title = titles.get(name, name)
        cells = ["failed" if any(one.get("errors") for one in ones) else "–", "", "", "", ""]
        if figures:
            area = figures["auc_relative"]
            times = [o["link_microseconds"]["mean"] for o in ones if o.get("link_microseconds")]
            cells = [
                f"{figures['found']:,.0f}",
                f"{figures['requests']:,.0f}",
                f"{100 * figures['harvest_rate']:.2f} %",
                "–" if area is None else f"{area['mean']:.3f}",
                f"{sum(times) / len(times):.0f}" if times else "–",
            ]
        table.add_row(name, title if title != name else "", *cells)
    return table


def _judged(world: Data) -> dict[str, Data]:
    """Return the results of strategies that crawled with a topic."""
    return {name: one for name, one in world["strategies"].items() if one.get("steps")}


def _kept(worlds: Sequence[Data]) -> Table:
    """Return a table of precision and recall: of all requests, and of what the topic kept."""
    names = list(dict.fromkeys(name for world in worlds for name in _judged(world)))
    title = "precision / recall in %: of all requests → of what was kept"
    table = aligned(title, {"world": False})
    for name in names:
        table.add_column(name, justify="right")
    for world in worlds:
        cells = kept_cells(world, names)
        pairs = zip(cells[::2], cells[1::2], strict=True)
        table.add_row(world["name"], *map(" → ".join, pairs))
    return table


def _about(world: Data) -> Table:
    """Return a table of precision by number of requests, and of what the topic kept."""
    ran = _judged(world)
    steps = [f"{step['requests']:,}" for step in next(iter(ran.values()))["steps"]]
    table = aligned(
        f"{world['name']}: precision after so many requests, of what was kept, and recall",
        {"strategy": False, **dict.fromkeys([*steps, "kept", "recall"], True)},
    )
    for name, one in ran.items():
        kept = one["kept"]
        precision = "–" if kept["precision"] is None else f"{kept['precision']:.2f}"
        steps = [_step(step) for step in one["steps"]]
        table.add_row(name, *steps, precision, f"{kept['recall']:.2f}")
    return table


def _step(step: Data) -> str:
    deviation = step.get("precision_deviation")
    return f"{step['precision']:.2f}" + (f"±{deviation:.2f}" if deviation else "")


def _by_world(data: Data) -> Table:
    table = aligned("found (area) by world", {})
    table.add_column("strategy", overflow="fold", min_width=len("breadth-first"))
    for world in data["worlds"]:
        table.add_column(world["name"], justify="right", overflow="fold")
    for name in data["strategies"]:
        ones = [world["strategies"].get(name, {}) for world in data["worlds"]]
        table.add_row(name, *(_found(one) for one in ones))
    return table


def _found(one: Data) -> str:
    found, area = one.get("found"), one.get("auc_relative")
    if not found:
        return "failed" if one.get("errors") else "–"
    text = f"{found['mean']:,.0f}"
    if found["count"] > 1:
        text += f"±{found['deviation']:.0f}"
    return f"{text} ({area['mean']:.2f})" if area else text
