"""Reports of a study: tables and charts, as a page and on the terminal."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
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

from semcrawl.lab import studytables
from semcrawl.lab import studytables as tables
from semcrawl.lab.study import REFERENCES
from semcrawl.lab.study import Progress as Step
from semcrawl.lab.studytables import image_rows, kept_cells, keyword_rows
from semcrawl.lab.thesis import figures as thesis
from semcrawl.lab.thesis.comparison import cells
from semcrawl.printable import printable
from semcrawl.relevance import strategies
from semcrawl.terminal import aligned, fitted

_WIDTH, _HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 26, 10, 34
#: dash patterns, so that lines also differ without colour; similar colours get unlike patterns
_DASHES = ("", "9 4", "2 3", "10 3 2 3", "18 4", "5 2", "1 3", "3 7", "7 2 2 2 2 2", "16 3 5 3")
#: number of colours in the page's style sheet
_COLOURS = 12


@dataclass(frozen=True)
class Line:
    """One line of a chart."""

    name: str
    #: index of its colour and dashes, from 0
    style: int
    #: (x, y)
    points: Sequence[tuple[float, float]]
    #: draw it thin and grey: it is a bound, not a strategy
    reference: bool = False


def line_chart(title: str, lines: Sequence[Line], x_label: str, y_label: str) -> str:
    """Return a line chart; both axes start at 0 and fit the lines."""
    x_top = max((x for line in lines for x, _ in line.points), default=1) or 1
    y_ticks = _ticks(max((y for line in lines for _, y in line.points), default=1) or 1)
    y_top = y_ticks[-1]

    def place(x: float, y: float) -> str:
        across = _LEFT + x / x_top * (_WIDTH - _LEFT - _RIGHT)
        down = _HEIGHT - _BOTTOM - y / y_top * (_HEIGHT - _TOP - _BOTTOM)
        return f"{across:.1f},{down:.1f}"

    parts = [_open(_WIDTH, _HEIGHT, title)]
    for tick in y_ticks:
        across, down = place(0, tick).split(",")
        parts.append(
            f'<line class="grid" x1="{across}" y1="{down}" x2="{_WIDTH - _RIGHT}" y2="{down}"/>'
            f'<text x="{_LEFT - 6}" y="{down}" dy="4" text-anchor="end">{_short(tick)}</text>'
        )
    for tick in _ticks(x_top):
        if tick <= x_top:
            across = place(tick, 0).split(",")[0]
            parts.append(
                f'<text x="{across}" y="{_HEIGHT - _BOTTOM + 15}" text-anchor="middle">'
                f"{_short(tick)}</text>"
            )
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{_HEIGHT - 4}" text-anchor="middle">{escape(x_label)}</text>'
        f'<text transform="translate(11 {_HEIGHT / 2 - 10}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_label)}</text>"
    )
    for line in lines:
        points = " ".join(place(x, y) for x, y in line.points)
        look, dashes = _style(line)
        last = f"{line.points[-1][1]:.4g}" if line.points else "–"
        parts.append(
            f'<polyline class="line {look}"{dashes} points="{points}">'
            f"<title>{escape(line.name)}: {last}</title></polyline>"
        )
    return "".join(parts) + "</svg>"


def legend(lines: Sequence[Line]) -> str:
    """Return the legend of a chart's lines, in their order."""
    items = []
    for line in lines:
        look, dashes = _style(line)
        items.append(
            f'<li><svg width="34" height="10" aria-hidden="true"><line class="line {look}"{dashes}'
            f' x1="1" y1="5" x2="33" y2="5"/></svg>{escape(line.name)}</li>'
        )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _style(line: Line) -> tuple[str, str]:
    """Return the class and the dashes of a line; up to 100 lines differ in at least one."""
    if line.reference:
        return "reference", ""
    again, colour = divmod(line.style, _COLOURS)
    return f"s{colour}", f' stroke-dasharray="{_DASHES[(colour + again) % len(_DASHES)]}"'


@dataclass(frozen=True)
class Bars:
    """A row of a bar chart: two bars, each with an optional mark for a reported figure."""

    name: str
    first: float
    second: float
    first_mark: float | None = None
    second_mark: float | None = None


