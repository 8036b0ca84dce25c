"""Documents that no parser would finish: each ends at the limit of time, the crawl goes on."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from harvest.runs import Run, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.links import ExtractionOptions
from semcrawl.rdf import Reading, ReadOptions, detect, script_bytes
from semcrawl.rdf.sink import spool_prefix
from semcrawl.reading.pool import ReadingLost, ReadingProcesses, _Child
from semcrawl.reading.reader import Reader
from semcrawl.web.bodies import BodyFile
from spiders.site import HTML, handler, page, triples

D = "http://d.example"
SECONDS = 1.0
#: nodes that say nothing, so that the reader never looks at the clock
JSON_LD = b'{"@context": {}, "@graph": [' + b"{}," * 3_000_000 + b"{}]}"
#: each attribute of an element is compared with all before it
ATTRIBUTES = " ".join(f'a{n}="x"' for n in range(300_000))
PAGE = f'<html><body><p {ATTRIBUTES} property="v:x">text</p><a href="/late.nt">x</a>'.encode()
#: more statements than are read in the time, in one node
RDF_XML = (
    b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description>'
    + b"<r:value/>" * 1_500_000
    + b"</r:Description></r:RDF>"
)
LD = "application/ld+json"


@pytest.fixture
def reader() -> Reader:
    options = ReadOptions(max_seconds=SECONDS)
    return Reader(ExtractionOptions(), options, 1000, ReadingProcesses(1, SECONDS))


def read(reader: Reader, body: bytes | BodyFile, media: str = LD) -> Reading:
    head = body if isinstance(body, bytes) else body.head(1 << 20)

    async def both() -> Reading:
        return await reader.read(body, f"{D}/x", media, detect(head, media, f"{D}/x"))

    return asyncio.run(both())


def small(count: int) -> bytes:
    nodes = ",".join(
        f'{{"@id": "http://d.example/#{n}", "http://v.example/p": 1}}' for n in range(count)
    )
    return f'{{"@graph": [{nodes}]}}'.encode()


@pytest.mark.parametrize(
    ("body", "media"),
    [
        pytest.param(JSON_LD, LD, id="json-ld", marks=pytest.mark.slow),
        pytest.param(RDF_XML, "application/rdf+xml", id="rdf-xml", marks=pytest.mark.slow),
    ],
)
def test_a_document_without_end_is_an_error_and_the_next_is_read(
    reader: Reader, body: bytes, media: str
) -> None:
    lost = read(reader, body, media)
    assert [error.message for error in lost.errors] == [f"not finished after {SECONDS:g} seconds"]
    assert read(reader, small(50)).quads == 50
    reader.close()


@pytest.mark.slow
def test_json_ld_that_is_not_large_is_ended_too() -> None:
    """As a document, and in the scripts of a page, however they are written; other pages stay."""
    options = ReadOptions(max_seconds=SECONDS)
    reader = Reader(ExtractionOptions(), options, 1 << 30, ReadingProcesses(1, SECONDS))
    message = f"not finished after {SECONDS:g} seconds"
    assert read(reader, JSON_LD).errors[0].message == message
    for script in (
        b'<SCRIPT type="application/LD+JSON">',
        b"<script type=application/ld&#43;json>",
    ):
        body = b"<title>x</title>" + script + JSON_LD + b"</script>"
        reading = asyncio.run(reader.read_embedded(body, f"{D}/", HTML))
        assert reading.errors[0].message == message
    reader.close()
    text = b"<p>json </p>" * 10 + b'<script type="application/ld+json">{}</script>' + b" " * 50_000
    assert script_bytes(text) < 1000 < script_bytes(body)


@pytest.mark.slow
def test_a_large_body_on_disk_is_read_and_ended_the_same(reader: Reader, tmp_path: Path) -> None:
    for content, quads in ((JSON_LD, 0), (small(5_000), 5_000)):
        body = BodyFile(tmp_path)
        body.write(gzip.compress(content))
        reading = read(reader, body)
        assert reading.quads == quads
        assert bool(reading.errors) == (quads == 0)
        assert body.head(2) == b"\x1f\x8b"  # ours to read on
    reader.close()


@pytest.mark.slow
def test_a_page_without_end_is_one_error(reader: Reader) -> None:
    reading = asyncio.run(reader.read_embedded(PAGE, f"{D}/", HTML))
    assert reading.errors[0].message == f"not finished after {SECONDS:g} seconds"
    assert reading.embedded
    reader.close()


@pytest.mark.slow
def test_what_is_read_in_a_process_is_what_is_read_here(reader: Reader) -> None:
    here = Reader(ExtractionOptions(), reader.options, 1 << 30)
    _, body = page("/a.ttl", "/b.ttl", body='<p vocab="http://v.example/" property="p">o</p>' * 90)

    def known(url: str) -> bool:
        return url.endswith("/b.ttl")

    async def links(where: Reader) -> set[str]:
        header = "</c.ttl>; rel=alternate"
        page = await where.page(body, f"{D}/", HTML, [header], known)
        return {link.url for link in page.links}

    assert asyncio.run(links(reader)) == asyncio.run(links(here)) == {f"{D}/a.ttl", f"{D}/c.ttl"}
    one, other = (asyncio.run(r.read_embedded(body, f"{D}/", HTML)) for r in (reader, here))
    assert one.nquads == other.nquads != b""
    one, other = (read(r, small(100)) for r in (reader, here))
    assert (one.nquads, one.links) == (other.nquads, other.links)
    reader.close()


def test_contexts_that_were_fetched_go_along(tmp_path: Path) -> None:
    options = ReadOptions(max_seconds=60)
    reader = Reader(ExtractionOptions(), options, 1000, ReadingProcesses(1, 60), json_ld_above=0)
    contexts = {"http://c.example/c.jsonld": b'{"@context": {"name": "http://v.example/name"}}'}
    nodes = [{"@id": f"#{n}", "name": "x"} for n in range(90)]
    document = json.dumps({"@context": [*contexts], "@graph": nodes}).encode()
    file = BodyFile(tmp_path)
    file.write(document)
    script = b'<title>x</title><script type="application/ld+json">' + document + b"</script>"

    async def all_ways() -> list[int]:
        readings = [
            await reader.read(body, f"{D}/", LD, detect(document, LD, f"{D}/"), contexts=contexts)
            for body in (document, file)
        ]
        readings.append(await reader.read_embedded(script, f"{D}/", HTML, contexts))
        return [reading.quads for reading in readings]

    assert asyncio.run(all_ways()) == [90, 90, 90]
    assert reader.processes is not None
    assert reader.processes._all
    reader.close()


@pytest.mark.slow
def test_a_process_that_dies_costs_its_document_only(reader: Reader) -> None:
    processes = reader.processes
    assert processes is not None
    assert read(reader, small(50)).quads == 50
    (child,) = processes._all
    os.kill(child.process.pid, signal.SIGKILL)
    child.process.wait()
    assert read(reader, small(50)).quads == 50  # another took its place
    assert len(processes._all) == 1
    reader.close()
    assert [child.process.poll() is not None for child in processes._all] == [True] * len(
        processes._all
    )


def test_no_more_processes_read_than_are_allowed_and_each_reads_again() -> None:
    processes = ReadingProcesses(2, 60)

    async def several() -> list[int]:
        return await asyncio.gather(*(processes.run(os.getpid) for _ in range(8)))

    read_by = asyncio.run(several())
    assert len(set(read_by)) <= 2
    assert len(processes._all) == len(set(read_by))
    processes.close()


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 5.0, math.inf])
def test_what_ends_in_an_error_is_told_and_the_process_goes_on(seconds: float) -> None:
    """Ctrl-C is for the crawl, which decides when to end."""
    processes = ReadingProcesses(1, seconds)
    pid = asyncio.run(processes.run(os.getpid))
    with pytest.raises(ReadingLost, match="ValueError: invalid literal"):
        asyncio.run(processes.run(int, "x"))
    os.kill(pid, signal.SIGINT)
    assert asyncio.run(processes.run(os.getpid)) == pid
    processes.close()


@pytest.mark.slow
def test_the_limit_within_the_reader_comes_first_and_keeps_what_was_read() -> None:
    seconds = 0.05
    options = ReadOptions(max_seconds=seconds)
    reader = Reader(ExtractionOptions(), options, 1000, ReadingProcesses(1, seconds))
    reading = read(reader, gzip.compress(triples("x", 300_000), 1), "application/gzip")
    assert reading.errors
    assert 0 < reading.quads < 300_000
    reader.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound the memory")
def test_a_document_that_needs_too_much_memory_costs_no_other() -> None:
    """Each of a node's statements has the node's name."""
    processes = ReadingProcesses(1, 60, memory=2**30)
    reader = Reader(ExtractionOptions(), ReadOptions(), 1000, processes)
    name, values = "x" * 120_000, ",".join("1" * 60_000)
    evil = read(reader, f'{{"@id": "urn:{name}", "urn:p": [{values}]}}'.encode())
    assert evil.quads < 1000
    assert evil.error_count
    with pytest.raises(ReadingLost, match="MemoryError"):  # a process cannot take more
        asyncio.run(processes.run(bytearray, 2**31))
    assert read(reader, small(500)).quads == 500
    reader.close()


class EndsMeanwhile(ReadingProcesses):
    """Those of a crawl that ends while a process is being started."""

    def _start(self) -> _Child:
        self.close()
        return super()._start()


def test_the_end_of_a_crawl_waits_for_no_reading_that_is_just_being_started() -> None:
    with pytest.raises(ReadingLost, match="the crawl is at its end"):
        asyncio.run(EndsMeanwhile(1, 60).run(time.sleep, 20))


@pytest.mark.slow
def test_quads_on_their_way_to_a_file_are_cleared_away(tmp_path: Path) -> None:
    """Files that were delivered stay, those of a process that was ended go."""
    options = ReadOptions(max_seconds=SECONDS, spool_above=1000, spool_dir=tmp_path)
    reader = Reader(ExtractionOptions(), options, 1000, ReadingProcesses(1, SECONDS, tmp_path))
    kept = read(reader, small(500))
    assert kept.spool is not None
    assert list(tmp_path.iterdir()) == [kept.spool]
    assert reader.processes is not None
    pid = reader.processes._all[0].process.pid
    (tmp_path / f"{spool_prefix(pid)}half").write_bytes(b"what was written until then")
    assert read(reader, JSON_LD).error_count
    assert list(tmp_path.iterdir()) == [kept.spool]
    reader.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    site = {
        "/": page("/slow.jsonld", "/slow.html", "/slow.rdf", "/good.nt", "/good.jsonld"),
        "/slow.jsonld": (LD, JSON_LD),
        "/slow.html": (HTML, PAGE),
        "/slow.rdf": ("application/rdf+xml", RDF_XML),
        "/late.nt": ("application/n-triples", triples("late", 3)),
        "/good.nt": ("application/n-triples", triples("good", 5)),
        "/good.jsonld": (LD, small(9_000)),
    }
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        return harvest(
            f"{D}/",
            "--fast",
            *("-s", f"SEMCRAWL_MAX_READ_TIME={SECONDS}"),
            folder=tmp_path_factory.mktemp("slow") / "out",
            proxy=server.proxy_url,
        )


@pytest.mark.slow
def test_a_crawl_records_them_and_goes_on(run: Run) -> None:
    run.is_calm()
    assert run.status == 0
    outcomes, errors = run.outcomes(), {r["url"]: r["errors"] for r in run.records}
    expected = {"jsonld": "parse-error", "rdf": "fetched-rdf", "html": "fetched-html"}
    for name, outcome in expected.items():
        assert outcomes[f"{D}/slow.{name}"] == [outcome]
        assert f"not finished after {SECONDS:g} seconds" in errors[f"{D}/slow.{name}"]
    # the links of the page are found, as they are looked for in another way
    names = ("good.nt", "good.jsonld", "late.nt")
    assert [run.documents().get(f"{D}/{name}") for name in names] == [5, 9_000, 3]
    assert not list(run.folder.glob(".spool-*"))
