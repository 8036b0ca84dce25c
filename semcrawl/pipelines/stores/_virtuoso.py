"""Virtuoso's own loader, called through its SPARQL endpoint.

``DB.DBA.TTLP`` is what Virtuoso's bulk loader runs for every file. SPARQL can call it
(``sql:TTLP``), and the request that brings the call can carry what it is to read: no driver is
needed, and no folder that both machines see. It takes N-Quads of many graphs, blank nodes among
them, several times as fast as ``INSERT DATA`` and ``PUT``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor

from urllib3.filepost import encode_multipart_formdata

from semcrawl.pipelines.stores.contract import GraphContent
from semcrawl.pipelines.stores.sending import HttpError, Sender

#: bytes of N-Quads in a request: of many graphs, and of one that is larger than that. Virtuoso
#: takes no more than 10 MB.
BATCH_BYTES, MAX_BYTES = 4 << 20, 9_500_000
#: graphs in a request
MAX_GRAPHS = 500
#: requests at a time; more get in each other's way
LOADS = 2
#: flags of TTLP: the text is N-Quads; what its graphs held before goes
_NQUADS, _WITH_DELETE = 512, 2048
#: log mode of TTLP: one transaction, logged when the answer comes. Others are not logged, or six
#: times as slow.
_LOGGED = 1
#: field of the request that carries the N-Quads; Virtuoso keeps each field as SPARQL_ and its name
_FIELD = "nquads"
_CALL = (
    'SELECT (sql:TTLP(bif:connection_get("SPARQL_{}"), "", "urn:semcrawl:none", {}, {}) AS ?x) {{}}'
)


class VirtuosoLoader:
    """Loads N-Quads into a Virtuoso; ask :meth:`is_there` before."""

    def __init__(self, sender: Sender, url: str) -> None:
        """Use the SPARQL endpoint ``url`` that the sender's user may write to."""
        self._sender = sender
        self._url = url
        self._works: bool | None = None

    def is_there(self) -> bool:
        """Say whether the server lets us call its loader, and replaces graphs by it.

        Tried out once, on a graph of ours, if the server named itself a Virtuoso before.
        Raises ``StoreUnavailable`` when it is away.
        """
        if self._works is None:
            is_virtuoso = (self._sender.server or "").startswith("Virtuoso")
            self._works = is_virtuoso and self._try_out()
        return self._works

    def takes(self, content: GraphContent) -> bool:
        """Say whether a graph can go by the loader."""
        return content.size <= (MAX_BYTES if content.is_as_written else BATCH_BYTES)

    def load_all(self, batches: Iterable[Sequence[GraphContent]], pool: Executor) -> None:
        """Make the graphs hold their contents, some batches at a time.

        Loads may be in each other's way (deadlocks), so that those that fail are tried again
        alone. Raises ``HttpError`` and ``StoreUnavailable``.
        """
        loads = [(batch, pool.submit(self._load, batch)) for batch in batches]
        failed = [(batch, error) for batch, load in loads if (error := load.exception())]
        for _, error in failed:
            if not isinstance(error, HttpError):
                raise error
        for batch, _ in failed:
            self._load(batch)

    def _load(self, contents: Sequence[GraphContent]) -> None:
        """Make each graph hold its content."""
        texts = {content.name: b"".join(content.quad_lines()) for content in contents}
        filled = [name for name, text in texts.items() if text]
        self._drop([name for name, text in texts.items() if not text])
        if not filled:
            return
        if all(content.is_new for content in contents):
            try:
                self._call(b"".join(texts.values()), is_replacing=False)
            except HttpError:
                self._drop(filled)  # it may keep what came before the error
                raise
        else:
            self._call(b"".join(map(_literals_first, texts.values())), is_replacing=True)

    def _try_out(self) -> bool:
        graph = self._sender.probe_graph
        line = f"_:probe <urn:semcrawl:probe> <urn:semcrawl:probe> {graph} .\n".encode()
        try:
            self._call(line, is_replacing=True)
            self._call(line, is_replacing=True)  # another blank node
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
    """Put a graph's statements about literals before its others.

    TTLP replaces graphs by 1,500 statements at a time. Of one that lies in two of these parts it
    drops what the first part brought when that had no literals and the second begins with one
    (7.20.3229).
    """
    lines = nquads.splitlines(keepends=True)
    lines.sort(key=_has_no_literal)
    return b"".join(lines)


def _has_no_literal(line: bytes) -> bool:
    return not line.split(b" ", 2)[2].startswith(b'"')
