"""Datatypes of dates and times, by their form (HTML+RDFa 1.1, section 3.1)."""

from __future__ import annotations

import re

from semcrawl.rdf.terms import XSD

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
    """Return the datatype's IRI, or an empty string when ``text`` has none of the forms."""
    for form, datatype in _FORMS:
        if form.match(text):
            return datatype
    return ""
