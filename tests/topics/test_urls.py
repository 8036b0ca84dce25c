"""Topics that name URLs: each is fetched once, when the first topic is made of it."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from scrapy.settings import Settings

from semcrawl.commands.explain import Command
from semcrawl.crawl.topicfiles import fetch_topic_files
from semcrawl.errors import UsageError
from semcrawl.relevance.focus import read_focus
from semcrawl.topics import Document, about
from semcrawl.web.vocabulary import Kind
from tests.inprocess import exit_status

ONTOLOGY = b"<http://fish.example/Fish> a <http://www.w3.org/2002/07/owl#Class> ."
FISH = b"<urn:cod> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://fish.example/Fish> ."


class Server(ThreadingHTTPServer):
    """Serves one ontology, and counts."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.path} {self.headers['User-Agent'].partition('/')[0]}")
        found = self.path != "/missing"
        self.send_response(200 if found else 404)
        self.end_headers()
        if found:
            self.wfile.write(b"nothing of the kind" if self.path == "/text" else ONTOLOGY)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def settings(server: Server, path: str, **more: object) -> Settings:
    return Settings(
        {
            "SEMCRAWL_ABOUT": f"ontology:{server.url(path)}",
            "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": True,
            "SEMCRAWL_CRAWL_DELAY": 0,
            **more,
        }
    )


def test_an_ontology_is_fetched_once_whoever_makes_topics_of_it(server):
    given = settings(server, "fish.ttl")
    fetch_topic_files(given)
    for each in (given, given.copy()):
        fetch_topic_files(each)
        each.freeze()
        topic = read_focus(each).topic
    document = Document("http://a.example/", Kind.RDF, statements=lambda: [FISH])
    assert topic.judge(document).relevance == 1
    assert server.asked == ["/fish.ttl semcrawl"]


@pytest.mark.parametrize(
    ("path", "more", "why"),
    [
        ("missing", {}, "status 404"),
        ("text", {}, "cannot be read as RDF"),
        ("fish.ttl", {"SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": False}, "private address"),
        ("fish.ttl", {"DOWNLOAD_MAXSIZE": 20}, "more than 20 bytes"),
    ],
)
def test_what_cannot_be_had_is_one_line_before_the_crawl(server, path, more, why):
    given = settings(server, path, **more)
    fetch_topic_files(given)
    with pytest.raises(UsageError, match=why) as error:
        read_focus(given)
    assert "\n" not in str(error.value)


def test_a_server_that_is_away_is_one_line(server, capsys, tmp_path):
    away = server.url("x").replace("127.0.0.1", "127.0.0.1.invalid")
    page = tmp_path / "page.html"
    page.write_text("<a href=x>x</a>")
    status = exit_status(
        Command(), page, "--about", f"ontology:{away}",
        "-s", "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES=1",
    )  # fmt: skip
    said = capsys.readouterr().err
    assert status == 2
    assert said.count("\n") == 1
    assert "cannot fetch" in said


def test_in_a_notebook_urls_are_refused(server):
    with pytest.raises(UsageError, match="save it"):
        about(f"ontology:{server.url('fish.ttl')}", {})
    assert not server.asked
