"""``embedded.nq``: whole, once, whatever happens; apart from ``quads.nq``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from semcrawl.items import EMBEDDED, FetchOutcome, FetchRecord, RdfDocument
from semcrawl.pipelines.quads import EmbeddedQuadsPipeline, QuadsFilePipeline

PAGE = "http://d.example/page"


def data_of(url: str, text: str, *, at: float = 1.0, revisit: bool = False) -> RdfDocument:
    line = f'<{url}#it> <http://v.example/name> "{text}" <{url}> .\n'
    return RdfDocument(
        url,
        format=EMBEDDED,
        quads=1,
        content_hash=text,
        fetched_at=at,
        nquads=line.encode(),
        revisit=revisit,
    )


async def write(folder: Path, *items: RdfDocument | FetchRecord) -> str:
    """Pass items through both pipelines; return what ``embedded.nq`` holds then."""
    pipelines = [QuadsFilePipeline(folder), EmbeddedQuadsPipeline(folder)]
    for pipeline in pipelines:
        pipeline.open_spider()
    for item in items:
        for pipeline in pipelines:
            await pipeline.process_item(item)
    for pipeline in pipelines:
        await pipeline.close_spider()
    file = folder / "embedded.nq"
    return file.read_text() if file.exists() else ""


def lines(*documents: RdfDocument) -> str:
    return b"".join(document.nquads for document in documents).decode()


@pytest.mark.slow
async def test_data_of_pages_and_documents_go_separate_ways(tmp_path: Path) -> None:
    page = data_of(PAGE, "one")
    document = replace(data_of("http://d.example/x.ttl", "two"), format="turtle")
    assert await write(tmp_path, page, document, page) == lines(page)
    assert (tmp_path / "quads.nq").read_text() == lines(document)


async def test_no_file_is_made_where_no_page_has_data(tmp_path: Path) -> None:
    await write(tmp_path, FetchRecord(PAGE, FetchOutcome.FETCHED_HTML))
    assert not any("embedded" in p.name for p in tmp_path.iterdir())  # noqa: ASYNC240


async def test_what_a_dead_writer_left_half_written_is_cut_off(tmp_path: Path) -> None:
    first, second = data_of(PAGE, "one"), data_of(PAGE + "2", "two")
    await write(tmp_path, first)
    with (tmp_path / "embedded.nq").open("ab") as file:
        file.write(b"<http://d.example/half> <http://v.exa")
    assert await write(tmp_path, second) == lines(first, second)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("record", "gone"),
    [
        (FetchRecord(PAGE, FetchOutcome.HTTP_ERROR, status=404), True),
        (FetchRecord(PAGE, FetchOutcome.FETCHED_HTML, status=200), True),
        (FetchRecord(PAGE, FetchOutcome.FETCHED_HTML, status=200, quads=1), False),
        (FetchRecord(PAGE, FetchOutcome.FETCHED_RDF, status=200, quads=1), True),
        (FetchRecord(PAGE, FetchOutcome.PARSE_ERROR, status=200), False),
        (FetchRecord(PAGE, FetchOutcome.NOT_MODIFIED, status=304), False),
        (FetchRecord(PAGE, FetchOutcome.TIMEOUT), False),
    ],
)
async def test_a_revisit_tells_whether_the_data_are_still_there(
    record: FetchRecord, gone: bool, tmp_path: Path
) -> None:
    page = data_of(PAGE, "one")
    record.revisit, record.started_at = True, 9.0
    assert await write(tmp_path, page, record) == ("" if gone else lines(page))


async def test_a_page_whose_data_changed_has_the_new_ones_only(tmp_path: Path) -> None:
    old, new = data_of(PAGE, "old"), data_of(PAGE, "new", at=9.0, revisit=True)
    assert await write(tmp_path, old, new) == lines(new)
