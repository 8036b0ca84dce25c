"""One link per URL of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from semcrawl.links.model import Link
from semcrawl.links.texts import MAX_TEXT
from semcrawl.web.vocabulary import RESOURCE_RELATIONS, FoundBy

#: occurrences of one URL on a page whose texts are put together
_MAX_MERGED = 4


def merge_links(links: Sequence[Link], limit: int) -> list[Link]:
    """Keep one link per URL, the first ``limit`` ones, and number them."""
    merged: dict[str, list[Link]] = {}
    for link in links:
        same = merged.get(link.url)
        if same is None:
            if len(merged) < limit:
                merged[link.url] = [link]
        elif len(same) < _MAX_MERGED:
            same.append(link)
    return [_merge(same, position) for position, same in enumerate(merged.values())]


def _merge(same: list[Link], position: int) -> Link:
    """Make one link of the occurrences of a URL on a page."""
    if len(same) > 1:
        # a page that is prefetched and linked to is a page
        same = [link for link in same if not _is_resource(link)] or same
    first = same[0]
    if len(same) == 1:
        return first if first.position == position else replace(first, position=position)
    with_text = next((link for link in same if link.anchor), first)
    return replace(
        first,
        anchor=_together(link.anchor for link in same),
        title=_together(link.title for link in same),
        type=_together(link.type for link in same),
        rel=_together(link.rel for link in same),
        before=with_text.before,
        after=with_text.after,
        position=position,
        predicate=next((link.predicate for link in same if link.predicate), ""),
        index=next((link.index for link in same if link.index), ""),
        cues=_together(link.cues for link in same),
        found_by=_plainest(same),
    )


def _plainest(same: list[Link]) -> FoundBy:
    """Return how a URL was found: an element of the page counts before anything beside it."""
    ways = [link.found_by for link in same]
    return FoundBy.LINK if FoundBy.LINK in ways else ways[0]


def _is_resource(link: Link) -> bool:
    """Whether an occurrence speaks of a style, an icon, a script, or of what to load early."""
    return link.element == "link" and not RESOURCE_RELATIONS.isdisjoint(link.rel.split())


def _together(texts: Iterable[str]) -> str:
    """Join the different ones of some texts."""
    return " ".join(dict.fromkeys(text for text in texts if text))[:MAX_TEXT]
