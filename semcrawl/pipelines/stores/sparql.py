"""Any triple store that speaks SPARQL 1.1: Graph Store Protocol, Update, or both.

With both, Update takes small documents, many per request. The Graph Store Protocol takes, with one
``PUT`` per graph, those that Update cannot take: large documents, and those with blank nodes if the
store refuses these in ``INSERT DATA`` (Virtuoso 7).

One request, which stores run as one transaction, replaces graphs that were delivered before. New
graphs are only inserted: stores do that twice as fast if the transaction drops nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf

from semcrawl.errors import UsageError
from semcrawl.pipelines.stores._storereader import StoreReader
from semcrawl.pipelines.stores._virtuoso import BATCH_BYTES, LOADS, MAX_GRAPHS, VirtuosoLoader
from semcrawl.pipelines.stores.contract import (
    MOST_STATEMENTS,
    GraphContent,
    StoreRefused,
    StoreUnavailable,
)
from semcrawl.pipelines.stores.sending import HttpError, Sender
from semcrawl.pipelines.stores.statements import Statement
from semcrawl.settings.reader import setting

PROBE_TRIPLE = b"<urn:semcrawl:probe> <urn:semcrawl:probe> <urn:semcrawl:probe> .\n"
#: the same with a blank node
BLANK_PROBE_TRIPLE = b"_:probe <urn:semcrawl:probe> <urn:semcrawl:probe> .\n"
#: bytes of a graph kept in memory while it is sent
MEMORY_SIZE = 8 << 20


@dataclass(frozen=True, slots=True)
class SparqlOptions:
    """The server's endpoints, login and limits."""

    #: Graph Store Protocol endpoint; empty = none
    gsp_url: str = setting("SEMCRAWL_STORE_URL")
    #: SPARQL 1.1 Update endpoint; empty = none
    update_url: str = setting("SEMCRAWL_STORE_UPDATE_URL")
    #: SPARQL 1.1 query endpoint; empty = search beside the others
    query_url: str = setting("SEMCRAWL_STORE_QUERY_URL")
    #: URL that takes N-Quads of many graphs in a ``POST``; empty = none
    bulk_url: str = setting("SEMCRAWL_STORE_BULK_URL")
    user: str = setting("SEMCRAWL_STORE_USER")
    password: str = setting("SEMCRAWL_STORE_PASSWORD")
    #: ``basic`` or ``digest``
    auth: str = setting("SEMCRAWL_STORE_AUTH")
    #: seconds without a byte from the server after which it counts as down
    timeout: float = 300.0
    #: statements in one request to the Update endpoint
    update_limit: int = 20_000
    #: statements above which a document goes through the Graph Store Protocol, if there is one
    put_above: int = 20_000
    #: ``PUT`` requests at a time; Virtuoso's loader gets at most two
    connections: int = 4

    def __post_init__(self) -> None:
        """Raise ``UsageError`` for wrong options."""
        if not (self.gsp_url or self.update_url):
            raise UsageError("no URL of a triple store is given")
        for url in (self.gsp_url, self.update_url, self.bulk_url, self.query_url):
            if url and not url.startswith(("http://", "https://")):
                raise UsageError(f"the triple store's URL must be http or https: {url}")
        if self.bulk_url and not self.update_url:
            raise UsageError("SEMCRAWL_STORE_BULK_URL needs SEMCRAWL_STORE_UPDATE_URL beside it")
        if self.auth not in ("basic", "digest"):
            raise UsageError(f"SEMCRAWL_STORE_AUTH must be basic or digest, not {self.auth!r}")
        if self.connections < 1:
            raise UsageError("there must be at least 1 connection to the triple store")


