"""Examines the text of SPARQL queries: calls of other servers, terms, syntax errors."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from semcrawl.rdf.shortnames import PREFIXES

#: tokens of SPARQL. ``SERVICE`` counts only as a ``word``
_TOKENS = re.compile(
    r"<(?P<iri>[^<>\"{}|^`\\\x00-\x20]*)>"
    r'|"""(?:[^"\\]|\\.|"(?!""))*"""' + r"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    r'|"(?:[^"\\\n\r]|\\.)*"' + r"|'(?:[^'\\\n\r]|\\.)*'"
    r"|\#[^\n\r]*"
    r"|[?$]\w+|@[\w-]+"
    r"|(?P<prefix>\w[\w.-]*)?:(?P<local>(?:[\w.:%-]|\\.)*)"
    r"|(?P<word>\w+)"
    r"|.",
    re.S,
)
_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_PLACE = re.compile(r"error at (\d+):(\d+): (.*)", re.S)
_MOST_WORDS = 200


def calls_service(query: str) -> bool:
    """Whether a query calls another server (``SERVICE``).

    >>> calls_service("SELECT * { SERVICE <http://example.org/sparql> { ?s ?p ?o } }")
    True
    >>> calls_service("SELECT ?service { ?service ?p 'SERVICE' } # SERVICE")
    False
    """
    plain = _ESCAPED.sub(_character, query)
    return any((match["word"] or "").upper() == "SERVICE" for match in _TOKENS.finditer(plain))


def terms_in(query: str) -> Iterator[str]:
    """Yield the IRIs in a query, prefixed names expanded.

    >>> list(terms_in("PREFIX e: <http://e.example/> ASK { ?s a e:Fish ; foaf:name ?n }"))
    ['http://e.example/Fish', 'http://xmlns.com/foaf/0.1/name']
    """
    prefixes, declared = dict(PREFIXES), ""
    for match in _TOKENS.finditer(_ESCAPED.sub(_character, query)):
        if declared and match["iri"] is not None:
            prefixes[declared.removesuffix(":")] = match["iri"]
            declared = ""
        elif match["iri"]:
            yield match["iri"]
        elif match["local"] is not None:
            if declared == "PREFIX":
                declared = f"{match['prefix'] or ''}:"
            elif namespace := prefixes.get(match["prefix"] or ""):
                yield namespace + match["local"].replace("\\", "").rstrip(".")
        elif (match["word"] or "").upper() == "PREFIX":
            declared = "PREFIX"


def _character(match: re.Match[str]) -> str:
    code = int(match[1] or match[2], 16)
    return chr(code) if code <= sys.maxunicode else match[0]


def query_error(error: SyntaxError) -> str:
    """Return one line that locates a query's syntax error."""
    match = _PLACE.fullmatch(str(error))
    words = " ".join((match[3] if match else str(error)).split())
    if "Prefix not found" in words:  # followed by a list of all expected tokens
        words = "a prefix that is not known; declare it with PREFIX"
    words = words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…"
    place = f" in line {match[1]}, column {match[2]}" if match else ""
    return f"the query is wrong{place}: {words}"
