"""Triple stores that speak SPARQL over HTTP: updates, the graph store protocol, Virtuoso's ways.

Reads a store's graphs, through its query endpoint or the Graph Store Protocol.
Graphs that somebody else made must not be overwritten. So nothing is written to a store that does
not tell which graphs it holds.

Virtuoso's own loader, called through its SPARQL endpoint.
Virtuoso's bulk loader runs ``DB.DBA.TTLP`` for every file. SPARQL can call it (``sql:TTLP``), and
the same request can carry the data. So neither a driver nor a shared folder is needed. The loader
takes N-Quads of many graphs, including blank nodes, several times as fast as ``INSERT DATA`` and
``PUT``.

Any triple store that speaks SPARQL 1.1: Graph Store Protocol, Update, or both.
With both, Update takes small documents, many per request. The Graph Store Protocol takes, with one
``PUT`` per graph, those that Update cannot take: large documents, and those with blank nodes if the
store refuses these in ``INSERT DATA`` (Virtuoso 7).

One request, which stores run as one transaction, replaces graphs that were delivered before. New
graphs are only inserted: stores do that twice as fast if the transaction drops nothing.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import IO, Any
from urllib.parse import urlencode
from uuid import uuid4

import requests
from requests.auth import AuthBase, HTTPBasicAuth, HTTPDigestAuth
from urllib3.filepost import encode_multipart_formdata

from semcrawl.errors import UsageError
from semcrawl.results.stores.contract import (
    MOST_STATEMENTS,
    GraphContent,
    Statement,
    StoreRefused,
    StoreUnavailable,
    of_binding,
    statements_of,
)
from semcrawl.settings.reader import setting

_RESULTS = "application/sparql-results+json"
#: body of a request
Body = IO[bytes] | tempfile.SpooledTemporaryFile[bytes] | bytes


class HttpError(Exception):
    """The server answered with an error status."""

    def __init__(self, status: int, words: str) -> None:
        """``words``: the text of the response, in one line."""
        self.status = status
        super().__init__(f"HTTP {status} {words}".strip())


class Sender:
    """Sends requests; each thread has its own connection."""

    def __init__(self, name: str, user: str, password: str, auth: str, timeout: float) -> None:
        """Log in as ``user`` with ``auth`` (``basic`` or ``digest``)."""
        #: the store's name in messages
        self.name = name
        #: a graph with an unused name, written and dropped to test what the store allows
        self.probe_graph = f"<urn:semcrawl:probe:{uuid4().hex}>"
        self._user = user
        self._password = password
        self._auth = auth
        self._timeout = timeout
        self._threads = threading.local()
        self._sessions: list[requests.Session] = []
        #: value of the ``Server`` header; empty without one, ``None`` before the first response
        self.server: str | None = None

    def send(
        self,
        method: str,
        url: str,
        params: dict[str, str],
        body: Body = b"",
        content_type: str = "",
        *,
        accept: str = "",
        again: bool = False,
        most: int = 0,
    ) -> str:
        """Send a request; return the text of the response.

        ``accept``: the media type that is wanted.
        ``most``: bytes of the response to read, without a last incomplete line; 0 = all.
        ``again``: the request changes nothing, so it may be repeated once if the connection ends,
        as servers close idle connections at any time.

        Raises ``StoreUnavailable`` if the server cannot be reached or refuses the login, and
        ``HttpError`` for an error response. Dropping a graph that does not exist is no error.
        """
        headers = {"Content-Type": content_type} if content_type else {}
        if accept:
            headers["Accept"] = accept
        try:
            answer = self._session(url).request(
                method,
                url,
                params=params,
                data=body,
                headers=headers,
                timeout=self._timeout,
                allow_redirects=False,
                stream=bool(most),
            )
            text = _start(answer, most) if most else answer.text
        except (requests.RequestException, OSError) as error:
            if again and isinstance(error, requests.ConnectionError):
                return self.send(method, url, params, body, content_type, accept=accept, most=most)
            raise StoreUnavailable(f"{self.name}: {_reason(error)}") from None
        self.server = answer.headers.get("Server", "")
        if answer.status_code in (401, 403):
            raise StoreUnavailable(
                f"{self.name}: user or password is wrong, or may not write"
                f" (HTTP {answer.status_code})"
            )
        is_dropped = method == "DELETE" and answer.status_code in (404, 410)
        if not (answer.ok and answer.status_code < 300) and not is_dropped:
            raise HttpError(answer.status_code, _words(text))
        return text

    def update(self, url: str, body: Body) -> None:
        """Send SPARQL 1.1 Update operations; raise as :meth:`send` does."""
        self.send("POST", url, {}, body, "application/sparql-update; charset=utf-8")

    def query(self, url: str, query: str) -> list[Any]:
        """Return the results of a SPARQL 1.1 query; raise as :meth:`send` does."""
        form = urlencode({"query": query, "format": _RESULTS}).encode()
        kind = "application/x-www-form-urlencoded"
        answer = self.send("POST", url, {}, form, kind, accept=_RESULTS, again=True)
        try:
            return list(json.loads(answer)["results"]["bindings"])
        except (ValueError, KeyError, TypeError):
            raise HttpError(200, "with no results in it") from None

    def close(self) -> None:
        """Close the connections."""
        for session in self._sessions:
            session.close()

    def _session(self, url: str) -> requests.Session:
        session: requests.Session | None = getattr(self._threads, "session", None)
        if session is None:
            session = self._threads.session = requests.Session()
            # http_proxy of the environment is for the crawl, not for the store
            session.trust_env = False
            session.auth = self._login()
            self._sessions.append(session)
            if isinstance(session.auth, HTTPDigestAuth):
                # log in first: the server may refuse a large body halfway to ask for the login
                params = {"graph": self.probe_graph[1:-1]}
                session.get(url, params=params, timeout=self._timeout, allow_redirects=False)
        return session

    def _login(self) -> AuthBase | None:
        if not self._user:
            return None
        kind = HTTPDigestAuth if self._auth == "digest" else HTTPBasicAuth
        return kind(self._user, self._password)


def _start(answer: requests.Response, most: int) -> str:
    """Return the whole lines among the first ``most`` bytes of a response, and close it."""
    with answer:
        start = next(answer.iter_content(most), b"")
    whole = start if len(start) < most else start[: start.rfind(b"\n") + 1]
    return whole.decode("utf-8", "replace")


def _reason(error: BaseException) -> str:
    """Return the innermost cause of a connection failure, in one line."""
    while True:
        inner = (
            getattr(error, "reason", None)
            or next((a for a in getattr(error, "args", ()) if isinstance(a, BaseException)), None)
            or error.__cause__
        )
        if not isinstance(inner, BaseException):
            break
        error = inner
    words = getattr(error, "strerror", None) or str(error)
    return " ".join(words.split())[:200] or type(error).__name__


def _words(text: str) -> str:
    """Return the beginning of an error response in one line; empty for most HTML pages."""
    start = text.find("<xmp>") + 5 if "<xmp>" in text else 0
    plain = text[start:] if start or not text.lstrip().startswith("<") else ""
    return " ".join(plain.split())[:200]


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

    def count(self, name: str) -> int:
        """Return how many statements a graph has; raise ``StoreUnavailable`` on failure."""
        if url := self._endpoint():
            query = f"SELECT (COUNT(*) AS ?n) {{ GRAPH {name} {{ ?s ?p ?o }} }}"
            return int(self._answered(url, query)[0]["n"]["value"])
        return sum(1 for _ in statements_of(self._get(name).encode()))

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


#: most bytes of N-Quads in a request for many graphs, and in one for a single larger graph;
#: Virtuoso takes at most 10 MB
BATCH_BYTES, MAX_BYTES = 4 << 20, 9_500_000
#: most graphs in a request
MAX_GRAPHS = 500
#: requests at a time; more slow each other down
LOADS = 2
#: flags of TTLP: the text is N-Quads; it replaces the graphs
_NQUADS, _WITH_DELETE = 512, 2048
#: log mode of TTLP: one transaction, logged when the response arrives; other modes are not logged,
#: or six times as slow
_LOGGED = 1
#: form field with the N-Quads; Virtuoso stores each field as ``SPARQL_`` and its name
_FIELD = "nquads"
_CALL = (
    'SELECT (sql:TTLP(bif:connection_get("SPARQL_{}"), "", "urn:semcrawl:none", {}, {}) AS ?x) {{}}'
)


class VirtuosoLoader:
    """Loads N-Quads into Virtuoso; call :meth:`is_there` first."""

    def __init__(self, sender: Sender, url: str) -> None:
        """Use the SPARQL endpoint ``url``, which the sender's user may write to."""
        self._sender = sender
        self._url = url
        self._works: bool | None = None

    def is_there(self) -> bool:
        """Whether the server lets us call its loader and replace graphs with it.

        It is tried once, on a graph of ours, if the server calls itself Virtuoso. Raises
        ``StoreUnavailable`` if the server is down.
        """
        if self._works is None:
            is_virtuoso = (self._sender.server or "").startswith("Virtuoso")
            self._works = is_virtuoso and self._try_out()
        return self._works

    def takes(self, content: GraphContent) -> bool:
        """Whether the loader can take a graph."""
        return content.size <= (MAX_BYTES if content.is_as_written else BATCH_BYTES)

    def load_all(self, batches: Iterable[Sequence[GraphContent]], pool: Executor) -> None:
        """Write the graphs' contents, several batches at a time.

        As loads may deadlock each other, those that fail are repeated one by one. Raises
        ``HttpError`` and ``StoreUnavailable``.
        """
        loads = [(batch, pool.submit(self._load, batch)) for batch in batches]
        failed = [(batch, error) for batch, load in loads if (error := load.exception())]
        for _, error in failed:
            if not isinstance(error, HttpError):
                raise error
        for batch, _ in failed:
            self._load(batch)

    def _load(self, contents: Sequence[GraphContent]) -> None:
        """Write each graph's content; drop graphs without content."""
        texts = {content.name: b"".join(content.quad_lines()) for content in contents}
        filled = [name for name, text in texts.items() if text]
        self._drop([name for name, text in texts.items() if not text])
        if not filled:
            return
        if all(content.is_new for content in contents):
            try:
                self._call(b"".join(texts.values()), is_replacing=False)
            except HttpError:
                self._drop(filled)  # Virtuoso may keep the statements before the error
                raise
        else:
            self._call(b"".join(map(_literals_first, texts.values())), is_replacing=True)

    def _try_out(self) -> bool:
        graph = self._sender.probe_graph
        line = f"_:probe <urn:semcrawl:probe> <urn:semcrawl:probe> {graph} .\n".encode()
        try:
            self._call(line, is_replacing=True)
            self._call(line, is_replacing=True)  # brings another blank node, if it adds
            answer = self._sender.query(self._url, f"SELECT ?s {{ GRAPH {graph} {{ ?s ?p ?o }} }}")
            self._drop([graph])
        except HttpError:
            return False
        return len(answer) == 1

    def _call(self, nquads: bytes, is_replacing: bool) -> None:
        flags = _NQUADS + _WITH_DELETE * is_replacing
        fields: dict[str, str | tuple[str, bytes, str]] = {
            "query": _CALL.format(_FIELD, flags, _LOGGED),
            _FIELD: (_FIELD, nquads, "application/n-quads"),
        }
        body, kind = encode_multipart_formdata(fields)
        self._sender.send("POST", self._url, {}, body, kind)

    def _drop(self, names: Sequence[str]) -> None:
        if names:
            drops = " ;\n".join(f"DROP SILENT GRAPH {name}" for name in names)
            self._sender.update(self._url, drops.encode())


def _literals_first(nquads: bytes) -> bytes:
    """Put the statements with literals before the others.

    TTLP replaces graphs in parts of 1,500 statements. If a graph spans two parts, the first has no
    literals and the second begins with one, TTLP drops the first part (7.20.3229).
    """
    lines = nquads.splitlines(keepends=True)
    lines.sort(key=_has_no_literal)
    return b"".join(lines)


def _has_no_literal(line: bytes) -> bool:
    return not line.split(b" ", 2)[2].startswith(b'"')


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

    def count(self, name: str) -> int:
        """Return how many statements a graph has."""
        return self._reader.count(name)

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

    def update(self, text: str) -> None:
        """Run a SPARQL Update at the Update endpoint."""
        try:
            self._send_update(text.encode("utf-8", "replace"))
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