class SparqlStore:
    """A triple store on a server. Not thread-safe."""

    def __init__(self, options: SparqlOptions) -> None:
        """Prepare; this sends nothing."""
        self._options = options
        self.target = options.gsp_url or options.update_url
        self._sender = Sender(
            self.target, options.user, options.password, options.auth, options.timeout
        )
        self._loader = VirtuosoLoader(self._sender, options.update_url)
        self._pool = ThreadPoolExecutor(options.connections, "semcrawl-store")
        self._load_pool = ThreadPoolExecutor(min(LOADS, options.connections), "semcrawl-load")
        urls = (options.update_url, options.gsp_url)
        self._reader = StoreReader(
            self._sender, urls, options.gsp_url, options.query_url, self._pool
        )
        #: whether Update takes blank nodes; ``None`` before the test
        self._takes_blank_nodes: bool | None = None

    def existing(self, names: Collection[str]) -> set[str]:
        """Return which of the graphs the store holds."""
        return self._reader.existing(names)

    def statements(self, name: str, limit: int = MOST_STATEMENTS) -> Iterator[Statement]:
        """Yield statements of a graph."""
        return self._reader.statements(name, limit)

    def replace(self, contents: Sequence[GraphContent]) -> None:
        """Make each graph hold exactly its content."""
        try:
            try:
                self._replace(contents)
            except HttpError:
                if len(contents) > 1 or not (self._options.gsp_url and self._options.update_url):
                    raise
                # a document too large for one endpoint may suit the other
                self._put_all(contents)
        except HttpError as error:
            self._raise_cause(error)

    def close(self) -> None:
        """Close the connections."""
        self._pool.shutdown()
        self._load_pool.shutdown()
        self._sender.close()

    def _replace(self, contents: Sequence[GraphContent]) -> None:
        if self._loader_is_there():
            fit = [content for content in contents if self._loader.takes(content)]
            self._loader.load_all(self._batches(fit, BATCH_BYTES, MAX_GRAPHS), self._load_pool)
            contents = [content for content in contents if not self._loader.takes(content)]
        old, new, alone = [], [], []
        for content in contents:
            is_bulk = bool(self._options.bulk_url) and content.is_new
            if not is_bulk and self._needs_put(content):
                alone.append(content)
            elif content.is_new:
                new.append(content)
            else:
                old.append(content)
        for batch in self._batches(old):
            self._update(batch)
        for batch in self._batches(new):
            self._add(batch)
        self._put_all(alone)

    def _loader_is_there(self) -> bool:
        """Whether the server is a Virtuoso whose loader we can call."""
        if not self._options.update_url:
            return False
        if self._sender.server is None:
            self._probe_update(PROBE_TRIPLE)  # any answer names the server
        return self._loader.is_there()

    def _needs_put(self, content: GraphContent) -> bool:
        """Whether a graph must go through the Graph Store Protocol."""
        if not self._options.gsp_url:
            return False
        if not self._options.update_url or content.quads > self._options.put_above:
            return True
        return not self._blank_nodes_are_taken() and content.has_blank_nodes()

    def _blank_nodes_are_taken(self) -> bool:
        """Whether the Update endpoint takes blank nodes; tested once."""
        if self._takes_blank_nodes is None:
            try:
                self._probe_update(BLANK_PROBE_TRIPLE)
            except HttpError:
                self._probe_update(PROBE_TRIPLE)  # raises if the store refuses all statements
                self._takes_blank_nodes = False
            else:
                self._takes_blank_nodes = True
        return self._takes_blank_nodes

    def _batches(
        self, contents: Sequence[GraphContent], max_bytes: float = inf, max_graphs: float = inf
    ) -> Iterator[list[GraphContent]]:
        """Divide graphs into batches, each within the limits of a request."""
        batch: list[GraphContent] = []
        quads = size = 0
        for content in contents:
            quads += content.quads
            size += content.size
            is_full = quads > self._options.update_limit or size > max_bytes
            if batch and (is_full or len(batch) >= max_graphs):
                yield batch
                batch, quads, size = [], content.quads, content.size
            batch.append(content)
        if batch:
            yield batch

    def _put_all(self, contents: Sequence[GraphContent]) -> None:
        """Put graphs through the Graph Store Protocol, several at a time."""
        futures = [self._pool.submit(self._put, content) for content in contents]
        errors = [error for future in futures if (error := future.exception()) is not None]
        # an outage explains more than the error responses to other requests: raise it first
        for error in sorted(errors, key=lambda error: isinstance(error, HttpError)):
            raise error

    def _put(self, content: GraphContent) -> None:
        with tempfile.SpooledTemporaryFile(MEMORY_SIZE) as body:
            for lines in content.triples():
                body.write(lines)
            is_empty = not body.tell()
            body.seek(0)
            params = {"graph": content.name[1:-1]}
            url = self._options.gsp_url
            if is_empty:
                self._sender.send("DELETE", url, params)
            else:
                self._sender.send("PUT", url, params, body, "application/n-triples")

    def _update(self, contents: Sequence[GraphContent]) -> None:
        """Drop the graphs and insert them again, in one request (a transaction in most stores)."""
        with tempfile.SpooledTemporaryFile(MEMORY_SIZE) as body:
            body.write(_drops(contents))
            _write_insertion(body, contents)
            body.seek(0)
            self._send_update(body)

    def _add(self, contents: Sequence[GraphContent]) -> None:
        """Insert new graphs."""
        with tempfile.SpooledTemporaryFile(MEMORY_SIZE) as body:
            if not self._options.bulk_url:
                _write_insertion(body, contents)
                if body.tell():
                    body.seek(0)
                    self._send_update(body)
                return
            for content in contents:
                for lines in content.quad_lines():
                    body.write(lines)
            body.seek(0)
            try:
                url = self._options.bulk_url
                self._sender.send("POST", url, {}, body, "application/n-quads")
            except HttpError:
                # a bulk loader may keep the lines before the error
                self._send_update(_drops(contents))
                raise

    def _send_update(self, body: bytes | tempfile.SpooledTemporaryFile[bytes]) -> None:
        self._sender.update(self._options.update_url, body)

    def _raise_cause(self, error: HttpError) -> None:
        """Test whether the store takes a harmless statement; raise for the store or the document.

        Raises ``StoreUnavailable`` if it does not, ``StoreRefused`` if it does.
        """
        try:
            if self._options.update_url:
                self._probe_update(PROBE_TRIPLE)
            if self._options.gsp_url:
                params = {"graph": self._sender.probe_graph[1:-1]}
                url = self._options.gsp_url
                self._sender.send("PUT", url, params, PROBE_TRIPLE, "application/n-triples")
                self._sender.send("DELETE", url, params)
        except HttpError as probe:
            raise StoreUnavailable(f"{self.target}: {probe}") from None
        raise StoreRefused(str(error)) from None

    def _probe_update(self, triple: bytes) -> None:
        """Insert a harmless statement and drop it again.

        It takes two requests: after a crash, Virtuoso restores what one request inserts and drops.
        """
        self._send_update(
            f"INSERT DATA {{ GRAPH {self._sender.probe_graph} {{ {triple.decode()} }} }}".encode()
        )
        self._send_update(f"DROP SILENT GRAPH {self._sender.probe_graph}".encode())


def _drops(contents: Sequence[GraphContent]) -> bytes:
    """Return the operations that drop the graphs."""
    return " ;\n".join(f"DROP SILENT GRAPH {content.name}" for content in contents).encode()


def _write_insertion(
    body: tempfile.SpooledTemporaryFile[bytes], contents: Sequence[GraphContent]
) -> None:
    """Write the operation that inserts the graphs, after earlier operations if there are any.

    Graphs without statements are left out, as Virtuoso does not accept empty blocks.
    """
    opening = b" ;\nINSERT DATA {\n" if body.tell() else b"INSERT DATA {\n"
    for content in contents:
        lines = content.triples()
        first = next(lines, b"")
        if not first:
            continue
        body.write(opening)
        opening = b""
        body.write(f"GRAPH {content.name} {{\n".encode())
        body.write(first)
        for more in lines:
            body.write(more)
        body.write(b"}\n")
    body.write(b"" if opening else b"}\n")
