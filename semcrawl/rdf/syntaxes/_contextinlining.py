"""Inlines the JSON-LD contexts that a document names by URL.

Nothing is loaded from the network. Contexts come from a local table (schema.org and some of the
W3C's) or from the caller, and are written into the document before it is parsed. Of a big context
only the terms that the document uses are written. A missing context is reported, so that a crawler
can fetch it under its own rules and read the document again.

The parser does not remove the dot segments of a base (RFC 3986, section 5.2.4), so it gets a base
without them. References without a path (``""``, ``?query``, ``#fragment``) keep the base's path as
written; it is restored afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import urljoin

from semcrawl.rdf.limits import LimitReached
from semcrawl.rdf.patterns import re

_CONTEXT_KEY = re.compile(rb'"@context"\s*:\s*')
_REMOTE_CONTEXT = re.compile(rb'"@context"\s*:\s*["\[]|"@import"')
_WORD = re.compile(rb'"([^"\\\s]{1,120})"')
_SCHEMA_ORG = re.compile(
    r"https?://(?:www\.)?schema\.org/?(?:docs/jsonldcontext\.json(?:ld)?)?/?(?:[#?].*)?\Z", re.I
)
_MAX_CHAIN = 16
#: how often a context may occur inside its own terms
_MAX_SELF = 3
_MAX_LOADS = 2_000


class _Unusable(Exception):  # noqa: N818 - an answer, not a failure
    """A context cannot be inlined; the document keeps its URL."""


@cache
def _local_contexts() -> dict[str, Any]:
    """Return the local contexts by canonical URL."""
    text = resources.files("semcrawl.rdf").joinpath("data/contexts.json").read_bytes()
    return dict(json.loads(text))


def canonical_url(url: str) -> str:
    """Return the key of a context's URL in the local table."""
    if _SCHEMA_ORG.match(url):
        return "schema.org"
    return url.partition("#")[0].partition("://")[2].removeprefix("www.w3.org/").rstrip("/")


class ContextInliner:
    """Writes the contexts that a document names by URL into the document."""

    def __init__(self, base: str, fetched: Mapping[str, bytes], limit: int) -> None:
        """Inline at most ``limit`` bytes into the document at ``base``."""
        self.needed: dict[str, None] = {}
        #: errors in the available contexts
        self.faults: list[str] = []
        self._base = base
        self._fetched = fetched
        self._left = limit
        self._words: set[str] = set()
        self._done: dict[bytes, bytes | None] = {}
        self._loads = 0

    def inline(self, data: bytes) -> bytes:
        """Return ``data`` (UTF-8 JSON) with its contexts inlined and its line numbers unchanged.

        A missing context stays a URL, which the parser refuses, and goes to :attr:`needed`. Raises
        :class:`LimitReached`.
        """
        if not _REMOTE_CONTEXT.search(data):
            return data
        self._words = {word.decode("utf-8", "replace") for word in _WORD.findall(data)}
        self._words |= {word.partition(":")[0] for word in self._words}
        pieces: list[bytes] = []
        end = 0
        for match in _CONTEXT_KEY.finditer(data):
            if match.start() < end:
                continue
            length = value_length(data, match.end())
            if not length:
                continue
            source = data[match.end() : match.end() + length]
            if source[:1] == b"{" and not _REMOTE_CONTEXT.search(source):
                continue
            written = self._inlined(source)
            if written is None:
                continue
            self._left -= len(written)
            if self._left < 0:
                raise LimitReached("the contexts of the document grow too large")
            pieces += (data[end : match.end()], written, b"\n" * source.count(b"\n"))
            end = match.end() + length
        pieces.append(data[end:])
        return b"".join(pieces)

    def _inlined(self, source: bytes) -> bytes | None:
        if source not in self._done:
            try:
                inlined = self._inline(json.loads(source), self._base, (), remote=False)
            except (ValueError, RecursionError, _Unusable):
                self._done[source] = None
            else:
                text = json.dumps(inlined, ensure_ascii=False)
                self._done[source] = text.encode("utf-8", "replace")
        return self._done[source]

    def _inline(
        self, value: Any, base: str, chain: tuple[str, ...], *, remote: bool, scoped: bool = False
    ) -> Any:
        if isinstance(value, str):
            return self._load(urljoin(base, value), chain, scoped)
        if isinstance(value, list):
            flat: list[Any] = []
            unusable: _Unusable | None = None
            for item in value:
                try:
                    inlined = self._inline(item, base, chain, remote=remote, scoped=scoped)
                except _Unusable as error:  # go on, to report all missing contexts together
                    unusable = error
                else:
                    flat.extend(inlined if isinstance(inlined, list) else [inlined])
            if unusable is not None:
                raise unusable
            return flat
        if not isinstance(value, dict):
            return value
        if remote:
            value = self._used_terms(value)
        result = dict(value)
        if "@import" in result:
            imported = result.pop("@import")
            if not isinstance(imported, str):
                raise self._fault("@import is not a string")
            loaded = self._inline(imported, base, chain, remote=True)
            if not isinstance(loaded, dict) or "@import" in loaded:
                raise self._fault(f"the context {imported[:200]} cannot be imported")
            result = {**loaded, **result}
        for term, definition in result.items():
            if isinstance(definition, dict) and "@context" in definition:
                inner = self._inline(
                    definition["@context"], base, chain, remote=remote, scoped=True
                )
                result[term] = {**definition, "@context": inner}
        return result

    def _load(self, url: str, chain: tuple[str, ...], scoped: bool) -> Any:
        self._loads += 1
        if self._loads > _MAX_LOADS:
            raise LimitReached(f"more than {_MAX_LOADS} contexts")
        if scoped and chain.count(url) >= _MAX_SELF:
            return {}
        if len(chain) > _MAX_CHAIN:
            raise self._fault(f"the context {url} includes itself without end")
        content = self._fetched.get(url)
        if content is None:
            content = self._fetched.get(url.partition("#")[0])
        chain = (*chain, url)
        if content is not None:
            try:
                document = json.loads(content)
            except (ValueError, RecursionError):
                raise self._fault(f"the context {url} is no JSON") from None
            if not isinstance(document, dict) or "@context" not in document:
                raise self._fault(f"the document {url} holds no context")
            return self._inline(document["@context"], url, chain, remote=True, scoped=scoped)
        local = _local_contexts().get(canonical_url(url))
        if local is None:
            self.needed.setdefault(url)
            raise _Unusable
        return self._inline(local, url, chain, remote=True, scoped=scoped)

    def _fault(self, message: str) -> _Unusable:
        self.faults.append(message)
        return _Unusable()

    def _used_terms(self, context: dict[str, Any]) -> dict[str, Any]:
        """Return the terms of a context that the document uses, and those that they depend on."""
        if len(context) < 24:
            return context
        chosen = {key: value for key, value in context.items() if key.startswith("@")}
        waiting = [word for word in self._words if word in context]
        while waiting:
            term = waiting.pop()
            if term in chosen:
                continue
            chosen[term] = definition = context[term]
            words = [definition]
            if isinstance(definition, dict):
                words = [v for v in definition.values() if isinstance(v, str)]
                inner = definition.get("@context")
                if isinstance(inner, dict):
                    words += json.dumps(inner).split('"')
            for word in words:
                if isinstance(word, str):
                    names = (word, word.partition(":")[0])
                    waiting.extend(n for n in names if n in context and n not in chosen)
        # in the context's order, so that the result is the same on every run
        return {key: context[key] for key in context if key in chosen}


