"""The memory of one crawl: weights, counts, and the discovery tree."""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from semcrawl.errors import UsageError
from semcrawl.relevance.learned._order import FetchCounts, Refresh, WaitingOrder, rounded
from semcrawl.relevance.learned.answering import AnsweringHosts
from semcrawl.relevance.learned.features import LinkFacts
from semcrawl.relevance.learned.model import Judge, Judgement, Models, page_index
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.parts import twin_addresses
from semcrawl.relevance.learned.prior import NEVER
from semcrawl.relevance.learned.shares import TopicShares
from semcrawl.relevance.learned.table import (
    DONE,
    FAILED,
    NONE,
    SILENT,
    TAKEN,
    TARGET,
    TWIN,
    WAITING,
    Floats,
    Ids,
    LinkTable,
)

#: least error of a prediction to learn from, so that endless useless pages cost little
_AS_EXPECTED = 0.0005
#: … and for the kind of a document, which only decides on labels
_KIND_AS_EXPECTED = 0.01
#: a backup stops at a page whose recomputed worth changed by less
_NO_NEWS = 0.002
#: … and beyond the first page learns only from larger changes
_NEWS = 0.01
#: … with full weight from this change on
_FULL_NEWS = 0.02
#: least index of a page that shows that its section is not dry
_PROMISING = 0.1
#: consecutive fruitless fetches after which untried lists get a bonus, in full after twice as many
_DROUGHT = 16
#: consecutive fetches without a target after which links near a seed get a bonus, in full after
#: twice as many: what leads to the data of a site is mostly few clicks away from its start
_BARREN = 64
#: greatest depth that is counted
_DEEPEST = 60_000
#: … if their links have at least this index
_WORTH_A_TRY = 0.01
#: worth of off-topic RDF, as a factor of the share of RDF that is about the topic
_NEAR_MISS = 0.5


