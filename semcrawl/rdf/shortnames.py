"""Names of terms as people write them, terms that documents use, and queries in short names."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches

from semcrawl.errors import UsageError
from semcrawl.rdf.embedded.rdfa import PREFIXES as _INITIAL
from semcrawl.rdf.sink import iri_text
from semcrawl.rdf.terms import RDF

_PURL, _W3 = "http://purl.org/", "http://www.w3.org/"
#: common prefixes (prefix.cc, LOV): RDFa's initial context and more
PREFIXES: dict[str, str] = {
    **{name: iri for name, iri in _INITIAL.items() if name not in ("xml", "v", "dc11")},
    "adms": _W3 + "ns/adms#",
    "bibo": _PURL + "ontology/bibo/",
    "bio": _PURL + "vocab/bio/0.1/",
    "cert": _W3 + "ns/auth/cert#",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "dce": _PURL + "dc/elements/1.1/",
    "dcmitype": _PURL + "dc/dcmitype/",
    "doap": "http://usefulinc.com/ns/doap#",
    "edm": "http://www.europeana.eu/schemas/edm/",
    "event": _PURL + "NET/c4dm/event.owl#",
    "fabio": _PURL + "spar/fabio/",
    "fhir": "http://hl7.org/fhir/",
    "frbr": _PURL + "vocab/frbr/core#",
    "geo": _W3 + "2003/01/geo/wgs84_pos#",
    "geosparql": "http://www.opengis.net/ont/geosparql#",
    "gn": "http://www.geonames.org/ontology#",
    "hydra": _W3 + "ns/hydra/core#",
    "lexvo": "http://lexvo.org/ontology#",
    "lime": _W3 + "ns/lemon/lime#",
    "locn": _W3 + "ns/locn#",
    "mads": "http://www.loc.gov/mads/rdf/v1#",
    "mo": _PURL + "ontology/mo/",
    "nif": "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#",
    "obo": "http://purl.obolibrary.org/obo/",
    "ontolex": _W3 + "ns/lemon/ontolex#",
    "ore": "http://www.openarchives.org/ore/terms/",
    "pav": _PURL + "pav/",
    "prism": "http://prismstandard.org/namespaces/basic/2.0/",
    "qudt": "http://qudt.org/schema/qudt/",
    "rss": _PURL + "rss/1.0/",
    "sh": _W3 + "ns/shacl#",
    "spdx": "http://spdx.org/rdf/terms#",
    "swrc": "http://swrc.ontoware.org/ontology#",
    "tl": _PURL + "NET/c4dm/timeline.owl#",
    "tree": "https://w3id.org/tree#",
    "vann": _PURL + "vocab/vann/",
    "voaf": _PURL + "vocommons/voaf#",
    "vs": _W3 + "2003/06/sw-vocab-status/ns#",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "xfn": "http://gmpg.org/xfn/11#",
}
_BY_NAMESPACE = {iri: name for name, iri in PREFIXES.items() if name != "dc"}
_IRI = re.compile(r"<([^>]*)>?|((?:[A-Za-z][A-Za-z0-9+.-]*:)?//.*|urn:.*|tag:.*)", re.S)


def expand(name: str) -> str:
    """Return the IRI that ``prefix:name``, ``<IRI>`` or ``http://…`` stands for.

    A bare word gives an empty string. Raises ``UsageError`` for an unknown prefix.
    """
    if match := _IRI.fullmatch(name):
        return match[1] or match[2]
    prefix, colon, local = name.partition(":")
    if not colon:
        return ""
    if (namespace := PREFIXES.get(prefix)) is not None:
        return namespace + local
    close = get_close_matches(prefix, PREFIXES, n=1)
    hint = f"did you mean {close[0]}:{local}?" if close else f"give the IRI: <http://…/{local}>"
    raise UsageError(f"the prefix {prefix}: is not known; {hint}")


def shorten(iri: str) -> str:
    """Return ``prefix:name`` where a prefix is known, else the IRI."""
    namespace = namespace_of(iri)
    prefix = _BY_NAMESPACE.get(namespace) or _BY_NAMESPACE.get(other_scheme(namespace))
    return f"{prefix}:{iri[len(namespace) :]}" if prefix else iri


def namespace_of(iri: str) -> str:
    """Return an IRI up to its last ``#``, else ``/``, else ``:``."""
    for sign in "#/:":
        if cut := iri.rfind(sign) + 1:
            return iri[:cut]
    return ""


def local_name(iri: str) -> str:
    """Return the part of an IRI after its namespace."""
    return iri[len(namespace_of(iri)) :]


def other_scheme(iri: str) -> str:
    """Swap http and https in an IRI: schema.org and others are used with both."""
    if iri.startswith("https://"):
        return f"http://{iri[8:]}"
    return f"https://{iri[7:]}" if iri.startswith("http://") else iri


_TYPE = f"<{RDF}type>".encode()
#: a line: the predicate, and with ``rdf:type`` the object if it is an IRI
_LINE = re.compile(rb"\S+ (<[^>]*>)(?: (?<=" + _TYPE + rb" )(<(?!<)[^>]*>))?.*\n")
#: bytes of the longest IRI that is counted
MAX_IRI = 2048


#: most classes and properties of a document that are indexed
INDEXED_TERMS = 1000


class TermCounter:
    """Counts statements by property and instances by class."""

    def __init__(self, limit: int) -> None:
        """Keep at most ``limit`` distinct terms; 0 turns counting off."""
        self._limit = limit
        #: IRI → statements with it as predicate
        self.properties: Counter[str] = Counter()
        #: IRI → statements that type a resource with it
        self.classes: Counter[str] = Counter()
        #: whether no term was left out
        self.is_complete = True

    @property
    def is_on(self) -> bool:
        """Whether counting is on."""
        return self._limit > 0

    def add(self, lines: bytes) -> None:
        """Count the terms of whole lines: one space between terms, no line break inside them."""
        if not self._limit:
            return
        # Counter and findall run in C; the loop handles each distinct pair once
        for (predicate, kind), count in Counter(_LINE.findall(lines)).items():
            self._count(self.properties, predicate, count)
            if kind:
                self._count(self.classes, kind, count)

    def _count(self, terms: Counter[str], term: bytes, count: int) -> None:
        iri = iri_text(term[1:-1])
        if iri not in terms and (
            len(term) > MAX_IRI or len(self.properties) + len(self.classes) >= self._limit
        ):
            self.is_complete = False
            return
        terms[iri] += count


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
_ESCAPED_CHARACTER = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_PLACE = re.compile(r"error at (\d+):(\d+): (.*)", re.S)
_MOST_WORDS = 200


def calls_service(query: str) -> bool:
    """Whether a query calls another server (``SERVICE``).

    >>> calls_service("SELECT * { SERVICE <http://example.org/sparql> { ?s ?p ?o } }")
    True
    >>> calls_service("SELECT ?service { ?service ?p 'SERVICE' } # SERVICE")
    False
    """
    plain = _ESCAPED_CHARACTER.sub(_character, query)
    return any((match["word"] or "").upper() == "SERVICE" for match in _TOKENS.finditer(plain))


def terms_in(query: str) -> Iterator[str]:
    """Yield the IRIs in a query, prefixed names expanded.

    >>> list(terms_in("PREFIX e: <http://e.example/> ASK { ?s a e:Fish ; foaf:name ?n }"))
    ['http://e.example/Fish', 'http://xmlns.com/foaf/0.1/name']
    """
    prefixes, declared = dict(PREFIXES), ""
    for match in _TOKENS.finditer(_ESCAPED_CHARACTER.sub(_character, query)):
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
