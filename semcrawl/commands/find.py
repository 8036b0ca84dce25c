"""``semcrawl find``: find the documents of a job that use a class or a property."""

from __future__ import annotations

import argparse

from semcrawl.commandline import (
    JobCommand,
    job_at,
    print_json,
    print_table,
    refuse_several,
    remark,
    tell_of_damaged,
)
from semcrawl.config.jobdir import ResultOptions
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.metadata.database import connect
from semcrawl.results.finding import Found, find_term
from semcrawl.results.job import Job
from semcrawl.settings.reader import fill

_TERMS_SHOWN = 20


class Command(JobCommand):
    """Lists the documents that use a term, with their numbers of statements."""

    arguments = "[options] TERM [DIR]"
    summary = "Find the documents of a job that use a class or a property"
    description = (
        "TERM is a class or a property, such as schema:Dataset or <http://schema.org/Dataset>. "
        "A prefix (foaf:) or a namespace means all of its terms, a bare word (Dataset) any "
        "term of this name. DIR is the job folder of a finished or running crawl (default: the "
        "current folder)."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        self.add_top(parser, 50, "documents")
        parser.add_argument("--all", action="store_true", help="show every document")
        parser.add_argument("--json", action="store_true", help="print JSON instead of tables")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse missing and superfluous arguments."""
        super().check(args, opts)
        if not args or not args[0].strip():
            raise UsageError("give a term and a job folder: semcrawl find schema:Dataset DIR")
        refuse_several(args[1:])

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Look up the term in the job's ledgers, or in the database of the settings."""
        term, folder = args[0].strip(), job_at(args, 1)
        limit = None if opts.all else opts.top
        database = fill(ResultOptions, self.own_settings).metadata_url
        if database:
            where = "the database of SEMCRAWL_METADATA_URL"
            found = find_term([connect(database)], term, limit)
        else:
            where = str(folder)
            with Job(folder) as job:
                job.index(
                    lambda documents: remark(f"indexing {documents:,} documents first, only once …")
                )
                found = job.find(term, limit)
            self.exitcode = tell_of_damaged(job.damaged, [folder])
        if opts.json:
            print_json(found.as_dict())
        if not found.terms:
            raise SemcrawlError(_nothing(found, where))
        if not opts.json:
            _show(found, every_term=opts.all)
        if found.incomplete:
            remark(
                f"{found.incomplete:,} large documents have more terms than the index keeps; "
                "`semcrawl query` searches all their statements"
            )


def _nothing(found: Found, where: str) -> str:
    hint = "`semcrawl profile` shows what they use"
    if found.near:
        *others, last = found.near
        hint = f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
    return f"no document in {where} uses {found.asked}; {hint}"


def _show(found: Found, *, every_term: bool) -> None:
    shown = found.terms if every_term else found.terms[:_TERMS_SHOWN]
    title = "terms" if len(shown) == len(found.terms) else f"terms (of {len(found.terms):,})"
    print_table(
        title,
        {"term": False, "kind": False, "documents": True, "statements": True},
        [
            (term.name, term.kind, f"{term.documents:,}", f"{term.statements:,}")
            for term in shown
        ],
    )  # fmt: skip
    title = f"documents ({found.total:,})"
    if len(found.documents) < found.total:
        title = f"documents ({len(found.documents):,} of {found.total:,}; --all shows every one)"
    print_table(
        title,
        {"statements": True, "format": False, "document": False},
        [(f"{each.statements:,}", each.format, each.url) for each in found.documents],
    )
