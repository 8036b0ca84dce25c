"""Ways to data besides links, in a world that was recorded: offline as live."""

from __future__ import annotations

from collections import defaultdict
from json import dumps
from pathlib import Path

import pytest
from harvest.runs import Run, harvest

from semcrawl.config.options import LeadOptions, SitemapRules
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.graph import LinkGraph, map_site
from semcrawl.lab.live import crawl_live
from semcrawl.lab.recorded import RecordedWorld
from semcrawl.lab.simulator import simulate
from semcrawl.pipelines.warcrecords import find_recording
from semcrawl.relevance import load_strategy
from semcrawl.sources.negotiation import is_as_rdf
from semcrawl.web.vocabulary import RDF_FIRST, FoundBy, Kind
from tests.evaluation.test_recording import record

NT = "application/n-triples"

pytestmark = pytest.mark.slow

pytest.importorskip("warcio")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("recorded")
    with serve(DemoWeb(crawl_delay=0)) as server:
        run = harvest(
            *(DemoWeb.start, "--fast", "--record"),
            folder=folder / "out",
            proxy=server.proxy_url,
            guesses=True,
        )
    run.is_calm()
    return run


@pytest.fixture(scope="module")
def graph(recorded: Run) -> LinkGraph:
    world = RecordedWorld.load(find_recording(recorded.folder))
    return LinkGraph(world, 10_000, sitemaps=SitemapRules(), leads=LeadOptions(), follow_rdf=True)


def ways(run: Run) -> dict[str, set[str]]:
    found = defaultdict(set)
    for row in run.records:
        if row["outcome"] in ("fetched-rdf", "fetched-html"):
            found[row["found_by"]].add(row["final_url"] or row["url"])
    return found


def test_the_simulator_finds_what_only_one_way_leads_to_as_the_crawl_did(
    recorded: Run, graph: LinkGraph
) -> None:
    run = simulate(graph, load_strategy("breadth-first", {}), 5000)
    assert run.error == ""
    simulated = defaultdict(set)
    for fetch in run.fetches:
        again = fetch.kind is Kind.HTML and is_as_rdf(fetch.url)
        if fetch.kind in (Kind.RDF, Kind.HTML) and not again:
            simulated[str(fetch.found_by)].add(fetch.url)
    harvested = ways(recorded)
    assert set().union(*simulated.values()) == set().union(*harvested.values())
    for way in (
        *(FoundBy.SITEMAP, FoundBy.EMBEDDED, FoundBy.HEADER, FoundBy.CATALOGUE),
        *(FoundBy.NEGOTIATION, FoundBy.WELL_KNOWN),
    ):
        announced = DemoWeb().manifest().announced[way]
        assert announced & harvested[way], way
        assert announced & harvested[way] == announced & simulated[way], way


def one_host(path: Path) -> RecordedWorld:
    """Record a host that has each way to data, as a crawl would."""
    site = "http://a.example"
    html, nt, turtle = ({"Content-Type": kind} for kind in ("text/html", NT, "text/turtle"))
    json_type = {"Content-Type": "application/json"}
    linkset = {"Content-Type": "application/linkset+json"}
    varies = {"Vary": "Accept"}
    data = (
        '<script type="application/ld+json">{"@context": "https://schema.org/", "@id": "#d",'
        f'"distribution": {{"contentUrl": "{site}/embedded"}}}}</script>'
    )
    people = "".join(f'<a href="/people/{n}">{n}</a>' for n in range(6))
    generator = '<meta name="generator" content="ckan 2.10">'
    package = {"resources": [{"url": f"{site}/set", "format": "N-Triples"}]}
    answers = [
        ("/", html, f"{data}{people}<a href='/signs'>s</a><a href='/portal'>p</a>"),
        (
            "/signs",
            {**html, "Link": '</links>; rel="linkset"; type="application/linkset+json"'},
            "",
        ),
        ("/links", linkset, dumps({"linkset": [{"item": [{"href": "/by-linkset", "type": NT}]}]})),
        ("/portal", html, generator),
        ("/catalog.ttl", turtle, f"<> <http://www.w3.org/ns/dcat#dataset> <{site}/dataset> ."),
        (
            "/api/3/action/package_search?rows=100",
            json_type,
            dumps({"success": True, "result": {"count": 1, "results": [package]}}),
        ),
        ("/.well-known/void", turtle, f"<> <http://rdfs.org/ns/void#dataDump> <{site}/dump> ."),
        ("/robots.txt", {"Content-Type": "text/plain"}, f"Sitemap: {site}/map.xml\nDisallow: /"),
        (
            "/map.xml",
            {"Content-Type": "application/xml"},
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            f"<url><loc>{site}/listed</loc></url></urlset>",
        ),
    ]
    see_also = f"<urn:s> <http://www.w3.org/2000/01/rdf-schema#seeAlso> <{site}/more> ."
    answers.append(("/embedded", nt, see_also))
    answers += [
        (f"/{name}", nt, f"<urn:{name}> <urn:b> <urn:c> .")
        for name in ("more", "by-linkset", "set", "dump", "dataset", "listed")
    ]
    responses = [(site + at, 200, headers, text.encode()) for at, headers, text in answers]
    as_rdf = []
    for number in range(6):
        page = f'<a href="/">{number}</a>'.encode()
        document = f"<urn:{number}> <urn:b> <urn:c> .".encode()
        responses.append((f"{site}/people/{number}", 200, {**html, **varies}, page))
        as_rdf.append((f"{site}/people/{number}", 200, {**turtle, **varies}, document))
    record(path / "x.warc", responses)
    record(path / "y.warc", as_rdf, accept=RDF_FIRST)
    return RecordedWorld.load(sorted(path.glob("*.warc")))


