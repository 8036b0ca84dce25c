"""``semcrawl demo``: serve the demonstration web, or harvest it."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from pathlib import Path

from semcrawl.commandline import OfflineCommand, signals_call
from semcrawl.errors import UsageError
from semcrawl.lab.demo import DemoServer, DemoWeb, serve

#: Variables that would make requests bypass the demonstration's proxy.
_OTHER_PROXIES = ("no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY", "HTTP_PROXY", "REQUEST_METHOD")

#: The demonstration's own endpoint may be queried, and its servers have a pace each.
_SETTINGS = ("SEMCRAWL_ENDPOINTS=found", "SEMCRAWL_PACE_BY=host")


class Command(OfflineCommand):
    """Serves the demonstration web on loopback; with ``--harvest``, crawls it and stops."""

    passes_options = True
    arguments = "[options] [--harvest [options of harvest]]"
    summary = "Serve a small demonstration web on loopback, or harvest it"
    description = (
        "Serve a generated web of some 300 pages on loopback, as an HTTP proxy for its host "
        "names, and print how to crawl it. With --harvest, run `semcrawl harvest` on it, with "
        "the endpoints that it finds, and stop; options of harvest (--fast, --pages …) may "
        "follow."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add this command's options."""
        super().add_options(parser)
        parser.add_argument(
            "--port",
            type=int,
            default=0,
            metavar="N",
            help="port to listen on (default: a free one)",
        )
        parser.add_argument(
            "--log",
            dest="request_log",
            metavar="FILE",
            help="append one JSON line per request to FILE",
        )
        parser.add_argument(
            "--seed", type=int, default=1, metavar="N", help="seed of the generator (default: 1)"
        )
        parser.add_argument("--harvest", action="store_true", help="harvest the web, then stop")
        parser.add_argument(
            "--out", metavar="DIR", help="job folder of the harvest (default: demo-harvest)"
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse wrong ports, and options of a harvest without ``--harvest``."""
        if not opts.harvest:
            self._refuse_unknown(args)
            if args or opts.out:
                raise UsageError(f"{args[0] if args else '--out'}: only with --harvest")
        if not 0 <= opts.port <= 65535:
            raise UsageError(f"--port must be from 0 to 65535, not {opts.port}")

    def _where_options_are(self) -> str:
        return "options of harvest need --harvest"

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Serve, or harvest and stop."""
        args = [arg for arg in args if arg != "--"]
        try:
            with serve(DemoWeb(opts.seed), port=opts.port, log=opts.request_log) as server:
                if opts.harvest:
                    self.exitcode = _harvest(server, Path(opts.out or "demo-harvest"), args, opts)
                else:
                    _serve_until_stopped(server)
        except OSError as error:
            what = f"write {error.filename}" if error.filename else f"serve on port {opts.port}"
            raise UsageError(f"cannot {what}: {error.strerror}") from None


def _serve_until_stopped(server: DemoServer) -> None:
    stopped = threading.Event()
    with signals_call(stopped.set):
        print(
            f"The demonstration web is served by the HTTP proxy {server.proxy_url}\n"
            "Crawl it from another shell:\n"
            f"  http_proxy={server.proxy_url} semcrawl harvest {DemoWeb.start}\n"
            "Stop with Ctrl-C.",
            flush=True,
        )
        stopped.wait()


def _harvest(server: DemoServer, out: Path, args: list[str], opts: argparse.Namespace) -> int:
    """Run the harvest in a separate process; return its exit status."""
    environment = {k: v for k, v in os.environ.items() if k not in _OTHER_PROXIES}
    environment["http_proxy"] = environment["https_proxy"] = server.proxy_url
    command = [sys.executable, "-m", "semcrawl", "harvest", DemoWeb.start, "--out", str(out)]
    for setting in (*_SETTINGS, *opts.set):
        command += ["-s", setting]
    process = subprocess.Popen([*command, *args], env=environment)  # noqa: S603 - our own program
    # the terminal sends Ctrl-C to the harvest too, which stops by itself
    with (
        signals_call(lambda: None, ("SIGINT",)),
        signals_call(process.terminate, ("SIGTERM",)),
    ):
        return process.wait()
