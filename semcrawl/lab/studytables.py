"""Tables of a study, for page and terminal.

Tables of studies about topics and images, beside the figures that S, K and I report.
No code uses those figures (sources.md) to make a world or to steer a crawl.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from statistics import fmean
from typing import Any

from semcrawl.lab.metrics import spread
from semcrawl.lab.study import REFERENCES
from semcrawl.lab.thesis.comparison import cells

Data = Mapping[str, Any]
Title = Callable[[str], str]

_LABELS = ("R", "HR", "H", "N")
#: worlds side by side in a table with four columns per world
_WORLDS_ACROSS = 2
#: worlds side by side in a table with one wide column per world
_LABEL_WORLDS_ACROSS = 5


def place_in_thesis(data: Data, place: str) -> str:
    """Return the thesis's table or figure in parentheses, if the set ran as in the thesis."""
    return f" ({place})" if data["thesis"] else ""


def of_the_thesis(data: Data) -> str:
    """Return every table of the thesis, with ours beside it."""
    parts = []
    for each in data.get("tables", ()):
        rows = [[row["what"], *cells(row)] for row in each["rows"]]
        note = ": ".join(filter(None, (each["title"], each["columns"])))
        parts.append(table(["", "thesis", "ours", "least … most"], rows, f"{note}."))
    return "<h3>Beside the thesis</h3>" + "".join(parts) if parts else ""


def side_by_side(data: Data, title: Title) -> str:
    """Return a table of all strategies over all worlds of a set."""
    labels = _LABELS if any(map(_has_labels, data["strategies"].values())) else ()
    rows = []
    for name, figures in data["strategies"].items():
        per_world = [world["strategies"].get(name, {}) for world in data["worlds"]]
        errors = [error for one in per_world for error in one.get("errors", ())]
        times = [
            one["link_microseconds"]["mean"] for one in per_world if one.get("link_microseconds")
        ]
        rows.append(
            [
                title(name),
                _number(figures.get("found")),
                _number(figures.get("requests")),
                percent(figures.get("harvest_rate"), 2),
                _spread(figures.get("auc_relative"), 3),
                _statements(per_world),
                f"{sum(times) / len(times):.1f}" if times else "–",
                *(percent((figures.get("precision") or {}).get(label)) for label in labels),
                "; ".join(dict.fromkeys(errors)),
            ]
        )
    head = ["strategy", "found", "requests", "harvest", "area", "statements", "µs a link"]
    head += [f"precision {label}" for label in labels]
    if any(row[-1] for row in rows):
        head.append("what went wrong")
    else:
        rows = [row[:-1] for row in rows]
    note = (
        "Targets found and requests in all worlds; area under targets(requests) relative to "
        "omniscient, mean ± deviation over worlds; distinct RDF statements per request"
        f"{'; precision of labels is the mean over worlds' if labels else ''}."
    )
    return "<h3>Side by side</h3>" + table(head, rows, note)


def _has_labels(figures: Data) -> bool:
    return any(value is not None for value in (figures.get("precision") or {}).values())


def _statements(per_world: Sequence[Data]) -> str:
    """Return distinct statements per request over several worlds."""
    ran = [one for one in per_world if one.get("statements")]
    requests = sum(one["requests"]["mean"] for one in ran)
    return f"{sum(one['statements']['mean'] for one in ran) / requests:.1f}" if requests else "–"


def found(data: Data, title: Title) -> str:
    """Return tables of targets found by world."""
    note = (
        "Targets found; area relative to omniscient; requests to 50 and 90 % of what omniscient "
        f"finds (– = never){place_in_thesis(data, 'Table 4-4')}."
    )
    worlds = data["worlds"]
    parts = [
        table(
            *_found_in(data, worlds[start : start + _WORLDS_ACROSS], title), "" if start else note
        )
        for start in range(0, len(worlds), _WORLDS_ACROSS)
    ]
    return "<h3>World by world</h3>" + "".join(parts)


def _found_in(
    data: Data, worlds: Sequence[Data], title: Title
) -> tuple[list[str], list[list[str]]]:
    """Return the head and rows of the table of some worlds."""
    head = ["strategy"]
    for world in worlds:
        head += [world["name"], "area", "to 50 %", "to 90 %"]
    rows = []
    for name in data["strategies"]:
        row = [title(name)]
        for world in worlds:
            one = world["strategies"].get(name, {})
            row += [
                _spread(one.get("found"), 0),
                _spread(one.get("auc_relative"), 3),
                _spread(one.get("requests_to_50"), 0),
                _spread(one.get("requests_to_90"), 0),
            ]
        rows.append(row)
    return head, rows


