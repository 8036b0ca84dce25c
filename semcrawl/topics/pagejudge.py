"""Judges pages by what is their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from semcrawl.links.owntext import OwnTexts, main_text
from semcrawl.topics.contract import NEAR, TEXT, Document, Judgement, Topic, parts_of

if TYPE_CHECKING:
    from semcrawl.links import PageText
    from semcrawl.rdf import Reading


class PageJudge:
    """Judges the pages of one crawl by a topic.

    A page is judged by its own text: what most pages of its site repeat does not count. Lists of
    links count to guide the crawl, as where they lead may be about the topic. Whether the page is
    kept is decided by the rest of its text.
    """

    def __init__(self, topic: Topic) -> None:
        """Judge by ``topic``."""
        self._topic = topic
        self._texts = OwnTexts()
        self._reads = TEXT in topic.needs
        #: a topic that learns from what it judges must see each page once
        self._once = any(getattr(each, "learns", False) for each in (topic, *parts_of(topic)))

    def judge(
        self, url: str, text: PageText, data: Reading | None = None, markup: bytes = b""
    ) -> Judgement:
        """Judge a page by its text, the data embedded in it, and its bytes."""
        own = self._texts.own(url, text) if self._reads else text
        if self._once:
            own = main_text(own)
        judged = self._topic.judge(Document.of_page(url, own, data, markup))
        if not self._reads or not own.lists or judged.deciding <= NEAR or self._once:
            return judged
        again = self._topic.judge(Document.of_page(url, main_text(own), data, markup))
        if again.deciding >= judged.deciding:
            return judged
        return replace(judged, decides=again.deciding)
