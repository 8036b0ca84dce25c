"""How servers choose an answer by the ``Accept`` header: shapes of rules as they are in use.

Each rule takes the header and returns the name of what it gives: a syntax, ``page``, ``nothing``
(an empty answer), ``none`` (404), or a status.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Rule = Callable[[str], str]


def patterns(*pairs: tuple[str, str], otherwise: str) -> Rule:
    """The first pattern that the header contains decides, without a look at weights."""

    def rule(accept: str) -> str:
        return next((what for pattern, what in pairs if re.search(pattern, accept)), otherwise)

    return rule


def weighed(qualities: dict[str, tuple[str, float]], otherwise: str) -> Rule:
    """The weights decide (RFC 9110, section 12.5.1), times the server's own qualities."""

    def rule(accept: str) -> str:
        weights: dict[str, float] = {}
        for part in accept.split(","):
            name, _, parameter = part.strip().partition(";q=")
            weights[name] = float(parameter or 1)
        best, what = 0.0, otherwise
        for name, (gives, quality) in qualities.items():
            wildcard = weights.get(name.partition("/")[0] + "/*", weights.get("*/*", 0.0))
            if (score := weights.get(name, wildcard) * quality) > best:
                best, what = score, gives
        return what

    return rule


def first_type(types: dict[str, str], otherwise: str) -> Rule:
    """Only the first type of the header counts."""
    return lambda accept: types.get(re.split("[,;]", accept)[0].strip(), otherwise)


def whole_header(types: dict[str, str], otherwise: str) -> Rule:
    """The header must be the name of one type."""
    return lambda accept: types.get(accept.strip(), otherwise)


def any_of_types(types: dict[str, str], otherwise: str) -> Rule:
    """The first type of the header, in its order, that the server knows, without weights."""

    def rule(accept: str) -> str:
        names = (part.split(";")[0].strip() for part in accept.split(","))
        return next((types[name] for name in names if name in types), otherwise)

    return rule


HTML = r"text/html|application/xhtml\+xml"

#: name of the shape → the rule, and the number of requests that get RDF from it
RULES: dict[str, tuple[Rule, int]] = {
    "pages first, by patterns": (
        patterns((HTML, "page"), (r"text/turtle", "turtle"), otherwise="page"),
        1,
    ),
    "pages first, data for all others": (patterns((HTML, "page"), otherwise="rdfxml"), 1),
    "pages for browsers and data for the star": (
        patterns((HTML, "page"), (r"rdf\+xml|\*/\*", "rdfxml"), otherwise="406"),
        1,
    ),
    "data first, by patterns": (
        patterns((r"rdf\+xml", "rdfxml"), (r"turtle", "turtle"), otherwise="page"),
        1,
    ),
    "each syntax by a pattern, JSON-LD first": (
        patterns((r"application/ld\+json", "jsonld"), (r"n-triples", "ntriples"), otherwise="page"),
        1,
    ),
    "Turtle or nothing": (patterns((r"text/(turtle|n3)", "turtle"), otherwise="406"), 1),
    "the star means a page, and is looked at first": (
        patterns((HTML + r"|\*/\*", "page"), (r"turtle", "turtle"), otherwise="406"),
        2,
    ),
    "the header begins with a type": (
        patterns((r"^text/turtle", "turtle"), (r"^application/rdf", "rdfxml"), otherwise="page"),
        2,
    ),
    "the header is the type": (whole_header({"text/turtle": "turtle"}, "page"), 2),
    "the header is the type, or else 406": (whole_header({"text/turtle": "turtle"}, "406"), 2),
    "the header is the type, or else 415": (whole_header({"text/turtle": "turtle"}, "415"), 2),
    "the header is the type, or else a choice": (
        whole_header({"text/turtle": "turtle"}, "300"),
        2,
    ),
    "the header is the type, or else nothing": (
        whole_header({"text/turtle": "turtle"}, "nothing"),
        2,
    ),
    "the header is the type, or else 204": (whole_header({"text/turtle": "turtle"}, "204"), 2),
    "the header is the type, or else 404": (whole_header({"text/turtle": "turtle"}, "none"), 2),
    "the first type counts": (
        first_type({"text/turtle": "turtle", "application/rdf+xml": "rdfxml"}, "406"),
        2,
    ),
    "JSON-LD first, but its file is missing": (
        patterns((r"ld\+json", "none"), (r"turtle", "turtle"), otherwise="page"),
        2,
    ),
    "types in the order of the header": (
        any_of_types({"application/rdf+xml": "rdfxml", "text/html": "page"}, "page"),
        1,
    ),
    "weights, the page is the server's best": (
        weighed({"text/html": ("page", 1.0), "text/turtle": ("turtle", 0.7)}, "406"),
        1,
    ),
    "weights, RDF/XML only": (
        weighed(
            {"application/rdf+xml": ("rdfxml", 0.9), "text/html": ("page", 1.0)}, otherwise="406"
        ),
        1,
    ),
    "weights, all syntaxes": (
        weighed(
            {
                "text/html": ("page", 1.0),
                "application/trig": ("trig", 0.5),
                "application/ld+json": ("jsonld", 0.5),
                "text/turtle": ("turtle", 0.5),
            },
            otherwise="406",
        ),
        1,
    ),
}
