"""Servers on loopback that seeds come from, and ``semcrawl seeds`` in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from semcrawl.commands.seeds import Command
from tests.inprocess import exit_status

Answer = Callable[[str, dict[str, list[str]]], "tuple[int, str, bytes]"]


@contextmanager
def web(answer: Answer) -> Iterator[str]:
    """Serve what ``answer`` gives for a path and its query."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            status, kind, body = answer(parts.path, parse_qs(parts.query))
            self.send_response(status)
            self.send_header("Location" if status == 302 else "Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def seeds(capsys, *arguments: object) -> tuple[int, list[str], str]:
    """Run the command; return exit status, seeds, and what it complained of."""
    status = exit_status(Command(), *arguments, "-s", "SEMCRAWL_CRAWL_DELAY=0")
    said = capsys.readouterr()
    lines = said.out.splitlines()
    return status, [line for line in lines if not line.startswith("#")], said.err
