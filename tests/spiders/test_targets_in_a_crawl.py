"""Targets of a crawl, and faults of the reading itself."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from harvest.runs import Run, environment, harvest
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from semcrawl.crawl.failures import ItemNotWritten
from semcrawl.items import FetchedFile
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.pipelines.files import FilesPipeline, extension_of, kept_files
from spiders.site import handler, page, script, triples

D = "http://d.example"
TABLE = b"a,b\n1,2\n"
PAPER = b"%PDF-1.4 a paper"
SITE = {
    "/": page(
        "/table.csv",
        "/same.csv",
        "/vague.csv",
        "/letter.doc",
        "/paper.pdf",
        "/data.nt",
        "/page",
        "/named.jsonld",
    ),
    "/table.csv": ("text/csv; charset=utf-8", TABLE),
    "/same.csv": ("text/csv", TABLE),
    "/vague.csv": ("application/octet-stream", TABLE),
    "/letter.doc": ("application/msword", b"\xd0\xcf\x11\xe0 a letter"),
    "/paper.pdf": ("application/pdf", PAPER),
    "/data.nt": ("application/n-triples", triples("data", 3)),
    "/page": page(head=script({"http://v.example/name": "One"})),
    "/named.jsonld": (
        "application/ld+json",
        b'{"@context": "http://contexts.example/c.jsonld", "@id": "#x", "label": "X"}',
    ),
}


def crawl(place: Path, *arguments: str) -> Run:
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        return harvest(f"{D}/", "--fast", *arguments, folder=place / "out", proxy=server.proxy_url)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["learned", "rules-parents", "breadth-first"])
def test_images_are_had_where_they_are_linked_and_where_they_are_shown(
    strategy: str, tmp_path: Path
) -> None:
    shown = '<img src="/shown.png"><video><source src="/film.webm"></video>'
    picture = ("image/png", b"\x89PNG\r\n\x1a\n a picture")
    site = {
        "/": page("/linked.jpg", "/bare", "/style.css", body=shown),
        "/linked.jpg": ("image/jpeg", b"\xff\xd8 a photograph"),
        **dict.fromkeys(("/shown.png", "/bare"), picture),
        "/film.webm": ("video/webm", b"a film"),
    }
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        run = harvest(
            *(f"{D}/", "--fast", "--targets", "image/*", "--relevance", strategy),
            folder=tmp_path / "out", proxy=server.proxy_url,
        )  # fmt: skip
    assert run.status == 0, run.err
    had = {D + path for path in ("/linked.jpg", "/shown.png", "/bare")}
    assert {str(line["url"]) for line in index(run.folder / "files")} == had


def index(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_bodies_of_a_target_media_type_are_kept_whole(tmp_path: Path) -> None:
    run = crawl(
        tmp_path,
        "--targets",
        "text/csv,application/pdf",
        "-s",
        "SEMCRAWL_EMBEDDED=",
        *no_contexts(),
    )
    files = run.folder / "files"
    name = sha256(TABLE).hexdigest() + ".csv"
    paper = sha256(PAPER).hexdigest() + ".pdf"
    assert sorted(p.name for p in files.iterdir()) == sorted([name, paper, "index.jsonl"])
    assert (files / name).read_bytes() == TABLE
    assert {(line["url"], line["name"]) for line in index(files)} == {
        (f"{D}/table.csv", name),
        (f"{D}/same.csv", name),
        (f"{D}/vague.csv", name),
        (f"{D}/paper.pdf", paper),
    }
    assert run.summary["files"] == 4
    assert "wanted media types: 4 (2 different)" in run.out
    records = {r["url"]: r for r in run.records}
    assert records[f"{D}/table.csv"]["real_type"] == "other"
    assert run.documents()[f"{D}/data.nt"] == 3
    # no kind of embedded data was asked for
    assert records[f"{D}/page"]["quads"] == 0
    assert not (run.folder / "embedded.nq").exists()
    # no host may be asked for contexts
    assert records[f"{D}/named.jsonld"]["outcome"] == "parse-error"
    assert not any("contexts.example" in url for url in records)


def no_contexts() -> tuple[str, ...]:
    return "-s", "SEMCRAWL_CONTEXT_HOSTS="


@pytest.mark.slow
def test_targets_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    run = harvest(f"{D}/", "--targets", "poems", folder=tmp_path / "out")
    run.says_in_one_line("poems", "media type")


#: the crawler with a reader that fails for one document, and links that fail for one page
FAULTY = """
import sys
from semcrawl import rdf
from semcrawl.reading import reader as reading
read, extract = rdf.read, reading.read_page
def read_badly(body, url, **named):
    if url.endswith("data.nt"):
        raise LookupError("a fault of the reader")
    return read(body, url, **named)