def labels(data: Data, title: Title) -> str:
    """Return tables of the precision of every label (Table 4-6)."""
    names = [
        name
        for name in data["strategies"]
        if any(world["strategies"].get(name, {}).get("labels") for world in data["worlds"])
    ]
    if not names:
        return ""
    note = (
        "Links predicted / documents fetched / rightly predicted"
        f"{place_in_thesis(data, 'Table 4-6')}. Links predicted N are not fetched: the world "
        "shows their true labels."
    )
    shown = "rules-parents" if "rules-parents" in names else names[0]
    rest = [name for name in names if name != shown]
    body = _label_tables(data, [shown], title, note)
    if rest:
        more = f"Labels of {len(rest)} other strategies"
        tables = _label_tables(data, rest, title, note)
        body += f"<details><summary>{more}</summary>{tables}</details>"
    return f"<h3>Precision of the labels</h3>{body}"


def _label_tables(data: Data, names: Sequence[str], title: Title, note: str) -> str:
    """Return a table for every few worlds; the last one also has the means."""
    worlds = data["worlds"]
    parts = []
    for start in range(0, len(worlds), _LABEL_WORLDS_ACROSS):
        part = worlds[start : start + _LABEL_WORLDS_ACROSS]
        last = start + _LABEL_WORLDS_ACROSS >= len(worlds)
        head = ["strategy", "label", *(world["name"] for world in part), *["mean"] * last]
        rows = [row for name in names for row in _label_rows(data, part, name, title, mean=last)]
        parts.append(table(head, rows, "" if start else note))
    return "".join(parts)


def _label_rows(
    data: Data, worlds: Sequence[Data], name: str, title: Title, *, mean: bool
) -> list[list[str]]:
    """Return a row per label of a strategy."""
    rows = []
    precision = data["strategies"][name].get("precision") or {}
    for label in _LABELS:
        cells = [
            [world["strategies"].get(name, {}).get("labels", {}).get(label) for world in part]
            for part in (data["worlds"], worlds)
        ]
        if not any(cells[0]):
            continue
        means = [percent(precision.get(label))] if mean else []
        rows.append([title(name), label, *map(_counts, cells[1]), *means])
    return rows


def depths(data: Data, title: Title) -> str:
    """Return tables of requests and targets by depth, one per world (Table 4-5)."""
    parts = []
    for world in data["worlds"]:
        names = [n for n, one in world["strategies"].items() if one.get("depths")]
        levels = sorted(
            {int(d) for n in names for d in world["strategies"][n]["depths"]}
            | {int(d) for d in world["target_depths"]}
        )
        if not names or not levels:
            continue
        head = ["depth", "targets there", *(title(name) for name in names)]
        rows = []
        for level in levels:
            row = [str(level), _number(world["target_depths"].get(str(level), 0))]
            for name in names:
                at = world["strategies"][name]["depths"].get(str(level))
                row.append(f"{at['requests']:,} / {at['targets']:,}" if at else "–")
            rows.append(row)
        place = place_in_thesis(data, "Table 4-5")
        note = f"{world['name']}: requests / targets found at each depth{place}"
        parts.append(table(head, rows, note))
    if not parts:
        return ""
    return "<h3>Where the requests went</h3>" + "".join(parts)


def merged(data: Data) -> str:
    """Return a table of the merged crawl graph (Table 4-3)."""
    head = ["world", "URLs requested", "success", "redirect", "refused", "error"]
    head += ["targets", "parents"]
    keys = ("success", "redirect", "refused", "error")
    rows = []
    for world in data["worlds"]:
        counts = world["merged"]
        if not counts:
            continue
        numbers = [counts[key] for key in keys]
        tail = [_number(counts["targets"]), _number(counts["parents"])]
        rows.append([world["name"], *map(_number, (sum(numbers), *numbers)), *tail])
    if not rows:
        return ""
    place = place_in_thesis(data, "Table 4-3")
    note = f"URLs that any strategy requested, by outcome{place}."
    return "<h3>The merged crawl graph</h3>" + table(head, rows, note)


