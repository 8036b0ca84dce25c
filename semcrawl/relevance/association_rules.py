"""FC-R2: association rules from URLs to types, learned during the crawl (Umbrich 2009, T.7)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.strategy import RuleOptions, Strategy, reading_state
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import HTML_EXTENSIONS

#: confidence above which a link is predicted to be RDF
THRESHOLD = 0.5

_WORD = re.compile(r"[^\W_]+")
_LONGEST = 40  # most words of a path


def antecedents(url: str) -> Iterator[str]:
    """Yield the antecedents of a URL: its extension, its path words, then host and word together.

    >>> list(antecedents("http://a.example/foaf/me.rdf"))  # doctest: +NORMALIZE_WHITESPACE
    ['ext rdf', 'word foaf', 'word me', 'host a.example word foaf', 'host a.example word me']
    """
    path = path_of(url)
    extension = extension_of(path)
    if extension:
        yield f"ext {extension}"
    stem = path.lower()
    if extension:
        stem = stem[: stem.rfind(f".{extension}")]
    words = list(dict.fromkeys(_WORD.findall(stem)[:_LONGEST]))
    for word in words:
        yield f"word {word}"
    host = netloc_of(url)
    for word in words:
        yield f"host {host} word {word}"


class AssociationRules(Strategy):
    """FC-R2: a link is RDF when the first rule that applies to its URL has enough confidence.

    Predicted links are fetched in the order of the confidence that they had when they were found.

    A rule is "antecedent ⇒ type" with conf(a→b) = sup(a∩b) / sup(a), counted over the fetched
    documents. Other links wait as H when their URL has an HTML extension or none, and are N
    otherwise. No rule predicts RDF before the first RDF document.
    """

    name = "association-rules"

    def __init__(self, options: RuleOptions | None = None) -> None:
        super().__init__(options)
        self._fetched: Counter[str] = Counter()
        self._rdf: Counter[str] = Counter()

    def confidence(self, url: str) -> tuple[float, str]:
        """Return confidence and antecedent of the first rule that applies; (0, "") if none."""
        for antecedent in antecedents(url):
            count = self._fetched[antecedent]
            if count:
                return self._rdf[antecedent] / count, antecedent
        return 0.0, ""

    def label(self, page: Page, link: Link) -> tuple[Label, tuple[str, ...]]:
        """Label by the rules, else by the extension."""
        confidence, antecedent = self.confidence(link.url)
        if confidence > THRESHOLD:
            return Label.R, (_family(antecedent),)
        extension = extension_of(path_of(link.url))
        html = not extension or extension in HTML_EXTENSIONS
        return (Label.H if html else Label.N), ()

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Group by label: R by confidence, the highest first, or H for anything else."""
        if label is Label.R:
            self.set_value("R", -1.0)
            return "R", -self.confidence(link.url)[0]
        self.set_value("H", -3.0)
        return "H", 0.0

    def learn(self, outcome: Outcome) -> None:
        """Count the antecedents of a fetched document's URL with its real type."""
        if outcome.kind is None and outcome.status != 200:
            return
        for antecedent in antecedents(outcome.final_url or outcome.url):
            self._fetched[antecedent] += 1
            self._rdf[antecedent] += outcome.wanted

    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Return rows of reasons, the rule that applied among them."""
        confidence, antecedent = self.confidence(link.url)
        rule = f"{antecedent} ⇒ RDF, confidence {confidence:.2f}" if antecedent else "none applies"
        return [*super().explain(page, link), ("association rule", rule)]

    def dump_state(self) -> bytes:
        """Return the counts of the rules."""
        counts = {a: [n, self._rdf[a]] for a, n in self._fetched.items()}
        return self._as_json(counts=counts)

    def load_state(self, state: bytes) -> None:
        """Restore the counts."""
        with reading_state(self.name):
            counts = self._of_json(state)["counts"].items()
            fetched = {str(a): int(n) for a, (n, _) in counts}
            rdf = {str(a): int(n) for a, (_, n) in counts}
        self._fetched, self._rdf = Counter(fetched), Counter(rdf)


def _family(antecedent: str) -> str:
    """Return the kind of rule, which a link's record names."""
    if antecedent.startswith("ext "):
        return "extension"
    return "word" if antecedent.startswith("word ") else "host+word"
