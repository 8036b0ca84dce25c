"""Seeds from the indexes of web archives, one like pywb's and one like Common Crawl's."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sources.seedweb import seeds
from tests.loopback import web

CAPTURES = [
    ("http://a.example/data.ttl", "text/turtle", "200"),
    ("http://a.example/data.ttl", "text/turtle", "200"),
    ("http://a.example/page", "text/html", "200"),
    ("http://a.example/all.nt.gz", "application/gzip", "200"),
    ("http://a.example/gone.ttl", "text/turtle", "404"),
]


def cdx(path: str, query: dict[str, list[str]]) -> tuple[int, str, bytes]:
    """A CDX server as pywb's: JSON lines, filters by field, regular expressions behind ``~``."""
    if int(query.get("page", ["0"])[0]) > 0:
        return 400, "application/json", b'{"error": "no such page"}'
    lines = []
    for url, mime, status in CAPTURES:
        fields = {"url": url, "mime": mime, "status": status, "timestamp": "20240102030405"}
        for each in query.get("filter", []):
            name, _, wanted = each.lstrip("=~").partition(":")
            holds = re.search(wanted, fields[name]) if each[0] == "~" else fields[name] == wanted
            if not holds:
                break
        else:
            lines.append(json.dumps(fields))
    return 200, "application/x-ndjson", ("\n".join(lines) + "\n" if lines else "").encode()


@pytest.fixture
def set_pace(monkeypatch, tmp_path: Path) -> Callable[[float], None]:
    """Set the seconds between the package's requests to loopback.

    Its list of indexes, which it keeps at home for a day, is the test's own.
    """
    requests = pytest.importorskip("cdx_toolkit.myrequests")
    monkeypatch.setenv("HOME", str(tmp_path))

    def set_it(seconds: float) -> None:
        pace = {"next_fetch": 0, "minimum_interval": seconds}
        monkeypatch.setitem(requests.retry_info, "127.0.0.1", pace)

    return set_it


@pytest.mark.slow
def test_captures_of_an_archive_are_seeds_by_type_and_by_extension(capsys, monkeypatch) -> None:
    pytest.importorskip("cdx_toolkit")
    with web(cdx) as base:
        index = ("--index", f"{base}/cdx")
        all_rdf = seeds(capsys, "archive", "a.example/*", *index)
        pages = seeds(capsys, "archive", "a.example/*", *index, "--type", "text/html")
        turtle = seeds(capsys, "archive", "a.example/*", *index, "--extension", ".ttl")
    assert all_rdf[:2] == (0, ["http://a.example/data.ttl", "http://a.example/all.nt.gz"])
    assert pages[1] == ["http://a.example/page"]
    assert turtle[1] == ["http://a.example/data.ttl"]


