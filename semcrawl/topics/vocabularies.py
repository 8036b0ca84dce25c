"""Topics of RDF with given classes, properties or whole vocabularies."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Self

import pyoxigraph

from semcrawl.errors import UsageError
from semcrawl.rdf.shortnames import (
    PREFIXES,
    TermCounter,
    expand,
    local_name,
    namespace_of,
    other_scheme,
    shorten,
)
from semcrawl.topics.contract import (
    MARKUP,
    NEAR,
    STATEMENTS,
    Document,
    Judgement,
    TopicOptions,
    split_list,
)
from semcrawl.topics.sourcefiles import made_of
from semcrawl.topics.texts import Mentions, Nearness, blocks, spaced, words_of

#: separators in an IRI
_BETWEEN = re.compile(r"[#/:]")
_VERSION = re.compile(r"v?\d")
#: characters that no IRI has
_NO_IRI = re.compile(r'[\x00-\x20<>"{}|\\^`]')
#: most distinct classes and properties counted in one document
_MAX_TERMS = 10_000
#: last parts of namespaces that are too common to be a prefix
_COMMON = frozenset(
    "core data def id ns onto ontologies ontology owl rdf rdfs schema schemas terms vocab "
    "vocabulary voc".split()
)


class Vocabulary(Nearness):
    """RDF that uses one of the terms; one statement gives a relevance of 1.

    A term is a property, or a class with an instance. ``foaf:`` means all terms of a vocabulary.
    ``http`` and ``https`` are the same. A page whose markup names a term is near the topic.
    """

    name = "vocabulary"
    needs = frozenset({STATEMENTS, MARKUP})

    def __init__(self, terms: Iterable[str], options: TopicOptions) -> None:
        """Take IRIs of terms; one that ends with ``#``, ``/`` or ``:`` means a namespace."""
        super().__init__()
        given = list(dict.fromkeys(terms))
        both = {iri for term in given for iri in (term, other_scheme(term))}
        self._namespaces = tuple(sorted(iri for iri in both if iri[-1] in "#/:"))
        self._terms = frozenset(both.difference(self._namespaces))
        self._near = frozenset(map(namespace_of, self._terms)) | frozenset(self._namespaces)
        phrases = {phrase for iri in given if (phrase := _phrase(iri))}
        self._joined = {"".join(phrase): phrase for phrase in phrases}
        # (an ontology may have 100,000 terms, and a page as many texts)
        self._phrases_with: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for phrase in phrases:
            for word in phrase:
                self._phrases_with[word].append(phrase)
        namespaces = {namespace_of(iri) for iri in given}
        self._mentions = Mentions(given, {each: _prefix(each) for each in namespaces})
        self._options = options

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Read ``foaf:,schema:Dataset,<http://…>``; raise ``UsageError`` for an unknown prefix."""
        names = split_list(argument)
        if not names:
            raise UsageError("name terms or prefixes, such as vocabulary:foaf:,schema:Dataset")
        terms = []
        for name in names:
            iri = expand(name)
            if not iri or _NO_IRI.search(iri):
                raise UsageError(f"{name!r} is no term: write prefix:name, prefix: or an IRI")
            terms.append(iri)
        return cls(terms, options)

    def judge(self, document: Document) -> Judgement:
        """Count the statements that use a term."""
        counter, total = TermCounter(_MAX_TERMS), 0
        for block in blocks(document, self._options.max_size):
            counter.add(block)
            total += block.count(b"\n")
        used: Counter[str] = Counter()
        for terms in (counter.properties, counter.classes):
            used.update({iri: n for iri, n in terms.items() if self._includes(iri)})
        if not used:
            none = (self.name, f"none of {total} statements uses it")
            return self.named(document) or Judgement.of(0.0, [none])
        hits = min(total, used.total())
        rows = [(shorten(iri), f"{n} of {total} statements") for iri, n in used.most_common(20)]
        return Judgement.of(self._relevance(hits, total), rows)

    def named(self, document: Document) -> Judgement | None:
        """Judge a page by the terms that its markup names; ``None`` if it names none."""
        found = self._mentions.first(document.markup[: self._options.max_size])
        return Judgement.of(NEAR, [(self.name, f"the page names {found}")]) if found else None

    def iri_similarity(self, iri: str) -> float:
        """1 for a term, ½ for another term of its vocabulary."""
        if self._includes(iri):
            return 1.0
        return 0.5 if namespace_of(iri) in self._near else 0.0

    def _relevance(self, hits: int, total: int) -> float:
        return 1.0

    def _includes(self, iri: str) -> bool:
        return iri in self._terms or iri.startswith(self._namespaces)

    def _similarity(self, text: str, language: str) -> float:
        """1 for a text with the whole name of a term or prefix; up to ½ for some of its words."""
        words = set(_words(text))
        for whole in words & self._joined.keys():
            words |= set(self._joined[whole])
        found = Counter(phrase for word in words for phrase in self._phrases_with.get(word, ()))
        shares = (number / len(phrase) for phrase, number in found.items())
        return max((1.0 if share == 1 else share / 2 for share in shares), default=0.0)


