"""The heartbeat of a crawl, against a server that answers, or does not."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from semcrawl.heartbeats import Heartbeat, read_heartbeats, report
from tests.waiting import until

from .runs import Started, start_harvest

pytestmark = pytest.mark.slow


class Site(ThreadingHTTPServer):
    """A site whose first page answers, and whose second does when it is told to."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.base = f"http://127.0.0.1:{self.server_port}"
        self.asked = threading.Event()
        self.answers = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        if self.path == "/slow":
            self.server.asked.set()
            self.server.answers.wait(60)
        body = b"<html><a href='/slow'>slow</a></html>"
        self.send_response(200 if self.path in ("/", "/slow") else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[Site]:
    server = Site()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.answers.set()
    server.shutdown()
    server.server_close()


def begin(site: Site, folder: Path, beats: object) -> Started:
    settings = ("SEMCRAWL_CRAWL_DELAY=0", f"SEMCRAWL_HEARTBEATS={beats}")
    settings += ("SEMCRAWL_HEARTBEAT_PATIENCE=100",)
    options = [part for setting in settings for part in ("-s", setting)]
    options += ["bound:crawl.liveness:LivenessOptions.interval=0.05"]
    return start_harvest(f"{site.base}/", *options, folder=folder)


def test_a_crawl_whose_links_never_come_back_makes_no_progress(site: Site, tmp_path: Path) -> None:
    """While a link is in flight that does not end the heart stands still; then it beats again."""
    beats = tmp_path / "beats"
    run = begin(site, tmp_path / "out", beats)
    assert site.asked.wait(60)

    def last() -> Heartbeat | None:
        return next(read_heartbeats(beats), None) if beats.exists() else None

    def stands() -> bool:
        before, file = last(), next(beats.glob("*.json"))
        written = file.stat().st_mtime_ns
        until(lambda: file.stat().st_mtime_ns > written)
        return before is not None and before == last() and "1 link in flight" in before.doing

    until(stands)
    stuck = last()
    assert stuck is not None
    assert stuck.pid == run.process.pid
    assert report(beats, stuck.progressed + 101)[0] is False
    assert report(beats, stuck.progressed + 99)[0] is True
    site.answers.set()
    over = run.wait()
    assert over.status == 0
    # the crawl is over: it keeps none
    assert list(beats.iterdir()) == []


def test_a_folder_that_cannot_be_written_costs_a_line_and_no_crawl(
    site: Site, tmp_path: Path
) -> None:
    site.answers.set()
    (tmp_path / "file").write_text("")
    run = begin(site, tmp_path / "out", tmp_path / "file" / "beats").wait()
    assert run.status == 0
    run.is_calm()
    log = (tmp_path / "out" / "crawl.log").read_text()
    assert log.count("no heartbeat is kept: cannot write ") == 1
    assert run.outcomes()[f"{site.base}/slow"] == ["fetched-html"]
