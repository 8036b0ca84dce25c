"""``semcrawl report``: tell what is broken, dead, badly served or hard to find on a site."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

from pyoxigraph import RdfFormat, serialize

from semcrawl.commandline import JobCommand, job_at, print_json, refuse_several, tell_of_damaged
from semcrawl.commands._summary import moment_of, since_option
from semcrawl.config.extras import install_hint
from semcrawl.errors import SemcrawlError, UsageError, os_errors_as
from semcrawl.printable import printable
from semcrawl.results.job import Job
from semcrawl.results.reporting.checklist import CHECKS, Area
from semcrawl.results.reporting.findings import Finding, Report
from semcrawl.results.reporting.pages import PREFIXES, report_page, report_triples
from semcrawl.terminal import amount
from semcrawl.topics.contract import TopicOptions
from semcrawl.topics.sourcefiles import statements_of
from semcrawl.wholefiles import whole_file

#: exit status if there are findings that ``--fail-on`` names
FOUND = 3
_HEADS = {
    Area.BROKEN: "Broken: data that cannot be read",
    Area.DEAD: "Dead: addresses that lead nowhere",
    Area.SERVED: "Served badly: answers that mislead programs",
    Area.INVALID: "Invalid: data that violate the shapes",
    Area.FINDABLE: "Hard to find",
}


class Command(JobCommand):
    """Reports faults of what was harvested, for those who publish it."""

    arguments = "[options] [DIR]"
    summary = "Report what is broken, dead or badly served, for publishers"
    description = (
        "Report on the job in DIR (default: the current folder): documents that cannot be read, "
        "with line and column; dead links, with the pages that lead there; data that are served "
        "badly. It reads the records of the harvest and sends nothing."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        self.add_top(parser, 10, "addresses of each fault")
        parser.add_argument(
            "--host", action="append", default=[], metavar="HOST",
            help="only this host (with its port) and the links on its pages; may be repeated",
        )  # fmt: skip
        parser.add_argument(
            "--fail-on", default="", metavar="AREAS",
            help=f"end with status {FOUND} if there are findings in these areas, separated by "
            f"commas: {', '.join(Area)}",
        )  # fmt: skip
        parser.add_argument(
            "--since", default="", metavar="DATE",
            help="tell what changed since this date or time (UTC; default: the last run's begin)",
        )  # fmt: skip
        parser.add_argument(
            "--shapes", default="", metavar="FILE",
            help="validate all statements against these SHACL shapes (RDF in any syntax)",
        )  # fmt: skip
        outputs = parser.add_mutually_exclusive_group()
        outputs.add_argument("--json", action="store_true", help="print all of it as JSON")
        outputs.add_argument("--csv", action="store_true", help="print the findings as CSV")
        outputs.add_argument("--html", metavar="FILE", help="write a self-contained page")
        outputs.add_argument(
            "--rdf", metavar="FILE",
            help="write EARL and DQV, in the syntax of the file's extension (.ttl, .nt, .jsonld …)",
        )  # fmt: skip

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse several folders and unknown areas."""
        super().check(args, opts)
        refuse_several(args)
        _areas(opts.fail_on)
        moment_of(opts.since)
        if opts.rdf:
            _syntax(opts.rdf)
        if opts.shapes and find_spec("pyshacl") is None:
            raise UsageError(f"--shapes needs pyshacl: {install_hint('shacl')}")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Make the report and show it."""
        folder = job_at(args, 0)
        with Job(folder) as job:
            shapes = statements_of(opts.shapes, TopicOptions()) if opts.shapes else b""
            report = job.report(frozenset(opts.host), since_option(opts.since, folder), shapes)
        self.exitcode = tell_of_damaged(job.damaged, [folder])
        if opts.json:
            print_json(report.as_dict())
        elif opts.csv:
            _print_csv(report)
        elif opts.html:
            _write(Path(opts.html), report_page(report).encode())
        elif opts.rdf:
            triples, syntax = report_triples(report), _syntax(opts.rdf)
            _write(Path(opts.rdf), serialize(triples, format=syntax, prefixes=PREFIXES) or b"")
        else:
            _show(report, opts.top)
        counts = report.counts()
        if any(counts[area] for area in _areas(opts.fail_on)):
            self.exitcode = FOUND


def _areas(text: str) -> list[Area]:
    """Return the areas of ``--fail-on``; raise ``UsageError`` for an unknown one."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in list(Area):
            raise UsageError(f"--fail-on knows {', '.join(Area)}, not {name!r}")
    return [Area(name) for name in names]


