"""Reads the answer of a SPARQL endpoint to a query: rows, or triples."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from semcrawl import rdf
from semcrawl.reading.answer import Received
from semcrawl.reading.reader import Reader
from semcrawl.sources.endpoints import (
    CUT_OFF,
    ROWS,
    UNION_DEFAULT_GRAPH,
    Ask,
    Row,
    Step,
    Triples,
    first_label,
    read_rows,
)
from semcrawl.web.bodies import BodyFile
from semcrawl.web.vocabulary import Kind

#: bytes above which an answer of rows is read in a thread
_LARGE = 262_144


@dataclass(frozen=True, slots=True)
class QueryReading:
    """What the answer to a query gives."""

    #: rows, or yes or no; ``None`` if it gives none, or not all
    rows: list[Row] | bool | None = None
    #: ``None`` for rows, and if the answer is not RDF though triples were asked for
    data: rdf.Reading | None = None
    #: what decides about the next steps, if it gives triples
    triples: Triples | None = None
    #: its true type, if it was asked for triples
    detection: rdf.Detection | None = None


async def read_query(reader: Reader, got: Received, step: Step, digest: str) -> QueryReading:
    """Read the answer to a step; ``digest`` names its body.

    Raises :class:`~semcrawl.reading.pool.ReadingLost` if the reading was ended.
    """
    media = got.content_type
    if step.ask in ROWS:
        if isinstance(got.body, BodyFile) or any(got.headers(name.encode()) for name in CUT_OFF):
            return QueryReading()
        if len(got.body) <= _LARGE or reader.here:
            return QueryReading(read_rows(got.body, media))
        return QueryReading(await asyncio.to_thread(read_rows, got.body, media))
    head = got.head
    detection = reader.detect(head, media, got.url)
    describes = step.ask is Ask.DESCRIPTION
    if not describes and detection.kind is not Kind.RDF and head.strip():
        return QueryReading(detection=detection)
    data = await reader.read(got.body, got.url, media, detection, options=_options(reader, step))
    triples = Triples(
        got.url,
        data.quads + data.error_count,
        digest,
        label=first_label(data.nquads) if step.ask is Ask.LABELS else "",
        union=describes and UNION_DEFAULT_GRAPH in data.nquads,
    )
    return QueryReading(None, data, triples, detection)


def _options(reader: Reader, step: Step) -> rdf.ReadOptions:
    """Return the options for reading an answer: its triples go into the graph queried.

    Triples of the default graph go into a graph with the query's URL. Blank nodes belong to one
    answer, or to the whole graph if the endpoint's labels are stable.
    """
    if step.ask is Ask.DESCRIPTION:
        return reader.options
    common = step.ask is Ask.LABELS or step.stable
    nodes = f"{step.endpoint} {step.graph}" if common else ""
    return replace(reader.options, default_graph=step.graph, blank_node_scope=nodes)
