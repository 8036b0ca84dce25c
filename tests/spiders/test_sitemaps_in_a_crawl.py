"""Sitemaps lead a crawl to what no page links to."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pyoxigraph as ox
import pytest
from harvest.runs import Run, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.endpoint import Endpoint
from semcrawl.lab.demo.model import Handler, Request, Stream
from spiders.site import Resources, handler, page, triples

pytestmark = pytest.mark.slow

D, E = "http://d.example", "http://e.example"
XML = "application/xml"


def turtle(name: str) -> tuple[str, bytes]:
    return "text/turtle", f"<urn:{name}> a <urn:x> .".encode()


def sitemap(*addresses: str, tag: str = "url", root: str = "urlset") -> tuple[str, bytes]:
    entries = "".join(f"<{tag}><loc>{address}</loc></{tag}>" for address in addresses)
    return XML, f"<{root}>{entries}</{root}>".encode()


def index(*addresses: str) -> tuple[str, bytes]:
    return sitemap(*addresses, tag="sitemap", root="sitemapindex")


def crawl(folder: Path, *arguments: str, **sites: Resources | Handler) -> tuple[Run, list[str]]:
    """Crawl d.example; return the run, and what was asked for in order."""
    asked: list[str] = []

    def noting(host: str, answer: Handler) -> Handler:
        async def note(request: Request, out: Stream) -> None:
            asked.append(host + request.path)
            await answer(request, out)

        return note

    handlers = {
        f"{name}.example": noting(f"{name}.example", site if callable(site) else handler(site))
        for name, site in sites.items()
    }
    with serve(DemoWeb(), handlers=handlers) as server:
        run = harvest(
            f"{D}/", "--fast", *arguments, folder=folder, proxy=server.proxy_url, guesses=True
        )
    run.is_calm()
    return run, asked


SITE = {
    "/": page("/a/"),
    "/a/": page("/linked.ttl"),
    "/linked.ttl": turtle("linked"),
    "/sitemap.xml": index(f"{D}/maps/1.xml.gz", f"{D}/maps/2.txt", f"{D}/sitemap.xml"),
    "/maps/1.xml.gz": ("application/gzip", gzip.compress(sitemap(f"{D}/hidden")[1])),
    "/maps/2.txt": ("text/plain", f"{D}/listed.ttl\n{D}/p/\n{E}/x.ttl\n".encode()),
    "/hidden": turtle("hidden"),
    "/listed.ttl": turtle("listed"),
    "/p/": page("/behind.ttl"),
    "/behind.ttl": turtle("behind"),
}


def test_what_sitemaps_alone_name_is_found_and_recorded_as_such(tmp_path: Path) -> None:
    run, asked = crawl(tmp_path / "out", d=SITE, e={"/x.ttl": turtle("x")})
    names = ("linked", "hidden", "listed", "behind")
    assert {url.rpartition("/")[2].removesuffix(".ttl") for url in run.documents()} == set(names)
    found_by = {row["url"]: row["found_by"] for row in run.records}
    assert found_by[f"{D}/hidden"] == found_by[f"{D}/listed.ttl"] == "sitemap"
    assert found_by[f"{D}/linked.ttl"] == found_by[f"{D}/behind.ttl"] == "link"
    outcomes = run.outcomes()
    for path in ("/sitemap.xml", "/maps/1.xml.gz", "/maps/2.txt"):
        assert outcomes[D + path] == ["fetched-sitemap"]
    assert "1 entries of other hosts" in next(
        row["errors"] for row in run.records if row["url"] == f"{D}/maps/2.txt"
    )
    assert max(Counter(asked).values()) == 1
    assert run.summary["found_by"]["sitemap"]["rdf_documents"] == 2
    # pages come first where there are any
    assert asked.index("d.example/linked.ttl") < asked.index("d.example/sitemap.xml")


def test_never_and_only_do_as_they_say(tmp_path: Path) -> None:
    run, asked = crawl(tmp_path / "never", "--sitemaps", "never", d=SITE)
    assert set(run.documents()) == {f"{D}/linked.ttl"}
    assert not [url for url in asked if "map" in url]
    run, asked = crawl(tmp_path / "only", "--sitemaps", "only", d=SITE)
    assert set(run.documents()) == {f"{D}/hidden", f"{D}/listed.ttl"}
    assert "d.example/a/" not in asked


@pytest.mark.parametrize("status", [404, 403, 500, 302])
def test_a_site_without_sitemaps_pays_one_request(tmp_path: Path, status: int) -> None:
    async def answer(request: Request, out: Stream) -> None:
        if request.path == "/sitemap.xml":
            await out.whole(status, [("Location", "/login")] if status == 302 else [], b"")
        else:
            await handler({"/": page("/x.ttl"), "/x.ttl": turtle("x")})(request, out)

    run, asked = crawl(tmp_path / "out", d=answer)
    pages = [url for url in asked if not url.endswith(("/robots.txt", "/void"))]
    assert pages == ["d.example/", "d.example/x.ttl", "d.example/sitemap.xml"]
    assert run.summary["not_harvested"].get("not-found") is None
    assert "errors" not in run.out or "│      0 │" in run.out


def test_robots_name_sitemaps_elsewhere_and_vouch_for_them(tmp_path: Path) -> None:
    """A sitemap may list addresses of another host if that host's robots.txt names it."""
    robots = b"User-agent: *\nDisallow: /no\nSitemap: http://maps.d.example/d.xml\n"
    run, asked = crawl(
        tmp_path / "out",
        d={"/": page(), "/robots.txt": ("text/plain", robots), "/h.ttl": turtle("h"),
           "/no.ttl": turtle("no")},
        **{"maps.d": {"/d.xml": sitemap(f"{D}/h.ttl", f"{D}/no.ttl", "http://o.d.example/x.ttl")}},
    )  # fmt: skip
    assert set(run.documents()) == {f"{D}/h.ttl"}
    assert "d.example/sitemap.xml" not in asked
    assert run.outcomes()[f"{D}/no.ttl"] == ["robots-denied"]
    assert "o.d.example/x.ttl" not in asked


