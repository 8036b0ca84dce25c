"""Judges every document by the crawl's topic."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

from scrapy.http import Response
from scrapy.settings import BaseSettings

from semcrawl.config.transfers import TransferOptions
from semcrawl.crawl.attempt import Attempt
from semcrawl.errors import FrontierUnavailable
from semcrawl.frontier.contract import Shared
from semcrawl.items import FetchRecord
from semcrawl.links import PageText
from semcrawl.rdf import Reading
from semcrawl.relevance import Outcome, Ranked
from semcrawl.relevance.focus import MAX_REASONS, Focus, grade, leads_on, read_focus
from semcrawl.settings.reader import fill
from semcrawl.topics import (
    TEXT,
    Closing,
    Document,
    Judgement,
    Remembering,
    Topic,
    parts_of,
)
from semcrawl.topics.about import PageJudge
from semcrawl.topics.contract import MOST_REMEMBERED
from semcrawl.web.vocabulary import Kind

#: seconds between checks of a waiting thread whether the event loop still runs
_LOOP_CHECK = 1.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of a document: whether it is a target, by its kind and the topic."""

    target: bool
    #: how much of a target it is, 0 to 1; ``None``: 1 for a target, 0 for everything else
    gain: float | None = None
    #: relevance to the topic, which guides the crawl, 0 to 1; ``None`` without a topic
    relevance: float | None = None
    #: what decided whether it is kept, 0 to 1; ``None``: the relevance
    decided: float | None = None
    #: the topic's reasons
    reasons: tuple[str, ...] = ()
    #: whether it is written to the results
    kept: bool = True
    #: whether its links are followed
    leads_on: bool = True

    def note_in(self, record: FetchRecord) -> None:
        """Write relevance and reasons into the document's record."""
        record.relevance = self.relevance if self.decided is None else self.decided
        record.reasons = self.reasons

    def outcome(
        self,
        attempt: Attempt,
        kind: Kind,
        response: Response,
        new: tuple[Ranked, ...] = (),
        *,
        duplicate: bool = False,
    ) -> Outcome:
        """Return the outcome of a fetch whose document was judged so."""
        return attempt.outcome(
            kind,
            response,
            target=self.target,
            duplicate=duplicate,
            new_links=new,
            relevance=self.relevance,
            gain=self.gain,
        )


