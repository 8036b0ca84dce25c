"""``semcrawl evaluate``: run strategies on closed webs and compare what they find."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from semcrawl.commandline import OfflineCommand, print_json
from semcrawl.crawl.topicfiles import fetch_topic_files
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.lab.comparing import PAGES, usual_strategies
from semcrawl.lab.report import ProgressDisplay, report_page, show
from semcrawl.lab.rivals import RIVALS
from semcrawl.lab.study import REFERENCES, Crawl, Plan, SetResult, simulated, study
from semcrawl.lab.studydata import as_data
from semcrawl.lab.worldsets import WorldSet, load_worlds
from semcrawl.relevance import load_strategy, strategies
from semcrawl.terminal import complain, plain_console, table_console

#: beginnings of the names of settings that change a crawl's requests
_READ = ("SEMCRAWL_", "DEPTH_", "REDIRECT_", "RETRY_")
#: priority of settings that the user gave on the command line
_CHOSEN = 40


class Command(OfflineCommand):
    """Runs every strategy on every world and writes figures and report."""

    arguments = "[options] WORLD…"
    summary = "Compare strategies on simulated, local or recorded sites"
    description = (
        "Run strategies on worlds and compare what they find per request. A WORLD is `thesis` "
        "(four simulated domains), `topic` (a generated web of 80 sites), `keywords` (six "
        "generated webs, one per query), `images` (a generated web of pictures), a folder of "
        "files (or http://host/base/=FOLDER), a sites.json, or a recorded crawl. Writes "
        "results.json and report.html."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options to Scrapy's."""
        super().add_options(parser)
        group = parser.add_argument_group("Evaluate")
        group.add_argument(
            "--strategies",
            metavar="NAMES",
            help="strategies separated by commas, classes by import path (default: all of "
            + ", ".join((*strategies(), *REFERENCES))
            + "; not by default: "
            + ", ".join(RIVALS)
            + ")",
        )
        group.add_argument(
            "--pages",
            metavar="N",
            type=int,
            help="most requests (2000; 600 in images; in topic and keywords as in their sources)",
        )
        group.add_argument(
            "--about",
            metavar="TOPIC",
            help="count documents about a topic, such as keywords:fish, as targets instead of RDF",
        )
        group.add_argument(
            "--repeat",
            metavar="N",
            type=int,
            help="runs of seeded strategies (1); of generated worlds, each another one (5 in "
            "thesis and keywords, 3 in topic and images, 1 live)",
        )
        group.add_argument("--seed", metavar="N", type=int, default=0, help="first seed (0)")
        group.add_argument(
            "--live",
            action="store_true",
            help="crawl with the real spiders over loopback HTTP, not in the simulator",
        )
        group.add_argument(
            "--follow-rdf",
            action=argparse.BooleanOptionalAction,
            default=True,
            help="follow links inside RDF, as a harvest does (never in the worlds of thesis)",
        )
        group.add_argument(
            "--out", metavar="DIR", default="evaluation", help="folder of the results (evaluation)"
        )
        group.add_argument(
            "--json", action="store_true", help="print results.json to standard output, no tables"
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse invalid options."""
        for name in ("pages", "repeat"):
            if getattr(opts, name) is not None and getattr(opts, name) < 1:
                raise UsageError(f"--{name} must be at least 1")
        if not args:
            raise UsageError(
                "give a world: thesis, topic, keywords, images, a folder, a sites.json or a "
                "recorded crawl"
            )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Make the topic a setting."""
        super().process_options(args, opts)
        if self.settings is not None:
            if opts.about:
                self.settings.set("SEMCRAWL_ABOUT", opts.about, priority="cmdline")
            fetch_topic_files(self.settings)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the study; report failures, and go on with the rest."""
        console = plain_console(stderr=True)
        folder = Path(opts.out)
        sets: list[WorldSet] = []
        try:
            strategies = self._strategies(opts)
            sets = self._worlds(args, opts.seed)
            if sets:
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._fail(f"cannot write to {folder}: {error.strerror}")
            sets = []
        except UsageError as error:
            self._fail(error)
        if not sets:
            self.exitcode = 2
            return
        plan = self._plan(strategies, opts)
        plans = [(each, plan.for_set(each)) for each in sets]
        runs = sum(len(e.worlds) * len(own.strategies) * own.repeat for e, own in plans)
        results: list[SetResult] = []
        with ProgressDisplay(console, runs) as display:
            crawl = self._crawl(plan, opts, display.report)
            try:
                study(sets, plan, crawl, display.report, results)
            except SemcrawlError as error:
                self._fail(error)
                return
            except KeyboardInterrupt:
                if not any(world.trials for each in results for world in each.worlds):
                    raise
                self._fail("interrupted: these are the figures of the finished runs")
                self.exitcode = 130
        if display.problems and not self.exitcode:
            self.exitcode = 1
        if all(world.problem for each in results for world in each.worlds):
            return  # all problems are reported
        data = as_data(results, plan, "live" if opts.live else "offline")
        if opts.json:
            print_json(data)
        else:
            show(data, table_console())
        try:
            self._write(data, folder)
        except OSError as error:
            self._fail(f"cannot write to {folder}: {error.strerror}")
            return
        if not opts.json:
            print(f"Figures: {folder / 'results.json'}   Report: {folder / 'report.html'}")

    def _strategies(self, opts: argparse.Namespace) -> list[str]:
        """Return the names of the strategies; report and leave out unknown ones."""
        if opts.strategies is None:
            return usual_strategies(self._about(opts))
        names = list(dict.fromkeys(name.strip() for name in opts.strategies.split(",")))
        good = []
        for name in filter(None, names):
            try:
                if name not in REFERENCES:
                    load_strategy(RIVALS.get(name, name), self._settings_of(self.settings))
            except UsageError as error:
                self._fail(error)
                continue
            except Exception as error:  # a user's class; its runs will show
                self._fail(f"{name}: {type(error).__name__}: {error}")
            good.append(name)
        if not good:
            raise UsageError("no strategy is left to run")
        return good

    def _about(self, opts: argparse.Namespace) -> str:
        """Return the topic that the user named."""
        return opts.about or str(self._settings_of(self.settings).get("SEMCRAWL_ABOUT") or "")

    def _worlds(self, args: list[str], seed: int) -> list[WorldSet]:
        sets = []
        for name in args:
            try:
                sets.append(load_worlds(name, seed))
            except SemcrawlError as error:
                self._fail(error)
        return sets

    def _plan(self, strategies: list[str], opts: argparse.Namespace) -> Plan:
        settings = self.settings
        chosen = {
            name
            for name in (settings or {})
            if settings is not None and (settings.getpriority(name) or 0) >= _CHOSEN
        }
        chosen |= {
            name for name in ("pages", "repeat", "strategies") if getattr(opts, name) is not None
        }
        if opts.live:  # the repetitions of generated worlds are for the simulator
            chosen.add("repeat")
        return Plan(
            strategies,
            pages=opts.pages or PAGES,
            repeat=opts.repeat or 1,
            seed=opts.seed,
            settings=self._settings_of(settings),
            chosen=frozenset(chosen),
            follow_rdf=opts.follow_rdf,
        )

    @staticmethod
    def _settings_of(settings: BaseSettings | None) -> dict[str, Any]:
        if settings is None:
            return {}
        return {name: settings.get(name) for name in settings if name.startswith(_READ)}

    @staticmethod
    def _crawl(plan: Plan, opts: argparse.Namespace, report: Any) -> Crawl:
        if not opts.live:
            return simulated(load_strategy, plan, report)
        from semcrawl.lab.live import live

        return live(plan, report)

    @staticmethod
    def _write(data: dict[str, Any], folder: Path) -> None:
        """Write both files atomically."""
        texts = {
            "results.json": json.dumps(data, indent=1, ensure_ascii=False) + "\n",
            "report.html": report_page(data),
        }
        for name, text in texts.items():
            part = folder / f"{name}.part"
            part.write_text(text, "utf-8")
            os.replace(part, folder / name)

    def _fail(self, error: object) -> None:
        """Report an error in one line; the other runs go on."""
        complain(str(error))
        self.exitcode = 1
