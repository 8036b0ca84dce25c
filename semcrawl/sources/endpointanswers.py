"""Parses an endpoint's answers: rows of counts, yes or no, the label of a blank node."""

from __future__ import annotations

import re

import pyoxigraph

from semcrawl.sources.endpointpaging import Row
from semcrawl.web.mediatypes import media_type

_LABEL = re.compile(rb"^_:(\S+)")
#: variables of our queries
_NAMES = frozenset({"k", "n", "b"})
#: how a cell says yes or no
_WORDS = {"1": True, "true": True, "0": False, "false": False}
_NUMBER = re.compile(r"\d{1,18}(?:\.0*)?\Z")


def read_rows(body: bytes, content_type: str) -> list[Row] | bool | None:
    """Read rows (variables ``k``, ``n`` and ``b``), or yes or no; ``None`` for anything else.

    A table with other variables is a server's way to say yes or no, in its only cell.
    If ``k`` is a variable, rows without it are skipped: they belong to graphs named by blank nodes.
    """
    media = media_type(content_type)
    xml = "xml" in media
    syntax = pyoxigraph.QueryResultsFormat.XML if xml else pyoxigraph.QueryResultsFormat.JSON
    try:
        results = pyoxigraph.parse_query_results(body, syntax)
        if isinstance(results, pyoxigraph.QueryBoolean):
            return bool(results)
        if not isinstance(results, pyoxigraph.QuerySolutions):
            return None
        names = {variable.value for variable in results.variables}
        if not _NAMES & names and (cells := [_text(term) for row in results for term in row]):
            return _WORDS.get(cells[0].lower()) if len(cells) == 1 else None
        rows = []
        for solution in results:
            found = {str(n): _text(solution[n]) for n in _NAMES & names}
            if found.get("k") or "k" not in names:
                rows.append(Row(found.get("k", ""), _number(found, "n"), _number(found, "b")))
    except (SyntaxError, ValueError, OSError):
        return None
    return rows


def first_label(nquads: bytes) -> str:
    """Return the label of the first subject; empty if it is not a blank node."""
    found = _LABEL.match(nquads)
    return found[1].decode() if found else ""


def _text(term: object) -> str:
    return str(getattr(term, "value", ""))


def _number(found: dict[str, str], name: str) -> int:
    text = found.get(name, "")
    return int(text.partition(".")[0]) if _NUMBER.match(text) else 0
