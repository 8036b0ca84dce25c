"""Reads the answers of SPARQL endpoints in a world, and walks through whole endpoints."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from semcrawl.evaluation.nodes import Node, NodeReader
from semcrawl.reading.queryanswers import read_query
from semcrawl.reading.reader import at_once, discard
from semcrawl.sources.endpointpaging import Following, Row
from semcrawl.sources.endpointsteps import ROWS, Step
from semcrawl.sources.endpointwalk import EndpointWalk, Triples, brings_triples
from semcrawl.topics import Document
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


def ask(nodes: NodeReader, name: str, step: Step, url: str) -> QueryAnswer:
    """Read a world's answer with a name; ``url`` is the address that gave it."""
    answer = nodes.world.fetch(name)
    if not answer.is_success:
        return QueryAnswer(Node(answer))
    got = nodes.received(name, url)
    read = at_once(read_query(nodes.answers.reader, got, step, answer.document))
    kind = None if read.detection is None else read.detection.kind
    if read.data is None:
        return QueryAnswer(Node(replace(answer, kind=kind or Kind.OTHER)), read.rows)
    document = Document.of_rdf(url, read.data)
    keeps = nodes.answers.options.robots.keeps(nodes.answers.of_headers(got).rules)
    node = Node(
        replace(answer, kind=kind),
        judged=None if nodes.topic is None else nodes.topic.judge(document),
        quads=read.data.quads,
        statements=array("Q", statement_hashes(document.statements())),
        keeps=keeps,
    )
    discard(read.data)
    return QueryAnswer(node, triples=read.triples, quads=read.data.quads)


def take_answer(walk: EndpointWalk, step: Step, answer: QueryAnswer) -> Taken:
    """Return what follows from an answer, as in :class:`semcrawl.spiders.endpoints.EndpointReader`.

    ``step``: as it was asked; what follows fits to the pages that its endpoint gives.
    """
    step = walk.fitted(step)
    status = answer.node.answer.status
    if not answer.node.answer.is_success:
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
        wanted = brings_triples(step, following, answer.quads)
        kind, kept = Kind.RDF if wanted else Kind.OTHER, wanted and answer.node.keeps
        if wanted and not kept:
            following = Following()
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
