"""A crawl about something: what is judged, kept, recorded and followed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harvest.runs import Run, harvest, semcrawl

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.pipelines.pagestore import stored_pages
from spiders.site import handler, page, script

D = "http://d.example"
FISH = "http://fish.example/ns#"
SHAPES = """@prefix sh: <http://www.w3.org/ns/shacl#> .
[] a sh:NodeShape ; sh:targetClass <http://schema.org/Dataset> .
"""
PARAGRAPH = "Herring and cod are counted by fishers in the northern sea every single year. " * 2
SITE = {
    "/": page("/fish.nt", "/cars.nt", "/page", "/about-fish", "/about-cars"),
    "/fish.nt": ("application/n-triples", f"<{D}/f> <{FISH}weight> \"3\" .\n".encode()),
    "/cars.nt": ("application/n-triples", b'<http://c.example/> <http://c.example/p> "o" .\n'),
    "/page": page(head=script({f"{FISH}name": "Cod"})),
    "/about-fish": page("/deep", body=f"<h1>Herring</h1><p>{PARAGRAPH}</p>"),
    "/about-cars": page("/more-cars", body="<h1>Cars</h1><p>Cars have wheels.</p>"),
    "/deep": page(body="<p>Herring again.</p>"),
    "/more-cars": page(body="<p>More of them.</p>"),
}  # fmt: skip


def crawl(place: Path, *arguments: str) -> Run:
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        run = harvest(f"{D}/", "--fast", *arguments, folder=place / "out", proxy=server.proxy_url)
    assert run.status == 0, run.err
    return run


@pytest.mark.slow
def test_rdf_that_is_about_something_else_is_read_and_recorded_and_not_kept(tmp_path: Path) -> None:
    run = crawl(tmp_path, "--about", f"vocabulary:<{FISH}>")
    assert [line.split()[1] for line in run.quads] == [f"<{FISH}weight>"]
    records = {record["url"]: record for record in run.records}
    assert records[f"{D}/fish.nt"]["outcome"] == "fetched-rdf"
    assert records[f"{D}/fish.nt"]["relevance"] == 1
    assert FISH in records[f"{D}/fish.nt"]["reasons"]
    assert records[f"{D}/cars.nt"]["outcome"] == "off-topic"
    assert records[f"{D}/cars.nt"]["relevance"] == 0
    assert records[f"{D}/page"]["relevance"] == 1
    assert run.summary["rdf_documents"] == 1
    assert run.summary["embedded_documents"] == 1
    assert run.summary["not_harvested"]["off-topic"]["links"] == 1


@pytest.mark.slow
def test_a_page_that_names_a_term_is_near_and_not_kept(tmp_path: Path) -> None:
    """With an embedded statement of another topic, too."""
    about_cod = f"<code>&lt;{FISH}Cod&gt;</code>"
    data = script({"http://c.example/p": "Beetle"})
    site = {
        "/": page("/named", "/both", "/other"),
        "/named": page(body=about_cod),
        "/both": page(head=data, body=about_cod),
        "/other": page(head=data),
    }
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        topic = ("--about", f"vocabulary:<{FISH}>")
        run = harvest(f"{D}/", "--fast", *topic, folder=tmp_path / "out", proxy=server.proxy_url)
    records = {record["url"]: record for record in run.records}
    found = {path: records[D + path]["relevance"] for path in site}
    assert found == {"/": 0, "/named": 0.4, "/both": 0.4, "/other": 0}
    assert records[f"{D}/named"]["reasons"] == f"vocabulary: the page names {FISH}Cod"
    assert not run.quads


@pytest.mark.slow
def test_all_is_kept_where_all_is_asked_for(tmp_path: Path) -> None:
    run = crawl(tmp_path, "--about", f"vocabulary:<{FISH}>", "--keep", "all")
    assert len(run.quads) == 2
    assert run.outcomes()[f"{D}/cars.nt"] == ["fetched-rdf"]


@pytest.mark.slow
def test_what_is_new_is_so_for_both_spiders(tmp_path: Path) -> None:
    """One statement, in a page and in an RDF document, is new once."""
    site = {
        "/": page("/page", "/cod.nt"),
        "/page": SITE["/page"],
        "/cod.nt": ("application/n-triples", f'_:cod <{FISH}name> "Cod" .\n'.encode()),
    }
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        run = harvest(f"{D}/", "--fast", "--about", "new", folder=tmp_path, proxy=server.proxy_url)
    records = {record["url"]: record["relevance"] for record in run.records}
    assert sorted([records[f"{D}/page"], records[f"{D}/cod.nt"]]) == [0, 1]


@pytest.mark.slow
def test_pages_about_something_are_kept_with_title_text_and_reasons(tmp_path: Path) -> None:
    run = crawl(tmp_path, "--targets", "html", "--about", "keywords:herring")
    shown = semcrawl("pages", str(run.folder), "--jsonl", folder=tmp_path)
    pages = {page["url"]: page for page in map(json.loads, shown.out.splitlines())}
    assert pages.keys() == {f"{D}/about-fish", f"{D}/deep"}
    fish = pages[f"{D}/about-fish"]
    assert fish["title"] == "A page"  # the one that it gives
    assert PARAGRAPH.strip() in fish["text"]
    assert fish["relevance"] >= 0.5
    assert any("herring" in reason for reason in fish["reasons"])
    table = semcrawl("pages", str(run.folder), folder=tmp_path).out
    assert "2 pages in" in table
    assert f"{D}/deep" in table


@pytest.mark.slow
def test_a_hard_focus_leaves_the_links_of_other_pages_alone(tmp_path: Path) -> None:
    options = ("--targets", "html", "--about", "keywords:herring", "-s", "SEMCRAWL_FOCUS=hard")
    had = crawl(tmp_path, *options).outcomes()
    assert f"{D}/deep" in had
    assert f"{D}/more-cars" not in had
    assert f"{D}/about-cars" in had  # linked on a seed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--about", "vocabulary:nosuch:"], ["nosuch"]),
        (["--about", "fishes:herring"], ["fishes"]),
        (["-s", "SEMCRAWL_KEEP=most"], ["SEMCRAWL_KEEP", "relevant, all"]),
        (["-s", "SEMCRAWL_FOCUS=sharp"], ["SEMCRAWL_FOCUS", "soft, hard"]),
        (["-s", "SEMCRAWL_ABOUT_THRESHOLD=2"], ["SEMCRAWL_ABOUT_THRESHOLD"]),
    ],
)
def test_a_topic_that_cannot_be_is_told_in_one_line(options, words, tmp_path: Path) -> None:
    harvest(f"{D}/", *options, folder=tmp_path / "out").says_in_one_line(*words)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("about", "words"),
    [
        ("vocabulary:shema:Dataset", ["prefix shema:", "did you mean schema:Dataset"]),
        ("ontology:broken.owl", ["broken.owl cannot be read as RDF"]),
        ("thesaurus:missing.ttl", ["cannot read missing.ttl"]),
        ("examples:empty", ["the folder empty holds no text"]),
        ("shape:shapes.ttl", ["SHACL needs pyshacl: pip install"]),
    ],
)
def test_files_that_a_topic_cannot_be_made_of_are_told_in_one_line(
    about, words, tmp_path: Path
) -> None:
    """The same goes for SHACL where its library is missing."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.owl").write_text("no <ontology")
    (tmp_path / "shapes.ttl").write_text(SHAPES)
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pyshacl'] = None\n")
    out = tmp_path / "out"
    run = harvest(f"{D}/", "--about", about, folder=out, PYTHONPATH=str(tmp_path))
    run.says_in_one_line(*words)
    assert not out.exists()