def comparisons(data: Data, title: Title) -> str:
    """Return a table of comparisons of every two strategies."""
    rows = [
        [
            f"{title(one['first'])} − {title(one['second'])}",
            f"{one['difference']:+.3f}",
            f"{one['low']:+.3f} … {one['high']:+.3f}",
            f"{one['wins']} / {one['ties']} / {one['losses']}",
            f"{one['p_value']:.3g}",
        ]
        for one in data["comparisons"]
        if one["first"] not in REFERENCES and one["second"] not in REFERENCES
    ]
    if not rows:
        return ""
    pairs = max(one["pairs"] for one in data["comparisons"])
    note = (
        f"Differences of the relative area over {pairs} pair{'s' if pairs > 1 else ''}, with a "
        "bootstrap interval of 95 %, pairs won / tied / lost, and the p-value of a sign-flip test."
    )
    head = ["pair", "difference", "95 %", "won / tied / lost", "p"]
    body = table(head, rows, note)
    more = f"{len(rows)} pair{'s' if len(rows) > 1 else ''}"
    return f"<h3>In pairs</h3><details><summary>{more}</summary>{body}</details>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], note: str) -> str:
    """Return a table in a box that scrolls sideways."""
    columns = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    above = f'<p class="note">{escape(note)}</p>' if note else ""
    return (
        f'{above}<div class="scroll" tabindex="0"><table>'
        f"<thead><tr>{columns}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def percent(value: float | None, digits: int = 1) -> str:
    """Return a share as a percentage."""
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def _spread(value: Data | None, digits: int) -> str:
    if value is None:
        return "–"
    mean = f"{value['mean']:,.{digits}f}"
    return f"{mean} ± {value['deviation']:,.{digits}f}" if value["count"] > 1 else mean


def _counts(cell: Data | None) -> str:
    if cell is None:
        return "–"
    precision = f" ({percent(cell['precision'])})" if cell["precision"] is not None else ""
    return f"{cell['predicted']:,} / {cell['fetched']:,} / {cell['right']:,}{precision}"


#: figures of I: links of 500 pages of 30 domains, and what normalisation left of them
_I_LINKS, _I_LEFT = 7839, 2093
#: I's related texts per image, by domain (Table 5-2)
_I_RELATED = (1.68, 1.65, 2.42, 2.01, 1.17, 0.87, 1.30, 1.44, 0.88, 0.58)

#: the result of S, whose numbers are not known here
TOPIC = (
    "S compared breadth-first, PageRank and IPageRank on 20 travel sites and 60 others, more than "
    "20,000 pages, at 500, 1,000, … 4,000 pages: IPageRank was best in precision and discovery."
)
#: K's precision and recall in %, by query: of the traditional crawler, of the focused one
KEYWORDS: Mapping[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "time, bubble, sort": ((70, 82), (80, 81)),
    "sort, quick": ((82, 85), (88, 82)),
    "quick, heap, space": ((77, 84), (85, 81)),
    "shell, sort, time": ((79, 86), (86, 84)),
    "heap, space, sort": ((76, 84), (85, 83)),
    "data, sort, time, shell": ((71, 86), (88, 82)),
}
_LITERAL = {
    "traditional": "literal: traditional",
    "focused": "literal: all keywords",
    "any": "literal: any keyword",
}


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
        [title(name), figure, *(step_cell(step, figure) for step in one["steps"])]
        for figure in ("precision", "discovery")
        for name, one in ran.items()
    ]
    note = (
        f"{world['name']}, after so many requests: the share of requested documents that are about "
        f"the topic ({world['about']}), and the share of the world's documents about it found."
    )
    return table(head, rows, note)


def step_cell(step: Data, figure: str) -> str:
    """Return a figure of a step as a percentage, with its deviation over seeds if it has one."""
    deviation = step.get(f"{figure}_deviation")
    return percent(step[figure]) + (f" ± {100 * deviation:.1f}" if deviation else "")


def kept(data: Data, title: Title) -> str:
    """Return a table of the pages each crawl returned: all, and those judged on topic."""
    worlds = [world for world in data["worlds"] if world.get("about")]
    names = [n for n in data["strategies"] if any(_returned(w, n, keeps=True) for w in worlds)]
    if not names:
        return ""
    head = ["world", *(f"{title(name)}: {what}" for name in names for what in ("all", "kept"))]
    rows = [[world["name"], *kept_cells(world, names)] for world in worlds]
    if len(worlds) > 1:
        rows.append(["mean", *_means(worlds, names)])
    note = (
        "Precision / recall in % of all pages that a crawl requested, and of those it kept "
        "because their relevance reached the threshold."
    )
    return "<h3>What was kept</h3>" + table(head, rows, note)


