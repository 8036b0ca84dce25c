"""``semcrawl merge``: merge several job folders into one."""

from __future__ import annotations

import argparse
from pathlib import Path

from semcrawl.commandline import OfflineCommand, tell_of_damaged
from semcrawl.commands._summary import RunFigures, aim_of, last_summary, write_summary
from semcrawl.errors import UsageError
from semcrawl.houses import reports
from semcrawl.metadata.database import CRAWL_DB, crawl_db_url
from semcrawl.pipelines.files import kept_files
from semcrawl.pipelines.pagestore import count_pages
from semcrawl.results.mergedjobs import merge_jobs
from semcrawl.terminal import amount


class Command(OfflineCommand):
    """Merges the job folders of several workers, machines or crawls."""

    arguments = "DIR DIR… --out DIR"
    summary = "Merge the job folders of several workers into one"
    description = (
        "Write a new job folder with every record, and each document and image once: quads.nq, "
        "embedded.nq, pages.nq, crawl.db with its index of terms, images.db with its "
        "thumbnails, files, WARC files and summary.json. Of a document in several folders the "
        "latest version is kept. The given folders stay unchanged; frontiers are not merged."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        parser.add_argument("--out", metavar="DIR", help="the new folder")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse missing folders."""
        if not args:
            raise UsageError("give the job folders to merge")
        if not opts.out:
            raise UsageError("give the new folder: --out DIR")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Merge and report."""
        folders, out = [Path(arg) for arg in args], Path(opts.out)
        merged = merge_jobs(folders, out, self.own_settings)
        # workers of one crawl share a frontier: the last to end knows what waits
        by_age = sorted(folders, key=lambda folder: (folder / CRAWL_DB).stat().st_mtime)
        targets, about, threshold = aim_of(by_age)
        pages, other_pages = count_pages(out, about)
        run = RunFigures(
            bytes_saved=sum(int(last_summary(folder).get("bytes_saved", 0)) for folder in folders),
            waiting=last_summary(by_age[-1]).get("waiting"),
            files=kept_files(out),
            pages=pages,
            other_pages=other_pages,
            reports=reports(out),
            targets=targets,
            about=about,
            threshold=threshold,
        )
        write_summary(out, crawl_db_url(out), run)
        others = "".join(f", {amount}" for amount in merged.others)
        print(
            f"{len(folders)} folders merged into {out}: {amount(merged.documents, 'document')} "
            f"({merged.in_several:,} of them in several), {amount(merged.quads, 'quad')}, "
            f"{amount(merged.records, 'record')}{others}"
        )
        self.exitcode = tell_of_damaged(merged.damaged, folders)
