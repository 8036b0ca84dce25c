"""The tables of ``report.html``, as HTML text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from semcrawl.evaluation.references import REFERENCES
from semcrawl.evaluation.thesis.comparison import cells

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
