"""``semcrawl harvest``: crawl web sites for RDF into a job folder."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from shlex import quote
from typing import Any

from scrapy.crawler import Crawler

from semcrawl.commandline import OneLineErrors
from semcrawl.commands._ending import check_webhook, ending, tell_of_end
from semcrawl.commands._harvestoptions import (
    FAST,
    WATCH_PORT,
    add_harvest_options,
    set_unless_given,
    take_harvest_options,
)
from semcrawl.commands._jobfile import JOB_FILE, Job, job_keys, keep_job, read_job
from semcrawl.commands._run import (
    RunResult,
    begin_with,
    check_crawl,
    check_folder,
    metadata_url,
    run_spiders,
)
from semcrawl.commands._summary import (
    SUMMARY_FILE,
    RunFigures,
    all_in_vain,
    count_records,
    last_summary,
    show_summary,
    shown_database,
    why_nothing,
    write_summary,
)
from semcrawl.commands._watching import port_of, watched
from semcrawl.commands._workers import WorkerLine, check_workers, harvest_together
from semcrawl.config.checks import check_settings
from semcrawl.config.components import FASTEST_LOOP, check_reactor
from semcrawl.config.logins import read_logins
from semcrawl.config.options import EndpointOptions, ReaderOptions
from semcrawl.config.scope import Scope
from semcrawl.crawl.dispatch import Outlook
from semcrawl.crawl.session import SessionSource
from semcrawl.descriptors import fit_to_limit
from semcrawl.errors import ResultsGone, SemcrawlError, StoreError, UsageError
from semcrawl.frontier.backends import admit_harvest, holds_frontier
from semcrawl.houses import houses, reports
from semcrawl.logformat import take_log
from semcrawl.metadata.database import CRAWL_DB, opened
from semcrawl.metadata.parquet import check_parquet, write_parquet
from semcrawl.metadata.seedfates import seed_lines
from semcrawl.pipelines.files import kept_files
from semcrawl.pipelines.pagestore import count_pages
from semcrawl.pipelines.quads import lists_graphs_alone
from semcrawl.pipelines.quadsfile import FileIdentities
from semcrawl.relevance.focus import about_text
from semcrawl.settings.reader import fill
from semcrawl.sources.endpoints import SEED_PREFIX
from semcrawl.spiders.seeds import read_priorities
from semcrawl.terminal import amount, complain
from semcrawl.topics import threshold
from semcrawl.web.urls import Normalisation

#: default job folder
_FOLDER = "harvest"


class Command(OneLineErrors):
    """Runs both spiders, in one process or several workers."""

    default_settings = {"LOG_LEVEL": "INFO", **FASTEST_LOOP}
    arguments = "[options] URL… (or @FILE; or JOB.toml; or DIR --revisit)"
    summary = "Find the RDF that web sites publish and bring it home"
    description = (
        "Crawl the sites of the given URLs, the most promising links first, and write to DIR: "
        "quads.nq (the RDF found), crawl.db (one record per attempt), summary.json and "
        "crawl.log. Run it again on the same DIR to go on where it stopped. A file JOB.toml "
        "(`semcrawl init` writes one) may hold the addresses, options and settings; what the "
        "command line says overrides it."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options to Scrapy's."""
        super().add_options(parser)
        add_harvest_options(parser)

    def complete(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the job if the first argument names one, and refuse its faults, one line each."""
        self._job: Job | None = None
        if opts.worker:
            return
        if opts.watch and not opts.watch.isdecimal():  # the first seed
            args.insert(0, opts.watch)
            opts.watch = WATCH_PORT
        self._keys = job_keys(self._parser)
        if not (args and args[0].endswith(".toml") and "://" not in args[0]):
            return
        job = read_job(Path(args.pop(0)), self._keys)
        if job.faults:
            *others, last = job.faults
            for fault in others:
                complain(fault)
            raise UsageError(last)
        self._job = job
        if opts.fast:
            set_unless_given(self.own_settings, FAST)
        job.apply(self.own_settings, opts)
        try:
            check_settings(self.own_settings)
        except UsageError as error:
            raise job.told(error) from None
        args[:0] = job.seeds
        beside = job.path.parent
        if opts.out is None and job.path.name == JOB_FILE and _is_job(beside):
            opts.out = str(beside)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Copy the options into the settings, check them, and make the job folder."""
        settings = self.own_settings
        if opts.worker:
            self._line = WorkerLine()
            self._line.apply(settings)
            take_log(settings)
            self._source = SessionSource(settings)
            self._source.configure()
            return
        try:
            self._check(args, opts)
        except UsageError as error:
            raise (self._job.told(error) if self._job else error) from None

    def _check(self, args: list[str], opts: argparse.Namespace) -> None:
        settings = self.own_settings
        take_harvest_options(settings, opts)
        if opts.revisit and args and "://" not in args[0] and not args[0].startswith("@"):
            opts.out = args.pop(0)
        named = settings.get("SEMCRAWL_JOBDIR") or settings.get("JOBDIR")
        opts.out = opts.out or named or _FOLDER
        folder = Path(opts.out)
        for arg in args:
            if "://" not in arg and _is_job(Path(arg)):
                raise UsageError(
                    f"{arg} is the folder of a harvest; to continue it give --out {arg}, to fetch "
                    "its documents again, --revisit"
                )
        named = [*args, *(SEED_PREFIX + endpoint for endpoint in opts.endpoint)]
        self._priorities = _read_arguments(named)
        self._seeds = list(self._priorities)
        fill(EndpointOptions, settings).check(self._seeds)
        if not (self._seeds or opts.join or _is_job(folder)):
            raise UsageError(
                f"give a URL to start from (or @FILE with one per line); {folder} holds no harvest "
                "to continue"
            )
        if opts.webhook:
            check_webhook(opts.webhook)
        check_reactor(settings)
        self._port = None if opts.watch is None else port_of(opts.watch, "--watch")
        self._workers = check_workers(settings)
        Scope.parse(settings.get("SEMCRAWL_SCOPE", "site"))
        check_crawl(settings)
        if notice := fit_to_limit(settings):
            complain(notice)
        if opts.metadata:
            check_parquet()
        self._source = SessionSource(settings)
        self._source.configure()
        self._prepare(folder)
        self._crawl_name = admit_harvest(settings, folder, self._seeds)
        keep_job(folder, settings, opts, self._with_priorities(), self._keys)
        take_log(settings)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl and report."""
        if opts.worker:
            self._work(self._line)
            return
        try:
            self._harvest(opts)
        except SemcrawlError as error:
            self.exitcode = self._told(error)
        if opts.on_end or opts.webhook:
            content = ending(Path(opts.out), self.exitcode, last_summary(Path(opts.out)))
            logins = read_logins(self.own_settings)
            if not tell_of_end(content, opts.on_end or "", opts.webhook or "", logins):
                self.exitcode = self.exitcode or 1

    def _harvest(self, opts: argparse.Namespace) -> None:
        settings = self.own_settings
        self._began = time.time()
        folder = Path(opts.out)
        database = metadata_url(settings, folder)
        known = count_records(database)  # raises if nothing could be recorded
        if known and not _is_job(folder):
            complain(
                f"the database of SEMCRAWL_METADATA_URL holds {known:,} records of other crawls; "
                "the summary counts them too, and --revisit fetches their documents"
            )
        if opts.join and lists_graphs_alone(settings, folder):
            complain(
                "this worker delivers to a triple store, but the others do not know which graphs "
                "it makes: their re-visits make those again; give all workers one "
                "SEMCRAWL_METADATA_URL"
            )
        ledger = FileIdentities([folder / CRAWL_DB])
        if settings.get("REDIS_URL") and not opts.quiet:
            print(
                f"The crawl is named {self._crawl_name}; another worker joins it with: "
                f"semcrawl harvest --join {self._crawl_name} --out DIR",
                file=sys.stderr,
            )
        with watched(settings, folder, self._port):
            result, outlook = self._run(folder, opts)
        try:
            ledger.check()
        except ResultsGone as error:  # nothing to report
            complain(str(error))
            self.exitcode = 1
            return
        if result.failure and not result.requests:
            self.exitcode = 1  # the reason has been printed
            return
        self._sum_up(folder, database, opts, result, outlook, resumed=known > 0)

    def _run(self, folder: Path, opts: argparse.Namespace) -> tuple[RunResult, Outlook]:
        """Crawl until the crawl has ended or is interrupted."""
        seeds = self._written()
        if self._workers > 1:
            return harvest_together(self.own_settings, folder, self._workers, seeds, opts)
        result = self._crawl(self._source, seeds, verbose=opts.verbose)
        return result, self._source.session().outlook

    def _sum_up(
        self,
        folder: Path,
        database: str,
        opts: argparse.Namespace,
        result: RunResult,
        outlook: Outlook,
        *,
        resumed: bool,
    ) -> None:
        """Write and print the summary, and set the exit status."""
        settings = self.own_settings
        pages, other_pages = count_pages(folder, about_text(settings))
        run = RunFigures(
            bytes_saved=result.bytes_saved,
            waiting=outlook.waiting_left,
            expected_left=result.expected_left,
            listed_left=result.listed_left,
            limit=result.limit,
            left_out=outlook.left_out,
            dropped=outlook.dropped,
            files=kept_files(folder),
            pages=pages,
            other_pages=other_pages,
            former_about=str(last_summary(folder).get("about", "")),
            reports=reports(folder),
            about=about_text(settings),
            threshold=threshold(settings),
            targets=fill(ReaderOptions, settings).targets,
            given_up=result.given_up,
            resumed=resumed,
            began=self._began,
            records=shown_database(database, folder),
            workers=result.workers,
        )
        try:
            summary = write_summary(folder, database, run)
        except (StoreError, OSError):
            _tell_of_lost(result, folder)
            raise
        # a killed run leaves records, but no summary; a killed worker's last requests are unknown
        before = max(0, summary.requests - result.requests) if resumed else 0
        # standard output is left to documents that go there
        taken = "stdout:" in settings.getdict("FEEDS")
        with redirect_stdout(sys.stderr if taken else sys.stdout):
            if opts.json:
                print((folder / SUMMARY_FILE).read_text("utf-8"), end="")
            elif not opts.quiet:
                show_summary(summary, folder, before, run)
            for line in seed_lines(database):
                complain(line)
            for house in houses():
                for line in house.remarks(settings, folder, result):
                    complain(line)
            _tell_of_lost(result, folder)
            if opts.metadata:
                with opened(database) as engine:
                    paths = write_parquet(engine, folder)
                if not (opts.quiet or opts.json):
                    print("Tables: " + "   ".join(map(str, paths)))
        if result.failure:
            complain(result.failure)
            self.exitcode = 1
        elif result.lost or result.failed or result.cut_off:
            self.exitcode = 1
        elif all_in_vain(summary):
            complain(why_nothing(database))
            self.exitcode = 1
        elif not (self._seeds or opts.join or summary.outcomes or run.waiting != 0):
            complain(f"{folder} holds no link to go on with; give a URL to start from")
            self.exitcode = 1

    def _work(self, line: WorkerLine) -> None:
        """Crawl as one of several workers, and report to the command that started it."""
        line.await_start()
        try:
            result = self._crawl(
                self._source,
                line.task["seeds"],
                verbose=bool(line.task["verbose"]),
                opened=line.report_on,
            )
        except SemcrawlError as error:
            result = RunResult(failure=str(error))
        line.send("result", result=result.as_dict())

    def _prepare(self, folder: Path) -> None:
        """Make the job folder, and set it for results and log."""
        check_folder(folder)
        self.own_settings.set("SEMCRAWL_JOBDIR", str(folder.resolve()), "cmdline")
        self.own_settings.set("SEMCRAWL_HARVEST", True, "cmdline")
        if (self.own_settings.getpriority("LOG_FILE") or 0) < 40:
            self.own_settings.set("LOG_FILE", str(folder / "crawl.log"), "cmdline")

    def _written(self) -> str | None:
        """Return the seeds with their priorities as the spider's argument."""
        return " ".join(self._with_priorities()) or None

    def _with_priorities(self) -> list[str]:
        return [f"{url} {p:g}" if p else url for url, p in self._priorities.items()]

    def _crawl(
        self,
        source: SessionSource,
        seeds: str | None,
        *,
        verbose: bool,
        opened: Callable[[Crawler], Any] | None = None,
    ) -> RunResult:
        """Run both spiders until the crawl has ended or is interrupted."""
        process = self.crawler_process
        if process is None:
            raise UsageError("no crawler process")
        self.own_settings.set("SEMCRAWL_SESSION_SOURCE", source, "cmdline")
        crawlers = [process.create_crawler("html"), process.create_crawler("rdf")]
        if opened is not None:
            begin_with(crawlers[0], opened)
        return run_spiders(process, self.own_settings, source, crawlers, seeds, verbose=verbose)


def _tell_of_lost(result: RunResult, folder: Path) -> None:
    """Report how many results could not be written or rendered, or of earlier runs were lost."""
    if result.not_rendered:
        pages = amount(result.not_rendered, "page")
        complain(f"{pages} read without a browser; the last: {result.browser_problem}")
    if result.cut_off:
        them = amount(result.cut_off, "document")
        complain(
            f"results of earlier runs were cut or deleted, with the lines of {them}; this run "
            "asked for them again, crawl.log says more"
        )
    if result.lost:
        complain(
            f"{amount(result.lost, 'result')} could not be written, crawl.log says why; to fetch "
            f"the links again, run semcrawl frontier {quote(str(folder))} --requeue before the "
            "next run"
        )


def _is_job(folder: Path) -> bool:
    """Whether a folder holds a harvest."""
    return (folder / CRAWL_DB).is_file() or holds_frontier(folder)


def _read_arguments(args: list[str]) -> dict[str, float]:
    """Read seeds and files of seeds; a number after a seed is its priority."""
    seeds: dict[str, float] = {}
    texts: list[str] = []
    for arg in args:
        is_number = arg.replace(".", "", 1).removeprefix("-").isdecimal()
        if is_number and texts and not texts[-1].startswith("@"):
            texts[-1] += f" {arg}"
        else:
            texts.append(arg)
    for text in texts:
        seeds |= read_priorities(text, Normalisation(exact=True))
    return seeds