def bar_chart(title: str, rows: Sequence[Bars], first: str, second: str) -> str:
    """Return a chart with two horizontal bars per row, 0 to 100 %."""
    row, left = 34, 46
    height = row * len(rows) + 28
    scale = (_WIDTH - left - 60) / 100
    parts = [_open(_WIDTH, height, title)]
    for tick in (0, 25, 50, 75, 100):
        across = left + tick * scale
        parts.append(
            f'<line class="grid" x1="{across:.1f}" y1="2" x2="{across:.1f}" y2="{height - 24}"/>'
            f'<text x="{across:.1f}" y="{height - 8}" text-anchor="middle">{tick} %</text>'
        )
    for number, bars in enumerate(rows):
        top = row * number + 5
        parts.append(f'<text x="{left - 8}" y="{top + 16}" text-anchor="end">{bars.name}</text>')
        both = (
            (first, bars.first, bars.first_mark, "s0"),
            (second, bars.second, bars.second_mark, "s1"),
        )
        for offset, (name, value, mark, look) in enumerate(both):
            down = top + offset * 12
            parts.append(
                f'<rect class="bar {look}" x="{left}" y="{down}" height="10"'
                f' width="{max(value * scale, 0.5):.1f}">'
                f"<title>{escape(bars.name)} {name}: {value:.1f} %</title></rect>"
                f'<text class="small" x="{left + value * scale + 5:.1f}" y="{down + 9}">'
                f"{value:.1f}</text>"
            )
            if mark is not None:
                across = left + mark * scale
                parts.append(
                    f'<line class="mark" x1="{across:.1f}" x2="{across:.1f}" y1="{down - 1}"'
                    f' y2="{down + 11}"><title>reported: {mark:.1f} %</title></line>'
                )
    return "".join(parts) + "</svg>"


def _open(width: int, height: int, title: str) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img">'
        f"<title>{escape(title)}</title>"
    )


def _ticks(top: float) -> list[float]:
    """Return up to six round numbers from 0 to at least ``top``."""
    step = 10 ** math.floor(math.log10(top / 4))
    for factor in (1, 2, 2.5, 5, 10):
        if top / (step * factor) <= 5:
            step *= factor
            break
    count = math.ceil(top / step - 1e-9)
    return [n * step for n in range(count + 1)]


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 or number == 0 else f"{number:.3g}"


Data = Mapping[str, Any]
#: the strategies compared most often, whose lines are the easiest to tell apart
_FIRST = ("learned", "rules-parents")


def report_page(results: Data) -> str:
    """Return the page of the data in ``results.json``."""
    page = _Page(results)
    template = Template(files("semcrawl.lab").joinpath("report.html").read_text("utf-8"))
    names = ", ".join(each["name"] for each in results["sets"])
    return template.substitute(title=escape(f"semcrawl evaluate: {names}"), body=page.body())