class CrawlMemory:
    """Links, weights and counts of one crawl."""

    def __init__(self, options: LearnedOptions, *, with_shares: bool = False) -> None:
        """Begin a crawl; ``with_shares`` means that only RDF about a topic is a target."""
        self.options = options
        self.models = Models(options)
        #: predicts the share of RDF about the topic behind links
        self.shares = TopicShares(options) if with_shares else None
        #: judges new links
        self.judge = Judge(options, self.models)
        self.table = LinkTable()
        self.order = WaitingOrder(options, self.table, self.scores)
        self.hosts = FetchCounts()
        self.answering = AnsweringHosts()
        self.clusters = FetchCounts()
        self.sections = FetchCounts()
        self.subsections = FetchCounts()
        self.fetches = 0
        #: number of RDF documents that the topic judged, and of those about it
        self.judged = self.relevant = 0
        #: number of latest consecutive fruitless fetches
        self.drought = 0
        #: number of fetches since the last target
        self.barren = 0
        #: number of links in flight that are not sure targets
        self.pending = 0
        self._refresh = self._new_refresh()

    def _new_refresh(self) -> Refresh:
        order, forgotten = self.order, self._forget_places
        return Refresh(
            self.options, self.models.index, self.table, order, self.shares, forgotten=forgotten
        )

    def _forget_places(self) -> None:
        """Forget the places of which no link is left in the table; number the others anew."""
        columns = {
            "host": self.hosts,
            "cluster": self.clusters,
            "section": self.sections,
            "subsection": self.subsections,
        }
        for column, counts in columns.items():
            kept, new = np.unique(self.table[column], return_inverse=True)
            counts.keep(kept)
            self.table[column][:] = new
            if column == "host":
                self.answering.keep(kept)

    def add(
        self,
        urls: Sequence[str],
        facts: Sequence[LinkFacts],
        parent: int = NONE,
        told: Floats | None = None,
        judged: Judgement | None = None,
    ) -> range:
        """Add new waiting links of a page to the table; return their numbers.

        ``told`` are their scores in the frontier. ``judged`` is their judgement at the time when
        their page was read, on which these scores are based.
        """
        if not urls:
            return range(self.table.size, self.table.size)
        judged = judged or self.judge.of(self.table, urls, facts)
        heard_of = len(self.hosts.names)
        clusters, sections, subsections = zip(*[about.groups for about in facts], strict=True)
        host = self.hosts.numbers_of([about.host for about in facts])
        cluster = self.clusters.numbers_of(clusters)
        self.clusters.found(cluster)
        if parent != NONE:
            named_by = (about.named_by for about in facts)
            self.answering.named(zip(host, named_by, strict=True), heard_of)
        table = self.table
        numbers = table.append(
            urls,
            [f.rows for f in facts],
            [f.stem for f in facts],
            prior=judged.priors,
            target_prior=judged.target_priors,
            index=judged.indexes,
            target=judged.likely,
            told=judged.indexes if told is None else told,
            parent=parent,
            depth=0 if parent == NONE else min(table.columns["depth"].item(parent) + 1, _DEEPEST),
            host=host,
            cluster=cluster,
            section=self.sections.numbers_of(sections),
            subsection=self.subsections.numbers_of(subsections),
            flags=judged.twins * np.uint8(TWIN),
            **({} if self.shares is None else self.shares.of(facts)._asdict()),
            share_prior=np.array([f.signs.share_prior for f in facts], np.float32),
            level=np.array([f.signs.level for f in facts], np.uint8),
        )
        columns = table.columns
        if parent != NONE and columns["first_child"].item(parent) == NONE:
            columns["first_child"][parent] = numbers.start
            columns["children"][parent] = len(urls)
        self.order.join(np.arange(numbers.start, numbers.stop))
        return numbers

    # -- outcomes

    def taken(self, number: int) -> None:
        """Count a link as being fetched, which lowers the exploration bonus of similar links."""
        columns = self.table.columns
        if columns["state"].item(number) == WAITING:
            columns["state"][number] = TAKEN
            self._count(number)
            self.pending += columns["index"].item(number) < self.options.sure

    def failed(self, number: int) -> None:
        """Note that an address failed, so that its twins may still be good."""
        table = self.table
        table["flags"][number] |= FAILED
        *others, same = twin_addresses(table.urls[number]) or [""]
        for url in (*others, same):
            twin = table.ids.get(url)
            if twin is not None and table["flags"][twin] & TWIN:
                table["flags"][twin] &= ~TWIN & 0xFF
                table["prior"][twin] += np.float32(self.options.twin_penalty * (1 + (url == same)))

    def is_twin(self, number: int) -> bool:
        """Whether a link's page seems to be known under another address."""
        return bool(self.table.columns["flags"].item(number) & TWIN)

    def doubt(self, links: range) -> None:
        """Lower the prior of links on a page that was also fetched under another address.

        They are the page's links, resolved against the wrong address.
        """
        self.table["prior"][links.start : links.stop] -= np.float32(self.options.twin_penalty)

    def superseded(self, number: int) -> None:
        """Note that a waiting link's document was fetched at another address."""
        if self.table["state"][number] == WAITING:
            self.table["prior"][number] = NEVER

    def near_miss(self, *, relevant: bool) -> float:
        """Count an RDF document that the topic judged; return its least gain.

        Off-topic RDF shows where RDF is. It gains half the share of relevant documents among those
        judged so far, with one relevant and one other document added. So a topic without any
        relevant document does not dominate the crawl.
        """
        self.judged += 1
        self.relevant += relevant
        return _NEAR_MISS * (self.relevant + 1) / (self.judged + 2)

    def observe(
        self, number: int, *, target: bool, gain: float, links: range, answered: bool = True
    ) -> None:
        """Learn from a fetch: its gain, and the new links of its page.

        ``gain`` is how much of a target it was, 0 to 1; ``answered`` whether its host answered. A
        failure on a host that never answered says nothing about the features of good links.
        """
        columns = self.table.columns  # single elements are read, so no slicing of columns
        state, index = columns["state"].item(number), columns["index"].item(number)
        if state == WAITING:
            self._count(number)
        elif state == TAKEN and index < self.options.sure:
            self.pending = max(0, self.pending - 1)
        columns["state"][number] = DONE
        seen = self._page_index(links, gain)
        columns["observed"][number] = seen
        columns["gain"][number] = gain
        section = columns["section"].item(number)
        self.sections.note_yield(section, seen >= _PROMISING, grew=self._grew(section, links))
        if target:
            columns["flags"][number] |= TARGET
        gave = not columns["flags"].item(number) & FAILED
        self.clusters.gave(columns["cluster"].item(number), gave)
        error = abs(seen - index)
        host = columns["host"].item(number)
        if answered:
            self.answering.answered(host)
        else:
            columns["flags"][number] |= SILENT
        telling = answered or self.answering.failed(host)
        if telling and error >= _AS_EXPECTED:
            prior = columns["prior"].item(number)
            self.models.index.update(self.table.rows(number), prior, seen, 1.0)
        if telling and abs(target - columns["target"].item(number)) >= _KIND_AS_EXPECTED:
            prior = columns["target_prior"].item(number)
            self.models.kinds.update(self.table.rows(number), prior, float(target), 1.0)
        if self.options.use_backups and error >= _NO_NEWS:
            self._back_up(number)
        self.fetches += 1
        self.drought = 0 if seen >= _PROMISING else self.drought + 1
        self.barren = 0 if gain > 0 else self.barren + 1
        self._refresh.note(host, error)

    def _values(self, links: range) -> Floats:
        """Return the worth of each link: as observed, else as predicted."""
        part = slice(links.start, links.stop)
        observed = self.table.columns["observed"][part]
        predicted = self.table.columns["index"][part]
        if self.answering.doubtful:
            predicted = predicted * self.answering.trust(self.table.columns["host"][part])
        values: Floats = np.where(np.isnan(observed), predicted, observed)
        return values

    def _grew(self, section: int, links: range) -> bool:
        """Whether a fetched page of a section has more than one new link in that section."""
        sections = self.table.columns["section"][links.start : links.stop]
        return int(np.count_nonzero(sections == section)) > 1

    def _page_index(self, links: range, gain: float) -> float:
        """Return the worth of a page from its new links and its own ``gain``."""
        horizon = self.options.horizon
        return page_index(self._values(links), horizon, gain) if links and gain < 1 else gain

    def _back_up(self, number: int) -> None:
        """Walk up the discovery tree, and recompute and learn the worth of each page."""
        columns = self.table.columns
        parent = columns["parent"].item(number)
        for level in range(self.options.backup_depth):
            if parent == NONE:
                return
            before = columns["observed"].item(parent)
            first = columns["first_child"].item(parent)
            gain = columns["gain"].item(parent)
            if first != NONE and not math.isnan(before) and gain < 1:
                links = range(first, first + columns["children"].item(parent))
                now = self._page_index(links, gain)
                change = abs(now - before)
                columns["observed"][parent] = now
                if now >= _PROMISING:
                    self.sections.note_yield(columns["section"].item(parent), True)
                if change < _NO_NEWS:
                    return
                if level == 0 or change > _NEWS:
                    prior = columns["prior"].item(parent)
                    weight = self.options.backup_weight * min(1.0, change / _FULL_NEWS)
                    self.models.index.update(self.table.rows(parent), prior, now, weight)
            parent = columns["parent"].item(parent)

    def _count(self, number: int) -> None:
        columns = self.table.columns
        self.clusters.add(columns["cluster"].item(number))
        self.sections.add(columns["section"].item(number))
        self.subsections.add(columns["subsection"].item(number))

    # -- the order of waiting links

    def believed(self, numbers: Ids, *, share: str = "share") -> Floats:
        """Return the last predicted index, times a column of shares, times the trust in hosts."""
        columns = self.table.columns
        index: Floats = columns["index"][numbers]
        if self.shares is not None:
            index = index * columns[share][numbers]
        if self.answering.doubtful:
            index = index * self.answering.trust(columns["host"][numbers])
        return index

    def scores(self, numbers: Ids) -> Floats:
        """Return scores: last predicted index plus exploration bonus, less in dry sections."""
        columns = self.table.columns
        return self.worth(
            self.believed(numbers, share="hope"),
            columns["cluster"][numbers],
            columns["section"][numbers],
            columns["subsection"][numbers],
            columns["depth"][numbers],
        )

    def places(self, facts: Sequence[LinkFacts]) -> NDArray[np.int64]:
        """Return the numbers of the links' clusters, sections and subsections, a row each.

        -1 for an unknown place.
        """
        counts = (self.clusters, self.sections, self.subsections)
        clusters, sections, below = (each.numbers for each in counts)
        found = [
            (clusters.get(cluster, -1), sections.get(section, -1), below.get(subsection, -1))
            for cluster, section, subsection in (about.groups for about in facts)
        ]
        return np.array(found).T

    def worth(
        self,
        index: Floats,
        clusters: NDArray[Any],
        sections: NDArray[Any],
        below: NDArray[Any],
        depths: NDArray[Any] | np.float32,
    ) -> Floats:
        """Return the scores of links by their index, the numbers of their places, and depths."""
        options = self.options
        if options.list_belief:
            index = index * self.clusters.trust(clusters, options.list_belief)
        worth: Floats = index - np.float32(options.dry_penalty) * self.sections.dryness(sections)
        if options.use_exploration:
            bonus = (
                options.explore_cluster * self.clusters.shares(clusters)
                + options.explore_section * self.sections.shares(sections)
                + options.explore_subsection * self.subsections.shares(below)
            )
            hopeful = np.sqrt(np.minimum(index / np.float32(options.explore_index), 1))
            worth += bonus * hopeful
            if self.barren > _BARREN:
                thirst = min(1.0, self.barren / _BARREN - 1)
                near = np.float32(options.explore_near * thirst) / np.maximum(depths, 1)
                worth += near * hopeful
            if self.clusters.untried_lists and self.drought > _DROUGHT:
                thirst = min(1.0, self.drought / _DROUGHT - 1)
                untried = self.clusters.untried(clusters) * (index >= _WORTH_A_TRY)
                worth += np.float32(options.explore_lists * thirst) * untried
        return rounded(worth)

    def refresh_stale(self) -> None:
        """Predict the links again that the last fetches may have moved."""
        self._refresh.stale(self.fetches)

    def replace_table(self, table: LinkTable, answering: AnsweringHosts) -> None:
        """Continue with another table; links that were in flight wait again."""
        self.table = table
        self.answering = answering
        self.order = WaitingOrder(self.options, table, self.scores)
        table["state"][table["state"] == TAKEN] = WAITING
        self.clusters.found(table["cluster"].tolist())
        self._refresh = self._new_refresh()
        self._refresh.all(self.fetches)


