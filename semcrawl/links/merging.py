"""Merges the occurrences of a URL on a page into one link."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from semcrawl.links.model import Link
from semcrawl.links.texts import MAX_TEXT
from semcrawl.web.vocabulary import RESOURCE_RELATIONS, FoundBy

#: most occurrences of one URL whose texts are merged
_MAX_MERGED = 4


def merge_links(links: Sequence[Link], limit: int) -> list[Link]:
    """Merge links of the same URL; return the first ``limit``, numbered by position."""
    merged: dict[str, list[Link]] = {}
    for link in links:
        same = merged.get(link.url)
        if same is None:
            if len(merged) < limit:
                merged[link.url] = [link]
        elif len(same) < _MAX_MERGED:
            same.append(link)
    return [_merge(same, position) for position, same in enumerate(merged.values())]


def cut_off(found: Iterable[Link], kept: Sequence[Link], limit: int) -> list[Link]:
    """Return the found links that :func:`merge_links` did not keep, each URL once."""
    if len(kept) < limit:
        return []
    urls = {link.url for link in kept}
    return list({link.url: link for link in found if link.url not in urls}.values())


def _merge(same: list[Link], position: int) -> Link:
    """Merge the occurrences of one URL."""
    if len(same) > 1:
        # a URL that is both prefetched and linked to counts as a page
        same = [link for link in same if not _is_resource(link)] or same
    first = same[0]
    if len(same) == 1:
        return first if first.position == position else replace(first, position=position)
    with_text = next((link for link in same if link.anchor), first)
    return replace(
        first,
        anchor=_join_distinct(link.anchor for link in same),
        title=_join_distinct(link.title for link in same),
        type=_join_distinct(link.type for link in same),
        rel=_join_distinct(link.rel for link in same),
        before=with_text.before,
        after=with_text.after,
        position=position,
        predicate=next((link.predicate for link in same if link.predicate), ""),
        index=next((link.index for link in same if link.index), ""),
        cues=_join_distinct(link.cues for link in same),
        found_by=_found_by(same),
        heading=next((link.heading for link in same if link.heading), ""),
    )


def _found_by(same: list[Link]) -> FoundBy:
    """Return how a URL was found: an element of the page wins over any other way."""
    ways = [link.found_by for link in same]
    return FoundBy.LINK if FoundBy.LINK in ways else ways[0]


def _is_resource(link: Link) -> bool:
    """Whether an occurrence names a resource of the page: a style, an icon, a preload."""
    return link.element == "link" and not RESOURCE_RELATIONS.isdisjoint(link.rel.split())


def _join_distinct(texts: Iterable[str]) -> str:
    """Join the distinct texts."""
    return " ".join(dict.fromkeys(text for text in texts if text))[:MAX_TEXT]
