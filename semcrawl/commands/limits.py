"""``semcrawl limits``: show or change the limits of a crawl, even while it runs."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Any

from semcrawl.cli.base import OfflineCommand
from semcrawl.crawl.crawllimits import (
    CHANGEABLE,
    DOMAIN,
    EXCLUDE,
    HOST,
    INCLUDE,
    Limits,
    load_limits,
    save_limits,
)
from semcrawl.errors import UsageError
from semcrawl.frontier.backends import visited_frontier


class Command(OfflineCommand):
    """Shows or sets budgets and patterns of a crawl for all its workers."""

    arguments = "[options] [DIR]"
    summary = "Show or change a crawl's budgets and patterns, while it runs"
    description = (
        "Set budgets of hosts and domains, and patterns of addresses, for the crawl in DIR "
        "(default: the current folder) or, with -s REDIS_URL=…, on a Redis. All its workers "
        "apply them within seconds, and later runs too. Without options, show the limits. "
        "Requeue links that were over a budget with `semcrawl frontier DIR --requeue`."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add this command's options."""
        super().add_options(parser)
        group = parser.add_argument_group("Limits")
        bounds = "requests=N,bytes=1G,documents=N,depth=N,rdf=1%%/200"
        group.add_argument("--host-budget", metavar="BOUNDS", help=f"limits per host: {bounds}")
        group.add_argument("--domain-budget", metavar="BOUNDS", help="limits per pay-level domain")
        for name in ("include", "exclude"):
            group.add_argument(
                f"--{name}", metavar="PATTERN", action="append", help="replaces the present ones"
            )
        group.add_argument(
            "--reset", action="store_true", help="go back to the settings of each run"
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse invalid options."""
        if len(args) > 1:
            raise UsageError("give one job folder")
        if opts.reset and self._given(opts):
            raise UsageError("--reset cannot be combined with other options")
        Limits.from_settings(self.own_settings, self._given(opts))

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
        async with visited_frontier(self.own_settings, folder) as frontier:
            limits = await load_limits(frontier)
            if opts.reset:
                limits = {}
            limits |= self._given(opts)
            if opts.reset or self._given(opts):
                await save_limits(frontier, limits)
        for name in CHANGEABLE:
            if value := limits.get(name):
                print(f"{name} = {value if isinstance(value, str) else ', '.join(value)}")
        if not any(limits.values()):
            print("No limits are set for this crawl; the settings of each run apply.")
