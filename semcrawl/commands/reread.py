"""``semcrawl reread``: quads out of recorded responses, without a crawl."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from semcrawl.commandline import OfflineCommand, remark
from semcrawl.commands._harvestoptions import add_about_options, take_about_options
from semcrawl.commands._rereading import FolderSink, Rereading, Sink, StreamSink, Tally
from semcrawl.config.checks import processors
from semcrawl.crawl.topicfiles import fetch_topic_files
from semcrawl.errors import UsageError, os_errors_as
from semcrawl.pipelines.warcrecords import find_recording, warcio
from semcrawl.relevance.focus import read_focus
from semcrawl.terminal import amount


class Command(OfflineCommand):
    """Reads WARC files as a crawl with these settings would read their responses."""

    arguments = "[options] WARC…|DIR…"
    summary = "Read recorded responses again: quads without a crawl"
    description = (
        "Read the responses in WARC files, or in the WARC files of folders: those of `semcrawl "
        "harvest --record`, of Common Crawl, and others. The quads go to standard output, or "
        "with --out to a new job folder. Nothing is sent to the Web. Status 1: a file is damaged; "
        "the rest of it is read."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        group = parser.add_argument_group("Reread")
        group.add_argument(
            "--out", metavar="DIR", help="new job folder (default: quads to standard output)"
        )
        group.add_argument(
            "--processes", type=int, metavar="N", help="reading processes (default: one per core)"
        )
        add_about_options(group)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse what holds no recording, used folders, and invalid topics."""
        if not args:
            raise UsageError("give WARC files, or folders with some")
        warcio("archiveiterator")
        self._paths: list[Path] = []
        for arg in args:
            if not (found := find_recording(Path(arg))):
                raise UsageError(f"{arg}: no WARC file (.warc, .warc.gz)")
            self._paths += [path for path in found if path not in self._paths]
        if opts.processes is not None and not 1 <= opts.processes <= 256:
            raise UsageError(f"--processes must be from 1 to 256, not {opts.processes}")
        if opts.out and Path(opts.out).exists():
            with os_errors_as(UsageError, f"cannot use {opts.out}"):
                if any(Path(opts.out).iterdir()):
                    raise UsageError(f"{opts.out} is not empty: give a new folder")
        take_about_options(self.own_settings, opts)
        fetch_topic_files(self.own_settings)
        read_focus(self.own_settings)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read and report."""
        settings = self.own_settings
        count = opts.processes or processors()
        with tempfile.TemporaryDirectory(prefix="semcrawl-reread-") as spool:
            sink: Sink = StreamSink(sys.stdout.buffer)
            if opts.out:
                with os_errors_as(UsageError, f"cannot make {opts.out}"):
                    sink = FolderSink(Path(opts.out))
            rereading = Rereading.from_settings(settings, sink, remark, count, Path(spool))
            try:
                tally = asyncio.run(rereading.read(self._paths))
            finally:
                rereading.close()
        remark(_told(tally))
        if tally.damaged or not tally.responses:
            self.exitcode = 1


def _told(tally: Tally) -> str:
    """Return the line that says what was read."""
    parts = [amount(tally.documents, "document")]
    if tally.pages:
        parts.append(f"{amount(tally.pages, 'page')} with data")
    parts.append(amount(tally.quads, "quad"))
    if tally.unreadable:
        parts.append(f"{tally.unreadable:,} unreadable")
    if tally.unchanged:
        parts.append(amount(tally.unchanged, "unchanged re-visit"))
    if tally.damaged:
        parts.append(amount(tally.damaged, "damaged record"))
    left = ", ".join(f"{number:,} {why}" for why, number in tally.left_out.most_common())
    text = f"{amount(tally.responses, 'response')}: {', '.join(parts)}"
    return f"{text} (left out: {left})" if left else text
