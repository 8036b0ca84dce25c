"""Topics of RDF with the terms of an ontology, which is a file or URL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Self

import pyoxigraph

from semcrawl.errors import UsageError
from semcrawl.rdf.shortnames import namespace_of
from semcrawl.topics.options import TopicOptions
from semcrawl.topics.sourcefiles import made_of
from semcrawl.topics.vocabularies import Vocabulary

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
