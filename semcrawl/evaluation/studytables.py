"""Tables of studies about topics and images, beside the figures that S, K and I report.

No code uses those figures (sources.md) to make a world or to steer a crawl.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

from semcrawl.evaluation.tables import percent, table

#: figures of I: links of 500 pages of 30 domains, and what normalisation left of them
_I_LINKS, _I_LEFT = 7839, 2093

#: the result of S, whose numbers are not known here
TOPIC = (
    "S compared breadth-first, PageRank and IPageRank on 20 travel sites and 60 others, more than "
    "20,000 pages, at 500, 1,000, … 4,000 pages: IPageRank was best in precision and discovery."
)
#: precision and recall in %, by query: of the traditional crawler, of the focused one
KEYWORDS = (
    ((70, 82), (80, 81)),
    ((82, 85), (88, 82)),
    ((77, 84), (85, 81)),
    ((79, 86), (86, 84)),
    ((76, 84), (85, 83)),
    ((71, 86), (88, 82)),
)

Data = Mapping[str, Any]
Title = Callable[[str], str]


def steps(data: Data, title: Title) -> str:
    """Return tables of precision and discovery by requests, for every world with a topic."""
    parts = [_steps(world, title) for world in data["worlds"] if world.get("about")]
    if not any(parts):
        return ""
    note = f'<p class="note">{TOPIC}</p>' if data["name"] == "topic" else ""
    return "<h3>Precision and discovery</h3>" + note + "".join(parts)


def _steps(world: Data, title: Title) -> str:
    ran = {name: one for name, one in world["strategies"].items() if one.get("steps")}
    if not ran:
        return ""
    requests = [step["requests"] for step in next(iter(ran.values()))["steps"]]
    head = ["strategy", "", *(f"{number:,}" for number in requests)]
    rows = [
        [title(name), figure, *(percent(step[figure]) for step in one["steps"])]
        for figure in ("precision", "discovery")
        for name, one in ran.items()
    ]
    note = (
        f"{world['name']}, after so many requests: the share of requested documents that are about "
        f"the topic ({world['about']}), and the share of the world's documents about it found."
    )
    return table(head, rows, note)


def kept(data: Data, title: Title) -> str:
    """Return a table of the pages each crawl returned: all, and those judged on topic."""
    worlds = [world for world in data["worlds"] if world.get("about")]
    names = [n for n in data["strategies"] if any(_returned(w, n, keeps=True) for w in worlds)]
    if not names:
        return ""
    study = data["name"] == "keywords"
    head = ["world", *(f"{title(name)}: {what}" for name in names for what in ("all", "kept"))]
    rows = []
    for number, world in enumerate(worlds):
        rows.append([world["name"], *kept_cells(world, names)])
        if study and number < len(KEYWORDS):
            (a, b), (c, d) = KEYWORDS[number]
            told = {"breadth-first": [f"{a} / {b}", ""], "keyword-focused": ["", f"{c} / {d}"]}
            rows.append(["— K", *(cell for name in names for cell in told.get(name, ["", ""]))])
    if len(worlds) > 1:
        rows.append(["mean", *_means(worlds, names)])
    note = (
        "Precision / recall in % of all pages that a crawl requested, and of those it kept "
        "because their relevance reached the threshold."
    )
    if study:
        note += " K's traditional crawler returns all of them, its focused one the matched ones."
    return "<h3>What was kept</h3>" + table(head, rows, note)


def measured(data: Data) -> str:
    """Return a table of the figures of near texts, searches and links."""
    rows = image_rows(data.get("figures", {}))
    if not rows:
        return ""
    note = (
        "Near texts are right if they name what their picture shows. "
        "Where nothing was measured, the table says so."
    )
    return "<h3>Near texts, search, links</h3>" + table(["measured", "figure", ""], rows, note)


def kept_cells(world: Data, names: list[str]) -> list[str]:
    """Return precision / recall of each strategy's requests, and of what it kept."""
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
    """Return precision and recall in %, of all requests of a crawl or of what it kept."""
    one = world["strategies"].get(name, {})
    if not one.get("kept"):
        return None
    if keeps:
        precision = one["kept"]["precision"]
        return None if precision is None else (100 * precision, 100 * one["kept"]["recall"])
    return 100 * one["harvest_rate"]["mean"], 100 * one["steps"][-1]["discovery"]


def image_rows(figures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return rows (what, figure, note) of all figures measured."""
    if not figures:
        return []
    best, search, links = (figures[name] for name in ("best_places", "search", "spellings"))
    places = sorted(figures["places"].items(), key=lambda item: -item[1]["precision"])
    return [
        (
            "best place of near text",
            f"{best['right']} of {best['domains']} domains",
            f"right, after {figures['pages']:,} pages with {figures['pictures']:,} pictures",
        ),
        (
            "search, precision at 10",
            f"{search['precision_at_10']:.2f}",
            f"{search['queries']} queries; {search['precision_at_10_misspelled']:.2f} of the "
            f"{search['misspelled']} that are misspelled",
        ),
        (
            "links after normalisation",
            f"{links['links']:,} → {links['normalised']:,}",
            f"of {links['pages']} pages, {links['written']:,} distinct as written, "
            f"{links['all_rules']:,} by all of I's rules (I: {_I_LINKS:,} → {_I_LEFT:,})",
        ),
        *(
            (f"near text: {kind}", f"{place['precision']:.2f}", f"of {place['texts']:,} are right")
            for kind, place in places
        ),
    ]