class TopicJudge:
    """Judges documents by the crawl's topic; without a topic, all that count are targets."""

    def __init__(
        self, focus: Focus, thread_above: int = 1 << 18, remembered: int = MOST_REMEMBERED
    ) -> None:
        """Judge by ``focus``, in a thread if a document has more than ``thread_above`` bytes.

        ``remembered``: statements that a topic may keep in the frontier.
        """
        self._remembered = remembered
        self._focus = focus
        self._pages = None if focus.topic is None else PageJudge(focus.topic)
        self._thread_above = thread_above
        self._turn = asyncio.Lock()

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Read the settings; raise ``UsageError`` for wrong ones."""
        return cls(
            read_focus(settings),
            fill(TransferOptions, settings).thread_above,
        )

    @property
    def about(self) -> str:
        """The topic, as the user gave it."""
        return self._focus.about

    @property
    def topic(self) -> Topic | None:
        """The topic, if there is one."""
        return self._focus.topic

    def near(self, near_text: float | None) -> Verdict:
        """Judge what cannot be read by ``near_text``, the relevance of the texts near its link."""
        if self._focus.topic is None:
            return Verdict(True)
        relevance = near_text or 0.0
        target, gain = grade(True, relevance, self._focus.threshold)
        kept = target or self._focus.keep_all
        return Verdict(target, gain, relevance, reasons=("the texts near it",), kept=kept)

    @property
    def text_chars(self) -> int:
        """Characters of a page's text that the topic reads; 0 if it reads none."""
        topic = self._focus.topic
        return self._focus.max_size if topic is not None and TEXT in topic.needs else 0

    def remember_in(self, shared: Shared) -> None:
        """Let the topic keep its memory in the frontier, which all workers share."""
        for part in parts_of(self._focus.topic) if self._focus.topic else ():
            if isinstance(part, Remembering):
                part.remember_in(SharedStatements(shared, self._remembered))

    def close(self) -> None:
        """Close the topic's resources."""
        if isinstance(self._focus.topic, Closing):
            self._focus.topic.close()

    async def page(
        self,
        url: str,
        text: PageText,
        reading: Reading | None,
        markup: bytes = b"",
        *,
        counts: bool,
    ) -> Verdict:
        """Judge a page by its text, the data embedded in it, and its markup.

        ``counts``: it is of a kind that the crawl looks for.
        """
        if self._pages is None:
            return Verdict(counts)
        judge = partial(self._pages.judge, url, text, reading, markup)
        return await self._verdict(judge, _size(reading) + len(text.text), counts)

    async def rdf(
        self, url: str, reading: Reading, *, counts: bool, may_keep: bool = True
    ) -> Verdict:
        """Judge an RDF document by its statements.

        ``may_keep``: it can be kept, whatever it is about.
        """
        topic = self._focus.topic
        if topic is None:
            unread = bool(reading.contexts_needed)
            worth = self._focus.counting.worth(reading.quads, unread=unread)
            return Verdict(counts, worth if counts and worth < 1 else None)
        judge = partial(topic.judge, Document.of_rdf(url, reading))
        return await self._verdict(judge, _size(reading), counts, may_keep)

    async def _verdict(
        self,
        judging: Callable[[], Judgement],
        size: int,
        counts: bool,
        may_keep: bool = True,
    ) -> Verdict:
        focus, topic = self._focus, self._focus.topic

        def judge() -> Judgement:
            judgement = judging()
            if may_keep and (focus.keep_all or judgement.deciding >= focus.threshold):
                judgement.keep()
            return judgement

        if size <= self._thread_above and not (topic is not None and topic.takes_long):
            judgement = judge()
        else:
            async with self._turn:  # one thread at a time may call the topic
                judgement = await asyncio.to_thread(judge)
        reasons = tuple(f"{what}: {why}" for what, why in judgement.reasons[:MAX_REASONS])
        target, gain = grade(counts, judgement.deciding, focus.threshold, judgement.worth)
        reached = judgement.deciding >= focus.threshold
        return Verdict(
            target,
            gain,
            judgement.relevance,
            judgement.deciding,
            reasons,
            kept=reached or focus.keep_all,
            leads_on=leads_on(focus.hard, counts, judgement.deciding, focus.threshold),
        )


def _size(reading: Reading | None) -> int:
    """Return the size of a reading in bytes; one in a file counts as very large."""
    if reading is None:
        return 0
    return len(reading.nquads) if reading.spool is None else 1 << 40


class SharedStatements:
    """The frontier's statements as a :class:`~semcrawl.topics.StatementMemory`.

    Make it in the event loop; call it from other threads.
    """

    takes_long = True

    def __init__(self, shared: Shared, limit: int) -> None:
        """Remember about ``limit`` statements."""
        self._shared = shared
        self._limit = limit
        self._loop = asyncio.get_running_loop()

    def add(self, document: int, statements: Sequence[int], *, remember: bool = True) -> list[bool]:
        """Add or look up a document's statements; return for each whether no other has it.

        Raises ``FrontierError`` if the frontier cannot be used.
        """
        adding = self._shared.add_statements(document, statements, self._limit, remember=remember)
        future = asyncio.run_coroutine_threadsafe(adding, self._loop)
        while True:
            try:
                return future.result(_LOOP_CHECK)
            except TimeoutError:
                if future.done():
                    raise
                if not self._loop.is_running():
                    raise FrontierUnavailable("the crawl ended while a topic was asked") from None
