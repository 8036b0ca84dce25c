"""Evidence of the crawl's topic in a link: its words, and the page that it is on."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from semcrawl.links import Link
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.pagelevels import UNKNOWN, level_of
from semcrawl.relevance.learned.parts import LinkParts
from semcrawl.relevance.learned.prior import LinkSigns
from semcrawl.topics import NEAR, Remembering, Topic, parts_of

#: most texts whose similarity is cached
_REMEMBERED = 50_000
#: bounds of the steps of similarity and relevance that features distinguish
_STEPS = (0.0, 0.2, 0.5, 0.8)
#: logits that a link gains by its own words, the words around it, and its page, as pages about a
#: topic link to similar pages, and name it (sources.md S: linkage locality)
_BY_WORDS, _BY_CONTEXT, _BY_PAGE = 2.0, 0.7, 0.7
#: logits that a page near the topic adds to the share of its links' documents about the topic
_SHARE_BY_PAGE = 1.6
#: logits taken off a link to a document of the wanted kind, as its subject is unknown
_OPEN = 2.0


class Nearness(NamedTuple):
    """The closeness of a link to the topic, 0 to 1 each."""

    #: of its own words: anchor, title, address, property in RDF, texts near an image
    words: float
    context: float
    #: relevance of its page; ``None`` if the page was not judged
    page: float | None
    #: logits that the page adds to the prior of the share
    share_by_page: float = 0.0

    @property
    def tokens(self) -> list[tuple[str, Sequence[str]]]:
        """Its features, by letter."""
        words, context = bisect_left(_STEPS, self.words), bisect_left(_STEPS, self.context)
        page = "-" if self.page is None else str(bisect_left(_STEPS, self.page))
        return [("m", (str(words),)), ("c", (str(context),)), ("v", (page, f"{words} {page}"))]

    @property
    def evidence(self) -> float:
        """Logits that it adds to the prior."""
        return self._by_words + _BY_PAGE * (self.page or 0.0)

    @property
    def share_evidence(self) -> float:
        """Logits that it adds to the prior of the share."""
        return self._by_words + self.share_by_page

    @property
    def _by_words(self) -> float:
        return _BY_WORDS * self.words + _BY_CONTEXT * self.context


class TopicSigns:
    """Finds evidence of the topic in links."""

    def __init__(self, topic: Topic, *, in_folders: bool = False) -> None:
        """Compare links with ``topic``; if it knows no words, only their pages count.

        With ``in_folders``, compare the names of the links' folders too.
        """
        self._in_folders = in_folders
        self._knows_words = topic.knows_words
        self._similarity = lru_cache(_REMEMBERED)(topic.similarity)
        self._iri_similarity = lru_cache(_REMEMBERED)(topic.iri_similarity)
        self._of_folder = lru_cache(_REMEMBERED)(self._nearest)

    def of(self, link: Link, parts: LinkParts, relevance: float | None) -> Nearness:
        """Return the closeness of a link on a page with this relevance."""
        if not self._knows_words:
            return Nearness(link.near_text or 0.0, 0.0, relevance, _BY_PAGE * (relevance or 0.0))
        own = (link.anchor, link.title, *parts.anchor_words, *parts.title_words, *parts.last_words)
        words = self._nearest(own)
        if self._in_folders:
            if 0 < words < 1:  # whole names seldom repeat, so few are compared
                words = max(words, self._similarity(" ".join(parts.last_words)))
            words = max(words, self._of_folder(tuple(parts.folder.words)))
        words = max(words, link.near_text or 0.0)
        if link.predicate:
            words = max(words, self._iri_similarity(link.predicate))
        around = (*parts.words_before[-8:], *parts.words_after[:8])
        by_page = _SHARE_BY_PAGE * likeness(relevance)
        return Nearness(words, self._nearest(around), relevance, by_page)

    def _nearest(self, texts: Iterable[str]) -> float:
        return max(map(self._similarity, filter(None, texts)), default=0.0)


def likeness(relevance: float | None) -> float:
    """Return how much a page indicates the topic, 0 to 1; 1 from the relevance ``NEAR`` on."""
    return min(1.0, (relevance or 0.0) / NEAR)


def options_for(topic: Topic | None, options: LearnedOptions) -> LearnedOptions:
    """Return the options for a topic; for ``new`` its own replace the usual ones."""
    if topic is None or not any(isinstance(part, Remembering) for part in parts_of(topic)):
        return options
    return replace(
        options,
        explore_topic=options.explore_new,
        topic_share=options.new_share,
        page_weight=0.0,
        links_weight=0.0,
        page_levels=0.0,
        usual_share=0.0,
    )


def about(signs: LinkSigns, near: Nearness, *, with_shares: bool) -> LinkSigns:
    """Adapt the signs of a link to a crawl with a topic, where the kind alone makes no target.

    With ``with_shares``, the subject of a document is predicted separately from its kind.
    """
    if signs.useless:
        return signs
    if with_shares:
        level = level_of(near.page) if signs.sure else UNKNOWN
        return signs._replace(share_prior=near.share_evidence, level=level)
    prior = signs.prior + near.evidence - (_OPEN if signs.sure else 0.0)
    target = signs.target_prior - (_OPEN if signs.sure else 0.0)
    return signs._replace(prior=prior, target_prior=target)
