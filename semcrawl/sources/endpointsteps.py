"""Builds the queries that fetch the data of a SPARQL endpoint page by page.

Each query is a :class:`Step`: a GET request that its address defines completely, so it can wait in
the frontier and be in the seen set like any link. :mod:`semcrawl.sources.endpointpaging` chooses
the steps that follow from an answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import cache
from urllib.parse import quote, unquote

from semcrawl.links import Link

#: prefix of an endpoint's address in a seed
SEED_PREFIX = "sparql+"
#: longest address of a query in characters; many servers accept 8 KiB at most
LONGEST_QUERY_URL = 8000

#: group of queries in a frontier, and its value: after the seeds, before what a strategy judges
QUERIES, QUERIES_VALUE = "queries", 1e7

#: media types accepted for a description. Virtuoso heeds the first that it knows, and knows neither
#: N-Triples nor N-Quads for it: asked for those, it gives its form for queries, or 406
DESCRIPTION_ACCEPT = (
    "text/turtle, application/rdf+xml;q=0.8, application/n-triples;q=0.7, "
    "application/ld+json;q=0.6, */*;q=0.1"
)
#: media types accepted for rows
ROWS_ACCEPT = "application/sparql-results+json, application/sparql-results+xml;q=0.8"
#: media types accepted for triples: in N-Triples, an error costs one line only
TRIPLES_ACCEPT = (
    "application/n-triples, text/turtle;q=0.8, application/rdf+xml;q=0.6, "
    "application/ld+json;q=0.4, */*;q=0.1"
)

_PARAMETER = "query="
_NO_BLANKS = "!isBlank(?s) && !isBlank(?o)"
_BLANKS = "isBlank(?s) || isBlank(?o)"
_NO_IRI = frozenset('<>"{}|\\^`')


class Ask(StrEnum):
    """The kind of query of a step."""

    DESCRIPTION = "description"  #: the endpoint's own description, at its bare address
    GRAPHS = "graphs"  #: named graphs, with counts of triples and of those with blank nodes
    NAMES = "names"  #: named graphs, for endpoints that cannot count
    DEFAULT = "default"  #: whether the default graph has triples of no named graph
    COUNT = "count"  #: counts of a graph's triples and of those with blank nodes
    PLAN = "plan"  #: subjects in order, with counts of their triples
    LABELS = "labels"  #: one blank node, to see if its label is stable
    WHOLE = "whole"  #: all triples of a graph
    RANGE = "range"  #: the triples of subjects in a range, without blank nodes
    SUBJECT = "subject"  #: a part of the triples of one subject, without blank nodes
    BLANKS = "blanks"  #: triples with blank nodes, or a part of them
    WALK = "walk"  #: triples in the endpoint's own order


#: properties whose values are addresses of endpoints, in VoID, service descriptions and semantic
#: sitemaps
ENDPOINT_PROPERTIES = frozenset(
    {
        "http://rdfs.org/ns/void#sparqlEndpoint",
        "http://www.w3.org/ns/sparql-service-description#endpoint",
        "http://sw.deri.org/2007/07/sitemapextension/scschema.xsd#sparqlEndpointLocation",
    }
)
#: in a service description: the default graph is the union of the named ones
UNION_DEFAULT_GRAPH = b"<http://www.w3.org/ns/sparql-service-description#UnionDefaultGraph>"

#: queries answered by rows or by yes or no
ROWS = frozenset({Ask.GRAPHS, Ask.NAMES, Ask.DEFAULT, Ask.COUNT, Ask.PLAN})
#: queries that count triples of one graph
_COUNTING = frozenset({Ask.COUNT, Ask.PLAN})
#: queries that fetch triples of the endpoint
PAGES = frozenset({Ask.WHOLE, Ask.RANGE, Ask.SUBJECT, Ask.BLANKS, Ask.WALK})


@dataclass(frozen=True, slots=True)
class Step:
    """One query to an endpoint, with all that handling its answer needs."""

    endpoint: str
    ask: Ask
    #: IRI of the graph; empty: the default graph
    graph: str = ""
    #: bounds of a range of subjects or graphs: lists begin after ``first``, ranges with it
    first: str = ""
    #: whether a list includes ``first``
    with_first: bool = False
    last: str = ""
    offset: int = 0
    #: triples expected in the answer; of a ``PLAN`` those to divide into pages
    size: int = 0
    #: most triples of a page
    page: int = 10_000
    #: most triples of this step and all that follow from it; ``None``: no limit
    room: int | None = None
    #: how often this part's page was made smaller
    again: int = 0
    #: whether a subquery sorts, for servers that sort few rows otherwise, or counts each triple
    #: of the default graph once, for servers whose default graph has those of all others
    nested: bool = False
    #: whether blank nodes keep their labels from one answer to the next
    stable: bool = False
    #: whether the default graph is known to be the union of the named ones
    union: bool = False
    #: labels so far, or the digest of the page before
    seen: tuple[str, ...] = ()

    def pack(self) -> str:
        """Return the step as compact JSON without defaults."""
        defaults = _defaults()
        values = {n: v for n, v in asdict(self).items() if n not in defaults or defaults[n] != v}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def unpack(cls, packed: str) -> Step | None:
        """Return the packed step; ``None`` for invalid text."""
        try:
            values = json.loads(packed)
            values["ask"] = Ask(values["ask"])
            values["seen"] = tuple(map(str, values.get("seen", ())))
            return cls(**values)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    @property
    def url(self) -> str:
        """The address of the query."""
        if self.ask is Ask.DESCRIPTION:
            return self.endpoint
        join = "&" if "?" in self.endpoint else "?"
        return f"{self.endpoint}{join}{_PARAMETER}{quote(self.query, safe='')}"

    @property
    def accept(self) -> str:
        """The ``Accept`` header of the request."""
        if self.ask is Ask.DESCRIPTION:
            return DESCRIPTION_ACCEPT
        return ROWS_ACCEPT if self.ask in ROWS else TRIPLES_ACCEPT

    @property
    def query(self) -> str:
        """The SPARQL query."""
        text = _QUERIES[self.ask](self)
        # a repeated query needs another address
        return f"{text}\n# again {self.again}" if self.again else text

    @property
    def name(self) -> str:
        """The graph, for messages."""
        return f"graph {self.graph}" if self.graph else "the default graph"


def endpoint_of_query(url: str) -> str:
    """Return the endpoint of a query's address."""
    return url.rpartition(_PARAMETER)[0][:-1]


