"""``crawl``: Scrapy's command, which checks the arguments of our spiders first."""

from __future__ import annotations

import argparse
from difflib import get_close_matches

from scrapy import Spider
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.spiderloader import get_spider_loader

from semcrawl.commandline import Crawls, OneLineErrors
from semcrawl.commands._harvestoptions import add_about_options, take_about_options
from semcrawl.commands._run import check_crawl, check_results
from semcrawl.config.components import FASTEST_LOOP, check_reactor
from semcrawl.config.jobdir import job_path
from semcrawl.config.options import EndpointOptions
from semcrawl.config.scope import Scope
from semcrawl.crawl.failures import lost_feeds, lost_results
from semcrawl.crawl.session import SessionSource, frontier_options, session_options
from semcrawl.descriptors import fit_to_limit
from semcrawl.errors import UsageError
from semcrawl.frontier.backends import admit_worker, check_backend
from semcrawl.pipelines.feeds import check_feeds
from semcrawl.relevance import crawl_strategy
from semcrawl.settings.reader import fill, read_switch
from semcrawl.spiders.seeds import read_priorities, read_seeds
from semcrawl.terminal import amount, complain
from semcrawl.web.urls import Normalisation

_OURS = frozenset({"html", "rdf"})
#: priority of settings given by ``-s``
_CMDLINE = SETTINGS_PRIORITIES["cmdline"]
_ARGUMENTS = ("seeds", "scope", "follow_rdf", "redis_key")


class Command(OneLineErrors, ScrapyCrawl):
    """Runs a spider; refuses wrong seeds, scopes and settings in one line before it starts."""

    default_settings = FASTEST_LOOP
    description = (
        "Run a spider of the current project by name. semcrawl has html (pages; with "
        "-a follow_rdf=1 also RDF documents) and rdf (RDF documents). They take "
        "-a seeds=URL,URL (or @FILE; without seeds they wait on a Redis list, "
        "-a redis_key=NAME) and -a scope=SCOPE. `semcrawl harvest` runs both together."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add our options to Scrapy's."""
        super().add_options(parser)
        parser.add_argument(
            "--links",
            metavar="LIST",
            help="links of RDF to follow: all (default), see-also, foaf, dcat, void, or "
            "properties (SEMCRAWL_RDF_LINKS)",
        )
        add_about_options(parser)
        parser.add_argument("--workers", help=argparse.SUPPRESS)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse unknown spiders, and wrong arguments of ours."""
        if opts.workers or (self.own_settings.getpriority("SEMCRAWL_WORKERS") or 0) >= _CMDLINE:
            raise UsageError(
                "crawl runs one process: use `semcrawl harvest --workers`, or start several "
                "`semcrawl crawl` with one Redis (-s REDIS_URL=redis://…)"
            )
        if opts.links is not None:
            self.own_settings.set("SEMCRAWL_RDF_LINKS", opts.links, "cmdline")
        take_about_options(self.own_settings, opts)
        if len(args) != 1:
            raise UsageError("give one spider: " + ", ".join(self._spiders()))
        if args[0] not in self._spiders():
            raise UsageError(
                f"there is no spider {args[0]!r}; there are: {', '.join(self._spiders())}"
            )
        if args[0] in _OURS:
            seeds = self._check_arguments(opts.spargs)
            settings = self.own_settings
            check_reactor(settings)
            if notice := fit_to_limit(settings):
                complain(notice)
            session_options(settings)
            frontier_options(settings)
            crawl_strategy(settings)
            check_crawl(settings)
            check_feeds(settings)
            scope = opts.spargs.get("scope") or ""
            check_backend(settings, job_path(settings))
            admit_worker(settings, job_path(settings), seeds, scope)
            check_results(settings)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl; report a failed start, failures and lost results, and exit with status 1 then."""
        source = SessionSource(self.own_settings)
        self.own_settings.set("SEMCRAWL_SESSION_SOURCE", source, "cmdline")
        failed = self._crawl(args[0], opts, source)
        if source.failure:
            complain(source.failure)
        if source.failure or failed:
            self.exitcode = 1
        if lost := lost_results(self._crawlers):
            complain(
                f"{amount(lost, 'result')} could not be written, the log says why; to fetch "
                "the links again, run semcrawl frontier --requeue (for the same crawl) before the "
                "next run"
            )
            self.exitcode = 1
        if lost_feeds(self._crawlers):
            self.exitcode = 1

    def _crawl(self, spider: str, opts: argparse.Namespace, source: SessionSource) -> bool:
        """Crawl as Scrapy's command does; return whether a component failed."""
        process = self.crawler_process
        if process is None:
            raise UsageError("no crawler process")
        crawls = Crawls(process)
        crawls.run({self._create_crawler(spider): opts.spargs}, source.fail)
        return crawls.failed

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        """Make the crawler, and keep it for its stats."""
        self._crawlers = [super()._create_crawler(spidercls)]
        return self._crawlers[0]

    def _spiders(self) -> list[str]:
        return sorted(get_spider_loader(self.own_settings).list())

    def _check_arguments(self, given: dict[str, str]) -> list[str]:
        """Return the seeds; raise ``UsageError`` for ``-a`` arguments that our spiders lack.

        Names that begin with ``_`` are scrapyd's.
        """
        for name in given:
            if name not in _ARGUMENTS and not name.startswith("_"):
                close = get_close_matches(name, _ARGUMENTS, n=1)
                hint = f"did you mean {close[0]}?" if close else f"it takes {', '.join(_ARGUMENTS)}"
                raise UsageError(f"the spider takes no argument {name}; {hint}")
        read_switch("follow_rdf", given.get("follow_rdf", ""))
        if given.get("seeds") == "@-":  # can be read only once
            read = read_priorities("@-", Normalisation(exact=True)).items()
            given["seeds"] = " ".join(f"{url} {p:g}" if p else url for url, p in read)
        seeds = read_seeds(given["seeds"]) if "seeds" in given else []
        fill(EndpointOptions, self.own_settings).check(seeds)
        Scope.parse(given.get("scope") or self.own_settings.get("SEMCRAWL_SCOPE", "site"))
        return seeds
