"""Reads the answers of SPARQL endpoints in a world, and walks through whole endpoints."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from semcrawl import rdf
from semcrawl.evaluation.judgement import Judge
from semcrawl.evaluation.nodes import Node
from semcrawl.evaluation.world import World
from semcrawl.sources.endpointanswers import first_label, read_rows
from semcrawl.sources.endpointpaging import Following, Row
from semcrawl.sources.endpointsteps import ROWS, UNION_DEFAULT_GRAPH, Ask, Step
from semcrawl.sources.endpointwalk import CUT_OFF, EndpointWalk, Triples, brings_triples
from semcrawl.topics.novelty import statement_hashes
from semcrawl.web.vocabulary import Kind


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to a query, without its body."""

    node: Node
    rows: list[Row] | bool | None = None
    #: ``None`` if the answer is not RDF
    triples: Triples | None = None
    #: number of readable statements
    quads: int = 0


class Taken(NamedTuple):
    """What a crawl takes from the answer to a query."""

    #: real type of the answer; ``None`` if the query failed
    kind: Kind | None
    #: whether the triples are kept
    kept: bool
    following: Following


def read_query(world: World, judge: Judge | None, name: str, step: Step, url: str) -> QueryAnswer:
    """Read a world's answer with a name; ``url`` is the address that gave it."""
    answer = world.fetch(name)
    if answer.status != 200:
        return QueryAnswer(Node(answer))
    body = world.body(name)
    if step.ask in ROWS:
        cut = {header.lower() for header, _ in answer.headers} & {one.lower() for one in CUT_OFF}
        return QueryAnswer(Node(answer), None if cut else read_rows(body, answer.content_type))
    if answer.kind is not Kind.RDF and (body.strip() or step.ask is Ask.DESCRIPTION):
        triples = Triples(url, 0) if step.ask is Ask.DESCRIPTION else None
        return QueryAnswer(Node(answer), triples=triples)
    reading = rdf.read(body, url, answer.content_type or None, links=False)
    triples = Triples(
        *(url, reading.quads + reading.error_count, answer.document),
        label=first_label(reading.nquads),
        union=UNION_DEFAULT_GRAPH in reading.nquads,
    )
    node = Node(
        answer,
        judged=None if judge is None else judge(url, answer, body),
        statements=array("Q", statement_hashes((reading.nquads,))),
    )
    return QueryAnswer(node, triples=triples, quads=reading.quads)


def take_answer(walk: EndpointWalk, step: Step, answer: QueryAnswer) -> Taken:
    """Return what follows from an answer, as in :class:`semcrawl.spiders.endpoints.EndpointReader`.

    ``step``: as it was asked; what follows fits to the pages that its endpoint gives.
    """
    step = walk.fitted(step)
    status = answer.node.answer.status
    if status != 200:
        following = walk.after_refusal(step, f"HTTP status {status}", status)
        kind, kept = None, False
    elif step.ask in ROWS:
        following = walk.after_rows(step, answer.rows)
        kind, kept = Kind.OTHER, False
    elif answer.triples is None:
        following = walk.after_refusal(step, "its answer is no RDF")
        kind, kept = None, False
    else:
        following = walk.after_triples(step, answer.triples)
        kept = brings_triples(step, following, answer.quads)
        kind = Kind.RDF if kept else Kind.OTHER
    walk.settle(step, following)
    return Taken(kind, kept, following)


#: returns the final address and the answer of a query
Asks = Callable[[Step], tuple[str, QueryAnswer]]


class Asked(NamedTuple):
    """One query in the walk through an endpoint."""

    name: str
    #: name of the query whose answer led to it; empty for the first one
    parent: str
    #: number of queries on the way to it
    depth: int
    node: Node
    kept: bool
    leads_on: bool


def walk_through(first: Step, walk: EndpointWalk, ask: Asks) -> Iterator[Asked]:
    """Yield a first query and all that follow from it, in the order of a crawl.

    Documents are named as those of links are; lists are named by their queries.
    """
    waiting = deque([(first, "", 0)])
    seen = {first.url}
    while waiting:
        step, parent, depth = waiting.popleft()
        url, answer = ask(step)
        taken = take_answer(walk, step, answer)
        name = (answer.node.answer.document if taken.kept else "") or url
        steps = [one for one in taken.following.steps if one.url not in seen]
        seen.update(one.url for one in steps)
        yield Asked(name, parent, depth, answer.node, taken.kept, bool(steps))
        waiting.extend((one, name, depth + 1) for one in steps)


def unread(node: Node) -> Node:
    """Return the answer to a query whose triples are not kept: it is not a document."""
    return replace(node, answer=replace(node.answer, kind=Kind.OTHER))