def extract_badly(body, url, *rest, **named):
    if url.endswith("page"):
        raise TypeError("a fault of the links")
    return extract(body, url, *rest, **named)
rdf.read, reading.read_page = read_badly, extract_badly
from semcrawl.__main__ import main
main()
"""


@pytest.mark.slow
def test_a_fault_of_the_reader_is_a_recorded_outcome(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        done = subprocess.run(
            [sys.executable, "-c", FAULTY, "harvest", f"{D}/", "--fast", "--out", str(out),
             *no_contexts()],
            env=environment(server.proxy_url), capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    run = Run(done.returncode, done.stdout, done.stderr, out)
    run.is_calm()
    assert run.status == 0
    records = {r["url"]: (r["outcome"], r["errors"]) for r in run.records}
    assert records[f"{D}/data.nt"] == ("parse-error", "LookupError: a fault of the reader")
    assert records[f"{D}/page"] == ("parse-error", "TypeError: a fault of the links")
    assert "Traceback" not in (out / "crawl.log").read_text()


def kept(folder: Path) -> set[str]:
    return {str(line["url"]) for line in index(folder)}


def test_half_a_line_in_the_index_is_cut_off(tmp_path: Path) -> None:
    one = FetchedFile(f"{D}/1.csv", b"1", content_hash="1")
    two = FetchedFile(f"{D}/2.csv", b"2", content_hash="2")
    FilesPipeline(tmp_path).keep(one)
    with (tmp_path / "index.jsonl").open("ab") as file:
        file.write(b'{"url": "http://d.exa')
    again = FilesPipeline(tmp_path)
    again.keep(one)
    for _ in range(2):  # its line is read where the half one was
        again.keep(two)
    assert [line["url"] for line in index(tmp_path)] == [one.url, two.url]


async def test_a_file_that_cannot_be_kept_is_lost_and_counted(tmp_path: Path) -> None:
    (tmp_path / "files").touch()
    stats = MemoryStatsCollector(get_crawler())
    file = FetchedFile(f"{D}/1.csv", b"1", content_hash="1")
    with pytest.raises(ItemNotWritten, match=r"cannot write to .*files: File exists"):
        await FilesPipeline(tmp_path / "files", stats).process_item(file)
    assert stats.get_stats() == {"semcrawl/files/failed": 1}


def test_a_file_that_changed_has_a_further_line(tmp_path: Path) -> None:
    """The last line of a URL says what is there now; the old file stays."""
    url = f"{D}/1.csv"
    for content in ("1", "1", "2", "1"):
        FilesPipeline(tmp_path / "files").keep(FetchedFile(url, b"x", content_hash=content))
    assert [line["sha256"] for line in index(tmp_path / "files")] == ["1", "2", "1"]
    assert kept_files(tmp_path) == {url: "1"}
    assert kept_files(tmp_path / "elsewhere") == {}


def test_the_name_that_a_server_gives_a_file_tells_its_extension() -> None:
    file = FetchedFile(f"{D}/get.php", content_type="application/octet-stream")
    assert extension_of(file) == ".php"
    assert extension_of(replace(file, saved_name="table.csv")) == ".csv"


def test_two_writers_share_an_index(tmp_path: Path) -> None:
    first, second = FilesPipeline(tmp_path), FilesPipeline(tmp_path)
    for number in range(6):
        file = FetchedFile(f"{D}/{number}.csv", b"x", content_hash="x")
        first.keep(file)
        second.keep(file)
    assert kept(tmp_path) == {f"{D}/{number}.csv" for number in range(6)}
    assert len(index(tmp_path)) == 6