@pytest.mark.parametrize("name", ["breadth-first", "rules-parents", "learned"])
def test_live_and_offline_agree_on_every_way(tmp_path: Path, name: str) -> None:
    world = one_host(tmp_path)
    graph = LinkGraph(world, 1000, sitemaps=SitemapRules(), leads=LeadOptions(), follow_rdf=True)
    live = crawl_live(graph, name, 1000)
    offline = simulate(graph, load_strategy(name, {"SEMCRAWL_RANDOM_SEED": 0}), 1000)
    assert offline.error == ""
    assert live.order == offline.order
    assert live.curve == offline.curve
    for one, two in zip(live.fetches, offline.fetches, strict=True):
        assert one.found_by == two.found_by, one.url
    others = {FoundBy.ENDPOINT, FoundBy.FORM, FoundBy.TWIN}
    others |= set() if name == "learned" else {FoundBy.FOLDER}
    assert {fetch.found_by for fetch in live.fetches} == set(FoundBy) - others
    assert live.found == len(map_site(graph).target_depth) == 15


def test_who_knows_the_site_knows_what_no_link_leads_to(recorded: Run, graph: LinkGraph) -> None:
    site = map_site(graph)
    assert len(site.target_depth) >= len({*recorded.documents()}) - 1


def negotiating(path: Path) -> RecordedWorld:
    """Record a host whose addresses answer requests for pages and for RDF in each other way."""
    site = "http://a.example"
    html, turtle = {"Content-Type": "text/html"}, {"Content-Type": "text/turtle"}
    varies = {"Vary": "Accept"}
    body, rdf = b"<p>a page</p>", b"<urn:a> <urn:b> <urn:c> ."
    moved = {**varies, "Location": "/ends/page"}
    shapes = {
        # what a request for a page gets, and what one for RDF gets
        "refuses": ((200, html, body), (406, html, b"")),
        "misses": ((200, html, body), (404, {**html, **varies}, b"")),
        "empties": ((200, html, body), (200, {**html, **varies}, b"")),
        "choices": ((200, html, body), (300, html, b"")),
        "pages": ((200, {**html, **varies}, body), (200, {**html, **varies}, body)),
        "forms": ((200, {**html, **varies}, body), (200, {**turtle, **varies}, rdf)),
        "fonly": ((404, {**html, **varies}, b""), (200, {**turtle, **varies}, rdf)),
        "moves": ((303, moved, b""), (303, moved, b"")),
        "chooses": ((303, moved, b""), (303, {**varies, "Location": "/ends/data.ttl"}, b"")),
        "dies": ((404, html, b""), (303, {**varies, "Location": "/ends/dead"}, b"")),
    }
    links, pages, forms = "", [], []
    for name, (page, form) in shapes.items():
        for number in range(8):
            typed = ' type="text/turtle"' if number % 2 else ""
            links += f'<a href="/{name}/{number}"{typed}>{name}</a>'
            for (status, headers, text), into in ((page, pages), (form, forms)):
                own = text + f"# {name} {number}".encode() if text else text
                into.append((f"{site}/{name}/{number}", status, headers, own))
    pages = [
        (f"{site}/", 200, html, links.encode()),  # the first is the seed
        *pages,
        (f"{site}/ends/page", 200, html, b"the end"),
        (f"{site}/ends/data.ttl", 200, turtle, b"<urn:d> <urn:b> <urn:c> ."),
    ]
    record(path / "x.warc", pages)
    record(path / "y.warc", forms, accept=RDF_FIRST)
    return RecordedWorld.load(sorted(path.glob("*.warc")))


