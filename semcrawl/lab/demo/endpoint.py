"""A SPARQL endpoint over a few triples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs

import pyoxigraph as ox

from semcrawl.lab.demo.model import Response

_ROWS, _TRIPLES = ox.QueryResultsFormat.JSON, ox.RdfFormat.N_TRIPLES


class Endpoint:
    """Evaluates queries on a few graphs."""

    def __init__(self, graphs: Mapping[str, Sequence[ox.Triple]]) -> None:
        """Load ``graphs`` by name; an empty name is the default graph."""
        self._store = ox.Store()
        for name, rows in graphs.items():
            graph = ox.NamedNode(name) if name else ox.DefaultGraph()
            self._store.extend(ox.Quad(r.subject, r.predicate, r.object, graph) for r in rows)

    def answer(self, parameters: str) -> Response | None:
        """Answer the query in an address's parameters; ``None`` if there is none."""
        query = parse_qs(parameters).get("query", [""])[0]
        if not query:
            return None
        if "service" in query.lower():
            return _response(400, "text/plain", b"no other endpoint is asked from here\n")
        try:
            results = self._store.query(query)
            if isinstance(results, ox.QueryTriples):
                body = ox.serialize(results, format=_TRIPLES)
                return _response(200, _TRIPLES.media_type, body)
            return _response(200, _ROWS.media_type, results.serialize(format=_ROWS))
        except (SyntaxError, ValueError, OSError) as error:
            return _response(400, "text/plain; charset=utf-8", f"{error}\n".encode())


def _response(status: int, content_type: str, body: bytes | None) -> Response:
    return Response(status, (("Content-Type", content_type),), body or b"")
