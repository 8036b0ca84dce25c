"""``semcrawl profile``: profile the quads of a job."""

from __future__ import annotations

import argparse
from pathlib import Path

from semcrawl.commandline import (
    JobCommand,
    job_at,
    print_json,
    print_table,
    refuse_several,
    remark,
    tell_of_damaged,
)
from semcrawl.errors import SemcrawlError, os_errors_as
from semcrawl.rdf.shortnames import shorten
from semcrawl.results.job import Job
from semcrawl.results.profiling import Profile, profile_page
from semcrawl.terminal import amount
from semcrawl.wholefiles import whole_file


class Command(JobCommand):
    """Counts vocabularies, classes, properties, languages, datatypes, links between hosts."""

    arguments = "[options] [DIR]"
    summary = "Profile a job's quads: vocabularies, languages, links"
    description = (
        "Count vocabularies, classes, properties, languages, datatypes and links between hosts "
        "in all quads of the job in DIR (default: the current folder), including those "
        "embedded in pages."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        self.add_top(parser, 15, "rows of each table")
        outputs = parser.add_mutually_exclusive_group()
        outputs.add_argument("--json", action="store_true", help="print all figures as JSON")
        outputs.add_argument("--html", metavar="FILE", help="write a self-contained page")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse several folders."""
        super().check(args, opts)
        refuse_several(args)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Count and show."""
        folder = job_at(args, 0)
        with Job(folder) as job:
            profile = job.profile()
        self.exitcode = tell_of_damaged(job.damaged, [folder])
        if not profile.statements:
            raise SemcrawlError(f"{folder} holds no statements: there is nothing to profile")
        if opts.json:
            print_json(profile.as_dict())
        elif opts.html:
            page = profile_page(profile, folder.resolve().name)
            path = Path(opts.html)
            with os_errors_as(SemcrawlError, f"cannot write {path}"), whole_file(path) as file:
                file.write(page.encode())
            print(opts.html)
        else:
            _show(profile, opts.top)
        if profile.is_cut:
            remark("rare terms and links are left out, as there are too many")


def _show(profile: Profile, top: int) -> None:
    there = [amount(profile.documents, "RDF document")] if profile.documents else []
    there += [f"{amount(profile.pages, 'page')} with data"] if profile.pages else []
    print(f"{amount(profile.statements, 'statement')} in {' and '.join(there)}")
    total = sum(profile.objects.values())
    shares = (f"{name}s {count / total:.0%}" for name, count in profile.objects.items())
    print(f"objects: {', '.join(shares)}\n")
    for title, uses, name in (
        ("vocabularies", profile.vocabularies, "vocabulary"),
        ("classes", profile.classes, "class"),
        ("properties", profile.properties, "property"),
        ("languages", profile.languages, "language"),
        ("datatypes", profile.datatypes, "datatype"),
        ("hosts", profile.hosts, "host"),
    ):
        if uses:
            print_table(
                _title(title, len(uses), top),
                {name: False, "documents": True, "statements": True},
                [
                    (shorten(use.name), f"{use.documents:,}", f"{use.statements:,}")
                    for use in uses[:top]
                ],
            )  # fmt: skip
    if profile.links:
        print_table(
            _title("links between hosts", len(profile.links), top),
            {"from": False, "to": False, "documents": True, "statements": True},
            [
                (link.source, link.target, f"{link.documents:,}", f"{link.statements:,}")
                for link in profile.links[:top]
            ],
        )


def _title(title: str, number: int, top: int) -> str:
    return f"{title} ({number:,})" if number <= top else f"{title} ({top:,} of {number:,})"
