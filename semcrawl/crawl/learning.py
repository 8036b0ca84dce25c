"""Learning together: each worker publishes its outcomes to the others."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import math
import time
import zlib
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby, islice, takewhile
from operator import attrgetter, itemgetter
from typing import Any

import msgpack

from semcrawl.config.typedfields import check_fields
from semcrawl.errors import FrontierCorrupt, UsageError
from semcrawl.frontier.contract import FRONT, QUEUES, CrawlEvent, Entry, Frontier
from semcrawl.frontier.links import LinkState
from semcrawl.links import FoundBy, Link, Page
from semcrawl.processes import give_back
from semcrawl.relevance import Relevance
from semcrawl.relevance.contract import Label, Outcome, Ranked, Rekeying, Selective, Synchronised
from semcrawl.sources.listing import is_judged
from semcrawl.web.vocabulary import Kind

#: version of the layout; older events are refused, except version 2, which has no topics
VERSION = 3
_WITHOUT_TOPIC = 2
#: events longer than this many bytes are compressed
_WORTH_COMPRESSING = 512
#: largest event that is unpacked, in bytes
_LARGEST = 1 << 27
_PLAIN, _PACKED = b"p", b"z"

_LINK_FIELDS = tuple(f.name for f in dataclasses.fields(Link))
_fields_of = attrgetter(*_LINK_FIELDS)
_POSITION = _LINK_FIELDS.index("position")
#: defaults that are not empty, by the place of the field; ``None`` for a field without one
_LINK_DEFAULTS = [
    (i, None if f.default is dataclasses.MISSING else f.default)
    for i, f in enumerate(dataclasses.fields(Link))
    if f.default
]


def encode_event(outcome: Outcome) -> bytes:
    """Encode an outcome with its new links (msgpack, compressed when long)."""
    plain: bytes = msgpack.packb(
        [
            VERSION, outcome.url, outcome.kind and str(outcome.kind), outcome.target,
            outcome.final_url, outcome.parent, outcome.depth, outcome.status, str(outcome.label),
            outcome.rules, outcome.group, outcome.duplicate,
            [_pack_ranked(ranked) for ranked in outcome.new_links], outcome.relevance, outcome.gain,
        ],
        unicode_errors="surrogatepass",
    )  # fmt: skip
    if len(plain) > _WORTH_COMPRESSING:
        return _PACKED + zlib.compress(plain, 1)
    return _PLAIN + plain


def decode_event(event: bytes) -> Outcome:
    """Decode an event of :func:`encode_event`; raise ``ValueError`` for anything else."""
    try:
        plain = event[1:]
        if event[:1] == _PACKED:
            unpacker = zlib.decompressobj()
            plain = unpacker.decompress(plain, _LARGEST)
            if not unpacker.eof:
                raise ValueError("cut short or too large")
        elif event[:1] != _PLAIN:
            raise ValueError("not an event")
        fields = msgpack.unpackb(plain, unicode_errors="surrogatepass", strict_map_key=False)
        if isinstance(fields, list) and fields[:1] == [_WITHOUT_TOPIC]:
            fields = [VERSION, *fields[1:], None, None]
        (version, url, kind, target, final_url, parent, depth, status, label, rules, group,
         duplicate, links, relevance, gain) = fields  # fmt: skip
        if version != VERSION:
            raise ValueError(f"version {version}, not {VERSION}")
        outcome = Outcome(
            url=url,
            kind=None if kind is None else Kind(kind),
            target=bool(target),
            final_url=final_url,
            parent=parent,
            depth=depth,
            status=status,
            label=Label(label),
            rules=tuple(rules),
            group=group,
            duplicate=bool(duplicate),
            relevance=_fraction(relevance),
            gain=_fraction(gain),
        )
        check_fields(outcome)
        outcome = dataclasses.replace(outcome, new_links=tuple(map(_unpack_ranked, links)))
    except (
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        zlib.error,
        msgpack.UnpackException,
    ) as error:
        raise ValueError(f"not an outcome: {error}") from None
    return outcome


def _fraction(value: Any) -> float | None:
    """Return a number from 0 to 1, or ``None``; raise ``ValueError`` for anything else."""
    if value is None:
        return None
    if not (type(value) in (float, int) and 0 <= value <= 1):
        raise ValueError("a relevance is not a number from 0 to 1")
    return float(value)


def _pack_ranked(ranked: Ranked) -> list[Any]:
    """Return a ranked link as a list, without the link's fields that have their defaults."""
    fields = _fields_of(ranked.link)
    link = {i: value for i, value in enumerate(fields) if value}
    for i, default in _LINK_DEFAULTS:
        if fields[i] == default:
            del link[i]
        else:
            link[i] = fields[i]
    return [link, str(ranked.label), ranked.group, ranked.key, ranked.rules, ranked.judged]