class _Page:
    """Builds the page."""

    def __init__(self, results: Data) -> None:
        self.results = results
        self.titles = {each["name"]: each["title"] for each in results["strategies"]}
        crawlers = [name for name in self.titles if name not in REFERENCES]
        # the same strategy looks the same in every report
        known = [*_FIRST, *(name for name in strategies() if name not in _FIRST)]
        others = [name for name in crawlers if name not in known]
        self.styles = {name: number for number, name in enumerate([*known, *others])}

    def title(self, name: str) -> str:
        """Return a strategy's name, with its name in the thesis if there is one."""
        short = self.titles.get(name, name)
        return name if short == name else f"{short} ({name})"

    def body(self) -> str:
        """Return the content of the body element."""
        results = self.results
        runs = max((each.get("repeat", 1) for each in results["sets"]), default=1)
        parts = [
            "<h1>What each strategy finds</h1>",
            f'<p class="note">semcrawl {escape(str(results["semcrawl"]))}, '
            f"{escape(results['mode'])} runs, seed {results['seed']}"
            f"{f' and the next {runs - 1}' if runs > 1 else ''}. "
            "Areas are relative to a crawler that knows the whole link graph "
            "(<em>omniscient</em>). ± is one standard deviation over seeds or worlds.</p>",
        ]
        if len(results["sets"]) > 1:
            links = "".join(
                f'<a href="#set{n}">{escape(each["name"])}</a>'
                for n, each in enumerate(results["sets"])
            )
            parts.append(f"<nav>{links}</nav>")
        for number, each in enumerate(results["sets"]):
            parts.append(f'<h2 id="set{number}">{escape(each["name"])}</h2>')
            parts.append(self.set(each))
        return "\n".join(parts)

    def set(self, data: Data) -> str:
        """Return the section of a set of worlds."""
        parts = [
            f'<p class="problem">{escape(world["name"])}: {escape(world["problem"])}</p>'
            for world in data["worlds"]
            if world["problem"]
        ]
        if data["strategies"] and data["thesis"]:
            parts.append(
                '<p class="note">The thesis’s own figures, where they stand beside ours, are of '
                "2,000 requests to each domain; its rules and means are of all four domains.</p>"
            )
        if data["strategies"]:
            most = max(data["requests"], default=0)
            parts.append(f'<p class="note">At most {most:,} requests to each world.</p>')
            parts.append(self.harvest(data))
            parts.append(tables.of_the_thesis(data))
            parts.append(studytables.steps(data, self.title))
            parts.append(studytables.keywords(data))
            parts.append(studytables.kept(data, self.title))
            parts.append(studytables.measured(data))
            parts.append(tables.side_by_side(data, self.title))
            parts.append(tables.found(data, self.title))
            parts.append(self.curves(data))
            parts.append(tables.labels(data, self.title))
            parts.append(self.rules(data))
            parts.append(tables.depths(data, self.title))
            parts.append(tables.merged(data))
            parts.append(tables.comparisons(data, self.title))
        return "\n".join(part for part in parts if part)

    def harvest(self, data: Data) -> str:
        """Return Figure 4-2: harvest rates averaged over the worlds."""
        lines = self._lines(
            data["strategies"],
            lambda figures: [
                (x, 100 * y)
                for x, y in zip(data["requests"], figures.get("harvest_curve", ()), strict=False)
                if y is not None
            ],
        )
        lines = [line for line in lines if not line.reference]
        count = len(data["worlds"])
        over = f", mean of {count} worlds" if count > 1 else ""
        return _figure(
            line_chart("Harvest rate", lines, "requests", "targets per 100 requests"),
            legend(lines),
            f"Harvest rate{over}: targets found per 100 requests"
            f"{tables.place_in_thesis(data, 'Figure 4-2')}.",
            "Harvest rate",
        )

    def curves(self, data: Data) -> str:
        """Return the charts of targets over requests, one per world."""
        charts, key = [], ""
        for world in data["worlds"]:
            points = world["requests"]
            lines = self._lines(
                world["strategies"],
                lambda figures, points=points: list(  # type: ignore[misc]
                    zip(points, figures.get("curve", ()), strict=False)
                ),
            )
            if not lines:
                continue
            if not any(line.reference for line in lines):
                curve = list(zip(points, world["bound"]["curve"], strict=True))
                lines.append(Line("omniscient", 0, curve, reference=True))
            name = escape(world["name"])
            charts.append(
                "<figure>"
                + line_chart(f"Targets found on {world['name']}", lines, "requests", "targets")
                + f"<figcaption>{name}: {world['targets']:,} targets, {world['html']:,} pages, "
                f"{world['parents']:,} of them parents.</figcaption></figure>"
            )
            key = key if key.count("<li>") >= len(lines) else legend(lines)
        if not charts:
            return ""
        return f'<h3>Targets found</h3>{key}<div class="grid2">{"".join(charts)}</div>'

    def rules(self, data: Data) -> str:
        """Return Figure 4-1: support and confidence of every rule, best strategy first."""
        charts = []
        order = sorted(
            data["strategies"].items(),
            key=lambda item: (item[0] != "rules-parents", -(item[1].get("found") or 0)),
        )
        for name, figures in order:
            rules = figures.get("rules") or {}
            if not rules:
                continue
            reported = thesis.RULES if data["thesis"] and name == "rules-parents" else {}
            names = [
                *thesis.RULES,
                *(rule for rule in rules if rule not in thesis.RULES),
            ]
            rows = [
                Bars(
                    rule,
                    100 * (rules.get(rule, {}).get("support") or 0),
                    100 * (rules.get(rule, {}).get("confidence") or 0),
                    reported[rule].support if rule in reported else None,
                    reported[rule].confidence if rule in reported else None,
                )
                for rule in names
                if rule in rules or rule in reported
            ]
            marks = " Upright marks: as the thesis reports them." if reported else ""
            charts.append(
                "<figure>"
                + bar_chart(f"Rules of {self.title(name)}", rows, "support", "confidence")
                + f"<figcaption>{escape(self.title(name))}: "
                '<span class="s0">■</span> support and <span class="s1">■</span> confidence'
                f" of each rule{tables.place_in_thesis(data, 'Figure 4-1')}.{marks}"
                "</figcaption></figure>"
            )
        if not charts:
            return ""
        rest = ""
        if charts[1:]:
            rest = (
                f"<details><summary>Rules of {len(charts) - 1} other strategies</summary>"
                f'<div class="grid2">{"".join(charts[1:])}</div></details>'
            )
        return f"<h3>Rules</h3>{charts[0]}{rest}"

    def _lines(
        self, strategies: Data, points: Callable[[Data], Sequence[tuple[float, float]]]
    ) -> list[Line]:
        """Return a line per strategy that has points."""
        lines = []
        for name, figures in strategies.items():
            found = points(figures)
            if found:
                style = self.styles.get(name, 0)
                reference = name in REFERENCES
                lines.append(Line(self.title(name), style, found, reference=reference))
        return lines


def _figure(chart: str, key: str, caption: str, heading: str) -> str:
    return (
        f"<h3>{escape(heading)}</h3><figure>{chart}{key}"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


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
