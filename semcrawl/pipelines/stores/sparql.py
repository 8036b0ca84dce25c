"""Any triple store that speaks SPARQL 1.1: Graph Store Protocol, Update, or both.

With both, small documents go many at once through Update and large ones by the Graph Store
Protocol, each a ``PUT`` of its graph.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

import requests
from requests.auth import AuthBase, HTTPBasicAuth, HTTPDigestAuth

from semcrawl.errors import UsageError
from semcrawl.pipelines.stores.contract import GraphContent, StoreRefused, StoreUnavailable

#: graph that is written and dropped to see whether a store that failed is well
PROBE_GRAPH = "<urn:semcrawl:probe>"
PROBE_TRIPLE = b"<urn:semcrawl:probe> <urn:semcrawl:probe> <urn:semcrawl:probe> .\n"
#: bytes of a graph kept in memory while it is sent
MEMORY_SIZE = 8 << 20


@dataclass(frozen=True, slots=True)
class SparqlOptions:
    """Where the server is and how to talk to it."""

    #: Graph Store Protocol endpoint; empty: none
    gsp_url: str = ""
    #: SPARQL 1.1 Update endpoint; empty: none
    update_url: str = ""
    user: str = ""
    password: str = ""
    #: ``basic`` or ``digest``
    auth: str = "basic"
    #: seconds without a byte from the server until it counts as away
    timeout: float = 300.0
    #: statements above which a document goes by the Graph Store Protocol when there is one
    update_limit: int = 20_000

    def __post_init__(self) -> None:
        """Check; raises ``UsageError``."""
        if not (self.gsp_url or self.update_url):
            raise UsageError("no URL of a triple store is given")
        for url in (self.gsp_url, self.update_url):
            if url and not url.startswith(("http://", "https://")):
                raise UsageError(f"the triple store's URL must be http or https: {url}")
        if self.auth not in ("basic", "digest"):
            raise UsageError(f"SEMCRAWL_STORE_AUTH must be basic or digest, not {self.auth!r}")


class SparqlStore:
    """A server. Not for several threads."""

    def __init__(self, options: SparqlOptions) -> None:
        """Remember the options; nothing is sent yet."""
        self._options = options
        self.target = options.gsp_url or options.update_url
        self._session = requests.Session()
        # a crawl's http_proxy is for the crawl
        self._session.trust_env = False
        self._session.auth = _auth(options)

    def replace(self, contents: Sequence[GraphContent]) -> None:
        """Make each graph hold exactly its content."""
        try:
            try:
                self._replace(contents)
            except _HttpError:
                if not (self._options.gsp_url and self._options.update_url):
                    raise
                # Virtuoso 7, for one, takes blank nodes by the Graph Store Protocol only
                for content in contents:
                    self._put(content)
        except _HttpError as error:
            self._blame(error)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _replace(self, contents: Sequence[GraphContent]) -> None:
        limit = self._options.update_limit
        batch: list[GraphContent] = []
        quads = 0
        for content in contents:
            if not self._options.update_url or (self._options.gsp_url and content.quads > limit):
                self._put(content)
                continue
            if batch and quads + content.quads > limit:
                self._update(batch)
                batch, quads = [], 0
            batch.append(content)
            quads += content.quads
        if batch:
            self._update(batch)

    def _put(self, content: GraphContent) -> None:
        with tempfile.SpooledTemporaryFile(MEMORY_SIZE) as body:
            for lines in content.triples():
                body.write(lines)
            is_empty = not body.tell()
            body.seek(0)
            name = _address(content.graph)
            params = {"graph": name[1:-1]} if name else {"default": ""}
            if is_empty:
                self._send("DELETE", self._options.gsp_url, params)
            else:
                self._send("PUT", self._options.gsp_url, params, body, "application/n-triples")

    def _update(self, contents: Sequence[GraphContent]) -> None:
        """Drop the graphs and insert them anew, in one request (a transaction, as stores go)."""
        with tempfile.SpooledTemporaryFile(MEMORY_SIZE) as body:
            for content in contents:
                name = _address(content.graph)
                what = f"GRAPH {name}" if name else "DEFAULT"
                body.write(f"DROP SILENT {what} ;\n".encode())
            full = [content for content in contents if content.size]
            body.write(b"INSERT DATA {\n" if full else b"")
            for content in full:
                name = _address(content.graph)
                body.write(f"GRAPH {name} {{\n".encode() if name else b"")
                for lines in content.triples():
                    body.write(lines)
                body.write(b"}\n" if name else b"")
            body.write(b"}\n" if full else b"")
            body.seek(0)
            self._send(
                "POST",
                self._options.update_url,
                {},
                body,
                "application/sparql-update; charset=utf-8",
            )

    def _send(
        self,
        method: str,
        url: str,
        params: dict[str, str],
        body: IO[bytes] | tempfile.SpooledTemporaryFile[bytes] | bytes = b"",
        content_type: str = "",
    ) -> None:
        try:
            answer = self._session.request(
                method,
                url,
                params=params,
                data=body,
                headers={"Content-Type": content_type} if content_type else {},
                timeout=self._options.timeout,
                allow_redirects=False,
            )
        except (requests.RequestException, OSError) as error:
            raise StoreUnavailable(f"{self.target}: {_reason(error)}") from None
        if answer.status_code in (401, 403):
            raise StoreUnavailable(
                f"{self.target}: user or password is wrong, or may not write"
                f" (HTTP {answer.status_code})"
            )
        is_dropped = method == "DELETE" and answer.status_code in (404, 410)
        if not (answer.ok and answer.status_code < 300) and not is_dropped:
            raise _HttpError(answer.status_code, _words(answer.text))

    def _blame(self, error: _HttpError) -> None:
        """Find out by a harmless statement whether the store is at fault or what it was sent."""
        try:
            if self._options.update_url:
                triple = PROBE_TRIPLE.decode()
                text = (
                    f"INSERT DATA {{ GRAPH {PROBE_GRAPH} {{ {triple} }} }} ;"
                    f" DROP SILENT GRAPH {PROBE_GRAPH}"
                )
                self._send(
                    "POST",
                    self._options.update_url,
                    {},
                    text.encode(),
                    "application/sparql-update; charset=utf-8",
                )
            if self._options.gsp_url:
                params = {"graph": PROBE_GRAPH[1:-1]}
                self._send(
                    "PUT", self._options.gsp_url, params, PROBE_TRIPLE, "application/n-triples"
                )
                self._send("DELETE", self._options.gsp_url, params)
        except _HttpError as probe:
            raise StoreUnavailable(f"{self.target}: {probe}") from None
        raise StoreRefused(str(error)) from None


class _HttpError(Exception):
    """The server answered with an error."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"HTTP {status} {words}".strip())


def _auth(options: SparqlOptions) -> AuthBase | None:
    if not options.user:
        return None
    kind = HTTPDigestAuth if options.auth == "digest" else HTTPBasicAuth
    return kind(options.user, options.password)


def _address(graph: str) -> str:
    """Return a graph's name as SPARQL can address it: blank nodes get an IRI of ours."""
    return f"<urn:semcrawl:graph:{graph[2:]}>" if graph.startswith("_:") else graph


def _reason(error: BaseException) -> str:
    """Return the innermost cause of a connection's failure, in one line."""
    while True:
        inner = getattr(error, "reason", None) or next(
            (a for a in getattr(error, "args", ()) if isinstance(a, BaseException)), None
        )
        if not isinstance(inner, BaseException):
            break
        error = inner
    words = getattr(error, "strerror", None) or str(error)
    return " ".join(words.split())[:200] or type(error).__name__


def _words(text: str) -> str:
    """Return the start of an error page in one line, without its markup."""
    start = text.find("<xmp>") + 5 if "<xmp>" in text else 0
    plain = text[start:] if start or not text.lstrip().startswith("<") else ""
    return " ".join(plain.split())[:200]