def _unpack_ranked(fields: list[Any]) -> Ranked:
    link, label, group, key, rules, judged = fields
    types = {type(value) for i, value in link.items() if i != _POSITION}
    types.update(map(type, rules), (str if group is None else type(group),))
    numbers = (link.get(_POSITION, 0), *judged)
    is_key = type(key) in (float, int) and not math.isnan(key)  # an infinite key is valid
    if types - {str} or not is_key or not all(map(_is_number, numbers)):
        raise ValueError("a link's field is of another type")
    named = {_LINK_FIELDS[i]: value for i, value in link.items() if 0 <= i < len(_LINK_FIELDS)}
    found_by = FoundBy.read(named.pop("found_by", "")) or FoundBy.LINK
    return Ranked(
        Link(**named, found_by=found_by), Label(label), group, key, tuple(rules), tuple(judged)
    )


def _is_number(value: Any) -> bool:
    """Whether a value is a finite float, a truth value, or an integer that msgpack can encode."""
    if isinstance(value, int):
        return abs(value) < 1 << 63
    return isinstance(value, float) and math.isfinite(value)


logger = logging.getLogger(__name__)

#: prefix of the names under which strategies save their state
STRATEGY_STATE = "strategy:"
#: most keys that are set before links are taken again: those of ten thousand links on as many hosts
#: hold the frontier for half a second
_KEYS_AT_ONCE = 500
#: links whose queue and group are remembered (some 100 bytes each)
_PLACES = 50_000