def query_of(url: str) -> str:
    """Return the query in an address on one line; empty if there is none."""
    return " ".join(unquote(url.rpartition(_PARAMETER)[2]).split()) if _PARAMETER in url else ""


def endpoint_of_seed(text: str) -> str:
    """Return the address in a seed such as ``sparql+https://…``; empty for other seeds."""
    return text[len(SEED_PREFIX) :] if text[: len(SEED_PREFIX)].lower() == SEED_PREFIX else ""


def names_endpoint(link: Link) -> bool:
    """Whether RDF, embedded data or a semantic sitemap declares that a link is an endpoint."""
    return link.predicate in ENDPOINT_PROPERTIES or link.tag_path == "sitemap/endpoint"


def is_name(graph: str) -> bool:
    """Whether a name can be written into a query as an IRI."""
    return ":" in graph and not any(character in _NO_IRI or character <= " " for character in graph)


def _string(text: str) -> str:
    """Return a string of SPARQL, whose escapes are JSON's except for control characters."""
    return json.dumps(text, ensure_ascii=False)


def _pattern(step: Step) -> str:
    if step.nested and step.ask in _COUNTING and not step.graph:
        return "{ SELECT DISTINCT ?s ?p ?o WHERE { ?s ?p ?o } }"
    return f"GRAPH <{step.graph}> {{ ?s ?p ?o }}" if step.graph else "?s ?p ?o ."


