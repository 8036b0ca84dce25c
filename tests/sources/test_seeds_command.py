"""``semcrawl seeds``, against servers on loopback."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from harvest.runs import harvest

from semcrawl.commands.seeds import Command
from semcrawl.demo import DemoWeb, serve
from semcrawl.spiders.seeds import read_seeds
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


@pytest.mark.slow
def test_hubs_of_an_earlier_job_come_first(tmp_path: Path, capsys) -> None:
    demo = DemoWeb()
    with serve(demo) as server:
        run = harvest(
            *(demo.start, "--fast", "-q", "--pages", "150"),
            folder=tmp_path / "job",
            proxy=server.proxy_url,
        )
    status, found, _ = seeds(capsys, "job", run.folder)
    assert status == 0
    led = {r["parent_url"] for r in run.records if r["outcome"] == "fetched-rdf"}
    assert led & set(found[:10])
    assert len(found) == len(set(found)) > 3
    file = tmp_path / "seeds.txt"
    assert exit_status(Command(), "job", run.folder, "-o", file) == 0
    assert read_seeds(f"@{file}") == found
    worth = [float(w) for w in re.findall(r"^# (0\.\d\d) documents per", file.read_text(), re.M)]
    assert worth == sorted(worth, reverse=True)
    assert len(worth) == len(found)


def test_a_folder_without_a_job_is_told(tmp_path: Path, capsys) -> None:
    status, _, said = seeds(capsys, "job", tmp_path)
    assert status == 2
    assert "holds no crawl.db" in said


def test_sitemaps_of_a_host_are_followed_and_data_sets_come_first(capsys) -> None:
    base = ""

    def answer(path: str, query: object) -> tuple[int, str, bytes]:
        urlset = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        if path == "/robots.txt":
            return 200, "text/plain", f"Sitemap: {base}/index.xml\nSitemap: /gone.xml".encode()
        if path == "/index.xml":
            body = f"<sitemapindex {urlset}><sitemap><loc>{base}/one.xml</loc></sitemap>"
            body += f"<sitemap><loc>{base}/index.xml</loc></sitemap></sitemapindex>"
            return 200, "text/xml", body.encode()
        if path == "/one.xml":
            semantic = 'xmlns:sc="http://sw.deri.org/2007/07/sitemapextension/scschema.xsd"'
            body = f"<urlset {urlset} {semantic}><url><loc>{base}/a</loc></url>"
            body += f"<url><loc>{base}/b</loc><priority>0.9</priority></url>"
            body += f"<sc:dataset><sc:dataDumpLocation>{base}/dump.nt.gz</sc:dataDumpLocation>"
            body += (
                f"<sc:sparqlEndpointLocation>{base}/sparql</sc:sparqlEndpointLocation></sc:dataset>"
            )
            return 200, "text/xml", (body + "</urlset>").encode()
        return 404, "text/plain", b""

    with web(answer) as url:
        base = url
        status, found, said = seeds(capsys, "sitemap", base)
    assert status == 0
    assert found == [f"{base}/dump.nt.gz", f"sparql+{base}/sparql", f"{base}/b", f"{base}/a"]
    assert said.count("\n") == 1
    assert "/gone.xml: status 404" in said


def test_redirects_to_private_addresses_are_refused(capsys) -> None:
    def answer(path: str, query: object) -> tuple[int, str, bytes]:
        return 302, "http://127.0.0.2:9/secret", b""

    with web(answer) as base:
        status, _, said = seeds(capsys, "list", f"{base}/list.txt")
    assert status == 1
    assert "private address" in said


def test_lists_in_files_and_behind_addresses_are_read_whatever_their_form(
    tmp_path: Path, capsys
) -> None:
    (tmp_path / "plain.txt").write_text("http://a.example/\nftp://no.example/\n")
    turtle = (
        b"<> <http://www.w3.org/ns/dcat#downloadURL> <http://b.example/data.nt> ;"
        b" <http://rdfs.org/ns/void#sparqlEndpoint> <http://b.example/sparql> ."
    )

    def answer(path: str, query: object) -> tuple[int, str, bytes]:
        if path == "/catalogue":
            return 200, "text/turtle", turtle
        return 200, "application/json", b'{"no": "list"}'

    with web(answer) as base:
        status, found, said = seeds(
            capsys, "list", tmp_path / "plain.txt", f"{base}/catalogue", f"{base}/other"
        )
    assert status == 0
    assert found == [
        "http://a.example/",
        "http://b.example/data.nt",
        "sparql+http://b.example/sparql",
    ]
    assert said.count("\n") == 1
    assert "/other: it is neither LOV" in said


def searx(path: str, query: dict[str, list[str]]) -> tuple[int, str, bytes]:
    """SearXNG's JSON: ten results a page, three pages."""
    if path == "/searx/search" and query.get("format") == ["json"]:
        page = int(query["pageno"][0])
        words = query["q"][0].replace(" ", "-")
        results = [
            {"url": f"http://r.example/{words}/{page}-{n}", "title": f"Result {n}", "score": 1.0}
            for n in range(10 if page <= 3 else 0)
        ]
        return 200, "application/json", json.dumps({"query": words, "results": results}).encode()
    if path == "/opensearch.xml":
        body = (
            '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
            '<Url type="application/atom+xml" template="/atom?q={searchTerms}&amp;p={startPage?}"/>'
            "</OpenSearchDescription>"
        )
        return 200, "application/opensearchdescription+xml", body.encode()
    if path == "/atom":
        page = query["p"][0]
        entries = "".join(
            f'<entry><title>E</title><link href="http://e.example/{page}/{n}"/></entry>'
            for n in range(3 if page in "12" else 0)
        )
        body = f'<feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>'
        return 200, "application/atom+xml", body.encode()
    return 404, "text/html", b"<html>"