class SharedLearning:
    """Shares what workers learn, and applies it to the order of the frontier.

    Outcomes go to all workers as events. The learned state is saved at intervals; after a crash
    the worker reads the events since then again.

    ``synchronised``: every worker's strategy processes all outcomes, its own included, and all
    takes, in the order of the event log. So all learn the same, and only the worker that published
    an event sets new keys in the frontier. Otherwise a worker learns its own outcomes at once, and
    sets new keys for the links that it found itself.

    ``mark_seen`` is called with the links that other workers have added to the frontier.
    """

    def __init__(
        self,
        frontier: Frontier,
        strategy: Relevance,
        host_key: Callable[[str], str],
        *,
        synchronised: bool = False,
        mark_seen: Callable[[Iterable[str]], None] = lambda urls: None,
    ) -> None:
        self.strategy = strategy
        self.synchronised = synchronised
        #: number of outcomes learned
        self.outcomes = 0
        self._frontier = frontier
        self._host_key = host_key
        self._mark_seen = mark_seen
        #: queue and group of waiting links, for those found last
        self._places: dict[str, tuple[str, str]] = {}
        #: links that stay in front of their group until they are fetched
        self._in_front: set[str] = set()
        self._selective = strategy if isinstance(strategy, Selective) else None
        #: whether the strategy changes keys of waiting links
        self.rekeys = isinstance(strategy, Rekeying) and bool(strategy.rekeys)
        if synchronised and isinstance(strategy, Synchronised):
            strategy.keep_in_step()
        #: links taken by any worker that have no outcome yet, with the time (``time.monotonic``) at
        #: which this worker read of the take; the latest last (``synchronised``)
        self._in_flight: dict[str, float] = {}
        self._processing = asyncio.Lock()
        #: outcomes that are not published yet, with their queues
        self._unpublished: list[tuple[str, bytes]] = []
        #: this worker's events that it has not read back yet, oldest first (``synchronised``)
        self._own_published: deque[tuple[bytes, Outcome]] = deque()
        self._learned = False
        self._loading = False
        #: new keys of links that are not in the frontier yet
        self._keys: dict[str, float] = {}

    def awaited(self, seconds: float) -> int:
        """Return how many links that workers took in the last ``seconds`` have no outcome yet.

        ``synchronised`` only. Links taken earlier are forgotten.
        """
        before = time.monotonic() - seconds
        for url in list(takewhile(lambda url: self._in_flight[url] < before, self._in_flight)):
            del self._in_flight[url]
        return len(self._in_flight)

    @property
    def _state_name(self) -> str:
        return STRATEGY_STATE + self.strategy.name

    async def load(self) -> None:
        """Continue with the saved state."""
        state = await self._frontier.shared.load_state(self._state_name)
        if state:
            try:
                self.strategy.load_state(state)
            except UsageError as error:
                where = f"{self._frontier.shared.place}, {self._state_name!r}"
                raise FrontierCorrupt(f"{where}, cannot be read: {error}") from error
        await self.apply()
        self._loading = True
        while await self.read_events():
            pass
        self._loading = False

    async def save(self) -> None:
        """Save the learned state, and give the memory that its packing took back to the system.

        It says which keys the frontier has, so those come first.
        """
        while self._keys:
            await self._rekey({})
        state = self.strategy.dump_state()
        if state:
            await self._frontier.shared.save_state(self._state_name, state)
            del state
            await asyncio.to_thread(give_back)

    def learn(self, outcome: Outcome, queue: str) -> None:
        """Learn an outcome; :meth:`publish` sends it to the others.

        ``queue``: where the links of the document wait. A synchronised strategy learns it in
        :meth:`publish`, after the earlier events of other workers.
        """
        if not self.synchronised:
            self._learn_outcome(outcome)
            self._learned = True
        if self._selective is None or self._selective.worth_telling(outcome):
            event = encode_event(outcome)
            self._unpublished.append((queue, event))
            if self.synchronised:
                self._own_published.append((event, outcome))

    async def publish(self) -> bool:
        """Publish and apply the outcomes since the last call, and those that arrive meanwhile.

        Return whether this worker has read all events up to now.
        """
        caught_up = False
        while self._unpublished or self._learned:
            caught_up = await self._publish_once() or caught_up
        if self._keys:
            await self._rekey({})
        return caught_up

    async def _publish_once(self) -> bool:
        caught_up = False
        if self._unpublished:
            unpublished, self._unpublished = self._unpublished, []
            parts = [
                (queue, [event for _, event in events])
                for queue, events in groupby(unpublished, key=itemgetter(0))
            ]
            for queue, events in parts[:-1] if self.synchronised else parts:
                await self._frontier.shared.exchange(*events, queue=queue, limit=0)
            if self.synchronised:
                queue, events = parts[-1]
                await self._process(partial(self._frontier.shared.exchange, *events, queue=queue))
                caught_up = True
        if self._learned:
            self._learned = False
            await self.apply()
        return caught_up

    async def read_events(self) -> int:
        """Learn from the new events; return how many there were."""
        return await self._process(self._frontier.shared.exchange)

    async def _process(self, ask: Callable[[], Awaitable[Sequence[CrawlEvent]]]) -> int:
        """Learn from the events that ``ask`` returns; return how many there were."""
        async with self._processing:
            events = await ask()
            # no await until all is learned: the position in the event log is saved together with
            # the learned state
            keys: dict[str, float] = {}
            for event in events:
                if event.outcome is not None and (self.synchronised or not event.own):
                    self._learn_event(event.outcome, event.queue, mine=event.own)
                    if event.more:  # no take follows before the next outcome
                        continue
                    moved = self.strategy.rekeyed()
                    if event.own or not self.synchronised or self._loading:
                        keys.update(moved)
                    else:
                        keys.update((url, moved[url]) for url in keys.keys() & moved.keys())
                elif event.taken and self.synchronised and not self._loading:
                    # takes before this worker joined concern only their takers
                    self.note_taken(event.taken)
            await self.apply_values()
            await self._rekey(keys)
            return len(events)

    def note_taken(self, entries: Sequence[Entry]) -> None:
        """Note that this worker or another has taken these links (``synchronised``)."""
        taken = [original_url(entry) for entry in entries if is_judged(entry.group)]
        now = time.monotonic()
        for url in taken:
            self._in_flight.pop(url, None)
            self._in_flight[url] = now
        self.strategy.taken(taken)

    def forget(self, entry: Entry) -> None:
        """No longer await the outcome of a link, or of its redirect (``synchronised``).

        It waits again, or for other documents. The other workers await it a while longer.
        """
        self._in_flight.pop(original_url(entry), None)

    def _learn_event(self, event: bytes, queue: str, *, mine: bool) -> None:
        outcome = self._own_outcome(event) if mine else None
        if outcome is None:
            try:
                outcome = decode_event(event)
            except ValueError as error:
                logger.warning("an event of another worker cannot be read: %s", error)
                return
        try:
            self._learn_outcome(outcome)
        except Exception as error:
            if mine:
                raise
            # its fields have the right types, but the strategy cannot use their values
            reason = f"{type(error).__name__}: {error}"
            logger.warning("the strategy cannot use an event of another worker: %s", reason)
            return
        if not mine:
            self._mark_seen(r.link.url for r in outcome.new_links)
        if self.synchronised and queue:
            self._note_places((r.link.url, queue, r.group) for r in outcome.new_links if r.group)

    def _own_outcome(self, event: bytes) -> Outcome | None:
        """Return the outcome of this worker's own event; ``None`` if it is an earlier run's."""
        while self._own_published:
            published, outcome = self._own_published.popleft()
            if published == event:
                return outcome
        return None

    def _learn_outcome(self, outcome: Outcome) -> None:
        self.outcomes += 1
        self.strategy.learn(outcome)
        self._places.pop(outcome.url, None)
        self._in_front.discard(outcome.url)
        self._in_flight.pop(outcome.url, None)

    def found(self, entries: Sequence[Entry], new: Sequence[bool]) -> None:
        """Note where the links that this worker added wait."""
        pairs = zip(entries, new, strict=True)
        self._note_places((e.url, e.queue, e.group) for e, is_new in pairs if is_new)

    def _note_places(self, places: Iterable[tuple[str, str, str]]) -> None:
        if self.rekeys:
            self._places.update((url, (queue, group)) for url, queue, group in places)
            if len(self._places) > _PLACES:
                # delete many at once: finding a dict's first key walks over its deleted ones
                for url in list(islice(self._places, len(self._places) - _PLACES * 9 // 10)):
                    del self._places[url]

    async def bring_forward(self, url: str) -> None:
        """Put a waiting link in front of its group, and keep it there whatever its key.

        Does nothing for a strategy that sets no new keys, as links' places are not kept for it.
        """
        if url in self._places:
            self._in_front.add(url)
            await self._frontier.rekey([(place, FRONT) for place in self._places_of(url)])

    async def apply(self) -> None:
        """Apply the learned values to the waiting links."""
        await self.apply_values()
        await self._rekey(self.strategy.rekeyed())

    async def _rekey(self, keys: Mapping[str, float]) -> None:
        """Set keys in the frontier; of many, the next ones of those that were not set yet."""
        self._keys.update(keys)
        now = list(islice(self._keys, _KEYS_AT_ONCE))
        keys = {url: self._keys.pop(url) for url in now}
        if keys and self._in_front:
            keys = {url: key for url, key in keys.items() if url not in self._in_front}
        if keys:
            await self._frontier.rekey(
                [(place, key) for url, key in keys.items() for place in self._places_of(url)]
            )

    def _places_of(self, url: str) -> list[Entry]:
        """Return where a link waits; if that is not known, where it probably waits."""
        queues: Sequence[str] = QUEUES
        if url in self._places:
            queue, group = self._places[url]
            queues = (queue,)
        else:
            # no seed has depth 1: strategies may treat seeds differently
            group = self.strategy.rank(Page(url, depth=1), [Link(url)])[0].group or ""
        return [Entry(url, self._host_key(url), queue, group) for queue in queues if group]

    async def apply_values(self) -> None:
        """Set the groups' new values in the frontier."""
        values = self.strategy.values()
        if values:
            await self._frontier.set_values(values)


def original_url(entry: Entry) -> str:
    """Return the URL under which a strategy knows a link: the one before any redirect."""
    # few links were redirected: look for the field before unpacking the whole state
    redirects = LinkState.unpack(entry).redirects if "v" in entry.payload else ()
    return redirects[0] if redirects else entry.url
