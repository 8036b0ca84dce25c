"""Draws line charts and paired bars as SVG text. The page's style sheet has the colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

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
