"""Writes IRIs and literals as terms of N-Triples and Turtle.

IRIs and language tags are mended here, for all readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

import pyoxigraph

from semcrawl.rdf.patterns import re

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"

#: what no IRI may contain (RFC 3987, section 2.2): these characters and code points …
_NEVER = (
    r"\x00-\x20<>\"{}|\\^`\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufff0-\uffff\U000e0000-\U000e0fff"
    + ("".join(chr((plane << 16) + last) for plane in range(1, 17) for last in (0xFFFE, 0xFFFF)))
)
#: … those for private use, but in a query …
_PRIVATE = r"\ue000-\uf8ff\U000f0000-\U0010ffff"
#: … a percent sign that encodes nothing, brackets but around an address of IPv6, a second ``#``
_PERCENT = r"%(?![0-9A-Fa-f]{2})"
_SUSPICIOUS = re.compile(rf"[{_NEVER}{_PRIVATE}\[\]]|{_PERCENT}|#[^#]*#")
_IN_AUTHORITY = re.compile(rf"[{_NEVER}{_PRIVATE}]|{_PERCENT}")
_IN_PATH = re.compile(rf"[{_NEVER}{_PRIVATE}#\[\]]|{_PERCENT}")
_IN_QUERY = re.compile(rf"[{_NEVER}\[\]]|{_PERCENT}")
_AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")
_ESCAPED = re.compile(r"[\"\\\n\r]|[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_ESCAPES = {
    **{chr(code): f"\\u{code:04X}" for code in range(1, 0x20)},
    **{'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"},
}
_NOT_CANONICAL = re.compile('[\x00-\x1f"\\\\\x7f\ufffe\uffff]')
_CANONICAL = {
    **{code: f"\\u{code:04X}" for code in (*range(0x20), 0x7F, 0xFFFE, 0xFFFF)},
    **str.maketrans({"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}),
    **str.maketrans({'"': '\\"', "\\": "\\\\"}),
}


def iri_of(url: str) -> str:
    """Return ``url`` as an IRI, with what an IRI may not contain percent-encoded.

    All else stays, so a valid IRI is returned as it is. An authority that is none, such as
    ``http://[x]/`` or a port that is no number, stays wrong.

    >>> iri_of("http://example.org/a b[1]?100%#x#y")
    'http://example.org/a%20b%5B1%5D?100%25#x%23y'
    """
    if _SUSPICIOUS.search(url) is None:
        return url
    rest, mark, fragment = url.partition("#")
    path, question, query = rest.partition("?")
    authority = _AUTHORITY.match(path)
    end = authority.end() if authority else 0
    return (
        _IN_AUTHORITY.sub(_encoded, path[:end])
        + _IN_PATH.sub(_encoded, path[end:])
        + question
        + _IN_QUERY.sub(_encoded, query)
        + mark
        + _IN_PATH.sub(_encoded, fragment)
    )


def _encoded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def iri_term(iri: str) -> str:
    """Return the term for an IRI, absolute or relative."""
    return f"<{iri_of(iri.strip())}>"


@lru_cache(maxsize=4096)
def language_tag(text: str) -> tuple[str, bool]:
    """Return a well-formed language tag (BCP 47) in lower case, and whether it was mended.

    White space around it goes, and an underscore stands for a hyphen, as in the names of locales.
    The tag is empty where none is certain.

    >>> language_tag("en-GB"), language_tag("en_GB"), language_tag("none of them")
    (('en-gb', False), ('en-gb', True), ('', False))
    """
    for tag in (text, text.strip().replace("_", "-")):
        try:
            pyoxigraph.Literal("", language=tag)
        except ValueError:
            continue
        return tag.lower(), tag != text
    return "", False


def canonical(text: str) -> str:
    """Return the text of a literal as canonical N-Triples writes it between quotation marks."""
    return text.translate(_CANONICAL) if _NOT_CANONICAL.search(text) else text


def literal_term(text: str, language: str = "", datatype: str = "") -> str:
    """Return the term for a literal, without a language tag that is none."""
    quoted = _ESCAPED.sub(lambda m: _ESCAPES.get(m[0], "\ufffd"), text)
    if datatype:
        return f'"{quoted}"^^{iri_term(datatype)}'
    tag, _ = language_tag(language)
    return f'"{quoted}"@{tag}' if tag else f'"{quoted}"'


_ZONE = r"(?:Z|[+-]\d\d:\d\d)?"
_DATE = r"-?\d{4,}-\d\d-\d\d"
_TIME = r"\d\d:\d\d:\d\d(?:\.\d+)?"
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"{_DATE}T{_TIME}{_ZONE}\Z"), XSD + "dateTime"),
    (re.compile(rf"{_DATE}{_ZONE}\Z"), XSD + "date"),
    (re.compile(rf"{_TIME}{_ZONE}\Z"), XSD + "time"),
    (re.compile(r"-?\d{4,}-\d\d\Z"), XSD + "gYearMonth"),
    (re.compile(r"-?\d{4,}\Z"), XSD + "gYear"),
    (
        re.compile(
            r"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?\Z"
        ),
        XSD + "duration",
    ),
)


def date_datatype(text: str) -> str:
    """Return the XSD datatype of a date, time or duration, or an empty string."""
    for form, datatype in _FORMS:
        if form.match(text):
            return datatype
    return ""


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


T = TypeVar("T")


class Scoped(Mapping[str, T]):
    """An immutable mapping of which extended copies are cheap, however many there are.

    It consists of dictionaries, the latest last, each more than twice as large as the next. Those
    that copies have in common exist once: *d* nested scopes of *n* names each take memory for some
    *d n* log *d* names, where plain copies take it for *d*² *n* / 2. A look-up tries log *d*
    dictionaries.
    """

    __slots__ = ("_parts",)

    def __init__(self, *parts: Mapping[str, T]) -> None:
        self._parts = parts

    def extended(self, more: Mapping[str, T]) -> Scoped[T]:
        """Return a copy with more names, which hide those before."""
        parts, last = self._parts, more
        while parts and len(parts[-1]) <= 2 * len(last):
            last = {**parts[-1], **last}
            parts = parts[:-1]
        return Scoped(*parts, last)

    def __getitem__(self, name: str) -> T:
        for part in reversed(self._parts):
            if name in part:
                return part[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for part in self._parts for name in part))

    def __len__(self) -> int:
        return sum(1 for _ in self)
