"""The context graph: links by how many links away from a target they seem to be (T 2.3)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from math import exp, log
from typing import Any

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.strategy import RuleOptions, Strategy, reading_state
from semcrawl.web.urls import path_of

#: the layers: a target is in layer 0, a page that links to it in layer 1 …
LAYERS = 4
#: everything else, whose distance is unknown
_ELSEWHERE = LAYERS
#: most words of a link
_MOST_WORDS = 40
#: most links and pages in memory; the oldest are forgotten
_REMEMBERED = 100_000
#: most redirects between a page and the link to it
_MOST_REDIRECTS = 20
#: added to the count of a word that a layer has not shown
_UNSEEN = 0.1

_WORD = re.compile(r"[^\W\d_]{2,}")
_SEEDS, _LINKS = "seeds", "links"


class ContextGraph(Strategy):
    """First the links that seem nearest to a target, in links to follow.

    A context graph (Diligenti and others 2000, as T 2.3 describes it) has the known targets in
    layer 0, the pages that link to them in layer 1, and so on. A naive Bayes classifier tells the
    layers apart, and a link is ranked by the layer that its document seems to be in: so it finds
    targets behind pages that are no targets themselves (*tunnels*).

    **Readings.** The layers come from the crawl itself: each target puts the pages on the way to
    it into their layers. A document is known by what names it before it is fetched: the words of
    the link and of its URL, and whether a rule of T.2 holds. What led to no target in fewer than
    :data:`LAYERS` links is a layer of its own, the last one. The key of a link is the expected
    layer; all waiting links are judged again whenever the number of targets has doubled.
    """

    name = "context-graph"
    rekeys = True

    def __init__(self, options: RuleOptions | None = None) -> None:
        super().__init__(options)
        #: documents by layer, and their words by layer
        self._documents: Counter[int] = Counter()
        self._words: list[Counter[str]] = [Counter() for _ in range(LAYERS + 1)]
        #: words of links, by URL; parents and layers of fetched documents
        self._evidence: dict[str, tuple[str, ...]] = {}
        self._parents: dict[str, str] = {}
        self._layers: dict[str, int] = {}
        self._waiting: dict[str, None] = {}
        self._moved: dict[str, float] = {}

    # -- links
    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Put seeds before links, which are ordered by their expected layer."""
        self.set_value(_SEEDS, 1.0)
        self.set_value(_LINKS, 0.0)
        if link.element == "seed":
            return _SEEDS, 0.0
        return _LINKS, self.expected_layer(_words_of(link, label))

    def expected_layer(self, words: Sequence[str]) -> float:
        """Return the expected layer of a document named by these words, 0 to :data:`LAYERS`."""
        if not self._documents[0]:
            return 0.5 if _RULE in words else float(_ELSEWHERE)
        known = sum(self._documents.values())
        scores = [
            log((self._documents[layer] + _UNSEEN) / (known + _UNSEEN * (LAYERS + 1)))
            + sum(
                log((self._words[layer][word] + _UNSEEN) / (self._documents[layer] + 2 * _UNSEEN))
                for word in words
            )
            for layer in range(LAYERS + 1)
        ]
        most = max(scores)
        chances = [exp(score - most) for score in scores]
        return sum(layer * chance for layer, chance in enumerate(chances)) / sum(chances)

    # -- outcomes
    def learn(self, outcome: Outcome) -> None:
        """Put a document into its layer; a target moves the pages on the way to it."""
        url = outcome.url
        self.taken([url])
        for ranked in outcome.new_links:
            if ranked.group is not None:
                self._evidence[ranked.link.url] = _words_of(ranked.link, ranked.label)
                self._waiting[ranked.link.url] = None
        if outcome.parent is not None:
            self._parents[url] = outcome.parent
        if outcome.final_url not in ("", url):  # the page's links name the final URL as parent
            self._parents.setdefault(outcome.final_url, url)
            self._layers.setdefault(outcome.final_url, _ELSEWHERE)
        self._move(url, _ELSEWHERE)
        if outcome.target and not outcome.duplicate:
            self._found(url)
        self._forget()

    def _found(self, url: str) -> None:
        """Put a target and the pages on the way to it into their layers."""
        step: str | None = url
        for layer in range(LAYERS):
            if step is None:
                break
            self._move(step, layer)
            step = self._parents.get(step)
            for _ in range(_MOST_REDIRECTS):  # a redirect is no step, and may lead in a circle
                if step is None or step in self._evidence:
                    break
                step = self._parents.get(step)
        targets = self._documents[0]
        if targets & (targets - 1) == 0:  # a power of two
            for waiting in self._waiting:
                if waiting in self._evidence:
                    self._moved[waiting] = self.expected_layer(self._evidence[waiting])

    def _move(self, url: str, layer: int) -> None:
        """Put a document into a layer, unless it is in a nearer one."""
        before, words = self._layers.get(url), self._evidence.get(url, ())
        if before is not None and before <= layer:
            return
        if before is not None and url in self._evidence:
            self._documents[before] -= 1
            self._words[before].subtract(words)
        self._layers[url] = layer
        if url in self._evidence:
            self._documents[layer] += 1
            self._words[layer].update(words)

    def _forget(self) -> None:
        for known in (self._evidence, self._parents, self._layers, self._waiting):
            if len(known) > _REMEMBERED:
                for url in list(islice(known, _REMEMBERED // 10)):
                    del known[url]

    def taken(self, urls: Sequence[str]) -> None:
        """Note that links no longer wait."""
        for url in urls:
            self._waiting.pop(url, None)
            self._moved.pop(url, None)

    def rekeyed(self) -> Mapping[str, float]:
        """Return the layers of waiting links that were judged again."""
        moved, self._moved = self._moved, {}
        return moved

    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Return rows of reasons, the expected layer among them."""
        label, _ = self.label(page, link)
        layer = self.expected_layer(_words_of(link, label))
        text = f"{layer:.2f} of {LAYERS}; {self._documents[0]} targets known"
        return [*super().explain(page, link), ("expected layer", text)]

    # -- state
    def dump_state(self) -> bytes:
        """Return the layers with their words, and the documents."""
        return self._as_json(
            documents=[self._documents[layer] for layer in range(LAYERS + 1)],
            words=[+words for words in self._words],
            evidence=self._evidence,
            parents=self._parents,
            layers=self._layers,
            waiting=list(self._waiting),
        )

    def load_state(self, state: bytes) -> None:
        """Restore them."""
        with reading_state(self.name):
            data: dict[str, Any] = self._of_json(state)
            documents = [int(number) for number in data["documents"]]
            words = [_counts(one) for one in data["words"]]
            if len(documents) != LAYERS + 1 or len(words) != LAYERS + 1:
                raise ValueError("other layers")
            evidence = {str(u): tuple(map(str, w)) for u, w in data["evidence"].items()}
            parents = {str(u): str(p) for u, p in data["parents"].items()}
            layers = {str(u): min(max(int(n), 0), LAYERS) for u, n in data["layers"].items()}
            waiting = [str(url) for url in data["waiting"]]
        self._documents, self._words = Counter(dict(enumerate(documents))), words
        self._evidence, self._parents, self._layers = evidence, parents, layers
        self._waiting = dict.fromkeys(waiting)


#: the word of links for which a rule of T.2 holds
_RULE = "=R"


def _words_of(link: Link, label: Label) -> tuple[str, ...]:
    """Return the distinct words of a link: of its texts, and of its URL (after a slash)."""
    texts = _WORD.findall(f"{link.anchor} {link.title} {link.context}".lower())
    path = (f"/{word}" for word in _WORD.findall(path_of(link.url).lower()))
    rule: Iterable[str] = (_RULE,) if label is Label.R else ()
    return tuple(islice(dict.fromkeys((*rule, *path, *texts)), _MOST_WORDS))


def _counts(words: Mapping[str, Any]) -> Counter[str]:
    return Counter({str(word): max(0, int(number)) for word, number in words.items()})
