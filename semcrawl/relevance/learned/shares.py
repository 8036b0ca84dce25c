"""Predicts how much of the RDF behind a link is about the crawl's topic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.aboutness import likeness
from semcrawl.relevance.learned.features import LinkFacts
from semcrawl.relevance.learned.model import IndexModel, sigmoids
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.pagelevels import PageLevels, level_of
from semcrawl.relevance.learned.table import NONE, Floats, Ids, LinkTable, Rows

#: weight of a document for the page that links to it, relative to its own link; squared for the
#: page above that …
_PER_LEVEL = 0.5
#: least index of a page's best new link for learning from its links
_LEADS_ON = 0.01


class Shares(NamedTuple):
    """Shares behind some links, 0 to 1; the fields are named like their columns."""

    #: as predicted
    share: Floats
    #: … with a bonus for links of which little is known
    hope: Floats


class TopicShares:
    """Predicts the share of the RDF behind a link that is about the topic.

    The other models learn where RDF is, from all RDF, as links to it look alike whatever it is
    about. This one learns only from judged documents and pages.

    If the first documents are off the topic, links like theirs soon have small shares. Links with
    little in common with these may still lead to the topic, and are tried earlier: the hope is an
    upper bound of the share (as in LinUCB, Li et al. 2010, with independent features). It is closer
    to the share the more of the judged documents are about the topic.
    """

    def __init__(self, options: LearnedOptions) -> None:
        self.model = IndexModel(options, np.zeros(1 << options.table_bits, np.float32))
        self._page_weight = options.page_weight
        self._links_weight = options.links_weight
        self._usual = options.usual_share
        self._depth = options.backup_depth
        #: whether pages near the topic are reliable
        self.levels = PageLevels(options.page_levels)
        self._start = np.float32(options.topic_share)
        self._initial = np.float32(options.initial_squares)
        self._explore = options.explore_topic if options.use_exploration else 0.0
        #: number of judged documents, and the sum of their gains
        self.judged, self.gained = 0, 0.0

    def of(self, facts: Sequence[LinkFacts]) -> Shares:
        """Return the shares behind new links."""
        starts = np.array(list(accumulate((len(f.rows) for f in facts[:-1]), initial=0)))
        priors = np.array([f.signs.share_prior for f in facts], np.float32)
        levels = np.array([f.signs.level for f in facts], np.uint8)
        return self.among(np.concatenate([f.rows for f in facts]), starts, priors, levels)

    def among(self, rows: Rows, starts: Ids, priors: Floats, levels: NDArray[np.uint8]) -> Shares:
        """Return the shares behind links; arguments as in :meth:`IndexModel.logits`.

        ``levels`` are those of their pages.
        """
        priors = priors + self._start + self.levels.corrections()[levels]
        logits = self.model.logits(rows, starts, priors)
        expected = sigmoids(logits)
        hope = self._explore * (1 - (1 + self.gained) / (2 + self.judged))
        if not hope or not len(rows):
            return Shares(expected, expected)
        unknown = self._initial / self.model.squares.take(rows)
        lengths = np.concatenate((starts[1:], [len(rows)])) - starts
        mean = np.add.reduceat(unknown, starts, dtype=np.float64) / lengths
        return Shares(expected, sigmoids(logits + (hope * np.sqrt(mean)).astype(np.float32)))

    def learn(self, table: LinkTable, number: int, gain: float) -> None:
        """Learn the gain of an RDF document for its link and the pages above it."""
        others = self.judged - self.gained
        usual = float(self._start) + self._usual * math.log((1 + self.gained) / (1 + others))
        self.judged += 1
        self.levels.add(table.columns["level"].item(number), gain)
        self.gained += gain
        weight, columns = 1.0, table.columns
        for _ in range(self._depth + 1):
            prior = columns["share_prior"].item(number) + usual
            self.model.update(table.rows(number), prior, gain, weight)
            number = columns["parent"].item(number)
            weight *= _PER_LEVEL
            if number == NONE:
                return

    def learn_page(self, table: LinkTable, number: int, relevance: float, links: range) -> None:
        """Learn from a page and its new links.

        One about the topic teaches that links like the one to it lead to the topic, as far as the
        documents of such pages do. One without relevance may still lead there; it only teaches the
        predicted share of its links.
        """
        if weight := self._page_weight * likeness(relevance):
            prior = table.columns["share_prior"].item(number) + float(self._start)
            reliability = self.levels.reliability(level_of(relevance))
            self.model.update(table.rows(number), prior, reliability, weight)
        self._learn_links(table, number, links)

    def _learn_links(self, table: LinkTable, number: int, links: range) -> None:
        """Learn from a page the predicted share of its best new link.

        Otherwise the crawl would fetch page after page whose documents are not worth a request.
        """
        part = slice(links.start, links.stop)
        index = table.columns["index"][part]
        best = float(index.max()) if self._links_weight and links else 0.0
        if best >= _LEADS_ON:
            share = float((index * table.columns["share"][part]).max()) / best
            prior = table.columns["share_prior"].item(number) + float(self._start)
            self.model.update(table.rows(number), prior, share, self._links_weight * best)
