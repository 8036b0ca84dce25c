"""SPARQL endpoints: what they are asked, step by step, and what their answers say.

Builds the queries that fetch the data of a SPARQL endpoint page by page.
Each query is a :class:`Step`: a GET request that its address defines completely, so it can wait in
the frontier and be in the seen set like any link. The second half chooses
the steps that follow from an answer.

Chooses the next queries to a SPARQL endpoint by its answers.
The endpoint counts each graph. One query fetches a small graph. Of a large graph the subjects are
listed in order with their numbers of triples, and cut into ranges. The range is part of the query,
so pages neither overlap nor leave gaps, and need no order. As the size of each page is known
beforehand, pages that the server truncates are noticed and requested again in smaller parts.

Triples with blank nodes come in one separate page, so that each node stays one node. If they exceed
a page, it matters whether the endpoint keeps its labels from answer to answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from http import HTTPStatus
from urllib.parse import quote, unquote

import pyoxigraph

from semcrawl.links import Link
from semcrawl.web.bodies import media_type

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


#: fewest triples per page, and how often a page is made smaller
_LEAST_PAGE, _MOST_AGAIN = 100, 10
_ORDERED_PARTS = frozenset({Ask.SUBJECT, Ask.BLANKS})


@dataclass(frozen=True, slots=True)
class Row:
    """A row of counts: a graph or subject, its triples, and those with blank nodes."""

    name: str
    triples: int = 0
    blanks: int = 0


@dataclass(slots=True)
class Following:
    """What follows from an answer: steps, messages, losses."""

    steps: list[Step] = field(default_factory=list)
    #: messages, a line each
    notes: list[str] = field(default_factory=list)
    #: number of triples given up, if known
    lost: int = 0
    #: whether the page is requested again in parts, so this answer is dropped
    again: bool = False


def first_steps(endpoint: str, page: int, most: int) -> list[Step]:
    """Return the first step of an endpoint, and the next one, which does not depend on its answer.

    ``page`` is the number of triples per page, ``most`` that of the endpoint; 0: any number.
    """
    description = Step(endpoint, Ask.DESCRIPTION, page=page, room=most or None)
    return [description, after_description(description, union=False)]


def after_description(step: Step, *, union: bool) -> Step:
    """Return the step after the description, which states whether the default graph is a union."""
    return replace(step, ask=Ask.GRAPHS, union=union)


def after_graphs(step: Step, rows: Sequence[Row], skipped: Collection[str]) -> Following:
    """Return what follows a list of graphs, without those that match a pattern in ``skipped``.

    A list ends only with an empty part: a server may return fewer rows than requested.
    """
    found = Following()
    counted = step.ask is Ask.GRAPHS
    room = step.room
    if not step.first and not (step.union and rows):
        ask = Ask.DEFAULT if rows else Ask.COUNT
        found.steps.append(replace(step, ask=ask, first=""))
    for row in rows:
        if any(fnmatchcase(row.name, pattern) for pattern in skipped):
            continue
        if not is_name(row.name):
            found.notes.append(f"graph {row.name[:200]!r} has a name that no query can contain")
            continue
        graph = replace(step, graph=row.name, first="", room=room, seen=())
        if not counted:
            found.steps.append(replace(graph, ask=Ask.COUNT))
            continue
        _add(found, after_count(graph, row))
        if room is not None:
            room = max(0, room - row.triples)
    if rows and rows[-1].name != step.first:
        found.steps.append(replace(step, first=rows[-1].name, room=room))
    return found


def after_default(step: Step, *, has_own: bool) -> Following:
    """Return what follows if the default graph has own triples, or has none."""
    return Following([replace(step, ask=Ask.COUNT)] if has_own else [])


def after_count(step: Step, row: Row) -> Following:
    """Return the steps that fetch a counted graph."""
    found = Following()
    size, blanks, room = row.triples, min(row.blanks, row.triples), step.room
    if room is not None and size > room:
        found.notes.append(_over(step, size - room))
        found.lost = size - room
        if room == 0:
            return found
    if size == 0:
        return found
    if size <= step.page and (room is None or size <= room):
        found.steps.append(replace(step, ask=Ask.WHOLE, size=size))
        return found
    if blanks:
        if room is not None:
            blanks = min(blanks, room)
        if row.blanks <= min(step.page, blanks):
            found.steps.append(replace(step, ask=Ask.BLANKS, size=blanks, last=""))
        else:
            found.steps.append(replace(step, ask=Ask.LABELS, size=blanks, offset=0, seen=()))
    rest = size - row.blanks
    if room is not None:
        rest = min(rest, room - blanks)
    if rest > 0:
        found.steps.append(replace(step, ask=Ask.PLAN, first="", last="", size=rest))
    return found


def after_plan(step: Step, rows: Sequence[Row]) -> Following:
    """Group subjects into ranges; split those that exceed a page into parts."""
    found = Following()
    left = step.size
    first, last, held = "", "", 0
    base = replace(step, offset=0, with_first=False)

    def close() -> None:
        nonlocal first, held
        if held:
            found.steps.append(replace(base, ask=Ask.RANGE, first=first, last=last, size=held))
        first, held = "", 0

    for row in rows:
        if left <= 0:
            break
        count = min(row.triples, left)
        left -= count
        if row.triples > step.page or count < row.triples:
            close()
            subject = replace(base, ask=Ask.SUBJECT, first=row.name, last="")
            found.steps += _parts(subject, 0, count)
            continue
        if held + count > step.page:
            close()
        first, last, held = first or row.name, row.name, held + count
    close()
    if left > 0 and rows and rows[-1].name != step.first:
        found.steps.append(replace(base, first=rows[-1].name, size=left))
    elif left > 0:
        found.notes.append(f"{step.name}: {left:,} triples fewer than counted before")
    return found


def after_labels(step: Step, label: str) -> Following:
    """Return what follows from a blank node's label: the first, the second, the first again.

    Labels are stable if the two nodes differ, and the first has the same label both times.
    """
    seen = (*step.seen, label)
    if len(seen) < 3:
        offset = 1 if len(seen) == 1 else 0
        again = step.again + (len(seen) == 2)
        return Following([replace(step, offset=offset, seen=seen, again=again)])
    stable = bool(label) and seen[0] == seen[2] != seen[1]
    found = Following()
    if not stable:
        found.notes.append(
            f"{step.name}: blank nodes are not joined across pages, as the endpoint relabels them "
            "in each answer"
        )
    pages = replace(step, ask=Ask.BLANKS, last="parts", stable=stable, seen=())
    found.steps += _parts(pages, 0, step.size)
    return found


def after_page(step: Step, got: int, digest: str) -> Following:
    """Return what follows a page with ``got`` statements, unreadable ones included."""
    if step.ask is Ask.WALK:
        return _after_walk(step, got, digest)
    if got > step.size:
        return Following(
            notes=[f"it changed while it was read: {got:,} triples, not {step.size:,}"]
        )
    if got == step.size:
        return Following()
    found = smaller(step, max(got, 1), f"it gave {got:,} of {step.size:,} triples")
    if not found.steps:
        found.again = False
        if got and not step.graph:
            found.notes.append("it counted the triples of several graphs once for each")
            found.lost = 0
        else:
            found.lost = step.size - got
    return found


def after_failure(step: Step, reason: str) -> Following:
    """Return the steps that replace a query which the endpoint could not answer."""
    if step.ask is Ask.DESCRIPTION:
        return Following([after_description(step, union=False)])
    if step.ask is Ask.GRAPHS:
        return Following([replace(step, ask=Ask.NAMES)], [f"{reason}: it cannot count its graphs"])
    if step.ask is Ask.NAMES and not step.first:
        default = replace(step, ask=Ask.COUNT)
        return Following([default], [f"{reason}: it cannot list its graphs"])
    if step.ask is Ask.COUNT or (step.ask is Ask.PLAN and not step.first):
        # counted triples with blank nodes have a separate page
        walk = replace(step, ask=Ask.WALK, first="x" if step.ask is Ask.PLAN else "", last="")
        size = min(step.page, step.room if step.room is not None else step.page)
        note = f"{reason}: {step.name} is read without an order"
        return Following([replace(walk, offset=0, size=size)] if size else [], [note])
    if step.ask is Ask.LABELS:
        return after_labels(replace(step, seen=("", "")), "")
    if step.ask is Ask.DEFAULT:
        return Following(
            notes=[f"{reason}: the default graph is taken for the union of the others"]
        )
    if step.ask in _ORDERED_PARTS and (step.ask is Ask.SUBJECT or step.last) and not step.nested:
        return Following([replace(step, nested=True)], [reason], again=True)
    if step.ask in PAGES:
        return smaller(step, step.size // 2, reason)
    if step.ask is Ask.PLAN and step.again < _MOST_AGAIN:
        page = max(step.page // 2, _LEAST_PAGE)
        return Following([replace(step, page=page, again=step.again + 1)], [reason])
    lost = step.size if step.ask is Ask.PLAN else 0
    return Following([], [f"{reason}: what comes after {step.first!r} is not read"], lost)


def smaller(step: Step, page: int, reason: str) -> Following:
    """Request a page in parts of ``page`` triples; no parts once they are as small as allowed."""
    if step.again >= _MOST_AGAIN or step.size <= _LEAST_PAGE:
        return Following([], [reason], step.size)
    page = max(min(page, step.page), _LEAST_PAGE // 2)
    nested = step.nested or (not step.graph and step.ask in (Ask.WHOLE, Ask.RANGE))
    part = replace(step, page=page, again=step.again + 1, nested=nested)
    if step.ask is Ask.WHOLE:
        steps = [replace(part, ask=Ask.COUNT, size=0)]
    elif step.ask is Ask.RANGE:
        steps = [replace(part, ask=Ask.PLAN, with_first=True)]
    elif step.ask is Ask.WALK:
        steps = [replace(part, size=min(page, step.size))]
    elif step.ask is Ask.BLANKS and not step.last:
        steps = [replace(part, ask=Ask.LABELS, seen=(), offset=0)]
    else:
        steps = list(_parts(part, step.offset, step.offset + step.size))
    return Following(steps, [f"{reason}: smaller pages are requested"], again=True)


def _after_walk(step: Step, got: int, digest: str) -> Following:
    """Return the next part of a walk, which ends with an empty one."""
    if not got:
        return Following()
    if step.seen == (digest,):
        return Following(notes=["the endpoint gives the same answer for each OFFSET"])
    room = None if step.room is None else max(0, step.room - got)
    if room == 0:
        return Following(notes=[f"SEMCRAWL_ENDPOINT_TRIPLES: the rest of {step.name} is left out"])
    size = min(step.page, room or step.page)
    offset = step.offset + got
    return Following([replace(step, offset=offset, size=size, room=room, seen=(digest,))])


def _parts(step: Step, start: int, end: int) -> Iterator[Step]:
    for offset in range(start, end, step.page):
        yield replace(step, offset=offset, size=min(step.page, end - offset))


def _over(step: Step, count: int) -> str:
    return f"SEMCRAWL_ENDPOINT_TRIPLES: {count:,} triples of {step.name} are left out"


def _add(found: Following, more: Following) -> None:
    found.steps += more.steps
    found.notes += more.notes
    found.lost += more.lost


_LABEL = re.compile(rb"^_:(\S+)")
#: variables of our queries
_NAMES = frozenset({"k", "n", "b"})
#: how a cell says yes or no
_WORDS = {"1": True, "true": True, "0": False, "false": False}
_NUMBER = re.compile(r"\d{1,18}(?:\.0*)?\Z")


def read_rows(body: bytes, content_type: str) -> list[Row] | bool | None:
    """Read rows (variables ``k``, ``n`` and ``b``), or yes or no; ``None`` for anything else.

    A table with other variables is a server's way to say yes or no, in its only cell.
    If ``k`` is a variable, rows without it are skipped: they belong to graphs named by blank nodes.
    """
    media = media_type(content_type)
    xml = "xml" in media
    syntax = pyoxigraph.QueryResultsFormat.XML if xml else pyoxigraph.QueryResultsFormat.JSON
    try:
        results = pyoxigraph.parse_query_results(body, syntax)
        if isinstance(results, pyoxigraph.QueryBoolean):
            return bool(results)
        if not isinstance(results, pyoxigraph.QuerySolutions):
            return None
        names = {variable.value for variable in results.variables}
        if not _NAMES & names and (cells := [_text(term) for row in results for term in row]):
            return _WORDS.get(cells[0].lower()) if len(cells) == 1 else None
        rows = []
        for solution in results:
            found = {str(n): _text(solution[n]) for n in _NAMES & names}
            if found.get("k") or "k" not in names:
                rows.append(Row(found.get("k", ""), _number(found, "n"), _number(found, "b")))
    except (SyntaxError, ValueError, OSError):
        return None
    return rows


def first_label(nquads: bytes) -> str:
    """Return the label of the first subject; empty if it is not a blank node."""
    found = _LABEL.match(nquads)
    return found[1].decode() if found else ""


def _text(term: object) -> str:
    return str(getattr(term, "value", ""))


def _number(found: dict[str, str], name: str) -> int:
    text = found.get(name, "")
    return int(text.partition(".")[0]) if _NUMBER.match(text) else 0


#: headers of Virtuoso's answers that a time limit truncated
CUT_OFF = ("X-SQL-State", "X-SPARQL-Anytime")
#: statuses of addresses without an endpoint for us
_NO_ENDPOINT = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.GONE,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)


@dataclass(frozen=True, slots=True)
class Triples:
    """The facts about an answer of triples that decide what follows."""

    #: the address that answered
    url: str
    #: number of statements, unreadable ones included
    count: int
    digest: str = ""
    #: label of the first subject if it is a blank node
    label: str = ""
    #: whether it declares that the default graph is the union of the named ones
    union: bool = False


class EndpointWalk:
    """Decides what follows from endpoints' answers, and remembers their largest pages."""

    def __init__(self, skipped: Collection[str] = ()) -> None:
        """Leave out the graphs whose names match a pattern in ``skipped``."""
        self._skipped = skipped
        #: largest page of each endpoint that truncated or failed a larger one
        self._pages: dict[str, int] = {}

    def fitted(self, step: Step) -> Step:
        """Return the step with a page size that its endpoint can serve."""
        return replace(step, page=min(step.page, self._pages.get(step.endpoint, step.page)))

    def after_rows(self, step: Step, answer: list[Row] | bool | None) -> Following:
        """Return what follows from rows, yes or no, or an unreadable answer (``None``)."""
        if answer is None:
            return after_failure(step, "its answer is not a whole list of results")
        if step.ask is Ask.DEFAULT and answer == []:
            answer = False  # an empty table
        if isinstance(answer, bool) != (step.ask is Ask.DEFAULT) or (
            step.ask is Ask.COUNT and answer == []
        ):
            return after_failure(step, "its answer is none to the question")
        if isinstance(answer, bool):
            return after_default(step, has_own=answer)
        if step.ask is Ask.PLAN:
            return after_plan(step, answer)
        if step.ask is Ask.COUNT:
            return after_count(step, answer[0])
        return after_graphs(step, answer, self._skipped)

    def after_triples(self, step: Step, found: Triples) -> Following:
        """Return what follows from triples, or from a description."""
        if step.ask is Ask.DESCRIPTION:
            # the endpoint may have moved
            moved = replace(step, endpoint=found.url)
            return Following([after_description(moved, union=found.union)])
        if step.ask is Ask.LABELS:
            return after_labels(step, found.label)
        return after_page(step, found.count, found.digest)

    def after_refusal(self, step: Step, reason: str, status: int | None = None) -> Following:
        """Return what replaces a failed query; nothing if there is no endpoint for us."""
        if status in _NO_ENDPOINT and step.ask is not Ask.DESCRIPTION:
            return Following()
        return after_failure(step, reason)

    def settle(self, step: Step, following: Following) -> None:
        """Drop queries that are too long, note lost triples, and remember smaller pages."""
        if following.again:
            self._pages[step.endpoint] = min(one.page for one in following.steps)
        long = [one for one in following.steps if len(one.url) > LONGEST_QUERY_URL]
        if long:
            following.steps = [one for one in following.steps if one not in long]
            following.notes.append(f"{len(long)} queries are too long for a request")
            following.lost += sum(one.size for one in long)
        if following.lost:
            following.notes.append(f"{following.lost:,} triples of {step.name} were not fetched")


def brings_triples(step: Step, following: Following, quads: int) -> bool:
    """Whether an answer's quads are kept: it is no probe, and is not requested again."""
    return quads > 0 and not following.again and step.ask is not Ask.LABELS
