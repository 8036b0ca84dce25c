"""Writes IRIs and literals as terms of N-Triples and Turtle."""

from __future__ import annotations

import re

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"

_NOT_IN_IRI = re.compile(r"[\x00-\x20<>\"{}|\\^`\x7f-\x9f\ud800-\udfff]")
_ESCAPED = re.compile(r"[\"\\\n\r]|[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*\Z")


def iri_of(url: str) -> str:
    """Return ``url`` as an IRI, with forbidden characters percent-encoded."""
    return _NOT_IN_IRI.sub(
        lambda m: "".join(f"%{b:02X}" for b in m[0].encode("utf-8", "replace")), url
    )


def iri_term(iri: str) -> str:
    """Return the term for an IRI, absolute or relative."""
    return f"<{iri_of(iri.strip())}>"


def literal_term(text: str, language: str = "", datatype: str = "") -> str:
    """Return the term for a literal, without a malformed language tag."""
    quoted = _ESCAPED.sub(lambda m: _ESCAPES.get(m[0], "\ufffd"), text)
    if datatype:
        return f'"{quoted}"^^{iri_term(datatype)}'
    if language and _LANGUAGE.match(language):
        return f'"{quoted}"@{language}'
    return f'"{quoted}"'


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
