"""The demonstration web is what its manifest says, and everything in it can be reached."""

from __future__ import annotations

import gzip
from collections import deque
from urllib.parse import quote, urldefrag, urljoin, urlsplit

import lxml.html
import pyoxigraph as ox
import pytest

from semcrawl.lab.demo import DemoWeb, ResourceKind, Response, demo_web
from semcrawl.lab.demo.web import negotiate

LOG = "http://vocab.demo.example/ns/Log"
RDF_FIRST = "text/turtle, application/rdf+xml;q=0.9, text/html;q=0.5, */*;q=0.1"


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return demo_web()


def fetch(web: DemoWeb, url: str, accept: str = RDF_FIRST) -> Response:
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return web.answer(parts.netloc, path, {"accept": accept})


def quads_of(web: DemoWeb, url: str) -> set[ox.Quad]:
    response = fetch(web, url)
    body = response.body
    if body.startswith(b"\x1f\x8b"):
        body = gzip.decompress(body)
    for form in candidates(response, url):
        try:
            return set(ox.parse(body, format=form, base_iri=url))
        except SyntaxError:
            continue
    raise AssertionError(f"nothing parses {url}")


def candidates(response: Response, url: str) -> list[ox.RdfFormat]:
    by_type = ox.RdfFormat.from_media_type(response.header("content-type").partition(";")[0])
    path = urlsplit(url).path.removesuffix(".gz")
    by_name = ox.RdfFormat.from_extension(path.rpartition(".")[2])
    return [form for form in (by_type, by_name, ox.RdfFormat.RDF_XML) if form]


def crawl(web: DemoWeb) -> set[str]:
    """Every URL of the web that any link, of HTML, of a header or of RDF, leads to."""
    seen, queue = {web.start}, deque([web.start])
    closed = web.manifest().disallowed
    while queue:
        url = queue.popleft()
        if url in closed:
            continue
        response = fetch(web, url)
        for target in links(web, url, response):
            target = urldefrag(urljoin(url, target)).url
            if urlsplit(target).netloc in web.hosts and target not in seen:
                seen.add(target)
                queue.append(target)
    return seen


def links(web: DemoWeb, url: str, response: Response) -> list[str]:
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    resource = web.find(parts.netloc, path)
    found = [response.header("location")] if response.status in range(300, 400) else []
    if header := response.header("link"):
        found.append(header[1 : header.index(">")])
    if resource is None or response.status != 200:
        return found
    if resource.kind is ResourceKind.HTML:
        page = lxml.html.document_fromstring(response.body)
        found += page.xpath("//@href | //frame/@src | //iframe/@src | //img/@src")
        found += [v.partition("URL=")[2] for v in page.xpath("//meta[@http-equiv]/@content")]
        found = [link for link in found if "[" not in link]
    elif resource.kind is ResourceKind.RDF:
        for quad in quads_of(web, url):
            found += [t.value for t in (quad.subject, quad.object) if isinstance(t, ox.NamedNode)]
    return found


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    first, again, other = demo_web(3), demo_web(3), demo_web(4)
    assert list(first) == list(again)
    assert {r.url: r for r in first} != {r.url: r for r in other}


def test_it_has_some_three_hundred_pages_on_several_hosts(web: DemoWeb) -> None:
    manifest = web.manifest()
    assert 250 <= len(manifest.documents) + len(manifest.pages) <= 350
    assert len(web.hosts) >= 5


def test_every_document_holds_the_quads_that_the_manifest_names(web: DemoWeb) -> None:
    documents = web.manifest().documents
    assert {url: len(quads_of(web, url)) for url in documents} == documents


def test_every_document_and_page_is_reached_by_links_from_the_start(web: DemoWeb) -> None:
    manifest, reached = web.manifest(), crawl(web)
    announced = set[str]().union(*manifest.announced.values())
    assert set(manifest.documents) - announced <= reached
    assert not announced & reached
    assert manifest.pages - announced <= reached
    assert set(manifest.dead) <= reached
    assert manifest.redirects <= reached
    assert manifest.outside <= reached
    assert reached & manifest.disallowed


def test_no_link_leads_nowhere_unless_the_manifest_calls_it_dead(web: DemoWeb) -> None:
    dead = set(web.manifest().dead)
    # pictures do not exist, and nobody should ask for them
    broken = {url for url in crawl(web) if fetch(web, url).status >= 400 and url[-4:] != ".jpg"}
    assert broken == dead


def test_a_term_is_redirected_by_what_the_client_accepts(web: DemoWeb) -> None:
    url = "http://vocab.demo.example/ns/Sighting"
    page, data = fetch(web, url, "text/html,*/*;q=0.1"), fetch(web, url, "text/turtle")
    assert (page.status, data.status) == (303, 303)
    assert page.header("Location").endswith("/doc/Sighting.html")
    assert data.header("Location").endswith("/data/Sighting.ttl")


def test_rdf_comes_untyped_by_name_and_mistyped_by_header(web: DemoWeb) -> None:
    documents = web.manifest().documents
    assert any("." not in urlsplit(url).path.rpartition("/")[2] for url in documents)
    types = {fetch(web, url).header("content-type") for url in documents}
    assert {"application/xml", "text/plain", "application/gzip", "application/json"} <= types


def test_robots_close_a_part_and_ask_for_a_delay(web: DemoWeb) -> None:
    text = fetch(web, "http://www.demo.example/robots.txt").body.decode()
    assert "Disallow: /private/" in text
    assert "Crawl-delay: 0.1" in text


def test_a_host_of_somebody_else_is_closed_to_robots(web: DemoWeb) -> None:
    robots = fetch(web, "http://xmlns.com/robots.txt")
    assert robots.body == b"User-agent: *\nDisallow: /\n"
    assert fetch(web, "http://xmlns.com/foaf/0.1/").status == 404


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("text/turtle", b"turtle"),
        ("text/html", b"html"),
        ("text/html;q=0.5, text/*;q=0.9", b"turtle"),
        ("*/*", b"html"),
        ("image/png", b"html"),
        ("text/turtle;q=much, text/html;q=0.1", b"html"),
        ("", b"html"),
    ],
)
def test_negotiation_goes_by_quality_and_then_by_order(accept: str, expected: bytes) -> None:
    variants = (
        ("text/html", Response(200, body=b"html")),
        ("text/turtle", Response(200, body=b"turtle")),
    )
    assert negotiate(variants, accept).body == expected


@pytest.mark.parametrize(
    ("query", "status", "found"),
    [
        ("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s a <{LOG}> } }", 200, b'"2"'),
        ("ASK { ?s a <{LOG}> }", 200, b"true"),
        ("SELECT nonsense", 400, b""),
        ("SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }", 400, b""),
    ],
)
def test_the_endpoint_answers_queries_and_refuses_what_is_none(
    web: DemoWeb, query: str, status: int, found: bytes
) -> None:
    answer = fetch(
        web, f"http://archive.demo.example/sparql?query={quote(query.replace('{LOG}', LOG))}"
    )
    assert answer.status == status
    assert found in answer.body
