"""``semcrawl seeds``, against servers on loopback."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from harvest.runs import harvest

from semcrawl.commands.seeds import Command
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.spiders.seeds import read_seeds
from sources.seedweb import seeds
from tests.inprocess import exit_status
from tests.loopback import web


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


@pytest.mark.slow
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
            body += f"<url><loc>{base}/c.ttl</loc></url>"
            body += f"<sc:dataset><sc:dataDumpLocation>{base}/dump.nt.gz</sc:dataDumpLocation>"
            body += (
                f"<sc:sparqlEndpointLocation>{base}/sparql</sc:sparqlEndpointLocation></sc:dataset>"
            )
            return 200, "text/xml", (body + "</urlset>").encode()
        return 404, "text/plain", b""

    with web(answer) as url:
        base = url
        status, found, said = seeds(capsys, "sitemap", base)
        _, few, told = seeds(capsys, "sitemap", base, "--limit", "3")
    assert few == [f"{base}/dump.nt.gz", f"sparql+{base}/sparql", f"{base}/c.ttl"]
    assert "the first 3 seeds; 2 more with a larger --limit" in told
    assert status == 0
    assert found == [*few, f"{base}/b", f"{base}/a"]
    assert said.count("\n") == 1
    assert "/gone.xml: status 404" in said


@pytest.mark.slow
def test_redirects_to_private_addresses_are_refused(capsys) -> None:
    def answer(path: str, query: object) -> tuple[int, str, bytes]:
        return 302, "http://127.0.0.2:9/secret", b""

    with web(answer) as base:
        status, _, said = seeds(capsys, "list", f"{base}/list.txt")
    assert status == 1
    assert "private address" in said


@pytest.mark.slow
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


def test_rdf_that_is_no_catalogue_gives_what_a_crawl_of_it_would_follow(
    tmp_path: Path, capsys
) -> None:
    (tmp_path / "people.ttl").write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "<http://a.example/#me> rdfs:seeAlso <http://b.example/1.ttl>, <http://c.example/2.rdf> .\n"
    )
    status, found, _ = seeds(capsys, "list", tmp_path / "people.ttl")
    assert status == 0
    assert found == ["http://a.example/", "http://b.example/1.ttl", "http://c.example/2.rdf"]
    (tmp_path / "broken.ttl").write_text("<http://a.example/x> <http://a.example/y> <http://a.exa")
    status, found, said = seeds(capsys, "list", tmp_path / "broken.ttl")
    assert status == 1
    assert found == []
    assert "broken.ttl: line 1" in said


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


@pytest.mark.slow
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


@pytest.mark.slow
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