@pytest.mark.slow
def test_a_query_that_does_not_end_is_recorded_and_the_crawl_goes_on(tmp_path: Path) -> None:
    """The document counts as off topic, and the record says why."""
    facts = b"".join(b"<%s/%d> <%s/p> <%s/%d> .\n" % (D.encode(), n, *2 * [D.encode()], n % 7)
                     for n in range(300))  # fmt: skip
    site = {**SITE, "/": page("/many.nt", "/fish.nt"), "/many.nt": ("application/n-triples", facts)}
    query = (
        "ASK { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l "
        "FILTER(STRLEN(CONCAT(STR(?a), STR(?d), STR(?g), STR(?j))) = 0 "
        f"|| STR(?b) = '{FISH}weight') }}"
    )
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        run = harvest(
            f"{D}/", "--fast", "--about", f"shape:{query}", "-s", "SEMCRAWL_ABOUT_SHAPE_TIMEOUT=1",
            folder=tmp_path / "out", proxy=server.proxy_url,
        )  # fmt: skip
    assert run.status == 0, run.err
    records = {record["url"]: record for record in run.records}
    assert "were stopped, and count as failed: 1." in " ".join(run.out.split())
    assert records[f"{D}/many.nt"]["outcome"] == "off-topic"
    assert (
        records[f"{D}/many.nt"]["reasons"]
        == "shape: the check was stopped: not finished after 1 seconds"
    )
    assert records[f"{D}/fish.nt"]["outcome"] == "fetched-rdf"