_COUNTS = ("hosts", "clusters", "sections", "subsections")
#: changes with the meaning of the stored state, features included
STAMP = b"semcrawl-learned-1\n"
#: size limit of an unpacked state, in bytes
_LARGEST = 1 << 31


def read_model(path: str) -> bytes:
    """Read the state of another crawl from a file; raise ``UsageError`` if it is unreadable."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None


def content_of(memory: CrawlMemory) -> dict[str, Any]:
    """Return weights, counts, the discovery tree, and the best waiting links."""
    content: dict[str, Any] = {"bits": memory.options.table_bits}
    content |= {"fetches": memory.fetches, "drought": memory.drought, "barren": memory.barren}
    content |= {"judged": memory.judged, "relevant": memory.relevant}
    for name, model in (("index", memory.models.index), ("kinds", memory.models.kinds)):
        content |= {f"{name}_{key}": array for key, array in model.state().items()}
    if memory.shares is not None:
        content |= {f"shares_{key}": array for key, array in memory.shares.model.state().items()}
        content |= {"shares_judged": memory.shares.judged, "shares_gained": memory.shares.gained}
        content |= {"shares_levels": memory.shares.levels.counts}
    for name in _COUNTS:
        content |= {f"{name}_{what}": of for what, of in getattr(memory, name).state().items()}
    content |= memory.answering.state()
    return content | _worth_keeping(memory).state()


def take_over(
    memory: CrawlMemory, content: Mapping[str, Any], *, weights_only: bool = False
) -> None:
    """Restore the result of :func:`content_of`; raise ``UsageError`` if it does not fit.

    With ``weights_only``, ignore links and counts, as they are those of another crawl.
    """
    bits = content.get("bits")
    if bits != memory.options.table_bits:
        raise UsageError(f"the model has 2^{bits} rows, not 2^{memory.options.table_bits}")
    try:
        for name, model in (("index", memory.models.index), ("kinds", memory.models.kinds)):
            model.restore({key: content[f"{name}_{key}"] for key in model.state()})
        if weights_only:
            return
        if memory.shares is not None and "shares_rows" in content:
            model = memory.shares.model
            model.restore({key: content[f"shares_{key}"] for key in model.state()})
            memory.shares.judged = int(content.get("shares_judged", 0))
            memory.shares.gained = float(content.get("shares_gained", 0.0))
            levels = memory.shares.levels
            levels.counts[:] = content.get("shares_levels", levels.counts)
        memory.fetches = int(content["fetches"])
        memory.drought = int(content.get("drought", 0))
        memory.barren = int(content.get("barren", 0))
        memory.judged = int(content.get("judged", 0))
        memory.relevant = int(content.get("relevant", 0))
        for name in _COUNTS:
            counts = getattr(memory, name)
            known = content[f"{name}_names"], content[f"{name}_counts"]
            later = (content.get(f"{name}_{what}") for what in ("fruitless", "given"))
            counts.restore(*known, *later)
        table = LinkTable.restored(content)
        if "answering" in content:
            answering = AnsweringHosts.restored(content)
        else:  # an earlier version's
            answering = AnsweringHosts.of(table)
    except (KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise UsageError(f"the model cannot be read: {error}") from None
    memory.replace_table(table, answering)


def _worth_keeping(memory: CrawlMemory) -> LinkTable:
    table, most = memory.table, memory.options.saved_links
    if table.size <= most:
        return table
    kept = (table["children"] > 0) | (table["state"] == TAKEN)
    waiting = table.waiting()
    best = np.argsort(-table["told"][waiting], kind="stable")
    kept[waiting[best[:most]]] = True
    return table.select(kept)


def pack(content: Mapping[str, Any]) -> bytes:
    """Encode a mapping with values for msgpack and NumPy arrays."""
    packer = msgpack.Packer(unicode_errors="surrogatepass")
    compressor = zlib.compressobj(1)  # the crawl waits, and a higher level gains little
    # one by one, as all of them together take a hundred megabytes
    pieces = [compressor.compress(packer.pack_map_header(len(content)))]
    for name, value in content.items():
        pieces.append(compressor.compress(packer.pack(name)))
        pieces.append(compressor.compress(packer.pack(_encode(value))))
    body = b"".join([*pieces, compressor.flush()])
    return STAMP + zlib.crc32(body).to_bytes(4, "big") + body


def unpack(state: bytes) -> dict[str, Any]:
    """Decode the result of :func:`pack`; raise ``UsageError`` if foreign, older or damaged."""
    if not state.startswith(STAMP):
        raise UsageError("the model is not one of this version's learned strategy")
    checksum, body = state[len(STAMP) : len(STAMP) + 4], state[len(STAMP) + 4 :]
    if len(checksum) < 4 or zlib.crc32(body).to_bytes(4, "big") != checksum:
        raise UsageError("the model is damaged or was cut short")
    try:
        unpacker = zlib.decompressobj()
        plain = unpacker.decompress(body, _LARGEST)
        if unpacker.unconsumed_tail:
            raise UsageError("the model is larger than any that this version writes")
        content = msgpack.unpackb(plain, unicode_errors="surrogatepass")
        return {name: _decode(value) for name, value in content.items()}
    except (zlib.error, ValueError, TypeError, AttributeError, msgpack.UnpackException) as error:
        raise UsageError(f"the model cannot be read: {error}") from None


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        buffer = io.BytesIO()
        np.save(buffer, value, allow_pickle=False)
        return {"array": buffer.getvalue()}
    return {"value": value}


def _decode(value: Mapping[str, Any]) -> Any:
    if "array" in value:
        array: NDArray[Any] = np.load(io.BytesIO(value["array"]), allow_pickle=False)
        return array
    return value["value"]
