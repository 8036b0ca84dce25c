"""Sites over TLS: their certificates may be anything, and connections are kept."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from certificate import certify

from harvest.runs import harvest

PAGES = 40


class Pages(BaseHTTPRequestHandler):
    """A start page that links to all others; counts the connections."""

    protocol_version = "HTTP/1.1"
    connections = 0

    def setup(self) -> None:
        super().setup()
        type(self).connections += 1

    def do_GET(self) -> None:
        found = self.path != "/robots.txt"
        links = "".join(f'<a href="/{n}">page {n}</a> ' for n in range(PAGES))
        body = links.encode() if self.path == "/" else b"a page"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Be silent."""


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certify(folder))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_pages_over_tls_come_through_few_connections(tmp_path: Path) -> None:
    with serving(tmp_path) as port:
        run = harvest(
            f"https://127.0.0.1:{port}/",
            "--fast",
            "-s",
            "CONCURRENT_REQUESTS=4",
            "-s",
            "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES=True",
            folder=tmp_path / "out",
        )
    fetched = [r["url"] for r in run.records if r["outcome"] == "fetched-html"]
    assert len(fetched) == 1 + PAGES
    assert Pages.connections <= 4 + 1  # robots.txt may have one of its own