@pytest.mark.slow
def test_a_topic_that_nothing_is_about_leaves_records_and_one_line(tmp_path: Path) -> None:
    run = crawl(tmp_path, "--about", "keywords:zeppelin", "--targets", "rdf,html")
    assert run.quads == []
    records = {record["url"]: record for record in run.records}
    assert {records[f"{D}{path}"]["relevance"] for path in SITE} == {0}
    assert records[f"{D}/fish.nt"]["outcome"] == records[f"{D}/cars.nt"]["outcome"] == "off-topic"
    assert "2 read, but not about the topic" in run.out


@pytest.mark.slow
def test_examples_in_a_language_without_a_stemmer_are_told_and_work(tmp_path: Path) -> None:
    """In one line, once."""
    for number, text in enumerate(("samaki na uvuvi", "uvuvi wa samaki", "meli za uvuvi")):
        (tmp_path / f"{number}.html").write_text(f"<html lang=sw><title>Uvuvi</title><p>{text}")
    site = {"/": page("/cod"), "/cod": page(body="<h1>Uvuvi</h1><p>Uvuvi wa samaki baharini.</p>")}
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        run = harvest(
            f"{D}/", "--fast", "--about", f"examples:{tmp_path}", "--targets", "html",
            folder=tmp_path / "out", proxy=server.proxy_url,
        )  # fmt: skip
    assert run.status == 0, run.err
    assert (run.out + run.err).count("no stemmer for sw: words count as they are written") == 1
    assert run.outcomes()[f"{D}/cod"] == ["fetched-html"]


@pytest.mark.slow
def test_a_folder_without_pages_is_told_in_one_line(tmp_path: Path) -> None:
    semcrawl("pages", str(tmp_path), folder=tmp_path).says_in_one_line("keeps no pages")


@pytest.mark.slow
def test_kept_pages_belong_to_the_topic_that_kept_them(tmp_path: Path) -> None:
    """A new topic of a folder judges what earlier ones kept, and says what it cannot judge."""
    place = tmp_path / "out"
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        runs = [
            harvest(
                f"{D}/", "--fast", "--targets", "html", "--about", f"keywords:{word}",
                folder=place, proxy=server.proxy_url,
            )
            for word in ("herring", "fishers", "cars")
        ]  # fmt: skip
    assert [run.status for run in runs] == [0, 0, 0], runs[-1].err
    found = {page.url.removeprefix(D): page for page in stored_pages(place)}
    assert found["/about-fish"].about == "keywords:fishers"
    assert found["/about-fish"].also_about == ("keywords:herring",)
    assert "/about-cars" not in found  # read before, and its text was not kept
    assert found["/deep"].about == "keywords:herring"
    assert "Pages kept about keywords:herring: 2," in runs[0].out
    assert "Pages kept about keywords:fishers: 1," in runs[1].out
    assert "Pages kept for other topics of this folder only: 1." in runs[1].out
    assert "Pages kept about" not in runs[2].out
    assert "Their texts are gone" in " ".join(runs[2].out.split())
