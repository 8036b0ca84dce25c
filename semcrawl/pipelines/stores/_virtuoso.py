"""Virtuoso's own loader, called through its SPARQL endpoint.

Virtuoso's bulk loader runs ``DB.DBA.TTLP`` for every file. SPARQL can call it (``sql:TTLP``), and
the same request can carry the data. So neither a driver nor a shared folder is needed. The loader
takes N-Quads of many graphs, including blank nodes, several times as fast as ``INSERT DATA`` and
``PUT``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor

from urllib3.filepost import encode_multipart_formdata

from semcrawl.pipelines.stores.contract import GraphContent
from semcrawl.pipelines.stores.sending import HttpError, Sender

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
