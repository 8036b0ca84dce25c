"""Ways to data besides links, in crawls of a small web."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from harvest.runs import Run, asked, harvest, start_harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from spiders.site import HTML, page, triples

D = "http://d.example"
NT, TURTLE, JSON = "application/n-triples", "text/turtle", "application/json"
PAGES = 7

pytestmark = pytest.mark.slow


def oai(content: str) -> str:
    return f'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">{content}</OAI-PMH>'


def oai_answer(query: dict[str, list[str]]) -> str:
    if query["verb"] == ["ListMetadataFormats"]:
        name = "<metadataFormat><metadataPrefix>rdf</metadataPrefix></metadataFormat>"
        return oai(f"<ListMetadataFormats>{name}</ListMetadataFormats>")
    number = int(query.get("resumptionToken", ["0"])[0])
    record = (
        '<record><metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        f'xmlns:v="http://v.example/"><rdf:Description rdf:about="http://x.example/{number}">'
        f"<v:label>{number}</v:label></rdf:Description></rdf:RDF></metadata></record>"
    )
    token = f"<resumptionToken>{number + 1}</resumptionToken>" if number < 2 else ""
    return oai(f"<ListRecords>{record}{token}</ListRecords>")


def ckan_answer(query: dict[str, list[str]]) -> dict[str, object]:
    start = int(query.get("start", ["0"])[0])
    packages = [
        {
            "title": f"{n}",
            "resources": [{"url": f"/set/{n}", "format": "N-Triples", "mimetype": NT}],
        }
        for n in range(start, min(start + 2, PAGES))
    ]
    return {"success": True, "result": {"count": PAGES, "results": packages}}


def tree_page(number: int) -> bytes:
    text = "@prefix tree: <https://w3id.org/tree#> . @prefix v: <http://v.example/> .\n"
    text += f'<#m> v:label "{number}" .\n'
    if number < 3:
        text += f"<> tree:relation [ tree:node <{D}/stream/{number + 1}> ] .\n"
    return text.encode()


def endless_page(number: int) -> bytes:
    text = "@prefix hydra: <http://www.w3.org/ns/hydra/core#> .\n"
    return f"{text}<> hydra:next <{D}/endless?page={number + 1}> .\n".encode()


async def site(request: Request, out: Stream) -> None:
    path, _, query_text = request.path.partition("?")
    query = parse_qs(query_text)
    headers: list[tuple[str, str]] = []
    body: bytes | str = b""
    status, kind = 200, HTML
    accept = dict(request.headers).get("accept", "")
    if path == "/":
        links = ("/signs", "/ckan/", "/eprints/", "/people/", "/plain/1", "/plain/2", "/plain/3")
        body = page(*links, "/dcat.ttl", "/stream/0", "/big")[1]
    elif path == "/signs":
        headers.append(("Link", '</links>; rel="linkset"; type="application/linkset+json"'))
        body = page("/")[1]
    elif path == "/links":
        kind = "application/linkset+json"
        items = [{"href": "/by-linkset", "type": NT}]
        body = json.dumps({"linkset": [{"anchor": f"{D}/", "item": items}]})
    elif path == "/ckan/":
        head = '<meta name="generator" content="ckan 2.10">'
        body = page("/", head=head, body='<i data-site-root="/ckan/"></i>')[1]
    elif path == "/ckan/api/3/action/package_search":
        kind, body = JSON, json.dumps(ckan_answer(query))
    elif path == "/eprints/":
        body = page("/oai?verb=ListMetadataFormats")[1]
    elif path == "/oai":
        kind, body = "text/xml", oai_answer(query)
    elif path == "/people/":
        body = page(*(f"/people/{n}" for n in range(6)))[1]
    elif path.startswith("/people/"):
        headers.append(("Vary", "Accept"))
        if accept.startswith("text/html"):
            body = page("/")[1]
        else:
            kind, body = TURTLE, f'<#it> <http://v.example/label> "{path}" .'
    elif path.startswith("/plain/"):
        headers.append(("Vary", "Accept"))
        body = page("/")[1]
    elif path == "/dcat.ttl":
        kind = TURTLE
        headers.append(("Link", '</dcat.ttl?page=2>; rel="next"'))
        body = (
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . <#d> a dcat:Dataset ; dcat:distribution "
            f'[ dcat:downloadURL "{D}/as-text{len(query)}"^^<http://www.w3.org/2001/XMLSchema#anyURI>'
            f'; dcat:mediaType "{NT}" ] .'
        )
    elif path.startswith("/stream/"):
        kind = TURTLE
        headers.append(("Cache-Control", "public, max-age=604800, immutable"))
        body = tree_page(int(path.rpartition("/")[2]))
    elif path == "/endless":
        kind, body = TURTLE, endless_page(int(query.get("page", ["0"])[0]))
    elif path == "/big":
        kind, body = "application/linkset+json", b'{"linkset": [' + b" " * 40_000
    elif path == "/.well-known/void":
        kind = TURTLE
        body = f"<#d> <http://rdfs.org/ns/void#dataDump> <{D}/dump> ."
    elif path in ("/by-linkset", "/dump", "/as-text0", "/as-text1") or path.startswith("/set/"):
        kind, body = NT, triples(path, 2)
    else:
        status, kind, body = 404, "text/plain", b"nothing here\n"
    content = body.encode() if isinstance(body, str) else body
    await out.whole(status, [("Content-Type", kind), *headers], content)


BY_LINKSET = {f"{D}/by-linkset"}
BY_CATALOGUE = (
    {f"{D}/set/{n}" for n in range(PAGES)}
    | {f"{D}/as-text0", f"{D}/as-text1"}
    | {f"{D}/oai?verb=ListRecords&metadataPrefix=rdf"}
    | {f"{D}/oai?verb=ListRecords&resumptionToken={n}" for n in (1, 2)}
)
BY_HEADER = {f"{D}/dcat.ttl?page=2"}
BY_TYPE = {f"{D}/people/{n}#as-rdf" for n in range(6)}
BY_NAME = {f"{D}/.well-known/void", f"{D}/dump"}
BY_LINKS = {f"{D}/dcat.ttl"} | {f"{D}/stream/{n}" for n in range(4)}


def crawl(folder: Path, *options: str, seed: str = f"{D}/") -> tuple[Run, Counter[str]]:
    log = folder / f"requests{len(list(folder.iterdir()))}.jsonl"
    with serve(DemoWeb(), handlers={"d.example": site}, log=log) as server:
        run = harvest(
            *(seed, "--fast", *options), folder=folder / "out", proxy=server.proxy_url, guesses=True
        )
    run.is_calm()
    return run, asked(log)


def test_each_way_leads_to_its_documents_and_the_records_tell_which(tmp_path: Path) -> None:
    run, sent = crawl(tmp_path)
    documents = set(run.documents())
    assert documents == BY_LINKSET | BY_CATALOGUE | BY_HEADER | BY_TYPE | BY_NAME | BY_LINKS
    ways = {record["url"]: record["found_by"] for record in run.records}
    for found, way in (
        (BY_LINKSET | BY_HEADER, "header"),
        (BY_CATALOGUE - {f"{D}/as-text1"}, "catalogue"),
        (BY_TYPE, "negotiation"),
        ({f"{D}/.well-known/void"}, "well-known"),
    ):
        assert {url: ways[url] for url in found} == dict.fromkeys(found, way)
    # two pages that say they vary and do not cost two requests each: for RDF, for Turtle alone
    assert sum(sent[f"d.example/plain/{n}"] for n in (1, 2, 3)) == 3 + 2 * 2
    graphs = {line.rsplit(" ", 2)[1] for line in run.quads}
    assert {f"<{url}>" for url in BY_TYPE} <= graphs
    assert any(
        "more than" in record["errors"] or record["url"] == f"{D}/big" for record in run.records
    )


@pytest.mark.parametrize(
    ("option", "missing"),
    [
        ("SEMCRAWL_SIGNPOSTING=0", BY_LINKSET | BY_HEADER | {f"{D}/as-text1"}),
        ("SEMCRAWL_CATALOGUES=0", BY_CATALOGUE),
        ("SEMCRAWL_NEGOTIATION=never", BY_TYPE),
        ("SEMCRAWL_WELL_KNOWN=", BY_NAME),
    ],
)
def test_without_one_way_exactly_its_documents_are_missing(
    tmp_path: Path, option: str, missing: set[str]
) -> None:
    everything = BY_LINKSET | BY_CATALOGUE | BY_HEADER | BY_TYPE | BY_NAME | BY_LINKS
    run, _ = crawl(tmp_path, "-s", option)
    assert everything - set(run.documents()) == missing


def test_a_catalogue_without_end_is_left_after_its_pages(tmp_path: Path) -> None:
    run, sent = crawl(tmp_path, "-s", "SEMCRAWL_MAX_CATALOGUE_PAGES=5", seed=f"{D}/endless")
    asked_for = sum(n for path, n in sent.items() if path.startswith("d.example/endless"))
    assert asked_for == 1 + 5
    assert run.status == 0


def test_the_preset_catalogue_goes_from_a_fair_data_point_to_its_files_and_nowhere_else(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    prefixes = (
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix f: <https://w3id.org/fdp/fdp-o#> . "
        "@prefix ldp: <http://www.w3.org/ns/ldp#> . "
        "@prefix s: <http://www.w3.org/2000/01/rdf-schema#> . "
    )
    texts = {
        "/": "<> a f:FAIRDataPoint ; f:metadataCatalog </catalog/1> ; s:seeAlso </elsewhere> .",
        "/catalog/1": "<> a dcat:Catalog ; dcat:dataset </dataset/1> .",
        "/dataset/1": "</dataset/1/> a ldp:DirectContainer ; ldp:contains </distribution/1> .",
        "/distribution/1": f"<> dcat:downloadURL <{D}/file> ; dcat:license </license> .",
        "/file": "<> a <urn:x> .",
    }

    async def answer(request: Request, out: Stream) -> None:
        text = texts.get(request.path)
        body = (prefixes + text).encode() if text else b""
        await out.whole(200 if text else 404, [("Content-Type", TURTLE)], body)

    with serve(DemoWeb(), handlers={"d.example": answer}, log=log) as server:
        run = harvest(
            *(f"{D}/", "--fast", "-s", "SEMCRAWL_RDF_LINKS=catalogue"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    run.is_calm()
    assert set(run.documents()) == {D + path for path in texts}
    assert set(asked(log)) == {f"d.example{path}" for path in (*texts, "/robots.txt")}


def test_a_list_that_is_too_large_is_told_of_and_not_read(tmp_path: Path) -> None:
    run, _ = crawl(tmp_path, "bound:config.options:LeadOptions.most_bytes=10000", seed=f"{D}/big")
    (record,) = [record for record in run.records if record["url"] == f"{D}/big"]
    assert record["outcome"] == "fetched-list"
    assert record["errors"] == "it has more than 10,000 bytes and is not read"


def test_immutable_documents_are_not_visited_again(tmp_path: Path) -> None:
    crawl(tmp_path, seed=f"{D}/stream/0")
    _run, sent = crawl(tmp_path, "--revisit", seed=f"{D}/stream/0")
    assert not [path for path in sent if path.startswith("d.example/stream/")]


def test_both_forms_of_an_address_are_visited_again_under_their_names(tmp_path: Path) -> None:
    """The page is asked for as a page, and the document as RDF."""
    crawl(tmp_path, seed=f"{D}/people/1")
    run, _sent = crawl(tmp_path, "--revisit", seed=f"{D}/people/1")
    found = Counter(
        (record["url"], record["real_type"])
        for record in run.records
        if "/people/1" in record["url"]
    )
    assert found == {
        (f"{D}/people/1", "html"): 2,
        (f"{D}/people/1#as-rdf", "rdf:turtle"): 2,
    }


@pytest.mark.parametrize("option", ["SEMCRAWL_NEGOTIATION=sometimes", "SEMCRAWL_WELL_KNOWN=a b?"])
def test_wrong_settings_are_told_of_in_one_line(tmp_path: Path, option: str) -> None:
    run = start_harvest(f"{D}/", "-s", option, folder=tmp_path / "out", guesses=True).wait()
    run.says_in_one_line(option.partition("=")[0])
