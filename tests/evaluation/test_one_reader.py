"""Spiders, ``explain`` and the simulator read an answer with one reader, and nothing beside it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from scrapy.settings import Settings

import semcrawl
from semcrawl.commands.explain import ReadDocument, read_for_explanation
from semcrawl.config.options import EndpointOptions, LeadOptions, SitemapRules
from semcrawl.lab.demo import DemoWeb
from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.live import crawl_live
from semcrawl.lab.simulator import simulate
from semcrawl.lab.worlds import REDIRECTS, Answer
from semcrawl.rdf import detect
from semcrawl.reading.answer import Received
from semcrawl.relevance import load_strategy
from semcrawl.sources.negotiation import address_of, as_rdf, is_as_rdf
from semcrawl.web.urls import resolve
from semcrawl.web.vocabulary import RDF_FIRST, FoundBy
from tests.evaluation.test_live import hold_against_each_other
from tests.evaluation.test_recording import RecordedWorld, record

ROOT = Path(semcrawl.__file__).parent
#: what reads a document, and who may call it: the reader and its parts
READERS = {"read_embedded", "extract_links", "read_page", "read_rows", "catalogue_places"}
HOMES = ("reading", "rdf", "links", "sources")
#: they read lists of seeds, and measure what markup has, which no crawl does
BESIDE = ("commands/_seedsources.py", "lab/imagefigures.py")
HTML, TURTLE, PDF = ({"Content-Type": t} for t in ("text/html", "text/turtle", "application/pdf"))
A = "http://a.example"
#: a site with what spiders, ``explain`` and the simulator once read each in their own way
SITE = [
    (f"{A}/", 200, HTML, b"<a href=shy>1</a> <a href=told>2</a> <a href=file>3</a>"
     b"<a href=moved>4</a> <a href=half>5</a> <a href=map>6</a>"),
    (f"{A}/shy", 200, HTML, b"<meta name=robots content=nofollow><a href=hidden.ttl>x</a>"),
    (f"{A}/told", 200, HTML | {"X-Robots-Tag": "nofollow"}, b"<a href=hidden.ttl>x</a>"),
    (f"{A}/file", 200, PDF | {"Link": "<meta.ttl>; rel=describedby; type=text/turtle",
                              "Refresh": "5; url=/next"}, b"%PDF-1.4"),
    (f"{A}/moved", 200, HTML | {"Refresh": "0; url=/new"}, b"<p>It has moved."),
    (f"{A}/half", 203, HTML, b"<a href=transformed.ttl>x</a>"),
    (f"{A}/map", 200, {"Content-Type": "application/xml"},
     b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
     b"<url><loc>http://a.example/listed.ttl</loc></url></urlset>"),
    *((f"{A}/{name}", 200, HTML, b"<p>" + name.encode()) for name in ("next", "new")),
    *((f"{A}/{name}.ttl", 200, TURTLE, f"<urn:{name}> a <urn:x> .".encode())
      for name in ("hidden", "meta", "transformed", "listed")),
]  # fmt: skip


def test_only_the_reader_calls_what_reads_documents() -> None:
    found = set()
    for path in ROOT.rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text("utf-8")
        if name.startswith(HOMES) or name in BESIDE or not any(each in text for each in READERS):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                called = node.func.id if isinstance(node.func, ast.Name) else called
                if called in READERS and "reader" not in ast.unparse(node.func):
                    found.add((name, called))
    assert not found


async def explained(got: Received, **changed: object) -> ReadDocument:
    settings = Settings()
    settings.setmodule("semcrawl.settings")
    settings.setdict({"SEMCRAWL_READ_PROCESSES": 0, **changed})
    return await read_for_explanation(settings, got)


def whole_graph(world: object) -> LinkGraph:
    leads = LeadOptions()
    return LinkGraph(world, 10_000, sitemaps=SitemapRules(), leads=leads, follow_rdf=True)


@pytest.fixture
def site(tmp_path: Path) -> LinkGraph:
    pytest.importorskip("warcio")
    record(tmp_path / "x.warc", SITE)
    return whole_graph(RecordedWorld.load([tmp_path / "x.warc"]))


@pytest.mark.parametrize("name", [url for url, *_ in SITE if not url.endswith((".ttl", "x"))])
async def test_explain_and_the_simulator_find_the_same_links(name: str, site: LinkGraph) -> None:
    node = site.look(name)
    if not node.links and name not in (f"{A}/shy", f"{A}/told"):
        return
    document = await explained(site._reader.received(name, name))
    assert [link.url for link in document.links] == [link.url for link in node.links]
    assert document.nofollow == (name in (f"{A}/shy", f"{A}/told"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [("SEMCRAWL_SITEMAPS", "auto"), ("SEMCRAWL_ROBOTS_TAGS", ""), ("SEMCRAWL_SIGNPOSTING", 0)],
)
def test_the_spiders_and_the_simulator_ask_for_the_same(
    name: str, value: object, tmp_path: Path
) -> None:
    pytest.importorskip("warcio")
    record(tmp_path / "x.warc", SITE)
    world = RecordedWorld.load([tmp_path / "x.warc"])
    graph = whole_graph(world)
    if name == "SEMCRAWL_ROBOTS_TAGS":
        graph = LinkGraph(
            world, 10_000, sitemaps=SitemapRules(), leads=LeadOptions(), follow_rdf=True,
            robots_tags=graph.robots_tags.parse((), "semcrawl"),
        )  # fmt: skip
    elif name == "SEMCRAWL_SIGNPOSTING":
        leads = LeadOptions(signposts=False)
        graph = LinkGraph(world, 10_000, sitemaps=SitemapRules(), leads=leads, follow_rdf=True)
    hold_against_each_other(graph, "breadth-first", 100)
    asked = {url for url, node in graph._nodes.items() if node.answer.status < 400}
    hidden = f"{A}/hidden.ttl"
    assert (hidden in asked) == (name == "SEMCRAWL_ROBOTS_TAGS")
    assert (f"{A}/meta.ttl" in asked) == (name != "SEMCRAWL_SIGNPOSTING")
    assert {f"{A}/next", f"{A}/new", f"{A}/transformed.ttl", f"{A}/listed.ttl"} <= asked


@dataclass
class DemoWorld:
    """The demonstration web as a world."""

    name: str = "demo"

    @cached_property
    def web(self) -> DemoWeb:
        return DemoWeb()

    @property
    def hosts(self) -> frozenset[str]:
        return self.web.hosts

    @property
    def starts(self) -> tuple[str, ...]:
        return (self.web.start,)

    def _answer(self, name: str, accept: str = ""):
        parts = urlsplit(address_of(name))
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        accept = accept or (RDF_FIRST if is_as_rdf(name) else "text/html")
        return self.web.answer(parts.netloc, path, {"accept": accept})

    def form_of(self, url: str, *, rdf_first: bool) -> str:
        other = rdf_first and self._answer(url) != self._answer(as_rdf(url))
        return as_rdf(url) if other else url

    def fetch(self, url: str) -> Answer:
        answer, address = self._answer(url), address_of(url)
        media = answer.header("Content-Type")
        if answer.status in REDIRECTS:
            location = resolve(address, answer.header("Location")) or ""
            return Answer(answer.status, media, location=location, headers=answer.headers)
        kind = detect(answer.body, media, address).kind if answer.status == 200 else None
        headers = tuple((n, v) for n, v in answer.headers if n in ("Link", "Vary", "Refresh"))
        return Answer(answer.status, media, kind, document=url, headers=headers)

    def body(self, url: str) -> bytes:
        return self._answer(url).body

    def robots(self, host: str) -> str:
        answer = self._answer(f"http://{host}/robots.txt")
        return answer.body.decode() if answer.status == 200 else ""


async def test_explain_and_the_simulator_find_the_same_links_in_the_demonstration_web() -> None:
    world = DemoWorld()
    graph = whole_graph(world)
    graph.endpoints = EndpointOptions(allowed="never")
    pages = [r.url for r in world.web if re.search(r"//(?:archive|catalogue|data)\.", r.url)]
    looked = 0
    for url in sorted(pages)[::4]:
        node = graph.look(url)
        links = node.with_catalogue or node.links
        if not node.answer.is_success or not links or node.shelves:
            continue
        document = await explained(graph._reader.received(url, url))
        shown = [
            link.url for link in document.links
            if graph.inside(link.url) and link.found_by is not FoundBy.NEGOTIATION
        ]  # fmt: skip
        assert shown == [link.url for link in links], url
        looked += 1
    assert looked > 10


@pytest.mark.slow
def test_the_spiders_and_the_simulator_ask_for_the_same_in_the_demonstration_web() -> None:
    """In another order: while one host has to wait, a crawl asks the others."""
    graph = whole_graph(DemoWorld())
    live = crawl_live(graph, "breadth-first", 1000)
    offline = simulate(graph, load_strategy("breadth-first", {}), 1000)
    assert offline.error == ""
    assert set(live.order) == set(offline.order)
    assert live.found == offline.found
