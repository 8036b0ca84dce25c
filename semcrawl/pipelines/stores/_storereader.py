"""Reads a store's graphs, through its query endpoint or the Graph Store Protocol.

Graphs that somebody else made must not be overwritten. So nothing is written to a store that does
not tell which graphs it holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Executor
from itertools import islice
from typing import Any

from semcrawl.pipelines.stores.contract import StoreUnavailable
from semcrawl.pipelines.stores.sending import HttpError, Sender
from semcrawl.pipelines.stores.statements import Statement, of_binding, statements_of

#: graphs in one query
GRAPHS_AT_ONCE = 500
#: bytes of a graph that are read through the Graph Store Protocol
MOST_BYTES = 1 << 20

_TRIPLES = "application/n-triples"
#: last part of the query endpoint's path, by that of another endpoint
_NEIGHBOURS = {
    "update": ("query", "sparql"),
    "store": ("query", "sparql"),
    "data": ("query", "sparql"),
    "sparql-graph-crud-auth": ("sparql-auth",),
    "sparql-graph-crud": ("sparql",),
}


class StoreReader:
    """Reads graphs from a server."""

    def __init__(
        self, sender: Sender, urls: Sequence[str], gsp_url: str, query_url: str, pool: Executor
    ) -> None:
        """Query ``query_url``; without it, find the query endpoint beside the endpoints ``urls``.

        If there is none, read graph by graph through the Graph Store Protocol at ``gsp_url``.
        """
        self._sender = sender
        self._gsp_url = gsp_url
        self._pool = pool
        self._is_named = bool(query_url)
        self._candidates = [query_url] if query_url else list(query_endpoints(urls))
        #: the query endpoint; empty if there is none, ``None`` before the search
        self._query_url: str | None = None

    def existing(self, names: Collection[str]) -> set[str]:
        """Return which of the graphs hold statements; raise ``StoreUnavailable`` on failure."""
        wanted = list(names)
        if not wanted:
            return set()
        if url := self._endpoint():
            found: set[str] = set()
            for start in range(0, len(wanted), GRAPHS_AT_ONCE):
                found |= self._existing(url, wanted[start : start + GRAPHS_AT_ONCE])
            return found & set(wanted)
        are_there = self._pool.map(lambda name: bool(self._get(name).strip()), wanted)
        return {name for name, is_there in zip(wanted, are_there, strict=True) if is_there}

    def statements(self, name: str, limit: int) -> Iterator[Statement]:
        """Yield at most ``limit`` statements of a graph; raise ``StoreUnavailable`` on failure."""
        if url := self._endpoint():
            query = f"SELECT ?s ?p ?o {{ GRAPH {name} {{ ?s ?p ?o }} }} LIMIT {limit}"
            yield from map(of_binding, self._answered(url, query))
        else:
            yield from islice(statements_of(self._get(name).encode()), limit)

    def _existing(self, url: str, names: Sequence[str]) -> set[str]:
        values = " ".join(names)
        # mostly none exists, which this query finds out at the least cost
        any_query = f"SELECT ?g {{ VALUES ?g {{ {values} }} GRAPH ?g {{ ?s ?p ?o }} }} LIMIT 1"
        if not self._answered(url, any_query):
            return set()
        query = (
            f"SELECT ?g {{ VALUES ?g {{ {values} }} FILTER EXISTS {{ GRAPH ?g {{ ?s ?p ?o }} }} }}"
        )
        return {f"<{row['g']['value']}>" for row in self._answered(url, query)}

    def _endpoint(self) -> str:
        """Return the query endpoint, searching for it once; empty if there is none."""
        if self._query_url is None:
            query = f"SELECT ?s {{ GRAPH {self._sender.probe_graph} {{ ?s ?p ?o }} }} LIMIT 1"
            reason: HttpError | None = None
            for url in self._candidates:
                try:
                    self._sender.query(url, query)
                except HttpError as error:
                    reason = error
                    continue
                self._query_url = url
                break
            else:
                if self._is_named or not self._gsp_url:
                    raise self._unavailable(reason)
                self._get(self._sender.probe_graph)
                self._query_url = ""
        return self._query_url

    def _answered(self, url: str, query: str) -> list[Any]:
        try:
            return self._sender.query(url, query)
        except HttpError as error:
            raise self._unavailable(error) from None

    def _get(self, name: str) -> str:
        """Return the beginning of a graph as N-Triples; empty if the graph does not exist."""
        try:
            params = {"graph": name[1:-1]}
            return self._sender.send(
                "GET", self._gsp_url, params, accept=_TRIPLES, again=True, most=MOST_BYTES
            )
        except HttpError as error:
            if error.status in (404, 410):
                return ""
            raise self._unavailable(error) from None

    def _unavailable(self, error: HttpError | None) -> StoreUnavailable:
        """Return the error for a store that does not tell which graphs it holds."""
        words = f": {error}" if error else ""
        if error and error.status >= 500 and error.status != 501:
            return StoreUnavailable(f"{self._sender.name}{words}")
        return StoreUnavailable(
            f"{self._sender.name} does not tell which graphs it holds, and those of others must not"
            f" be touched (set SEMCRAWL_STORE_QUERY_URL to its query endpoint){words}"
        )


def query_endpoints(urls: Sequence[str]) -> Iterator[str]:
    """Yield URLs where servers with these other endpoints may have their query endpoint."""
    seen: set[str] = set()
    for url in filter(None, urls):
        place = url.partition("?")[0]
        parent, _, last = place.rstrip("/").rpartition("/")
        beside = [f"{parent}/{name}" for name in _NEIGHBOURS.get(last, ())]
        if last == "statements":  # of RDF4J and GraphDB
            beside.append(parent)
        for candidate in (*beside, place):
            if candidate not in seen:
                seen.add(candidate)
                yield candidate
