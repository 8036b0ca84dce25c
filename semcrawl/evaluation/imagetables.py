"""Measured figures of near texts, of searches and of links, as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: figures of I: links of 500 pages of 30 domains, and what normalisation left of them
_I_LINKS, _I_LEFT = 7839, 2093


def rows(figures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return (what, figure, note) rows; none where nothing was measured."""
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
