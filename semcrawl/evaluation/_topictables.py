"""The tables of ``report.html`` for crawls about a topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

from semcrawl.evaluation import imagetables
from semcrawl.evaluation.tables import table
from semcrawl.evaluation.topicweb import reported

Data = Mapping[str, Any]
Title = Callable[[str], str]


def steps(data: Data, title: Title) -> str:
    """Precision and discovery after so many requests, for every world with a topic."""
    parts = [_steps(world, title) for world in data["worlds"] if world.get("about")]
    if not any(parts):
        return ""
    note = f'<p class="note">{reported.TOPIC}</p>' if data["name"] == "topic" else ""
    return "<h3>Precision and discovery</h3>" + note + "".join(parts)


def _steps(world: Data, title: Title) -> str:
    ran = {name: one for name, one in world["strategies"].items() if one.get("steps")}
    if not ran:
        return ""
    requests = [step["requests"] for step in next(iter(ran.values()))["steps"]]
    head = ["strategy", "", *(f"{number:,}" for number in requests)]
    rows = [
        [title(name), figure, *(_percent(step[figure]) for step in one["steps"])]
        for figure in ("precision", "discovery")
        for name, one in ran.items()
    ]
    note = (
        f"{world['name']}: documents about the topic ({world['about']}) among all that were asked "
        "for, and among all that there are, after so many requests."
    )
    return table(head, rows, note)


def kept(data: Data, title: Title) -> str:
    """The pages that each crawl returned: all, or those that it judged to be on topic."""
    worlds = [world for world in data["worlds"] if world.get("about")]
    names = [n for n in data["strategies"] if any(_returned(w, n, keeps=True) for w in worlds)]
    if not names:
        return ""
    study = data["name"] == "keywords"
    head = ["world", *(f"{title(name)}: {what}" for name in names for what in ("all", "kept"))]
    rows = []
    for number, world in enumerate(worlds):
        rows.append([world["name"], *_cells(world, names)])
        if study and number < len(reported.KEYWORDS):
            (a, b), (c, d) = reported.KEYWORDS[number]
            told = {"breadth-first": [f"{a} / {b}", ""], "keyword-focused": ["", f"{c} / {d}"]}
            rows.append(["— K", *(cell for name in names for cell in told.get(name, ["", ""]))])
    if len(worlds) > 1:
        rows.append(["mean", *_means(worlds, names)])
    note = (
        "Precision / recall in % of all pages that a crawl asked for, and of those that it kept: "
        "what its topic judged to reach the threshold."
    )
    if study:
        note += " K's traditional crawler returns all of them, its focused one the matched ones."
    return "<h3>What was kept</h3>" + table(head, rows, note)


def measured(data: Data) -> str:
    """Measured figures of near texts, of searches and of links."""
    rows = imagetables.rows(data.get("figures", {}))
    if not rows:
        return ""
    note = (
        "Near texts are right if they name what their picture shows. "
        "Where nothing was measured, the table says so."
    )
    return "<h3>Near texts, search, links</h3>" + table(["measured", "figure", ""], rows, note)


def _cells(world: Data, names: list[str]) -> list[str]:
    found = [_returned(world, name, keeps=keeps) for name in names for keeps in (False, True)]
    return ["–" if pair is None else f"{pair[0]:.0f} / {pair[1]:.0f}" for pair in found]


def _means(worlds: list[Data], names: list[str]) -> list[str]:
    cells = []
    for name in names:
        for keeps in (False, True):
            pairs = [pair for world in worlds if (pair := _returned(world, name, keeps=keeps))]
            means = [fmean(values) for values in zip(*pairs, strict=True)]
            cells.append(f"{means[0]:.1f} / {means[1]:.1f}" if means else "–")
    return cells


def _returned(world: Data, name: str, *, keeps: bool) -> tuple[float, float] | None:
    """Precision and recall, in %, of all that a crawl asked for or of what it kept."""
    one = world["strategies"].get(name, {})
    if not one.get("kept"):
        return None
    if keeps:
        precision = one["kept"]["precision"]
        return None if precision is None else (100 * precision, 100 * one["kept"]["recall"])
    return 100 * one["harvest_rate"]["mean"], 100 * one["steps"][-1]["discovery"]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
