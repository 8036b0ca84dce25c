"""``semcrawl frontier``: show, export or import a crawl's frontier, or requeue failed links."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, replace
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NoReturn, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from scrapy.settings import BaseSettings

from semcrawl.commandline import OfflineCommand, print_json
from semcrawl.commands._watching import take_redis
from semcrawl.config.checks import START_URLS_KEY
from semcrawl.crawl.learning import STRATEGY_STATE
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.frontier.backends import drop_crawl, visited_frontier
from semcrawl.frontier.contract import QUEUES, Frontier, FrontierState, requeue_all, table_of
from semcrawl.frontier.transfer import check_lines, export_lines, import_lines
from semcrawl.frontier.workers import short_name
from semcrawl.spiders.seeds import seed_list
from semcrawl.terminal import aligned, amount, fitted, table_console
from semcrawl.wholefiles import whole_file

#: seconds between two looks of ``--watch``, and the least
_LOOK, _LEAST_LOOK = 2.0, 0.1


class Command(OfflineCommand):
    """Shows a frontier: hosts, groups with value and size, leases, seen, rate."""

    arguments = "[options] [DIR | REDIS_URL]"
    summary = "Show a crawl's frontier, export or import it, requeue failures"
    description = (
        "Show the frontier of the job in DIR (default: the current folder), or with "
        "REDIS_URL that of the crawl SEMCRAWL_CRAWL_NAME on a Redis server. This does not disturb "
        "a running crawl."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add this command's options."""
        super().add_options(parser)
        parser.add_argument(
            "--top",
            type=int,
            default=15,
            metavar="N",
            help="hosts and groups shown of a queue (15)",
        )
        parser.add_argument(
            "--rate",
            type=float,
            default=1.0,
            metavar="SECONDS",
            help="time to measure the rate of a running crawl (1)",
        )
        parser.add_argument("--json", action="store_true", help="print what is shown as JSON")
        parser.add_argument(
            "--watch",
            metavar="SECONDS",
            nargs="?",
            const=str(_LOOK),
            help=f"show it again every SECONDS ({_LOOK:g}), until Ctrl-C",
        )
        actions = parser.add_mutually_exclusive_group()
        actions.add_argument("--export", metavar="FILE", help='write JSON Lines ("-": to stdout)')
        actions.add_argument(
            "--import",
            dest="import_file",
            metavar="FILE",
            help='fill an empty frontier from JSON Lines ("-": from stdin)',
        )
        actions.add_argument("--requeue", action="store_true", help="put failed links back in")
        actions.add_argument(
            "--drop",
            action="store_true",
            help="delete the frontier of a crawl on a Redis server, to start afresh",
        )
        actions.add_argument(
            "--export-model",
            metavar="FILE",
            help="write the strategy's model, for `harvest --model` and `explain --state`",
        )

    def complete(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take a Redis from the arguments, and a folder that follows ``--watch``."""
        if opts.watch is not None:
            try:
                opts.watch = float(opts.watch)
            except ValueError:
                args.insert(0, opts.watch)
                opts.watch = _LOOK
        take_redis(args, self.own_settings)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse invalid options."""
        if len(args) > 1:
            raise UsageError("give one job folder")
        if opts.top < 1:
            raise UsageError(f"--top must be at least 1, not {opts.top}")
        acts = opts.export or opts.import_file or opts.requeue or opts.export_model or opts.drop
        for option in ("json", "watch"):
            if getattr(opts, option) and acts:
                raise UsageError(
                    f"--{option} is for what the command shows, and goes with no other action"
                )
        if opts.watch is not None and not opts.watch >= _LEAST_LOOK:
            raise UsageError(f"--watch must be at least {_LEAST_LOOK:g} s, not {opts.watch:g}")
        if opts.drop and not self.own_settings.get("REDIS_URL"):
            raise UsageError(
                "--drop needs the Redis of the crawl: -s REDIS_URL=redis://…; without one the "
                "frontier is a file in the job folder, and goes with it"
            )
        if not opts.rate >= 0:
            raise UsageError(f"--rate must not be negative, as {opts.rate:g} is")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command."""
        try:
            folder = Path(args[0]) if args else None
            with ExitStack() as stack:
                # before a server starts, as a wrong name is the likeliest error
                out, source = sys.stdout, sys.stdin
                if opts.export and opts.export != "-":
                    file = stack.enter_context(whole_file(Path(opts.export)))
                    out = stack.enter_context(TextIOWrapper(file, encoding="utf-8"))
                if opts.import_file:
                    source = stack.enter_context(_checked(opts.import_file))
                asyncio.run(_run(self.own_settings, folder, opts, out, source))
        except KeyboardInterrupt:
            if opts.watch is None:
                raise
        except BrokenPipeError:
            raise
        except OSError as error:
            # the error of a full disk has no name
            names = (error.filename, opts.export, opts.export_model, opts.import_file)
            name = next((name for name in names if name and name != "-"), "to standard output")
            verb = "read" if opts.import_file else "write"
            raise SemcrawlError(f"cannot {verb} {name}: {error.strerror}") from None


@contextmanager
def _checked(name: str) -> Iterator[TextIO]:
    """Open an exported frontier (``-``: stdin) and check all its lines first.

    Raises ``UsageError`` for a bad line, and ``OSError``.
    """
    with ExitStack() as stack:
        if name == "-":
            file: BinaryIO = sys.stdin.buffer
        else:
            file = stack.enter_context(Path(name).open("rb"))
        if not file.seekable():
            copy = stack.enter_context(TemporaryFile())
            shutil.copyfileobj(file, copy)
            copy.seek(0)
            file = copy
        start = file.tell()
        text = TextIOWrapper(file, encoding="utf-8")
        stack.callback(text.detach)
        check_lines(text)
        text.seek(start)
        yield text


async def _run(
    settings: BaseSettings,
    job: Path | None,
    opts: argparse.Namespace,
    out: TextIO,
    source: TextIO,
) -> None:
    async with visited_frontier(settings, job, make=bool(opts.import_file)) as frontier:
        await _act(frontier, settings, opts, out, source)
        name = frontier.name
    if opts.drop:  # once it is closed, as it watches over its keys
        dropped = drop_crawl(settings, name)
        print(f"the crawl {name} is dropped ({amount(dropped, 'key')})")


async def _act(
    frontier: Frontier,
    settings: BaseSettings,
    opts: argparse.Namespace,
    out: TextIO,
    source: TextIO,
) -> None:
    if opts.export:
        async for line in export_lines(frontier):
            out.write(line)
    elif opts.import_file:
        waiting = await import_lines(frontier, source)
        print(f"{amount(waiting, 'link')} wait{'s' if waiting == 1 else ''}")
    elif opts.export_model:
        relevance = str(settings.get("SEMCRAWL_RELEVANCE"))
        model = await _learned(frontier, relevance)  # the file is made once there is one
        with whole_file(Path(opts.export_model)) as file:
            file.write(model)
    elif opts.requeue:
        moved = await requeue_all(frontier, [q async for q in frontier.inspector.rows("queue")])
        print(f"{amount(moved, 'failed link')} {'waits' if moved == 1 else 'wait'} again")
    elif opts.drop:
        if leased := (await frontier.inspector.state(1, [])).counts.leased:
            raise UsageError(
                f"{amount(leased, 'link')} of {frontier.name} are in flight: stop its workers "
                "first; the leases of killed ones end by themselves"
            )
    else:
        pattern = settings.get("REDIS_START_URLS_KEY") or START_URLS_KEY
        lists = list(dict.fromkeys(seed_list(pattern, spider) for spider in QUEUES))
        if opts.watch is None:
            state = await frontier.inspector.state(opts.top, lists)
            rate = None
            if state.counts.leased and opts.rate:
                await asyncio.sleep(opts.rate)
                totals = await table_of(frontier.inspector, "total")
                rate = (totals.get("done", 0) - state.done) / opts.rate
            if opts.json:
                print_json(_as_data(state, rate))
            else:
                console = table_console()
                console.print(_shown(state, rate, lists, console))
        else:
            await _watch(frontier, lists, opts)


async def _watch(frontier: Frontier, lists: Sequence[str], opts: argparse.Namespace) -> NoReturn:
    """Show a frontier again and again: in place on a terminal, else one look after the other."""
    console = table_console()
    live = console.is_terminal and not opts.json
    looked: tuple[float, int] | None = None
    # at the end the last look stays, whole
    with Live(console=console, auto_refresh=False) if live else nullcontext() as display:
        while True:
            state, now = await frontier.inspector.state(opts.top, lists), time.monotonic()
            rate = (state.done - looked[1]) / (now - looked[0]) if looked else None
            looked = now, state.done
            if opts.json:
                print_json(_as_data(state, rate))
            elif display is not None:
                display.update(_shown(state, rate, lists, console), refresh=True)
            else:
                console.print(_shown(state, rate, lists, console), "")
            sys.stdout.flush()
            await asyncio.sleep(opts.watch)


async def _learned(frontier: Frontier, relevance: str) -> bytes:
    """Return the last saved state of the strategy; of several strategies, of ``relevance``."""
    states = await table_of(frontier.inspector, "state")
    learned: dict[str, bytes] = {
        name.removeprefix(STRATEGY_STATE): state
        for name, state in states.items()
        if name.startswith(STRATEGY_STATE)
    }
    if not learned:
        raise SemcrawlError("nothing was learned in this crawl, or nothing is saved yet")
    if len(learned) == 1:
        return next(iter(learned.values()))
    if relevance not in learned:
        names = ", ".join(sorted(learned))
        raise UsageError(f"choose a strategy by -s SEMCRAWL_RELEVANCE=NAME: {names}")
    return learned[relevance]


def _as_data(state: FrontierState, rate: float | None) -> dict[str, Any]:
    """Return what the command shows as plain data."""
    leases = [
        {
            "url": one.link.entry.url,
            "worker": short_name(one.worker) if one.worker else None,
            "tries": one.link.tries,
            "expires": one.expires,
        }
        for one in state.leases
    ]
    return asdict(replace(state, leases=())) | {"leases": leases, "done_per_second": rate}


def _shown(
    state: FrontierState, rate: float | None, lists: Sequence[str], console: Console
) -> Group:
    """Return what a console shows of a frontier."""
    counts = state.counts
    labels = ", ".join(f"{n:,} {label or '–'}" for label, n in counts.waiting_by_label.items())
    parts: list[RenderableType] = [
        f"waiting  {counts.waiting:,}" + (f"  ({labels})" if labels else "")
    ]
    if counts.seeds:
        parts.append(f"seeds    {counts.seeds:,}  (on {', '.join(lists)})")
    parts += [
        f"leased   {counts.leased:,}",
        f"seen     {counts.seen:,}",
        f"done     {state.done:,}" + ("" if rate is None else f"  ({rate:,.1f} per s)"),
    ]
    for name, number in (
        ("failed", state.failed),
        ("expired", state.expired),
        ("dropped", counts.dropped),
        ("withheld", state.withheld),
        ("left out", state.left_out),
    ):
        if number:
            parts.append(f"{name:8} {number:,}")

    def add_table(title: str, names: str, rows: Iterable[Sequence[str]]) -> None:
        """Add a table whose first two columns are names, and whose others are figures."""
        columns = {name: number > 1 for number, name in enumerate(names.split(", "))}
        parts.append(fitted(aligned(title, columns, rows), console))

    if state.hosts:
        hosts = (
            (
                *(host.host, host.queue, f"{host.waiting:,}", str(host.busy)),
                f"{host.cooling:.1f}" if host.cooling else "now",
            )
            for host in state.hosts
        )
        few = f"{len(state.hosts):,} of " if len(state.hosts) < counts.hosts else ""
        add_table(f"hosts ({few}{counts.hosts:,})", "host, queue, waiting, busy, ready in s", hosts)
    if state.groups:
        groups = (
            (one.group, one.queue, f"{one.value:g}", f"{one.waiting:,}", f"{one.hosts:,}")
            for one in state.groups
        )
        add_table("groups, best first", "group, queue, value, waiting, hosts", groups)
    if state.leases:
        leases = (
            (
                one.link.entry.url,
                short_name(one.worker) if one.worker else "(retry)",
                *(str(one.link.tries), f"{one.expires:.0f}"),
            )
            for one in state.leases
        )
        add_table("leases", "leased, worker, tries, expires in s", leases)
    return Group(*parts)