def _graphs(step: Step, rows: str, group: str) -> str:
    return (
        f"SELECT {rows} WHERE {{ GRAPH ?g {{ ?s ?p ?o }} BIND(STR(?g) AS ?k) "
        f"FILTER(?k > {_string(step.first)}) }} {group}ORDER BY ?k LIMIT {step.page}"
    )


def _plan(step: Step) -> str:
    after = ">=" if step.with_first else ">"
    bounds = [_NO_BLANKS, f"STR(?s) {after} {_string(step.first)}"]
    if step.last:
        bounds.append(f"STR(?s) <= {_string(step.last)}")
    return (
        f"SELECT ?k (COUNT(*) AS ?n) WHERE {{ {_pattern(step)} FILTER({' && '.join(bounds)}) "
        f"BIND(STR(?s) AS ?k) }} GROUP BY ?k ORDER BY ?k LIMIT {step.page}"
    )


def _triples(step: Step, condition: str) -> str:
    filtered = f" FILTER({condition})" if condition else ""
    return f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {_pattern(step)}{filtered} }}"


def _range(step: Step) -> str:
    first, last = _string(step.first), _string(step.last)
    return _triples(step, f"{_NO_BLANKS} && STR(?s) >= {first} && STR(?s) <= {last}")


def _part(step: Step, condition: str, *, order: bool = True) -> str:
    filtered = f" FILTER({condition})" if condition else ""
    sort = " ORDER BY ?s ?p ?o" if order else ""
    rows = f"SELECT ?s ?p ?o WHERE {{ {_pattern(step)}{filtered} }}{sort}"
    if step.nested:
        rows = f"SELECT * WHERE {{ {{ {rows} }} }}"
    count = step.size or step.page
    return f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {{ {rows} LIMIT {count} OFFSET {step.offset} }} }}"


def _is_subject(iri: str) -> str:
    # only with the first form can a server look up the subject
    return f"?s = <{iri}>" if is_name(iri) else f"STR(?s) = {_string(iri)}"


def _blanks(step: Step) -> str:
    return _part(step, _BLANKS) if step.last else _triples(step, _BLANKS)


def _labels(step: Step) -> str:
    return (
        "CONSTRUCT { ?s a <urn:semcrawl:node> } WHERE { { SELECT DISTINCT ?s WHERE { "
        f"{_pattern(step)} FILTER(isBlank(?s)) }} LIMIT 1 OFFSET {step.offset} }} }}"
    )


_COUNTS = "(COUNT(*) AS ?n) (SUM(IF(isBlank(?s) || isBlank(?o), 1, 0)) AS ?b)"
_QUERIES: dict[Ask, Callable[[Step], str]] = {
    Ask.DESCRIPTION: lambda step: "",
    Ask.GRAPHS: lambda step: _graphs(step, f"?k {_COUNTS}", "GROUP BY ?k "),
    Ask.NAMES: lambda step: _graphs(step, "DISTINCT ?k", ""),
    Ask.DEFAULT: lambda step: "ASK { ?s ?p ?o FILTER NOT EXISTS { GRAPH ?g { ?s ?p ?o } } }",
    Ask.COUNT: lambda step: f"SELECT {_COUNTS} WHERE {{ {_pattern(step)} }}",
    Ask.PLAN: _plan,
    Ask.LABELS: _labels,
    Ask.WHOLE: lambda step: _triples(step, ""),
    Ask.RANGE: _range,
    Ask.SUBJECT: lambda step: _part(step, f"{_is_subject(step.first)} && !isBlank(?o)"),
    Ask.BLANKS: _blanks,
    Ask.WALK: lambda step: _part(step, _NO_BLANKS if step.first else "", order=False),
}


@cache
def _defaults() -> Mapping[str, object]:
    return {field.name: field.default for field in fields(Step) if field.name not in _REQUIRED}


_REQUIRED = ("endpoint", "ask")
