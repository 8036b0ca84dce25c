"""Topics given as concepts of a SKOS thesaurus, with their labels in all languages.

In the terms of sources.md S, a concept's labels are synonyms, narrower and closely matching
concepts near-synonyms, broader and related ones distant synonyms.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Self

import pyoxigraph

from semcrawl.errors import UsageError
from semcrawl.rdf.shortnames import local_name
from semcrawl.topics.contract import STATEMENTS, TEXT, Document, Judgement, TopicOptions, split_list
from semcrawl.topics.examples import Examples
from semcrawl.topics.phrases import Finding, Phrase, WeightedPhrases
from semcrawl.topics.sourcefiles import Sample, made_of
from semcrawl.topics.texts import Role, blocks

_OBJECT = re.compile(rb"^\S+ \S+ <([^>]*)> ", re.MULTILINE)

SKOS = "http://www.w3.org/2004/02/skos/core#"
#: a file in quotes, and its concepts
_QUOTED_FILE = re.compile(r'"([^"]+)"\s*#(.*)', re.DOTALL)
_SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

_LABELS = frozenset(SKOS + name for name in ("prefLabel", "altLabel", "hiddenLabel"))
#: texts that say what a concept is about
_NOTES = frozenset(SKOS + name for name in ("definition", "example", "scopeNote", "note"))
_XL_LABELS = frozenset(_SKOSXL + name for name in ("prefLabel", "altLabel", "hiddenLabel"))
#: least weight of a concept whose notes are samples of the topic
_SAMPLED = 0.75
_SAME, _NEAR, _DISTANT = "same", "near", "distant"
#: closeness of a property's object to its subject, and of the subject to the object
_RELATIONS: Mapping[str, tuple[str, str]] = {
    **{SKOS + name: (_NEAR, _DISTANT) for name in ("narrower", "narrowMatch")},
    **{SKOS + name: (_DISTANT, _NEAR) for name in ("broader", "broadMatch")},
    **{SKOS + name: (_DISTANT, _DISTANT) for name in ("related", "relatedMatch")},
    SKOS + "closeMatch": (_NEAR, _NEAR),
    SKOS + "exactMatch": (_SAME, _SAME),
}


@dataclass(slots=True)
class Concepts:
    """What a topic needs of a thesaurus, by the IRIs of its concepts."""

    #: labels with their language tags
    labels: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    #: definitions, examples and notes with their language tags
    notes: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    #: concepts by notation
    notations: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    #: related concepts, with their closeness
    relations: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, quads: Iterable[pyoxigraph.Quad]) -> Self:
        """Collect them from statements, SKOS-XL labels included."""
        concepts = cls()
        forms: dict[str, list[tuple[str, str]]] = defaultdict(list)
        xl: list[tuple[str, str]] = []
        for quad in quads:
            thing, name, value = _text(quad.subject), quad.predicate.value, quad.object
            if isinstance(value, pyoxigraph.Literal):
                if name in _LABELS:
                    concepts.labels[thing].append((value.value, value.language or ""))
                elif name in _NOTES:
                    concepts.notes[thing].append((value.value, value.language or ""))
                elif name == SKOS + "notation":
                    concepts.notations[value.value].add(thing)
                elif name == _SKOSXL + "literalForm":
                    forms[thing].append((value.value, value.language or ""))
            elif name in _RELATIONS:
                there, back = _RELATIONS[name]
                concepts.relations[thing].append((_text(value), there))
                concepts.relations[_text(value)].append((thing, back))
            elif name in _XL_LABELS:
                xl.append((thing, _text(value)))
        for thing, label in xl:
            concepts.labels[thing] += forms.get(label, ())
        return concepts

    def find(self, wanted: str) -> set[str]:
        """Return the concepts with this IRI, notation, label in any language, or local name."""
        if wanted in self.labels:
            return {wanted}
        folded = wanted.casefold()
        return (
            self.notations.get(wanted)
            or {c for c, names in self.labels.items() if folded in (n.casefold() for n, _ in names)}
            or {c for c in self.labels if local_name(c) == wanted}
        )

    def samples(self, weights: Mapping[str, float]) -> list[Sample]:
        """Return the notes of the concepts that weigh at least :data:`_SAMPLED`, as samples."""
        return [
            Sample(text, language=language)
            for iri, weight in weights.items()
            if weight >= _SAMPLED
            for text, language in self.notes.get(iri, ())
        ]

    def around(self, chosen: Iterable[str], steps: int) -> dict[str, float]:
        """Return the chosen concepts and those around them, with their weights.

        Chosen concepts weigh 1. Each step to a narrower or closely matching one brings the weight
        closer to ½. Steps to broader or related ones halve it once and multiply it by 0.6 each; at
        most ``steps`` of them are taken.
        """
        weights: dict[str, float] = {}
        waiting = [(-1.0, concept, 0, 0) for concept in sorted(set(chosen))]
        while waiting:
            weight, concept, near, distant = heapq.heappop(waiting)
            if concept in weights:
                continue
            weights[concept] = -weight
            for other, how in self.relations.get(concept, ()):
                ways = near + (how == _NEAR), distant + (how == _DISTANT)
                if distant and how == _NEAR:  # below a distant concept nothing is near
                    ways = near, distant + 1
                if other not in weights and ways[1] <= steps:
                    heapq.heappush(waiting, (-_weight(*ways), other, *ways))
        return weights


def _weight(near: int, distant: int) -> float:
    """Return the weight after these numbers of steps to near and to distant concepts."""
    to_near: float = 0.5 + 0.5 * 0.8**near
    return to_near if not distant else 0.5 * to_near * 0.6**distant


def _text(term: object) -> str:
    return term.value if isinstance(term, pyoxigraph.NamedNode) else str(term)


class Thesaurus(WeightedPhrases):
    """Texts that contain labels of concepts, and RDF that refers to the concepts themselves.

    A concept that is the value of a property in RDF counts like a phrase in a title. The
    definitions, examples and notes of the chosen concepts serve as sample texts, like those of a
    class in S's classification: a text similar to them is relevant too.
    """

    name = "thesaurus"
    needs = frozenset({TEXT, STATEMENTS})
    #: most steps to distant concepts
    STEPS = 2
    #: number of sample texts, and of words in them, at which similarity to them may count fully;
    #: with fewer it counts at most ``BY_FEW``
    ENOUGH_TEXTS, ENOUGH_WORDS, BY_FEW = 3, 100, 0.4

    def __init__(
        self,
        concepts: Concepts,
        weights: Mapping[str, float],
        options: TopicOptions,
        samples: Sequence[Sample] = (),
    ) -> None:
        """Take concepts, their weights (above 0, up to 1), and sample texts."""
        self._samples = _examples(samples, options)
        words = sum(len(sample.text.split()) for sample in samples)
        few = len(samples) < self.ENOUGH_TEXTS or words < self.ENOUGH_WORDS
        self._most_by_samples = self.BY_FEW if few else 1.0
        self._concepts = {
            iri: Phrase(next((n for n, _ in concepts.labels.get(iri, ())), iri), weight)
            for iri, weight in weights.items()
        }
        phrases = [
            Phrase(name, weight, language)
            for iri, weight in weights.items()
            for name, language in concepts.labels.get(iri, ())
        ]
        super().__init__(phrases, options)

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Read ``fish.ttl#tuna,salmon``: a file or URL, and its concepts, by default all.

        A concept is given by its IRI, local name, notation or label. Raises ``UsageError`` for a
        file without a thesaurus, and for an unknown concept.
        """
        if match := _QUOTED_FILE.fullmatch(argument.strip()):
            file, chosen = match.groups()
        else:
            file, _, chosen = argument.strip().strip('"').partition("#")
        if not file:
            raise UsageError("name a file in SKOS, thesaurus:fish.ttl or thesaurus:fish.ttl#tuna")
        concepts = made_of(file, options, Concepts.of)
        if not concepts.labels:
            raise UsageError(f"{file} is no thesaurus: nothing in it has a skos:prefLabel")
        names = split_list(chosen)
        if not names:
            return cls(concepts, dict.fromkeys(concepts.labels, 1.0), options)
        found = set()
        for name in names:
            matching = concepts.find(name)
            if not matching:
                raise UsageError(f"{file} has no concept {name!r}{_suggestions(name, concepts)}")
            found |= matching
        weights = concepts.around(found, cls.STEPS)
        return cls(concepts, weights, options, concepts.samples(weights))

    def judge(self, document: Document) -> Judgement:
        """Search for labels of the concepts, and compare with their sample texts."""
        by_labels = super().judge(document)
        if self._samples is None:
            return by_labels
        by_samples = self._samples.judge(document)
        relevance = min(self._most_by_samples, by_samples.relevance)
        if relevance <= by_labels.relevance:
            return by_labels
        why = f"{by_samples.relevance:.0%}: the thesaurus's notes on the concepts"
        return Judgement.of(relevance, [("like", why), *by_samples.reasons, *by_labels.reasons])

    def iri_similarity(self, iri: str) -> float:
        """The weight of a concept; else the similarity of a property's or class's name."""
        concept = self._concepts.get(iri)
        return concept.weight if concept else super().iri_similarity(iri)

    def _more(self, document: Document) -> Iterator[Finding]:
        """Yield the concepts that are objects of statements."""
        for block in blocks(document, self._options.max_size):
            for iri in self._concepts.keys() & objects_in(block):
                concept = self._concepts[iri]
                share = self.BY_ROLE[Role.TITLE] * concept.weight
                yield Finding(concept, share, f"the concept {iri}")


def _examples(samples: Sequence[Sample], options: TopicOptions) -> Examples | None:
    """Return the topic of sample texts; ``None`` if they have only stop words."""
    try:
        return Examples(samples, [], options) if samples else None
    except UsageError:
        return None


def _suggestions(name: str, concepts: Concepts) -> str:
    labels = {text.casefold(): text for names in concepts.labels.values() for text, _ in names}
    close = get_close_matches(name.casefold(), labels, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(labels[each] for each in close)}?" if close else ""


def objects_in(lines: bytes) -> set[str]:
    """Return the IRIs that are objects of N-Quads lines."""
    return {iri.decode("utf-8", "replace") for iri in set(_OBJECT.findall(lines))}
