"""Renders the profile of a job as one self-contained page, without scripts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape

from semcrawl import __version__
from semcrawl.rdf.shortnames import shorten
from semcrawl.results.profiling import Profile, Use
from semcrawl.results.standalone import html_text, tiles, whole_page

_WIDTH, _LEFT, _RIGHT, _NODE = 800, 250, 550, 10
#: height per flow, of all flows at most, of the gap between two names, of the thinnest ribbon
_TALL_EACH, _TALL, _GAP, _THIN = 30, 260, 22, 1.5
_COLOURS = 10
_LONGEST = 30

#: rows of a table that show unfolded, and rows at most
_FIRST, _MOST = 12, 300
#: links in the chart
_RIBBONS = 18


def profile_page(profile: Profile, name: str) -> str:
    """Return the page of the job called ``name``."""
    return whole_page(f"{name}: profile", _body(profile, name))


def _body(profile: Profile, name: str) -> str:
    parts = [
        f"<h1>What {html_text(name)} holds</h1>",
        _tiles(profile),
        _objects(profile),
        '<div class="pair">',
        _section("Vocabularies", "vocabulary", profile.vocabularies, 0),
        _section("Hosts", "host", profile.hosts, 8),
        _section("Classes", "class", profile.classes, 2),
        _section("Properties", "property", profile.properties, 5),
        _section("Languages", "language", profile.languages, 3),
        _section("Datatypes", "datatype", profile.datatypes, 6),
        _section("Formats", "format", profile.formats, 1),
        "</div>",
        _links(profile),
        f"<footer>Made by semcrawl {escape(__version__)}. Statements of a vocabulary are those "
        "with one of its properties or classes. A statement links two hosts when its object is an "
        "address on another host than its document’s; classes do not count."
        + (" Rare terms and links are left out." if profile.is_cut else "")
        + "</footer>",
    ]
    return "\n".join(part for part in parts if part)


def _tiles(profile: Profile) -> str:
    figures = {
        "statements": profile.statements,
        "RDF documents": profile.documents,
        "pages with data": profile.pages,
        "hosts": len(profile.hosts),
        "vocabularies": len(profile.vocabularies),
        "classes": len(profile.classes),
        "properties": len(profile.properties),
    }
    return tiles(figures)


def _objects(profile: Profile) -> str:
    """Return a bar of the kinds of objects."""
    total = sum(profile.objects.values())
    bars, keys, at = [], [], 0.0
    for number, (name, count) in enumerate(profile.objects.items()):
        width = 100 * count / total
        look = f"s{number}"
        label = f"{html_text(name)}s {_percent(count, total)}"
        bars.append(
            f'<rect class="{look}" x="{at:.2f}" width="{width:.2f}" height="4">'
            f"<title>{label}</title></rect>"
        )
        keys.append(
            f'<li><svg class="{look}" viewBox="0 0 1 1" aria-hidden="true">'
            f'<rect width="1" height="1"/></svg>{label}</li>'
        )
        at += width
    if not bars:
        return ""
    return (
        '<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" role="img">'
        f"<title>Objects of statements</title>{''.join(bars)}</svg>"
        f'<ul class="key"><li>Objects:</li>{"".join(keys)}</ul>'
    )


def _section(title: str, name: str, uses: Sequence[Use], colour: int) -> str:
    """Return a table with bars in its rows; the end of a long one is folded."""
    if not uses:
        return ""
    most = max(use.statements for use in uses) or 1
    rows = [_row(use, most, colour) for use in uses[:_MOST]]
    note = f'<p class="note">The first {_MOST} of {len(uses):,}.</p>' if len(uses) > _MOST else ""
    return (
        f"<section><h2>{title}</h2>{_table(name, rows[:_FIRST])}"
        + _folded(f"{len(rows) - _FIRST:,} more", _table(name, rows[_FIRST:]) + note, rows)
        + "</section>"
    )


def _folded(summary: str, content: str, rows: Sequence[str]) -> str:
    if len(rows) <= _FIRST:
        return ""
    return f"<details><summary>{summary}</summary>{content}</details>"


def _table(name: str, rows: Sequence[str], *names: str) -> str:
    heads = "".join(f"<th>{each}</th>" for each in (name, *names, "documents", "statements"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row(use: Use, most: int, colour: int) -> str:
    width = max(100 * use.statements / most, 0.5)
    return (
        f'<tr><td title="{html_text(use.name)}">{html_text(shorten(use.name)) or "–"}'
        f'<svg class="s{colour}" viewBox="0 0 100 4" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect width="{width:.2f}" height="4"/></svg></td>'
        f"<td>{use.documents:,}</td><td>{use.statements:,}</td></tr>"
    )


def _links(profile: Profile) -> str:
    if not profile.links:
        return ""
    rows = [
        f"<tr><td>{html_text(link.source)} → {html_text(link.target)}</td>"
        f"<td>{link.documents:,}</td><td>{link.statements:,}</td></tr>"
        for link in profile.links[:_MOST]
    ]
    shown = profile.links[:_RIBBONS]
    chart = flow_chart([(link.source, link.target, link.statements) for link in shown])
    those = f"; the {len(shown)} most frequent" if len(shown) < len(profile.links) else ""
    return (
        '<section><h2>Links between hosts</h2><p class="note">From the hosts of documents (left) '
        f'to the hosts of their objects (right){those}.</p><div class="scroll">{chart}</div>'
        f"{_table('link', rows[:_FIRST])}"
        + _folded(f"{len(rows) - _FIRST:,} more", _table("link", rows[_FIRST:]), rows)
        + "</section>"
    )


def _percent(count: int, total: int) -> str:
    share = 100 * count / total
    return "under 1 %" if 0 < share < 1 else f"{share:.0f} %"


def flow_chart(flows: Sequence[tuple[str, str, int]]) -> str:
    """Draw flows (source, target, amount); each column lists the largest names first."""
    total = sum(amount for _, _, amount in flows) or 1
    all_tall = min(_TALL_EACH * len(flows), _TALL)
    tall = {flow: max(all_tall * flow[2] / total, _THIN) for flow in flows}
    sources: defaultdict[str, float] = defaultdict(float)
    targets: defaultdict[str, float] = defaultdict(float)
    for flow in flows:
        sources[flow[0]] += tall[flow]
        targets[flow[1]] += tall[flow]
    left, left_end = _stacked(sources)
    right, right_end = _stacked(targets)
    colours = {name: number % _COLOURS for number, name in enumerate(left)}
    height = max(left_end, right_end) + 8
    parts = [
        f'<svg class="flow" viewBox="0 0 {_WIDTH} {height:.0f}" role="img">'
        "<title>Links between hosts</title>"
    ]
    at_left, at_right = dict(left), dict(right)
    order = {name: number for number, name in enumerate(right)}
    for flow in sorted(flows, key=lambda flow: order[flow[1]]):
        source, target, amount = flow
        parts.append(_ribbon(at_left[source], at_right[target], tall[flow], colours[source],
                             f"{source} → {target}: {amount:,}"))  # fmt: skip
        at_left[source] += tall[flow]
        at_right[target] += tall[flow]
    parts += [_name(name, left[name], sources[name], _LEFT, f"s{colours[name]}") for name in left]
    parts += [_name(name, right[name], targets[name], _RIGHT, "s8") for name in right]
    return "".join(parts) + "</svg>"


def _stacked(heights: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """Return the vertical position of each name, the largest first, and the end of the last."""
    places, at = {}, 12.0
    for name in sorted(heights, key=lambda name: (-heights[name], name)):
        places[name] = at
        at += max(heights[name], 1) + _GAP
    return places, at


def _ribbon(start: float, end: float, height: float, colour: int, title: str) -> str:
    a, b = _LEFT + _NODE, _RIGHT
    middle = (a + b) / 2
    return (
        f'<path class="s{colour}" d="M{a} {start:.1f}C{middle} {start:.1f} {middle} {end:.1f} '
        f"{b} {end:.1f}V{end + height:.1f}C{middle} {end + height:.1f} {middle} "
        f'{start + height:.1f} {a} {start + height:.1f}Z"><title>{html_text(title)}</title></path>'
    )


def _name(name: str, top: float, height: float, x: int, look: str) -> str:
    is_left = x == _LEFT
    anchor, at = ("end", x - 8) if is_left else ("start", x + _NODE + 8)
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return (
        f'<rect class="{look}" x="{x}" y="{top:.1f}" width="{_NODE}" height="{height:.1f}"/>'
        f'<text x="{at}" y="{top + height / 2 + 4.5:.1f}" text-anchor="{anchor}">{html_text(short)}'
        f"<title>{html_text(name)}</title></text>"
    )
