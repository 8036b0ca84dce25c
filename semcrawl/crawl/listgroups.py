"""Puts links into groups of the frontier that no strategy judges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from semcrawl.frontier.contract import FRONT, Entry, Frontier, Lease
from semcrawl.frontier.links import LinkState
from semcrawl.sources.listing import LAST, LISTS, SEEDS, SITEMAPS


async def put_last(
    frontier: Frontier,
    urls: Sequence[tuple[str, LinkState]],
    queue: str,
    host: str,
    host_key: Callable[[str], str],
    kind: str = SITEMAPS,
) -> str:
    """Add sitemaps or well-known places of a host, to be fetched when nothing else of it waits.

    ``kind``: prefix of their group. Return the group; the caller may give it another value.
    """
    group = kind + host
    await frontier.set_values({group: LAST})
    await frontier.add(
        [
            Entry(url, host_key(url), queue, group, i, state.pack(), str(state.label))
            for i, (url, state) in enumerate(urls)
        ]
    )
    return group


def waiting_last(lease: Lease) -> Lease:
    """Return a lease that puts a link back, to wait until nothing else of its host does.

    Links that stand for lists take turns: the one that went back least often goes first.
    """
    key = lease.entry.key + 1 if lease.entry.group == LISTS else 0.0
    return replace(lease, entry=replace(lease.entry, group=LISTS, key=key))


def check_link(url: str, host: str, queue: str) -> Entry:
    """Return a known address as a link that comes before all others, to check its host."""
    state = LinkState(check=True)
    return Entry(url, host, queue, SEEDS, FRONT, state.pack(), str(state.label))
