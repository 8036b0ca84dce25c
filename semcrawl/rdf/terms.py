"""Writes IRIs and literals as terms of N-Triples and Turtle.

IRIs and language tags are mended here, for all readers.
"""

from __future__ import annotations

import re
from functools import lru_cache

import pyoxigraph

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