def test_patterns_and_scope_hold_for_entries(tmp_path: Path) -> None:
    run, _ = crawl(tmp_path / "out", "--exclude", "/hid*", "--include", "/lis*", d=SITE)
    assert set(run.documents()) == {f"{D}/listed.ttl"}


def test_a_sitemap_with_a_document_type_is_recorded_and_not_read(tmp_path: Path) -> None:
    # without the declaration of XML, all before the root is no part of the sitemap
    bomb = (
        b'<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "b">]>'
        b"<urlset><url><loc>http://d.example/x.ttl</loc></url></urlset>"
    )
    run, asked = crawl(tmp_path / "out", d={"/": page(), "/sitemap.xml": (XML, bomb)})
    (row,) = [row for row in run.records if row["url"] == f"{D}/sitemap.xml"]
    assert row["outcome"] == "fetched-other"
    assert "DOCTYPE" in row["errors"]
    assert "d.example/x.ttl" not in asked


def test_a_long_list_goes_in_by_turns_and_is_had_whole(tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(300)]
    site = {"/": page(), "/sitemap.xml": sitemap(*(f"{D}/data/{name}" for name in names))}
    site |= {f"/data/{name}": turtle(name) for name in names}
    run, asked = crawl(tmp_path / "out", "--pages", "40", d=site)
    assert len(run.documents()) in (37, 38)  # (a request may go to /.well-known/void)
    run, more = crawl(tmp_path / "out", d=site)
    assert len(run.documents()) == 300
    assert not {url for url in asked if "/data/" in url} & set(more)


def test_indexes_without_end_are_asked_for_no_longer_than_they_are_read(tmp_path: Path) -> None:
    """What is in flight with the last one that is read comes on top."""

    async def answer(request: Request, out: Stream) -> None:
        path = request.path
        if "sitemap" not in path:
            await handler({"/": page("/a.ttl"), "/a.ttl": turtle("a")})(request, out)
            return
        kind, body = index(*(f"{D}{path.removesuffix('.xml')}{n}.xml" for n in range(9)))
        await out.whole(200, [("Content-Type", kind)], body)

    run, asked = crawl(tmp_path / "out", "bound:config.options:SitemapRules.most=5", d=answer)
    assert "d.example/a.ttl" in asked
    assert 5 <= sum("sitemap" in place for place in asked) < 5 + 8
    reasons = {r["errors"] for r in run.records if r["outcome"] == "ignored"}
    assert reasons == {"5 sitemaps of its host were read already"}


