"""A crawl reads data in pages, contexts by URL, dumps and archives, links out of RDF."""

from __future__ import annotations

import sqlite3
from itertools import pairwise
from pathlib import Path

import pytest
from harvest.runs import Run, asked, harvest, logged, pages

from semcrawl.lab.demo import DemoWeb, serve
from spiders.site import JSON_LD, gzipped, handler, page, script, triples
from tests.archives import tarred, zipped

pytestmark = pytest.mark.slow

D = "http://d.example"
C = "http://contexts.example"
CONTEXT = b'{"@context": {"label": "http://v.example/label"}}'
SEE_ALSO = "http://www.w3.org/2000/01/rdf-schema#seeAlso"


def named(context: str, subject: str) -> tuple[str, bytes]:
    return JSON_LD, (
        f'{{"@context": "{context}", "@id": "{D}{subject}", "label": "{subject}"}}'.encode()
    )


DATA = {
    "/": page(
        *("/ld", "/rdfa", "/micro", "/broken", "/plain", "/linking.ttl", "/damaged.nt"),
        *("/a.jsonld", "/b.jsonld", "/missing.jsonld", "/secret.jsonld", "/nested.jsonld"),
        *(
            "/long.jsonld",
            "/dump.nt.gz",
            "/all.nt.tar.gz",
            "/all.ttl.zip",
            "/bomb.nt.gz",
            "/cut.nt.gz",
        ),
    ),
    "/ld": page(head=script({"@context": "https://schema.org/", "@id": "#x", "name": "One"})),
    "/rdfa": page(body='<p about="#y" property="http://v.example/name">Two</p>'),
    "/micro": page(
        body='<p itemscope itemid="http://d.example/z" itemtype="http://schema.org/Thing">'
        '<b itemprop="name">Three</b></p>'
    ),
    "/broken": page(
        head=script('{"@context": nonsense') + script({"http://v.example/name": "Four"})
    ),
    "/plain": page(),
    "/linking.ttl": (
        "text/turtle",
        f"""<#it> <{SEE_ALSO}> <{D}/followed.ttl> ;
        <http://v.example/other> <{D}/not-followed.ttl> .""".encode(),
    ),
    "/followed.ttl": ("text/turtle", b"<#it> a <#Followed> ."),
    "/not-followed.ttl": ("text/turtle", b"<#it> a <#NotFollowed> ."),
    "/damaged.nt": ("application/n-triples", b"nonsense\n" + triples("damaged", 3)),
    "/a.jsonld": named(f"{C}/shared.jsonld", "/a.jsonld"),
    "/b.jsonld": named(f"{C}/shared.jsonld", "/b.jsonld"),
    "/nested.jsonld": named(f"{C}/outer.jsonld", "/nested.jsonld"),
    "/missing.jsonld": named(f"{C}/nowhere.jsonld", "/missing.jsonld"),
    "/secret.jsonld": named(f"{C}/private/secret.jsonld", "/secret.jsonld"),
    "/long.jsonld": named(f"{C}/long.jsonld", "/long.jsonld"),
    "/dump.nt.gz": ("application/gzip", gzipped(triples("dump", 40))),
    "/all.nt.tar.gz": (
        "application/x-tar",
        tarred(
            "w:gz", one_nt=triples("one", 2), two_ttl=b"<#it> a <#Thing> .", READ_txt=b"Read me."
        ),
    ),
    "/all.ttl.zip": ("application/zip", zipped(three_nt=triples("three", 5))),
    "/bomb.nt.gz": ("application/gzip", gzipped(b" " * 20_000_000)),
    "/cut.nt.gz": ("application/gzip", gzipped(triples("cut", 9_000))[:-2_000]),
}
CONTEXTS = {
    "/robots.txt": ("text/plain", b"User-agent: *\nDisallow: /private/\n"),
    "/shared.jsonld": (JSON_LD, CONTEXT),
    "/outer.jsonld": (JSON_LD, b'{"@context": ["shared.jsonld", {"x": "http://v.example/x"}]}'),
    "/private/secret.jsonld": (JSON_LD, CONTEXT),
    "/long.jsonld": (JSON_LD, CONTEXT + b" " * 200_000),
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """A harvest of all that."""
    place = tmp_path_factory.mktemp("reading")
    log = place / "requests.jsonl"
    hosts = {"d.example": handler(DATA), "contexts.example": handler(CONTEXTS)}
    with serve(DemoWeb(), log=log, handlers=hosts) as server:
        run = harvest(
            f"{D}/",
            "--fast",
            *("-s", "RETRY_TIMES=0"),
            *("-s", "SEMCRAWL_RDF_LINKS=see-also"),
            "bound:spiders.contexts:ContextRules.max_bytes=100000",
            "bound:rdf.options:ReadOptions.max_unpacked_bytes=10000000",
            folder=place / "out",
            proxy=server.proxy_url,
        )
    return run, log


def lines_embedded(run: Run) -> list[str]:
    return (run.folder / "embedded.nq").read_text().splitlines()


def test_such_a_crawl_ends_well(crawl: tuple[Run, Path]) -> None:
    run, _ = crawl
    run.is_calm()
    assert run.status == 0
    assert "Traceback" not in (run.folder / "crawl.log").read_text()


@pytest.mark.parametrize("name", ["ld", "rdfa", "micro", "broken"])
def test_data_in_a_page_goes_to_a_file_of_their_own(name: str, crawl: tuple[Run, Path]) -> None:
    run, _ = crawl
    [record] = [r for r in run.records if r["url"] == f"{D}/{name}"]
    mine = [line for line in lines_embedded(run) if line.endswith(f"<{D}/{name}> .")]
    assert record["outcome"] == "fetched-html"
    assert record["quads"] == len(mine) > 0
    assert not any(line.endswith(f"<{D}/{name}> .\n") for line in run.quads)


def test_a_broken_block_costs_itself_only(crawl: tuple[Run, Path]) -> None:
    [record] = [r for r in crawl[0].records if r["url"] == f"{D}/broken"]
    assert record["quads"] == 1
    assert record["errors"].startswith(("1 error", "2 error"))


def test_the_summary_keeps_both_kinds_of_quads_apart(crawl: tuple[Run, Path]) -> None:
    run, _ = crawl
    assert run.summary["quads"] == len(run.quads)
    assert run.summary["embedded_quads"] == len(lines_embedded(run))
    assert run.summary["embedded_documents"] == 4


def test_the_ledger_vouches_for_every_line_of_embedded_data(crawl: tuple[Run, Path]) -> None:
    run, _ = crawl
    with sqlite3.connect(run.folder / "embedded.db") as ledger:
        [(count, end)] = ledger.execute("SELECT count(*), max(offset + length) FROM document")
    assert count == 4
    assert end == (run.folder / "embedded.nq").stat().st_size


def test_a_context_is_fetched_once_for_all_documents(crawl: tuple[Run, Path]) -> None:
    run, log = crawl
    assert asked(log)["contexts.example/shared.jsonld"] == 1
    documents = run.documents()
    assert [documents[f"{D}/{name}.jsonld"] for name in ("a", "b", "nested")] == [1, 1, 1]


def test_a_context_is_recorded_and_is_no_page(crawl: tuple[Run, Path]) -> None:
    run, log = crawl
    outcomes = run.outcomes()
    assert outcomes[f"{C}/shared.jsonld"] == ["fetched-context"]
    assert outcomes[f"{C}/nowhere.jsonld"] == ["http-error"]
    assert outcomes[f"{C}/private/secret.jsonld"] == ["robots-denied"]
    assert outcomes[f"{C}/long.jsonld"] == ["too-large"]
    assert asked(log) == run.sent()
    assert run.summary["requests"] + run.summary["context_requests"] == pages(log)


@pytest.mark.parametrize("name", ["missing", "secret", "long"])
def test_a_context_that_cannot_be_had_is_an_error_of_its_document(
    name: str, crawl: tuple[Run, Path]
) -> None:
    [record] = [r for r in crawl[0].records if r["url"] == f"{D}/{name}.jsonld"]
    assert record["outcome"] == "parse-error"
    assert "context" in record["errors"]


def test_dumps_and_archives_are_read(crawl: tuple[Run, Path]) -> None:
    documents = crawl[0].documents()
    found = {
        name: documents[f"{D}/{name}"] for name in ("dump.nt.gz", "all.nt.tar.gz", "all.ttl.zip")
    }
    assert found == {"dump.nt.gz": 40, "all.nt.tar.gz": 3, "all.ttl.zip": 5}


def test_the_files_of_an_archive_are_named_in_the_metadata(crawl: tuple[Run, Path]) -> None:
    with sqlite3.connect(crawl[0].folder / "crawl.db") as database:
        found = dict(database.execute("SELECT url, members FROM document"))
    assert found[f"{D}/all.nt.tar.gz"].split("\n") == ["one.nt", "two.ttl", "READ.txt"]
    assert found[f"{D}/all.ttl.zip"] == "three.nt"
    assert found[f"{D}/dump.nt.gz"] is None


def test_a_bomb_and_a_dump_cut_off_are_recorded(crawl: tuple[Run, Path]) -> None:
    records = {r["url"]: r for r in crawl[0].records}
    assert records[f"{D}/bomb.nt.gz"]["outcome"] == "parse-error"
    assert "unpack" in records[f"{D}/bomb.nt.gz"]["errors"]
    assert records[f"{D}/cut.nt.gz"]["outcome"] == "fetched-rdf"
    assert 0 < records[f"{D}/cut.nt.gz"]["quads"] < 9_000
    assert records[f"{D}/cut.nt.gz"]["errors"]


def test_only_the_chosen_properties_lead_on(crawl: tuple[Run, Path]) -> None:
    documents = crawl[0].documents()
    assert f"{D}/followed.ttl" in documents
    assert f"{D}/not-followed.ttl" not in documents


@pytest.mark.slow
def test_a_large_document_leaves_no_file_behind(tmp_path: Path) -> None:
    big = {"/big.nt": ("application/n-triples", triples("big", 250_000))}
    with serve(DemoWeb(), handlers={"d.example": handler(big)}) as server:
        run = harvest(f"{D}/big.nt", "--fast", folder=tmp_path / "out", proxy=server.proxy_url)
    assert run.documents() == {f"{D}/big.nt": 250_000}
    assert len(run.quads) == 250_000
    left = [p.name for p in run.folder.rglob("*") if "spool" in p.name or "semcrawl-" in p.name]
    assert left == []


@pytest.mark.slow
def test_what_is_read_again_with_its_contexts_leaves_no_file_behind(tmp_path: Path) -> None:
    content = named(f"{C}/shared.jsonld", "#x")[1]
    body = zipped(a_nt=triples("big", 200_000), b_jsonld=content)
    hosts = {
        "d.example": handler({"/all.zip": ("application/zip", body)}),
        "contexts.example": handler(CONTEXTS),
    }
    with serve(DemoWeb(), handlers=hosts) as server:
        run = harvest(f"{D}/all.zip", "--fast", folder=tmp_path / "out", proxy=server.proxy_url)
    assert run.documents() == {f"{D}/all.zip": 200_001}
    assert [p.name for p in run.folder.rglob("*") if "spool" in p.name] == []


@pytest.mark.slow
def test_contexts_outlast_the_run_that_fetched_them(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    hosts = {"d.example": handler(DATA), "contexts.example": handler(CONTEXTS)}
    with serve(DemoWeb(), log=log, handlers=hosts) as server:
        for name in ("a", "b"):
            run = harvest(
                f"{D}/{name}.jsonld", "--fast", folder=tmp_path / "out", proxy=server.proxy_url
            )
    assert run.documents() == {f"{D}/a.jsonld": 1, f"{D}/b.jsonld": 1}
    assert asked(log)["contexts.example/shared.jsonld"] == 1


@pytest.mark.slow
def test_no_context_sends_the_crawl_to_private_addresses(tmp_path: Path) -> None:
    context = "http://127.0.0.1:9/c.jsonld"
    hosts = {"d.example": handler({"/x.jsonld": named(context, "/x.jsonld")})}
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), log=log, handlers=hosts) as server:
        run = harvest(
            f"{D}/x.jsonld",
            "--fast",
            *("-s", "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES=0"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    assert run.outcomes()[context] == ["address-refused"]
    assert not any("127.0.0.1" in url for url in asked(log))


@pytest.mark.slow
def test_contexts_are_asked_for_at_the_pace_that_their_host_asks_for(tmp_path: Path) -> None:
    delay = 0.4
    names = ["one", "two", "three"]
    contexts = {f"/{name}.jsonld": (JSON_LD, CONTEXT) for name in names}
    contexts["/robots.txt"] = ("text/plain", f"User-agent: *\nCrawl-delay: {delay}\n".encode())
    text = "".join(script({"@context": f"{C}/{name}.jsonld", "label": name}) for name in names)
    hosts = {"d.example": handler({"/": page(head=text)}), "contexts.example": handler(contexts)}
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), log=log, handlers=hosts) as server:
        run = harvest(
            f"{D}/", "-s", "SEMCRAWL_CRAWL_DELAY=0", folder=tmp_path / "out", proxy=server.proxy_url
        )
    times = [line["t"] for line in logged(log) if line["host"] == "contexts.example"]
    assert len(times) == 4
    assert min(later - earlier for earlier, later in pairwise(times)) > delay - 0.05
    assert len(lines_embedded(run)) == 3
