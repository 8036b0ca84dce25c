"""The report as a page and as RDF.

Writes a report as RDF: EARL assertions, and DQV measurements of hosts.
Each finding and each verdict is an ``earl:Assertion``. The checks are ``earl:TestCriterion``, the
numbers of findings by host and area ``dqv:QualityMeasurement``.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from itertools import groupby

from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from w3lib.url import safe_url_string

from semcrawl import __version__
from semcrawl.metadata.description import NAMESPACE
from semcrawl.metadata.history import Changes
from semcrawl.results.reporting.checklist import CHECKS, Area, Check
from semcrawl.results.reporting.findings import Finding, ReadDocument, Report, Verdict
from semcrawl.results.standalone import html_text, tiles, whole_page
from semcrawl.terminal import amount

#: findings of a check, and rows of a table, that show unfolded, and at most
_FIRST, _MOST = 6, 300
_HEADS = {
    Area.BROKEN: ("Broken", "Data that programs cannot read, or not all of it."),
    Area.DEAD: ("Dead", "Addresses that lead nowhere, and names that nothing defines."),
    Area.SERVED: ("Served badly", "Answers that mislead programs."),
    Area.INVALID: ("Invalid", "Data that violate the shapes given."),
}
_MARKS = {True: ("yes", "✓"), False: ("no", "✗"), None: ("open", "–")}


def report_page(report: Report) -> str:
    """Return the page."""
    counts = report.counts()
    embedded = sum(one.syntax == "embedded" for one in report.documents)
    figures = {
        "RDF documents": len(report.documents) - embedded,
        "pages with data": embedded,
        "statements": sum(one.statements for one in report.documents),
        **{_HEADS[area][0].lower(): counts[area] for area in _headed(report)},
    }
    made = time.strftime("%Y-%m-%d", time.gmtime())
    parts = [
        f"<h1>What is to mend: {html_text(report.name)}</h1>",
        f'<p class="note">From a harvest by semcrawl, {made}. Each fault says how it was judged, '
        "who asks for it, and what to do. Follow an address to look at it.</p>",
        tiles(figures),
        _changes(report.changes) if report.changes else "",
        _hosts(report),
        *(_area(area, report.of(area)) for area in _headed(report)),
        _findable(report.verdicts),
        _documents(report.documents),
        _limits(report.not_judged),
        f"<footer>Made by semcrawl {escape(__version__)}.</footer>",
    ]
    return whole_page(f"{report.name}: report", "\n".join(part for part in parts if part))


def _headed(report: Report) -> list[Area]:
    """Return the areas that were judged and have a part of the page with their findings."""
    return [area for area in report.areas if area in _HEADS]


def _area(area: Area, findings: Sequence[Finding]) -> str:
    title, note = _HEADS[area]
    if not findings:
        return f'<section><h2>{title}</h2><p class="note">Nothing was found.</p></section>'
    cards = (
        _card(CHECKS[name], list(found))
        for name, found in groupby(findings, key=lambda finding: finding.check)
    )
    return f'<section><h2>{title}</h2><p class="note">{note}</p>{"".join(cards)}</section>'


def _card(check: Check, findings: Sequence[Finding]) -> str:
    rows = [_row(finding) for finding in findings[:_MOST]]
    more = _folded(rows, f"The first {_MOST} of {len(findings):,}." if findings[_MOST:] else "")
    return (
        f'<article class="fault {check.area}"><h3>{html_text(check.title)}</h3>'
        f'<span class="count">{len(findings):,}</span>'
        f"<p>{html_text(check.advice)}</p>{_how(check)}"
        f'<ul class="found">{"".join(rows[:_FIRST])}</ul>{more}</article>'
    )


def _folded(rows: Sequence[str], note: str) -> str:
    if len(rows) <= _FIRST:
        return ""
    note = f'<p class="note">{note} The tables of --csv and --json have all.</p>' if note else ""
    return (
        f"<details><summary>{len(rows) - _FIRST:,} more</summary>"
        f'<ul class="found">{"".join(rows[_FIRST:])}</ul>{note}</details>'
    )


def _how(check: Check) -> str:
    sources = "; ".join(
        f'<a href="{html_text(source.url)}" rel="noreferrer">{html_text(source.name)}</a>'
        for source in check.sources
    )
    return (
        f'<p class="how">How it was judged: {html_text(check.how)}</p>'
        f'<p class="by">Asked for by {sources}</p>'
    )


def _row(finding: Finding) -> str:
    evidence = f" ({html_text(finding.evidence)})" if finding.evidence else ""
    pages = ", ".join(_address(page) for page in finding.pages[:3])
    others = finding.page_count - len(finding.pages[:3])
    pages += f" and {others:,} more" if others > 0 and pages else ""
    leading = f'<span class="from">{finding.of.leads} {pages}</span>' if pages else ""
    return (
        f"<li><b>{_address(finding.subject)}</b>"
        f"<span>{html_text(finding.reason)}{evidence}</span>{leading}</li>"
    )


def _address(url: str) -> str:
    """Return an address as a link, if it is one of the Web."""
    text = html_text(url)
    if not url.startswith(("http://", "https://")):
        return text
    return f'<a href="{text}" rel="noreferrer nofollow">{text}</a>'


def _hosts(report: Report) -> str:
    areas = _headed(report)
    rows: list[str] = []
    linked: list[str] = []
    judged: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in report.verdicts:
        if verdict.passed is not None:
            judged[verdict.host].append(verdict)
    for host, sums in list(report.per_host().items())[:_MOST]:
        of_host = judged[host]
        passed = sum(bool(verdict.passed) for verdict in of_host)
        counts = "".join(f"<td>{sums.findings[area] or '–'}</td>" for area in areas)
        found = f"{passed} of {len(of_host)}" if of_host else "–"
        (rows if sums.documents else linked).append(
            f"<tr><td>{html_text(host)}</td><td>{sums.documents:,}</td>"
            f'<td class="wide">{sums.statements:,}</td>{counts}<td>{found}</td></tr>'
        )
    names = "".join(f"<th>{_HEADS[area][0].lower()}</th>" for area in areas)
    heads = (
        '<th>host</th><th>documents</th><th class="wide">statements</th>'
        f"{names}<th>easy to find</th>"
    )

    def table(some: Sequence[str]) -> str:
        return (
            f'<table class="hosts"><thead><tr>{heads}</tr></thead>'
            f"<tbody>{''.join(some)}</tbody></table>"
        )

    if not (rows or linked):
        return ""
    others = f"{amount(len(linked), 'host')} without data, to which links lead"
    folded = f"<details><summary>{others}</summary>{table(linked)}</details>" if linked else ""
    return f"<section><h2>Hosts</h2>{table(rows) if rows else ''}{folded}</section>"


def _findable(verdicts: Sequence[Verdict]) -> str:
    """Return each check with the hosts that pass it, and those that do not."""
    if not verdicts:
        return ""
    by_check: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_check[verdict.check].append(verdict)
    cards = "".join(_judged(CHECKS[name], found) for name, found in by_check.items())
    return (
        "<section><h2>Easy to find and reuse?</h2>"
        '<p class="note">✓ it is there, ✗ it is missing, – it could not be judged. A check is '
        f"judged for each host with data.</p>{cards}</section>"
    )


def _judged(check: Check, verdicts: Sequence[Verdict]) -> str:
    passed = sum(verdict.passed is True for verdict in verdicts)
    failed = sum(verdict.passed is False for verdict in verdicts)
    look, mark = _MARKS[False if failed else True if passed else None]
    rows = "".join(
        f'<tr><td class="mark {_MARKS[one.passed][0]}">{_MARKS[one.passed][1]}</td>'
        f"<td>{html_text(one.host)}</td><td>{html_text(one.evidence)}</td></tr>"
        for one in sorted(verdicts, key=lambda one: (one.passed is not False, one.host))[:_MOST]
    )
    advice = f"<p>{html_text(check.advice)}</p>" if failed else ""
    return (
        f'<details class="fault {check.area if failed else ""}"><summary>'
        f'<span class="{look}">{mark}</span> <h3>{html_text(check.title)}</h3>'
        f'<span class="count">{passed} of {passed + failed}</span></summary>'
        f'{advice}{_how(check)}<table class="texts"><tbody>{rows}</tbody></table></details>'
    )


def _changes(changes: Changes) -> str:
    if changes.nothing_before:
        return ""
    since = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(changes.since))
    lists = "".join(
        f"<details><summary>{len(urls):,} {name}</summary>"
        f'<ul class="found">{_items(urls)}</ul></details>'
        for name, urls in (
            ("new", changes.new), ("changed", changes.changed), ("gone", changes.gone),
        )
        if urls
    )  # fmt: skip
    return f"<section><h2>Changed</h2><p>Since {since}: {changes}.</p>{lists}</section>"


def _items(urls: Iterable[str]) -> str:
    return "".join(f"<li>{_address(url)}</li>" for url in list(urls)[:_MOST])


def _documents(documents: Sequence[ReadDocument]) -> str:
    rows = "".join(
        f"<tr><td>{_address(one.url)}</td><td>{html_text(one.syntax)}</td>"
        f"<td>{one.statements:,}</td><td>{one.errors or '–'}</td>"
        f'<td class="wide">{html_text(one.found_by)}</td></tr>'
        for one in documents[:_MOST]
    )
    if not rows:
        return ""
    note = f"The first {_MOST} of " if len(documents) > _MOST else ""
    heads = (
        "<th>address</th><th>syntax</th><th>statements</th><th>errors</th>"
        '<th class="wide">found by</th>'
    )
    return (
        "<section><h2>Documents</h2><details><summary>"
        f"{note}{amount(len(documents), 'document')} and pages with data</summary>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></details></section>"
    )


def _limits(lines: Sequence[str]) -> str:
    items = "".join(f"<li>{html_text(line)}</li>" for line in lines)
    return f'<section><h2>Not judged</h2><ul class="plain">{items}</ul></section>'


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
    Area.INVALID: "semanticAccuracy",
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
        subject = _node(finding.subject)
        text = f"{finding.reason} ({finding.evidence})" if finding.evidence else finding.reason
        yield from _assertion(subject, finding.check, "failed", text, made)
        for page in finding.pages:
            yield Triple(subject, NamedNode(_DCTERMS + "isReferencedBy"), _node(page))
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
    metrics = {area: NamedNode(f"{NAMESPACE}{area}-findings") for area in report.areas}
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
    return _node(f"http://{host}/")


def _node(url: str) -> NamedNode:
    """Return an IRI, with what IRIs must not hold escaped."""
    return NamedNode(safe_url_string(url))
