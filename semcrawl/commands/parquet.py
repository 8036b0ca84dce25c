"""``semcrawl parquet``: write job folders as a partitioned Parquet data set."""

from __future__ import annotations

import argparse
from pathlib import Path

from semcrawl.commandline import OfflineCommand, tell_of_damaged
from semcrawl.errors import UsageError
from semcrawl.results.partitions import job_names, write_partitions
from semcrawl.terminal import amount


class Command(OfflineCommand):
    """Writes quads, documents and records, partitioned by job and day."""

    arguments = "DIR… --out DATASET"
    summary = "Write job folders as a Parquet data set for Spark, DuckDB, Polars"
    description = (
        "Write the tables quads, documents and records as DATASET/TABLE/job=NAME/date=DAY/"
        "part-N.parquet. A job replaces only its own parts, so jobs of several machines may "
        "share one DATASET. Of a document in several of the folders the latest version is "
        "written."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        parser.add_argument("--out", metavar="DATASET", help="folder of the data set")
        parser.add_argument(
            "--job", metavar="NAME", help="name of the job (default: that of its folder)"
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse missing folders and invalid names."""
        if not args:
            raise UsageError("give the job folders to write")
        if not opts.out:
            raise UsageError("give the folder of the data set: --out DATASET")
        if opts.job and len(args) > 1:
            raise UsageError("--job names one job: give one folder")
        self._names = job_names([Path(arg) for arg in args], opts.job or "")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Write and report."""
        rows, damaged = write_partitions([Path(arg) for arg in args], self._names, Path(opts.out))
        print(
            f"{amount(rows['quads'], 'quad')} of {amount(rows['documents'], 'document')} and "
            f"{rows['records']:,} records written to {opts.out}"
        )
        self.exitcode = tell_of_damaged(damaged, args)