class CommonCrawl:
    """An index server as Common Crawl's: a list of indexes, paged, JSON lines, filters after pages.

    Two captures make a page. A page where the filters leave nothing is a 404, one behind the last a
    400, each with a message.
    """

    def __init__(self) -> None:
        self.base = ""
        #: index and page of each query
        self.asked: list[tuple[str, int]] = []
        old = [
            f"CC-MAIN-{year}-{week:02}" for year in range(2014, 2024) for week in range(4, 50, 7)
        ]
        self.names = ["CC-MAIN-2025-18", "CC-MAIN-2025-05", *reversed(old)]
        html = [(f"http://a.example/page/{n}", "text/html", "200") for n in range(6)]
        self.captures = {"CC-MAIN-2025-18": [*html, *CAPTURES], "CC-MAIN-2025-05": CAPTURES[3:4]}

    def __call__(self, path: str, query: dict[str, list[str]]) -> tuple[int, str, bytes]:
        if path == "/collinfo.json":
            return 200, "application/json", json.dumps([*map(self.info, self.names)]).encode()
        name, page = path[1:].removesuffix("-index"), int(query["page"][0])
        assert query["output"] == ["json"]
        assert query["url"] == ["a.example/*"]
        self.asked.append((name, page))
        captures = self.captures.get(name, [])
        last = self.pages(name) - 1
        if page > last:
            message = f"Page {page} invalid: First Page is 0, Last Page is {last}"
            return 400, "text/x-cdxj", json.dumps({"message": message}).encode()
        rows = [
            {
                "urlkey": "example,a)/" + url[17:],
                "timestamp": "20250102030405",
                "url": url,
                "mime": mime,
                "mime-detected": mime,
                "status": status,
                "digest": "QE4UUUWUJWEZBBK6PUG3CHFAGEKDMDBZ",
                "length": "2526",
                "offset": "53235662",
                "filename": f"crawl-data/{name}/segments/1/warc/{name}-00159.warc.gz",
            }
            for url, mime, status in captures[2 * page : 2 * page + 2]
        ]
        lines = [json.dumps(row) for row in rows if self.holds(row, query["filter"])]
        if not lines:
            message = {"message": "No Captures found for: a.example/*"}
            return 404, "text/x-cdxj", json.dumps(message).encode()
        lines = lines[: int(query["limit"][0])]
        return 200, "text/x-cdxj", ("\n".join(lines) + "\n").encode()

    def pages(self, name: str) -> int:
        return max(1, (len(self.captures.get(name, [])) + 1) // 2)

    def info(self, name: str) -> dict[str, str]:
        return {
            "id": name,
            "name": f"{name[8:]} Index",
            "timegate": f"{self.base}/{name}/",
            "cdx-api": f"{self.base}/{name}-index",
        }

    @staticmethod
    def holds(row: dict[str, str], filters: list[str]) -> bool:
        for each in filters:
            name, _, wanted = each.lstrip("=~").partition(":")
            value = row[name]
            if not (re.fullmatch(wanted, value) if each[0] == "~" else value == wanted):
                return False
        return True


@pytest.mark.slow
def test_common_crawl_is_asked_index_by_index_and_page_by_page(capsys, set_pace) -> None:
    """Of its many indexes the newest; pages without a capture that holds are passed."""
    set_pace(0)
    index = CommonCrawl()
    with web(index) as index.base:
        mirror = ("--index", f"{index.base}/collinfo.json")
        all_rdf = seeds(capsys, "archive", "a.example/*", *mirror)
        asked, index.asked = index.asked, []
        three = ("--type", "text/html", "--limit", "3")
        first = seeds(capsys, "archive", "a.example/*", *mirror, *three)
        assert index.asked == [("CC-MAIN-2025-18", 0), ("CC-MAIN-2025-18", 1)]
        index.asked = []
        newest = seeds(capsys, "archive", "a.example/*", *mirror, "--crawls", "1")
    assert all_rdf[:2] == (0, ["http://a.example/data.ttl", "http://a.example/all.nt.gz"])
    # (each is asked until there is no further page; by media types, and by extensions)
    in_order = [(name, page) for name in index.names[:12] for page in range(index.pages(name) + 1)]
    assert asked == in_order * 2
    assert first[1] == [f"http://a.example/page/{n}" for n in range(3)]
    assert newest[1] == all_rdf[1]
    assert {name for name, _ in index.asked} == {"CC-MAIN-2025-18"}


@pytest.mark.slow
def test_pages_without_a_find_are_no_silence(capsys, set_pace) -> None:
    """An index is given up when it gives no page, not when its pages give no capture."""
    set_pace(0.3)

    def barren(path: str, query: dict[str, list[str]]) -> tuple[int, str, bytes]:
        if int(query["page"][0]) > 5:
            return 400, "text/x-cdxj", b'{"message": "Page 6 invalid"}'
        return 404, "text/x-cdxj", b'{"message": "No Captures found for: a.example/*"}'

    with web(barren) as base:
        found = seeds(
            capsys,
            *("archive", "a.example/*", "--index", f"{base}/cdx", "--type", "text/turtle"),
            *("-s", "DOWNLOAD_TIMEOUT=1"),
        )
    assert "nothing was found" in found[2]


@pytest.mark.slow
def test_an_index_whose_pages_stay_empty_is_given_up(capsys, monkeypatch, set_pace) -> None:
    """What it gave before is kept, and said to be."""
    set_pace(0)
    monkeypatch.setattr("semcrawl.commands._seedsources._MOST_EMPTY_PAGES", 5)
    monkeypatch.setattr("semcrawl.commands._seedsources._TOLD_EVERY", 4)
    first = json.dumps({"url": "http://a.example/x.ttl", "mime": "text/turtle"}).encode()
    has_first = False

    def endless(path: str, query: dict[str, list[str]]) -> tuple[int, str, bytes]:
        if has_first and query["page"] == ["0"]:
            return 200, "text/x-cdxj", first
        return 404, "text/x-cdxj", b'{"message": "No Captures found for: a.example/*"}'

    with web(endless) as base:
        command = ("archive", "a.example/*", "--index", f"{base}/cdx", "--type", "text/turtle")
        empty = seeds(capsys, *command)
        has_first = True
        some = seeds(capsys, *command)
    assert empty[:2] == (1, [])
    assert "4 pages without a capture so far" in empty[2]
    assert "gave 5 pages without a capture" in empty[2]
    assert some[:2] == (0, ["http://a.example/x.ttl"])
    assert "what it gave before is kept" in some[2]


@pytest.mark.slow
def test_an_index_that_is_given_up_is_not_asked_again(capsys, set_pace) -> None:
    """The package alone would repeat its requests for hours."""
    set_pace(0.05)
    before = threading.enumerate()
    with web(lambda path, query: (503, "text/plain", b"later")) as base:
        command = ("archive", "a.example/*", "--index", f"{base}/cdx", "--type", "text/turtle")
        status, _, said = seeds(capsys, *command, "-s", "DOWNLOAD_TIMEOUT=1")
        for thread in threading.enumerate():
            if thread.name == "semcrawl-archive" and thread not in before:
                thread.join(30)
                assert not thread.is_alive()
    assert status == 1
    assert "gave no answer in 1 seconds" in said


@pytest.mark.slow
def test_an_index_that_does_not_answer_is_one_clear_line(capsys) -> None:
    pytest.importorskip("cdx_toolkit")
    status, _, said = seeds(
        capsys,
        *("archive", "a.example/*", "--index", "http://127.0.0.1:9/cdx"),
    )
    assert status == 1
    assert said.count("\n") == 1
    assert "http://127.0.0.1:9/cdx cannot be read: cannot connect to 127.0.0.1:9" in said


@pytest.mark.slow
def test_an_endless_answer_of_an_index_is_ended_at_the_largest_size(capsys) -> None:
    """And told in one line, whatever memory the package would have filled."""
    pytest.importorskip("cdx_toolkit")

    def endless() -> Iterator[bytes]:
        while True:
            yield b'{"url": "http://a.example/"}\n' * 1000

    with streaming(endless) as base:
        status, _, said = seeds(
            capsys,
            *("archive", "a.example/*", "--index", f"{base}/cdx"),
            *("-s", "DOWNLOAD_MAXSIZE=1000000"),
        )
    assert status == 1
    assert said.count("\n") == 1
    assert "an answer of more than 1,000,000 bytes" in said


@contextmanager
def streaming(pieces: Callable[[], Iterator[bytes]]) -> Iterator[str]:
    """A server that sends pieces to each that asks, as long as they are read."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                for piece in pieces():
                    self.wfile.write(piece)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
