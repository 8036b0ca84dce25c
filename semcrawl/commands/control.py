"""``semcrawl control``: steer a crawl while it runs, or for its later runs."""

from __future__ import annotations

import argparse
import asyncio
from datetime import datetime
from pathlib import Path

from semcrawl.commandline import OfflineCommand
from semcrawl.commands._watching import take_redis
from semcrawl.crawl.standingorders import Orders, load_orders
from semcrawl.errors import UsageError
from semcrawl.frontier.backends import visited_frontier
from semcrawl.printable import printable
from semcrawl.watch.steering import ACTIONS, COMMAND, check_action, obey

#: orders that are shown
_SHOWN = 10


class Command(OfflineCommand):
    """Gives orders to all workers of a crawl."""

    arguments = "[options] [DIR | REDIS_URL] [ACTION [WORD…]]"
    summary = "Steer a crawl: pause, block, order, seeds, patterns, delays, budgets"
    description = (
        "Give an order for the crawl in DIR (default: the current folder) or on a Redis. All its "
        "workers obey within five seconds, later runs too, and it is recorded. Actions: "
        + "; ".join(f"{name} {action.words}".rstrip() for name, action in ACTIONS.items())
        + ". Links of what is paused wait; links of what is blocked, excluded or over a budget "
        "are set aside, and wait again as soon as they may. Links of preferred hosts come first, "
        "of deferred ones last; unrank takes that back. What contradicts a robots.txt is refused. "
        "Without an action, show the orders that hold."
    )

    def complete(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take a Redis from the arguments."""
        take_redis(args, self.own_settings)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse unknown actions and wrong words."""
        self._folder: Path | None = None
        if args and (args[0] not in ACTIONS or Path(args[0]).is_dir()):
            self._folder = Path(args[0])
            if not (self._folder.is_dir() or len(args) > 1):
                raise UsageError(f"{args[0]} is neither a folder nor an action")
            del args[0]
        if args:
            check_action(args)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Give the order, and show those that hold."""
        asyncio.run(self._run(args))

    async def _run(self, words: list[str]) -> None:
        async with visited_frontier(self.own_settings, self._folder) as frontier:
            if words:
                orders = await obey(frontier, self.own_settings, words, COMMAND)
            else:
                orders = await load_orders(frontier)
        _show(orders, said=not words)


def _show(orders: Orders, *, said: bool) -> None:
    for line in orders.lines():
        print(printable(line))
    if not orders.lines():
        print("No order holds; the settings of each run apply.")
    for each in orders.said[-_SHOWN:] if said else ():
        at = datetime.fromtimestamp(each.at).astimezone().isoformat(" ", "seconds")
        print(printable(f"{at}  {each.text}  (by {each.by})"))