@pytest.mark.parametrize("name", ["breadth-first", "rules-parents", "learned"])
def test_live_and_offline_agree_on_what_is_asked_again(tmp_path: Path, name: str) -> None:
    """Answers with nothing are asked for again, in the same way and the same order."""
    graph = LinkGraph(negotiating(tmp_path), 1000, leads=LeadOptions(), follow_rdf=True)
    live = crawl_live(graph, name, 1000)
    offline = simulate(graph, load_strategy(name, {"SEMCRAWL_RANDOM_SEED": 0}), 1000)
    assert offline.error == ""
    assert live.order == offline.order
    assert live.curve == offline.curve
    assert len(live.order) > len(set(live.order)) > 80


def directed(path: Path) -> RecordedWorld:
    """Record a host with robots directives and with families of links in RDF."""
    site = "http://a.example"
    html, nt = {"Content-Type": "text/html"}, {"Content-Type": NT}
    see_also = "<urn:{0}> <http://www.w3.org/2000/01/rdf-schema#seeAlso> <{1}/{2}/{0}> .\n"

    def dump(folder: str, count: int) -> bytes:
        return "".join(see_also.format(n, site, folder) for n in range(count)).encode()

    def linking(name: str, head: str = "") -> bytes:
        links = f'<a href="/{name}/page">page</a><a href="/{name}/data.nt">data</a>'
        return f"<html><head>{head}</head><body>{links}</body></html>".encode()

    names = ("tag", "header", "archived", "list", "none", "ours", "others")
    dumps = ("dead", "late", "moving", "good")
    home = "".join(f'<a href="/{name}">{name}</a>' for name in names)
    home += "".join(f'<a href="/{name}.nt">{name}</a>' for name in dumps)
    answers = [
        ("", html, home.encode()),
        ("tag", html, linking("tag", '<meta name="robots" content="nofollow">')),
        ("header", {**html, "X-Robots-Tag": "nofollow"}, linking("header")),
        ("archived", html, linking("archived", '<meta name="robots" content="noarchive">')),
        ("list", {**html, "X-Robots-Tag": "noindex, noarchive"}, linking("list")),
        ("none", html, linking("none", '<meta name="ROBOTS" content="NONE">')),
        ("ours", html, linking("ours", '<meta name="semcrawl" content="nofollow">')),
        ("others", {**html, "X-Robots-Tag": "googlebot: nofollow"}, linking("others")),
        ("dead.nt", nt, dump("dead", 60)),
        ("late.nt", {**nt, "X-Robots-Tag": "noarchive"}, dump("late", 60)),
        ("moving.nt", nt, dump("moving", 60)),
        ("good.nt", {**nt, "X-Robots-Tag": "nofollow"}, dump("good", 60)),
    ]
    answers += [(f"{name}/page", html, name.encode()) for name in names]
    answers += [(f"{name}/data.nt", nt, f"<urn:{name}> <a:b> <a:c> .".encode()) for name in names]
    # the first sample after those that were barren is found
    answers += [(f"late/{n}", nt, f"<urn:{n}> <a:b> <a:d> .".encode()) for n in range(12, 60)]
    moved = {**html, "Location": "/moved"}
    responses = [(f"{site}/{at}", 200, headers, body) for at, headers, body in answers]
    responses += [(f"{site}/moving/{n}", 302, moved, b"") for n in range(60)]
    responses.append((f"{site}/moved", 200, html, b"the same for all"))
    record(path / "x.warc", responses)
    return RecordedWorld.load([path / "x.warc"])


@pytest.mark.parametrize("name", ["breadth-first", "rules-parents", "learned"])
def test_live_and_offline_agree_on_directives_and_families(tmp_path: Path, name: str) -> None:
    """Pages forbid to follow links or to keep copies; most links of a dump lead nowhere."""
    graph = LinkGraph(
        directed(tmp_path), 1000, leads=LeadOptions(), follow_rdf=True, family_tries=10
    )
    live = crawl_live(graph, name, 1000)
    offline = simulate(graph, load_strategy(name, {"SEMCRAWL_RANDOM_SEED": 0}), 1000)
    assert offline.error == ""
    assert live.order == offline.order
    assert live.curve == offline.curve
    asked = {url.partition("a.example/")[2] for url in live.order}
    assert {"tag/data.nt", "header/data.nt", "none/page", "ours/page"}.isdisjoint(asked)
    assert {"archived/data.nt", "others/data.nt", "late/59", "moved"} <= asked
    withheld = {folder: sum(url.startswith(f"{folder}/") for url in asked) for folder in
                ("dead", "moving", "late", "good")}  # fmt: skip
    assert withheld["dead"] < 30
    assert withheld["moving"] < 30
    assert withheld["late"] == 60
    assert withheld["good"] == 0
    # what is guessed before its page was read, which asks not to follow its links
    more = live.found - len(map_site(graph).target_depth)
    assert more in ((0, 1, 2) if name == "learned" else (0,))