class VocabularyShare(Vocabulary):
    """RDF that uses the terms often: the relevance is the share of statements that do."""

    name = "vocabulary-share"

    def _relevance(self, hits: int, total: int) -> float:
        return hits / total


_PREFIX_OF = {namespace: prefix for prefix, namespace in PREFIXES.items()}


def _phrase(iri: str) -> tuple[str, ...]:
    """Return the words of a term's local name, or of a namespace's prefix."""
    name = _prefix(iri) if iri[-1] in "#/:" else local_name(iri)
    return tuple(dict.fromkeys(_words(name)))


def _prefix(namespace: str) -> str:
    """Return the known prefix of a namespace, else the last telling part of its address.

    >>> _prefix("https://example.org/2026/cargo/ontology#")
    'cargo'
    """
    if known := _PREFIX_OF.get(namespace) or _PREFIX_OF.get(other_scheme(namespace)):
        return known
    path = namespace.partition("://")[2].partition("/")[2]
    for part in reversed(_BETWEEN.split(path)):
        name = part.partition(".")[0]
        if name and name.lower() not in _COMMON and not _VERSION.match(name):
            return name
    return ""


def _words(text: str) -> list[str]:
    return words_of(spaced(text), "en")


_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_KINDS = frozenset(
    [_RDFS + "Class", _RDF + "Property"]
    + [
        f"{_OWL}{name}"
        for name in "Class ObjectProperty DatatypeProperty AnnotationProperty FunctionalProperty "
        "InverseFunctionalProperty TransitiveProperty SymmetricProperty".split()
    ]
)
_RELATIONS = frozenset(_RDFS + name for name in ("subClassOf", "subPropertyOf", "domain", "range"))
#: least share of the terms for a namespace to be the ontology's own
_LEAST_SHARE = 0.1


def terms_in(quads: Iterable[pyoxigraph.Quad]) -> set[str]:
    """Return the declared classes and properties in the ontology's own namespaces.

    Terms of other vocabularies that it annotates or imports, such as ``dcterms:title``, are left
    out.
    """
    declared = set()
    for quad in quads:
        name, term = quad.predicate.value, quad.subject
        is_kind = name == _RDF + "type" and getattr(quad.object, "value", "") in _KINDS
        if (is_kind or name in _RELATIONS) and isinstance(term, pyoxigraph.NamedNode):
            declared.add(term.value)
    shares = Counter(map(namespace_of, declared))
    least = _LEAST_SHARE * len(declared)
    return {term for term in declared if shares[namespace_of(term)] >= least}


class Ontology(Vocabulary):
    """RDF that uses a class or property of an ontology; see :class:`Vocabulary`."""

    name = "ontology"

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Read a file or URL; raise ``UsageError`` if it declares no classes or properties."""
        name = argument.strip().strip('"')
        if not name:
            raise UsageError("name a file with an ontology, such as ontology:fish.owl")
        terms = made_of(name, options, terms_in)
        if not terms:
            raise UsageError(f"{name} is no ontology: it declares no class and no property")
        return cls(sorted(terms), options)
