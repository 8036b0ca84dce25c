"""``semcrawl limits``: show or change the limits of a crawl, even while it runs."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Any

from semcrawl.commandline import OfflineCommand, print_json
from semcrawl.crawl.crawllimits import Limits
from semcrawl.crawl.standingorders import DOMAIN, EXCLUDE, HOST, INCLUDE, load_orders
from semcrawl.errors import UsageError
from semcrawl.frontier.backends import visited_frontier
from semcrawl.terminal import complain
from semcrawl.watch.steering import COMMAND, obey


class Command(OfflineCommand):
    """Shows or sets budgets and patterns of a crawl for all its workers."""

    arguments = "[options] [DIR]"
    summary = "Show or change a crawl's budgets and patterns, while it runs"
    description = (
        "Set budgets of hosts and domains, and patterns of addresses, for the crawl in DIR "
        "(default: the current folder) or, with -s REDIS_URL=…, on a Redis. All its workers "
        "apply them within seconds, and later runs too. Patterns are added to those that are set; "
        "--reset removes all. Links that a limit forbids are set aside, and wait again when the "
        "limits change. Without options, show the limits. `semcrawl control` has more actions."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add this command's options."""
        super().add_options(parser)
        group = parser.add_argument_group("Limits")
        bounds = "requests=N,bytes=1G,documents=N,depth=N,rdf=1%%/200"
        group.add_argument("--host-budget", metavar="BOUNDS", help=f"limits per host: {bounds}")
        group.add_argument("--domain-budget", metavar="BOUNDS", help="limits per pay-level domain")
        for name, text in (
            ("include", "addresses to request, instead of those that the runs' settings name"),
            ("exclude", "addresses not to request for now, besides those of the runs' settings"),
        ):
            group.add_argument(
                f"--{name}", metavar="PATTERN", action="append", help=f"{text}; may be repeated"
            )
        group.add_argument(
            "--reset", action="store_true", help="go back to the settings of each run"
        )
        group.add_argument("--json", action="store_true", help="print what holds as JSON")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse invalid options."""
        if len(args) > 1:
            raise UsageError("give one job folder")
        if opts.reset and self._given(opts):
            raise UsageError("--reset cannot be combined with other options")
        for line in Limits.from_settings(self.own_settings, self._given(opts)).faults():
            complain(line)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Show or set the limits."""
        asyncio.run(self._run(Path(args[0]) if args else None, opts))

    @staticmethod
    def _given(opts: argparse.Namespace) -> dict[str, Any]:
        given = {
            HOST: opts.host_budget,
            DOMAIN: opts.domain_budget,
            INCLUDE: opts.include,
            EXCLUDE: opts.exclude,
        }
        return {name: value for name, value in given.items() if value is not None}

    async def _run(self, folder: Path | None, opts: argparse.Namespace) -> None:
        actions = [["reset"]] if opts.reset else []
        for name, bounds in (
            ("host-budget", opts.host_budget),
            ("domain-budget", opts.domain_budget),
        ):
            actions += [] if bounds is None else [[name, bounds or "none"]]
        for name, patterns in (("add-include", opts.include), ("add-exclude", opts.exclude)):
            actions += [[name, *patterns]] if patterns else []
        async with visited_frontier(self.own_settings, folder) as frontier:
            for words in actions:
                await obey(frontier, self.own_settings, words, COMMAND)
            orders = await load_orders(frontier)
        if opts.json:
            delays = {host: seconds for host, (seconds, _) in orders.delays.items()}
            limits = {name: value for name, value in orders.limits.items() if value}
            print_json(
                {
                    "limits": limits,
                    "paused": orders.paused,
                    "paused_hosts": orders.paused_hosts,
                    "ranks": orders.ranks,
                    "delays": delays,
                }
            )
            return
        for line in orders.lines():
            print(line)
        if not orders.lines():
            print("No limits are set for this crawl; the settings of each run apply.")