def _syntax(name: str) -> RdfFormat:
    """Return the syntax of a file's extension; raise ``UsageError`` for an unknown one."""
    syntax = RdfFormat.from_extension(Path(name).suffix.lstrip("."))
    if syntax is None:
        raise UsageError(f"--rdf needs a file whose name ends with .ttl, .nt or .jsonld: {name}")
    return syntax


def _write(path: Path, content: bytes) -> None:
    with os_errors_as(SemcrawlError, f"cannot write {path}"), whole_file(path) as file:
        file.write(content)
    print(path)


def _print_csv(report: Report) -> None:
    columns = (
        "area", "check", "host", "subject", "reason", "evidence", "line", "column", "page_count",
        "pages", "advice",
    )  # fmt: skip
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for finding in report.findings:
        row = finding.as_dict() | {"pages": " ".join(finding.pages)}
        writer.writerow([_cell(row[name]) for name in columns])


def _cell(value: object) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    text = "" if value is None else printable(str(value))
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def _show(report: Report, top: int) -> None:
    documents = [one for one in report.documents if one.syntax != "embedded"]
    pages = len(report.documents) - len(documents)
    statements = sum(one.statements for one in report.documents)
    _say(
        f"{amount(len(documents), 'RDF document')} and {amount(pages, 'page')} with data, "
        f"{amount(statements, 'statement')}"
    )
    counts = report.counts()
    _say(", ".join(f"{counts[area]:,} {area}" for area in report.areas))
    if report.changes and not report.changes.nothing_before:
        since = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(report.changes.since))
        _say(f"since {since}: {report.changes}")
    for area, of_area in groupby(report.findings, key=lambda finding: finding.of.area):
        _say(f"\n{_HEADS[area]}")
        if area is Area.FINDABLE:
            _show_missing(list(of_area), top)
            continue
        for name, found in groupby(of_area, key=lambda finding: finding.check):
            _show_check(name, list(found), top)
    _say("\nNot judged")
    for line in report.not_judged:
        _say(f"  {line}")


def _show_missing(findings: list[Finding], top: int) -> None:
    """Show the checks that hosts fail, a line for each host."""
    for name, found in groupby(findings, key=lambda finding: finding.check):
        hosts = list(found)
        _say(f"\n  not so: {CHECKS[name].title}")
        for finding in hosts[:top]:
            _say(f"    {finding.host}: {finding.reason}")
        if len(hosts) > top:
            _say(f"    … and {len(hosts) - top:,} more hosts")
        _say(f"    → {CHECKS[name].advice}")


def _show_check(name: str, findings: list[Finding], top: int) -> None:
    check = CHECKS[name]
    _say(f"\n  {check.title} ({len(findings):,})")
    for finding in findings[:top]:
        evidence = f" ({finding.evidence})" if finding.evidence else ""
        _say(f"    {finding.subject}")
        _say(f"      {finding.reason}{evidence}")
        if finding.pages:
            more = finding.page_count - 1
            others = f" and {more:,} more" if more else ""
            _say(f"      {check.leads} {finding.pages[0]}{others}")
    if len(findings) > top:
        _say(f"    … and {len(findings) - top:,} more (--top, --json and --csv show them)")
    _say(f"    → {check.advice}")


def _say(line: str) -> None:
    print("\n".join(printable(part) for part in line.split("\n")))