def keyword_rows(data: Data) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of K's table: its figures, its algorithm to the letter, and ours."""
    runs = [each["literal"] for each in data.get("repetitions", ()) if "literal" in each]
    if not runs:
        return [], []
    ours = [name for name in data["strategies"] if name != "breadth-first"]
    head = ["query", "K: traditional", *list(_LITERAL.values())[:1], "K: focused"]
    head += [*list(_LITERAL.values())[1:], *(f"{name}, kept" for name in ours)]
    rows: list[list[str]] = []
    for query, told in KEYWORDS.items():
        known = [run[query] for run in runs if query in run]
        if not known:
            continue
        literal = [_over(known, name) for name in _LITERAL]
        world: Data = next((one for one in data["worlds"] if one["name"] == query), {})
        kept = [world.get("strategies", {}).get(name, {}).get("kept") for name in ours]
        k = ["{} / {}".format(*pair) for pair in told]
        rows.append([query, k[0], literal[0], k[1], *literal[1:], *map(_kept_spread, kept)])
    every = [
        {name: {f: fmean(run[q][name][f] for q in run) for f in ("precision", "recall")}
         for name in _LITERAL}
        for run in runs
    ]  # fmt: skip
    means = [_over(every, name) for name in _LITERAL]
    told_means = [
        " / ".join(f"{fmean(pair[n] for pair in column):.1f}" for n in (0, 1))
        for column in zip(*KEYWORDS.values(), strict=True)
    ]
    last = [cells for name in ours if (cells := _means(data["worlds"], [name])[1:])]
    rows.append(["mean", told_means[0], means[0], told_means[1], *means[1:], *(c[0] for c in last)])
    return head, rows


def keywords(data: Data) -> str:
    """Return K's table with ours beside it."""
    head, rows = keyword_rows(data)
    if not rows:
        return ""
    note = (
        "Precision / recall in %, mean ± deviation over repetitions. In the middle K's algorithm "
        "to the letter: a list, first in first out, with and without the keyword check; on the "
        "right what crawls keep that choose their links."
    )
    return "<h3>Beside K</h3>" + table(head, rows, note)


def _over(runs: Sequence[Mapping[str, Mapping[str, float]]], name: str) -> str:
    """Return the spread of precision / recall over runs, in %."""
    return " / ".join(
        _percent_spread([run[name][figure] for run in runs]) for figure in ("precision", "recall")
    )


def _percent_spread(values: Sequence[float]) -> str:
    found = spread([100 * value for value in values])
    return f"{found.mean:.0f} ± {found.deviation:.0f}" if found.count > 1 else f"{found.mean:.0f}"


def _kept_spread(kept: Data | None) -> str:
    if not kept or kept["precision"] is None:
        return "–"
    return " / ".join(
        f"{100 * kept[figure]:.0f} ± {100 * kept[f'{figure}_deviation']:.0f}"
        for figure in ("precision", "recall")
    )


def measured(data: Data) -> str:
    """Return a table of the figures of near texts, searches and links."""
    rows = image_rows(data.get("figures", {}), data.get("repetitions", ()))
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


def image_rows(
    figures: Mapping[str, Any], repetitions: Sequence[Mapping[str, Any]] = ()
) -> list[tuple[str, str, str]]:
    """Return rows (what, figure, note) of all figures measured, with spreads over repetitions."""
    if "best_places" not in figures:
        return []
    runs = repetitions or [figures]
    best, search, links = (figures[name] for name in ("best_places", "search", "spellings"))
    places = sorted(figures["places"].items(), key=lambda item: -item[1]["precision"])

    def over(part: str, name: str, digits: int = 0) -> str:
        found = spread([run[part][name] for run in runs])
        deviation = f" ± {found.deviation:,.{digits}f}" if found.count > 1 else ""
        return f"{found.mean:,.{digits}f}{deviation}"

    ratios = [run["spellings"]["links"] / max(1, run["spellings"]["normalised"]) for run in runs]
    told = f"{_I_LINKS:,} → {_I_LEFT:,}, {_I_LINKS / _I_LEFT:.2f} to one"
    return [
        (
            "best place of near text",
            f"{over('best_places', 'right')} of {best['domains']} domains",
            f"right, after {figures['pages']:,} pages with {figures['pictures']:,} pictures",
        ),
        (
            "related texts per image",
            over("related", "mean", 2),
            f"{over('related', 'least', 2)} to {over('related', 'most', 2)} by domain (I: "
            f"{fmean(_I_RELATED):.2f}, {min(_I_RELATED)} to {max(_I_RELATED)} in ten domains)",
        ),
        (
            "search, precision at 10",
            over("search", "precision_at_10", 2),
            f"{search['queries']} queries; {over('search', 'precision_at_10_misspelled', 2)} of "
            f"the {search['misspelled']} that are misspelled",
        ),
        (
            "links after normalisation",
            f"{over('spellings', 'links')} → {over('spellings', 'normalised')}",
            f"of {links['pages']} pages, {fmean(ratios):.2f} to one (I: {told}); "
            f"{over('spellings', 'written')} distinct as written, "
            f"{over('spellings', 'all_rules')} by all of I's rules",
        ),
        *(
            (f"near text: {kind}", f"{place['precision']:.2f}", f"of {place['texts']:,} are right")
            for kind, place in places
        ),
    ]
