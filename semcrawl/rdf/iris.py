"""Resolves IRI references (RFC 3986, section 5.2), checks IRIs, and mends what can be mended."""

from __future__ import annotations

import pyoxigraph

from semcrawl.rdf.patterns import re
from semcrawl.rdf.terms import iri_of

_PARTS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*:)(?P<authority>//[^/?#]*)?(?P<path>[^?#]*)"
    r"(?P<query>\?[^#]*)?(?:#.*)?\Z",
    re.DOTALL,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PATH_END = re.compile(r"[?#]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = " \t\n\r\f\v\xa0\ufeff"


def has_scheme(text: str) -> bool:
    """Whether ``text`` begins like an absolute IRI."""
    return _SCHEME.match(text) is not None


def is_iri(text: str) -> bool:
    """Whether ``text`` is an absolute IRI, as strict parsers take it."""
    try:
        pyoxigraph.NamedNode(text)
    except ValueError:
        return False
    return True


def mended_iri(text: str) -> str | None:
    """Return the absolute IRI that ``text`` must mean; None if that is not certain.

    What an IRI must not contain is percent-encoded; white space around it goes.

    >>> mended_iri(" http://e.org/my photo[1].jpg")
    'http://e.org/my%20photo%5B1%5D.jpg'
    >>> mended_iri("http://e.org:port/")
    """
    if _SURROGATE.search(text):
        return None
    text = iri_of(text.strip(_SPACE))
    return text if is_iri(text) else None


class Base:
    """An absolute IRI that others are resolved against."""

    __slots__ = ("_authority", "_folder", "_path", "_query", "_scheme", "iri")

    def __init__(self, iri: str) -> None:
        """Resolve against ``iri``. Raises :class:`ValueError` if it is not absolute."""
        found = _PARTS.match(iri)
        if found is None:
            raise ValueError(f"{iri!r} is no absolute IRI")
        self.iri = iri
        self._scheme, self._authority = found["scheme"], found["authority"] or ""
        self._path, self._query = found["path"], found["query"] or ""
        self._folder = self._path[: self._path.rfind("/") + 1]
        if self._authority and not self._path:
            self._folder = "/"

    def resolve(self, reference: str) -> str:
        """Return the IRI of a reference, which need not be valid.

        >>> Base("http://e.org/a/b?q").resolve("../c#d")
        'http://e.org/c#d'
        """
        first = reference[:1]
        if not first or first == "#":
            return self._scheme + self._authority + self._path + self._query + reference
        if first == "?":
            return self._scheme + self._authority + self._path + reference
        if _SCHEME.match(reference):
            return reference
        if reference.startswith("//"):
            slash = reference.find("/", 2)
            end = _PATH_END.search(reference, 2)
            if slash < 0 or (end and end.start() < slash):
                return self._scheme + reference
            return self._scheme + reference[:slash] + _without_dots(reference[slash:])
        path = reference if first == "/" else self._folder + reference
        return self._scheme + self._authority + _without_dots(path)


def _without_dots(path: str) -> str:
    """Remove the dot segments of a path, which a query or fragment may follow (section 5.2.4)."""
    if "/." not in path and path[:1] != ".":
        return path
    end = _PATH_END.search(path)
    rest = path[end.start() :] if end else ""
    kept: list[str] = []
    parts = (path[: end.start()] if end else path).split("/")
    for part in parts:
        if part == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif part != ".":
            kept.append(part)
    if parts[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept) + rest