def value_length(data: bytes, start: int) -> int:
    """Return the length of the string, array or object at ``start``; 0 if there is no whole one."""
    first = data[start : start + 1]
    if first == b'"':
        end = start + 1
        while True:
            end = data.find(b'"', end)
            if end < 0:
                return 0
            slashes = end - len(data[start:end].rstrip(b"\\")) - start
            if slashes % 2 == 0:
                return end + 1 - start
            end += 1
    if first not in (b"{", b"["):
        return 0
    depth = 0
    for match in _BRACKET.finditer(data, start):
        token = match[0]
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
            if not depth:
                return match.end() - start
    return 0


_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)


_BASE = re.compile(rb'("@base"\s*:\s*")([a-z][a-z0-9+.-]*://[^"\\?#/]*)(/[^"\\?#]*/)', re.I)
_DOTS = re.compile(rb"/\.\.?/")


def clean_bases(data: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """Return JSON-LD ``data`` without dot segments in its bases, and clean → original bases."""
    changed: dict[bytes, bytes] = {}
    if b'"@base"' not in data:
        return data, changed

    def clean(match: re.Match[bytes]) -> bytes:
        key, host, folder = match.groups()
        if not _DOTS.search(folder):
            return match[0]
        name = re.match(rb'[^"\\?#]*', data[match.end() :])
        last = name[0] if name else b""
        result = host + _without_dots(folder)
        changed[result + last] = host + folder + last
        return bytes(key) + result

    return _BASE.sub(clean, data), changed


def restore_bases(nquads: bytes, changed: dict[bytes, bytes]) -> bytes:
    """Return the lines with the original base in IRIs that add at most a query or a fragment."""
    for clean, written in changed.items():
        for end in (b">", b"?", b"#"):
            nquads = nquads.replace(b"<" + clean + end, b"<" + written + end)
    return nquads


def _without_dots(folder: bytes) -> bytes:
    kept: list[bytes] = []
    for part in folder.split(b"/")[1:-1]:
        if part == b"..":
            del kept[-1:]
        elif part != b".":
            kept.append(part)
    return b"".join(b"/" + part for part in kept) + b"/"