def test_a_sitemap_given_as_a_seed_is_read_as_one(tmp_path: Path) -> None:
    site = {"/my-sitemap.txt": ("text/plain", f"{D}/x.ttl".encode()), "/x.ttl": turtle("x")}
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        run = harvest(
            *(f"{D}/my-sitemap.txt", "--fast"),
            folder=tmp_path / "out", proxy=server.proxy_url, guesses=True,
        )  # fmt: skip
    assert set(run.documents()) == {f"{D}/x.ttl"}


@pytest.mark.parametrize("allowed", ["found", "seeds"])
def test_an_endpoint_that_a_sitemap_alone_names_is_read_where_that_is_allowed(
    tmp_path: Path, allowed: str
) -> None:
    triple = ox.Triple(*(ox.NamedNode(f"http://v.example/{name}") for name in "abc"))
    endpoint = Endpoint({"http://g.example/": [triple]})
    named = (
        '<urlset xmlns:sc="http://sw.deri.org/2007/07/sitemapextension/scschema.xsd"><sc:dataset>'
        f"<sc:sparqlEndpointLocation>{D}/sparql</sc:sparqlEndpointLocation></sc:dataset></urlset>"
    )
    site = handler({"/": page(), "/sparql": page(), "/sitemap.xml": (XML, named.encode())})

    async def answer(request: Request, out: Stream) -> None:
        if found := endpoint.answer(request.path.partition("?")[2]):
            await out.whole(found.status, found.headers, found.body)
        else:
            await site(request, out)

    run, _ = crawl(tmp_path / "out", "-s", f"SEMCRAWL_ENDPOINTS={allowed}", d=answer)
    wanted = [f"{triple} <http://g.example/> .\n"] if allowed == "found" else []
    assert run.quads == wanted
    found_by = {row["url"]: row["found_by"] for row in run.records}
    assert found_by[f"{D}/sparql"] == "sitemap"


@pytest.mark.parametrize("scope", ["site", "d.example"])
def test_data_that_a_sitemap_names_elsewhere_is_followed_as_far_as_the_scope_lets(
    tmp_path: Path, scope: str
) -> None:
    """And the robots.txt of the other host is obeyed."""
    triple = ox.Triple(*(ox.NamedNode(f"http://v.example/{name}") for name in "abc"))
    endpoint = Endpoint({"http://g.example/": [triple]})
    kinds = {"dump.nt": "dataDumpLocation", "private.nt": "dataDumpLocation"}
    parts = "".join(
        f"<sc:{kind}>http://e.example/{name}</sc:{kind}>"
        for name, kind in {**kinds, "sparql": "sparqlEndpointLocation"}.items()
    )
    named = (
        '<urlset xmlns:sc="http://sw.deri.org/2007/07/sitemapextension/scschema.xsd"><sc:dataset>'
        f"{parts}</sc:dataset></urlset>"
    )
    files = {f"/{name}": ("application/n-triples", triples(name, 2)) for name in kinds}
    robots = {"/robots.txt": ("text/plain", b"User-agent: *\nDisallow: /private")}
    elsewhere = handler({**files, **robots, "/sparql": page()})

    async def answer(request: Request, out: Stream) -> None:
        if found := endpoint.answer(request.path.partition("?")[2]):
            await out.whole(found.status, found.headers, found.body)
        else:
            await elsewhere(request, out)

    site = handler({"/": page(), "/sitemap.xml": (XML, named.encode())})
    options = ("--scope", scope, "-s", "SEMCRAWL_ENDPOINTS=found")
    run, sent = crawl(tmp_path / "out", *options, d=site, e=answer)
    followed = scope == "site"
    assert len(run.quads) == (3 if followed else 0)
    assert ("e.example/dump.nt" in sent) is followed
    assert "e.example/private.nt" not in sent


def test_entries_that_still_wait_in_a_list_are_counted_and_expected(tmp_path: Path) -> None:
    """A run that ends before a large sitemap is used up tells how much of it is left."""
    names = [f"{folder}/{number}" for number in range(500) for folder in "abcd"]
    site = {f"/{name}": turtle(name) for name in names}
    site |= {"/": page("/a/0", "/b/0"), "/sitemap.xml": sitemap(*(f"{D}/{n}" for n in names))}
    run, _ = crawl(tmp_path / "out", "--pages", "40", d=site)
    assert 1000 < run.summary["listed_left"] < 2000
    assert run.summary["expected_left"] > 1000
    assert "of lists wait; about" in " ".join(run.out.split())