def test_the_first_results_of_a_search_are_seeds(capsys) -> None:
    with web(searx) as base:
        found = seeds(capsys, "search", "sorting", "algorithms", "--engine", f"{base}/searx")
        fewer = seeds(capsys, "search", "x", "--engine", f"{base}/searx/search", "--limit", "12")
        atom = seeds(capsys, "search", "x", "--engine", f"{base}/opensearch.xml")
        wrong = seeds(capsys, "search", "x", "--engine", f"{base}/nothing")
    assert found[0] == 0
    assert len(found[1]) == 30
    assert found[1][:1] == ["http://r.example/sorting-algorithms/1-0"]
    assert len(fewer[1]) == 12
    assert atom[1] == [f"http://e.example/{page}/{n}" for page in (1, 2) for n in range(3)]
    assert wrong[0] == 1
    assert "status 404" in wrong[2]


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
def test_common_crawl_is_asked_index_by_index_and_page_by_page(
    capsys, monkeypatch, tmp_path: Path
) -> None:
    """Of its many indexes the newest; pages without a capture that holds are passed."""
    requests = pytest.importorskip("cdx_toolkit.myrequests")
    monkeypatch.setenv("HOME", str(tmp_path))  # (the list is kept there for a day)
    at_once = {"next_fetch": 0, "minimum_interval": 0}
    monkeypatch.setitem(requests.retry_info, "127.0.0.1", at_once)
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
def test_pages_without_a_find_are_no_silence(capsys, monkeypatch, tmp_path: Path) -> None:
    """An index is given up when it gives no page, not when its pages give no capture."""
    requests = pytest.importorskip("cdx_toolkit.myrequests")
    monkeypatch.setenv("HOME", str(tmp_path))
    each = {"next_fetch": 0, "minimum_interval": 0.3}
    monkeypatch.setitem(requests.retry_info, "127.0.0.1", each)

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
def test_an_index_that_does_not_answer_is_one_clear_line(capsys) -> None:
    pytest.importorskip("cdx_toolkit")
    status, _, said = seeds(
        capsys,
        *("archive", "a.example/*", "--index", "http://127.0.0.1:9/cdx"),
        *("-s", "DOWNLOAD_TIMEOUT=2"),
    )
    assert status == 1
    assert said.count("\n") == 1
    assert "http://127.0.0.1:9/cdx" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name a source"),
        (["nonsense", "x"], "name a source"),
        (["job"], "needs DIR"),
        (["search", "x"], "--engine"),
        (["archive", "x", "--index", "nowhere"], "--index"),
        (["list", "x", "--limit", "0"], "--limit"),
        (["archive", "x", "--crawls", "0"], "--crawls"),
        (["list", "missing.txt"], "cannot read missing.txt"),
    ],
)
def test_wrong_command_lines_are_one_clear_line(capsys, arguments, words) -> None:
    status, _, said = seeds(capsys, *arguments)
    assert status == 2
    assert said.count("\n") == 1
    assert words in said


def test_the_pages_of_a_catalogue_are_followed(capsys) -> None:
    packages = [
        {"resources": [{"url": f"http://d.example/{n}.ttl", "name": f"R{n}"}]} for n in "12"
    ]

    def answer(path: str, query: dict[str, list[str]]) -> tuple[int, str, bytes]:
        start = int(query.get("start", ["0"])[0])
        found = {"count": 2, "results": packages[start : start + 1]}
        return 200, "application/json", json.dumps({"success": True, "result": found}).encode()

    with web(answer) as base:
        status, found, said = seeds(capsys, "list", f"{base}/api/3/action/package_search?rows=1")
    assert (status, said) == (0, "")
    assert found == ["http://d.example/1.ttl", "http://d.example/2.ttl"]
