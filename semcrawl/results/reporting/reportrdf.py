"""Writes a report as RDF: EARL assertions, and DQV measurements of hosts.

Each finding and each verdict is an ``earl:Assertion``. The checks are ``earl:TestCriterion``, the
numbers of findings by host and area ``dqv:QualityMeasurement``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from w3lib.url import safe_url_string

from semcrawl import __version__
from semcrawl.metadata.description import NAMESPACE
from semcrawl.results.reporting.checklist import CHECKS, Area, Check
from semcrawl.results.reporting.findings import Report

_EARL, _DQV = "http://www.w3.org/ns/earl#", "http://www.w3.org/ns/dqv#"
_DCTERMS, _RDFS = "http://purl.org/dc/terms/", "http://www.w3.org/2000/01/rdf-schema#"
_LDQD, _XSD = "http://www.w3.org/2016/05/ldqd#", "http://www.w3.org/2001/XMLSchema#"
PREFIXES = {
    "dcterms": _DCTERMS, "dqv": _DQV, "earl": _EARL, "ldqd": _LDQD, "rdfs": _RDFS,
    "semcrawl": NAMESPACE, "xsd": _XSD,
}  # fmt: skip
_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_SOFTWARE = NamedNode("https://github.com/semcrawl/semcrawl")
#: the dimension of quality to which an area belongs
_DIMENSIONS = {
    Area.BROKEN: "syntacticValidity",
    Area.DEAD: "availability",
    Area.SERVED: "interoperability",
    Area.FINDABLE: "understandability",
}


def report_triples(report: Report) -> Iterator[Triple]:
    """Yield the statements of a report."""
    made = Literal(
        datetime.now(UTC).isoformat(timespec="seconds"), datatype=NamedNode(_XSD + "dateTime")
    )
    yield Triple(_SOFTWARE, _TYPE, NamedNode(_EARL + "Software"))
    yield Triple(_SOFTWARE, NamedNode(_DCTERMS + "title"), Literal("semcrawl"))
    yield Triple(_SOFTWARE, NamedNode(_DCTERMS + "hasVersion"), Literal(__version__))
    for check in CHECKS.values():
        yield from _criterion(check)
    for finding in report.findings:
        if finding.of.area is Area.FINDABLE:
            continue  # its verdict follows
        subject = _address(finding.subject)
        text = f"{finding.reason} ({finding.evidence})" if finding.evidence else finding.reason
        yield from _assertion(subject, finding.check, "failed", text, made)
        for page in finding.pages:
            yield Triple(subject, NamedNode(_DCTERMS + "isReferencedBy"), _address(page))
    for verdict in report.verdicts:
        host = _host(verdict.host)
        yield from _assertion(host, verdict.check, verdict.word, verdict.evidence, made)
    yield from _measurements(report, made)


def _criterion(check: Check) -> Iterator[Triple]:
    name = NamedNode(f"{NAMESPACE}check-{check.name}")
    yield Triple(name, _TYPE, NamedNode(_EARL + "TestCriterion"))
    yield Triple(name, NamedNode(_DCTERMS + "title"), Literal(check.title, language="en"))
    yield Triple(name, NamedNode(_DCTERMS + "description"), Literal(check.how, language="en"))
    yield Triple(name, NamedNode(_RDFS + "comment"), Literal(check.advice, language="en"))
    for source in check.sources:
        yield Triple(name, NamedNode(_DCTERMS + "source"), NamedNode(source.url))


def _assertion(
    subject: NamedNode, check: str, outcome: str, text: str, made: Literal
) -> Iterator[Triple]:
    node, result = BlankNode(), BlankNode()
    yield Triple(node, _TYPE, NamedNode(_EARL + "Assertion"))
    yield Triple(node, NamedNode(_EARL + "assertedBy"), _SOFTWARE)
    yield Triple(node, NamedNode(_EARL + "subject"), subject)
    yield Triple(node, NamedNode(_EARL + "test"), NamedNode(f"{NAMESPACE}check-{check}"))
    yield Triple(node, NamedNode(_EARL + "mode"), NamedNode(_EARL + "automatic"))
    yield Triple(node, NamedNode(_EARL + "result"), result)
    yield Triple(result, _TYPE, NamedNode(_EARL + "TestResult"))
    yield Triple(result, NamedNode(_EARL + "outcome"), NamedNode(_EARL + outcome))
    yield Triple(result, NamedNode(_EARL + "info"), Literal(text, language="en"))
    yield Triple(result, NamedNode(_DCTERMS + "date"), made)


def _measurements(report: Report, made: Literal) -> Iterator[Triple]:
    metrics = {area: NamedNode(f"{NAMESPACE}{area}-findings") for area in Area}
    for area, metric in metrics.items():
        yield Triple(metric, _TYPE, NamedNode(_DQV + "Metric"))
        yield Triple(metric, NamedNode(_DQV + "inDimension"), NamedNode(_LDQD + _DIMENSIONS[area]))
        integer = NamedNode(_XSD + "integer")
        yield Triple(metric, NamedNode(_DQV + "expectedDataType"), integer)
    for host, sums in report.per_host().items():
        for area, metric in metrics.items():
            node = BlankNode()
            yield Triple(node, _TYPE, NamedNode(_DQV + "QualityMeasurement"))
            yield Triple(node, NamedNode(_DQV + "computedOn"), _host(host))
            yield Triple(node, NamedNode(_DQV + "isMeasurementOf"), metric)
            yield Triple(node, NamedNode(_DQV + "value"), Literal(sums.findings[area]))
            yield Triple(node, NamedNode(_DCTERMS + "date"), made)


def _host(host: str) -> NamedNode:
    return _address(f"http://{host}/")


def _address(url: str) -> NamedNode:
    """Return an IRI, with what IRIs must not hold escaped."""
    return NamedNode(safe_url_string(url))
