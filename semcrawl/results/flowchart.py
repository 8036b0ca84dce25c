"""Flows between two columns of names as SVG text: ribbons as broad as what flows.

Colours come from the page's style sheet, which has the classes ``s0`` to ``s9``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape

from semcrawl.terminal.printable import printable

_WIDTH, _LEFT, _RIGHT, _NODE = 800, 250, 550, 10
#: height of all flows together (for each of them, and at most), of a gap between two names, and of
#: the thinnest ribbon
_TALL_EACH, _TALL, _GAP, _THIN = 30, 260, 22, 1.5
_COLOURS = 10
_LONGEST = 30


def flow_chart(flows: Sequence[tuple[str, str, int]]) -> str:
    """Draw flows (from, to, how much), each column in the order of its largest."""
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
    """Return where each name begins, the largest first, and where the last ends."""
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
        f'{start + height:.1f} {a} {start + height:.1f}Z"><title>{_text(title)}</title></path>'
    )


def _name(name: str, top: float, height: float, x: int, look: str) -> str:
    is_left = x == _LEFT
    anchor, at = ("end", x - 8) if is_left else ("start", x + _NODE + 8)
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return (
        f'<rect class="{look}" x="{x}" y="{top:.1f}" width="{_NODE}" height="{height:.1f}"/>'
        f'<text x="{at}" y="{top + height / 2 + 4.5:.1f}" text-anchor="{anchor}">{_text(short)}'
        f"<title>{_text(name)}</title></text>"
    )


def _text(text: str) -> str:
    return escape(printable(text))
