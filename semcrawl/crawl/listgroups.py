"""Groups of the frontier that no strategy judges: seeds, sitemaps, and the lists in these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from semcrawl.frontier.contract import FRONT, Entry, Frontier, Lease
from semcrawl.frontier.linkstate import LinkState

#: group of the seeds
SEEDS = "seeds"
#: sitemaps and well-known places of a host, whose name follows; what stands for the links of a list
SITEMAPS, PLACES, LISTS = "sitemaps ", "places ", "lists"
#: values of groups: before all pages but the seeds; when nothing else of a host waits
SOON, LAST = 5e8, -1e12


def is_judged(entry: Entry) -> bool:
    """Whether a link waits where its strategy put it."""
    return entry.group != LISTS and not entry.group.startswith((SITEMAPS, PLACES))


async def put_last(
    frontier: Frontier,
    urls: Sequence[tuple[str, LinkState]],
    queue: str,
    host: str,
    host_key: Callable[[str], str],
    kind: str = SITEMAPS,
) -> str:
    """Put sitemaps or places of a host in, to be asked for when nothing else of it waits.

    ``kind``: what their group begins with. Return the group, which may get another value.
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
    """Return the lease of a link that stands for others, as it goes back to wait for its turn.

    Those that went back less often go first.
    """
    key = lease.entry.key + 1 if lease.entry.group == LISTS else 0.0
    return replace(lease, entry=replace(lease.entry, group=LISTS, key=key))


def check_link(url: str, host: str, queue: str) -> Entry:
    """Return a known address as a link that is asked for before all others of its host."""
    state = LinkState(check=True)
    return Entry(url, host, queue, SEEDS, FRONT, state.pack(), str(state.label))
