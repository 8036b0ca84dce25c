"""quads.nq and crawl.db: whole, once, in step, whatever happens."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from scrapy.exceptions import DropItem

from semcrawl.crawl.failures import ItemNotWritten
from semcrawl.errors import StoreError
from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.metadata.database import crawl_db_url
from semcrawl.metadata.history import Written
from semcrawl.pipelines.metadata import MetadataPipeline
from semcrawl.pipelines.quads import QuadsFilePipeline
from semcrawl.pipelines.quadsfile import QuadsFile

from .documents import document, rows


async def write(folder: Path, *documents: RdfDocument) -> None:
    pipeline = QuadsFilePipeline(folder)
    pipeline.open_spider()
    await asyncio.gather(*map(pipeline.process_item, documents))
    await pipeline.close_spider()


async def test_lines_of_a_document_stay_together(tmp_path):
    documents = [document(f"d{i}", "a", "b", "c") for i in range(300)]
    await write(tmp_path, *documents)
    data = (tmp_path / "quads.nq").read_bytes()
    assert data == b"".join(d.nquads for d in documents)
    for url, offset, length in rows(tmp_path, "SELECT url, offset, length FROM document"):
        assert data[offset : offset + length].count(url.encode()) == 6


async def test_a_document_is_written_once_over_restarts(tmp_path):
    await write(tmp_path, document("a", "1"), document("a", "2"))
    await write(tmp_path, document("a", "1"), document("b", "1"))
    lines = (tmp_path / "quads.nq").read_text().splitlines()
    assert len(lines) == 2
    assert rows(tmp_path, "SELECT count(*) FROM document") == [(2,)]


async def test_a_torn_end_is_cut_off_on_opening(tmp_path):
    await write(tmp_path, document("a", "1"))
    whole = (tmp_path / "quads.nq").read_bytes()
    with (tmp_path / "quads.nq").open("ab") as file:
        file.write(b"<http://example.org/b> <http://exa")
    await write(tmp_path, document("c", "1"))
    assert (tmp_path / "quads.nq").read_bytes() == whole + document("c", "1").nquads


@pytest.mark.parametrize("left", [b"", None])
async def test_lines_without_their_ledger_stay_and_are_refused(tmp_path, left):
    await write(tmp_path, document("a", "1"))
    for path in tmp_path.glob("crawl.db*"):
        path.unlink()
    if left is not None:
        (tmp_path / "crawl.db").write_bytes(left)
    with pytest.raises(StoreError, match=r"crawl\.db, which lists whose they are, is missing"):
        QuadsFile(tmp_path)
    assert (tmp_path / "quads.nq").read_bytes() == document("a", "1").nquads


@pytest.mark.slow
@pytest.mark.parametrize("left", [0, 1])
async def test_of_a_file_that_was_cut_what_is_whole_stays(tmp_path, caplog, left):
    """The others' lines are forgotten, and are there once these are read again."""
    documents = [document(name, "1", "2") for name in "abc"]
    for each in documents:
        each.content_hash, each.etag = each.url, "1"
    await write(tmp_path, *documents)
    path = tmp_path / "quads.nq"
    with path.open("r+b") as file:
        file.truncate(left * (len(documents[0].nquads) + 5))
    kept = documents[:left]
    await write(tmp_path, document("d", "1"))
    assert f"the lines of {3 - left} documents are lost" in caplog.text
    expected = [*kept, document("d", "1")]
    assert path.read_bytes() == b"".join(each.nquads for each in expected)
    lost = rows(tmp_path, "SELECT url, etag FROM document WHERE length = 0 ORDER BY url")
    assert lost == [(each.url, "") for each in documents[left:]]
    for each in documents:
        each.revisit = True
        each.fetched_at += 1
    await write(tmp_path, *documents)
    lines = [*expected, *documents[left:]]
    assert path.read_bytes() == b"".join(each.nquads for each in lines)


async def test_a_document_without_final_line_end_gets_one(tmp_path):
    first = document("a", "1")
    first.nquads = first.nquads.rstrip(b"\n")
    await write(tmp_path, first, document("b", "1"))
    assert len((tmp_path / "quads.nq").read_text().splitlines()) == 2


async def test_a_spooled_document_is_copied(tmp_path):
    spooled = document("a", "1", "2")
    (tmp_path / "spool").write_bytes(spooled.nquads)
    lines, spooled.nquads, spooled.spool = spooled.nquads, b"", tmp_path / "spool"
    await write(tmp_path, spooled)
    assert (tmp_path / "quads.nq").read_bytes() == lines


def test_two_writers_of_one_folder_do_not_mix(tmp_path):
    one, other = QuadsFile(tmp_path), QuadsFile(tmp_path)
    for i in range(20):
        assert one.append([document(f"o{i}", "1", "2"), document("both", "x")])[0] is Written.NEW
        assert other.append([document(f"p{i}", "1", "2")]) == [Written.NEW]
    assert other.append([document("both", "x")]) == [Written.DUPLICATE]
    one.close()
    other.close()
    data = (tmp_path / "quads.nq").read_bytes()
    assert len(data.splitlines()) == 20 * 4 + 1
    for url, offset, length in rows(tmp_path, "SELECT url, offset, length FROM document"):
        assert all(url.encode() in line for line in data[offset : offset + length].splitlines())


WRITER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from semcrawl.items import RdfDocument
    from semcrawl.pipelines.quadsfile import QuadsFile
    file = QuadsFile(Path(sys.argv[1]))
    print("ready", flush=True)
    for i in range(100000):
        url = f"http://example.org/{sys.argv[2]}{i}"
        line = f'<{url}> <http://example.org/p> "{"x" * 5000}" <{url}> .\\n'
        file.append([RdfDocument(url=url, nquads=line.encode() * 40, quads=40)])
        print(url, flush=True)
    """
)


@pytest.mark.slow
def test_killed_writers_leave_whole_documents(tmp_path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name], stdout=subprocess.PIPE, text=True
        )
        for name in "ab"
    ]
    said = []
    for process in processes:
        assert process.stdout
        said += [process.stdout.readline() for _ in range(15)][1:]
    for process in processes:
        process.kill()
        said += process.communicate()[0].splitlines()
    QuadsFile(tmp_path).close()
    data = (tmp_path / "quads.nq").read_bytes()
    spans = rows(tmp_path, "SELECT url, offset, length FROM document ORDER BY offset")
    assert sum(length for *_, length in spans) == len(data)
    assert {line.strip() for line in said if line.endswith("\n")} <= {url for url, *_ in spans}
    for url, offset, length in spans:
        lines = data[offset : offset + length].splitlines()
        assert len(lines) == 40
        assert all(line.startswith(f"<{url}>".encode()) for line in lines)


@pytest.mark.slow
async def test_a_full_disk_drops_the_item_with_one_line(tmp_path):
    """Nothing half-written comes up when there is space again."""
    pipeline = QuadsFilePipeline(tmp_path)
    pipeline.open_spider()
    await pipeline.process_item(document("a", "1"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        with pytest.raises(DropItem, match=r"^cannot write .*quads\.nq: File too large$"):
            await pipeline.process_item(document("b", "x" * 2_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await pipeline.process_item(document("b", "1"))
    await pipeline.close_spider()
    assert (tmp_path / "quads.nq").read_bytes() == (
        document("a", "1").nquads + document("b", "1").nquads
    )


async def test_records_do_not_wait_for_a_full_disk(tmp_path):
    pipeline = MetadataPipeline(crawl_db_url(tmp_path), patience=600)
    pipeline.open_spider()
    record = FetchRecord("http://example.org/", FetchOutcome.FETCHED_HTML)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        with pytest.raises(DropItem, match=r"^cannot write the crawl metadata: (disk|database)"):
            await pipeline.process_item(record)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await pipeline.process_item(record)
    await pipeline.close_spider()
    assert rows(tmp_path, "SELECT url FROM fetch") == [(record.url,)]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("may not mount")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.server
async def test_a_small_disk_that_is_full_for_a_while_loses_nothing_written(small_disk):
    quads = QuadsFilePipeline(small_disk)
    records = MetadataPipeline(crawl_db_url(small_disk), patience=0)
    quads.open_spider()
    records.open_spider()
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (1 << 20))
    lost, kept = [], []
    for i in range(40):
        each = document(f"d{i}", "x" * 30_000)
        try:
            await quads.process_item(each)
            await records.process_item(FetchRecord(each.url, FetchOutcome.FETCHED_RDF))
        except ItemNotWritten as error:
            lost.append(str(error))
            if len(lost) == 3:
                filler.unlink()
        else:
            kept.append(each.url)
    await quads.close_spider()
    await records.close_spider()
    assert lost
    assert all("\n" not in line for line in lost)
    assert len(kept) > 20
    data = (small_disk / "quads.nq").read_bytes()
    spans = rows(small_disk, "SELECT url, offset, length FROM document ORDER BY offset")
    assert sum(length for *_, length in spans) == len(data)
    assert set(kept) <= {url for url, *_ in spans}


def test_an_unwritable_folder_is_one_clear_line(tmp_path):
    (tmp_path / "quads.nq").mkdir()
    with pytest.raises(StoreError, match=r"cannot write .*quads.nq: Is a directory"):
        QuadsFile(tmp_path)


async def test_records_are_rows_when_process_item_returns(tmp_path):
    pipeline = MetadataPipeline(crawl_db_url(tmp_path), "html")
    pipeline.open_spider()
    record = FetchRecord(
        url="http://example.org/a\0",
        outcome=FetchOutcome.FETCHED_RDF,
        final_url="http://example.org/b",
        depth=2,
        label="R",
        rules=("ex1", "an2"),
        status=200,
        quads=7,
        started_at=12.5,
        elapsed=0.25,
    )
    await asyncio.gather(*(pipeline.process_item(record) for _ in range(450)))
    assert rows(tmp_path, "SELECT count(*), max(id) FROM fetch") == [(450, 450)]
    assert rows(
        tmp_path,
        "SELECT url, final_url, parent_url, depth, label, rules, outcome, status, content_type,"
        " real_type, bytes, quads, errors, started_at, elapsed, spider FROM fetch LIMIT 1",
    ) == [
        (
            "http://example.org/a\\x00",
            "http://example.org/b",
            None,
            2,
            "R",
            "ex1 an2",
            "fetched-rdf",
            200,
            "",
            "",
            0,
            7,
            "",
            12.5,
            0.25,
            "html",
        )
    ]
    await pipeline.close_spider()


async def test_both_pipelines_share_one_database(tmp_path):
    quads, records = QuadsFilePipeline(tmp_path), MetadataPipeline(crawl_db_url(tmp_path))
    quads.open_spider()
    records.open_spider()
    await asyncio.gather(
        *(quads.process_item(document(f"d{i}", "1")) for i in range(500)),
        *(records.process_item(FetchRecord("http://x/", FetchOutcome.TIMEOUT)) for _ in range(500)),
    )
    await quads.close_spider()
    await records.close_spider()
    assert rows(tmp_path, "SELECT count(*) FROM document") == [(500,)]
    assert rows(tmp_path, "SELECT count(*) FROM fetch") == [(500,)]


async def record_attempts(folder: Path, *records: FetchRecord) -> None:
    pipeline = MetadataPipeline(crawl_db_url(folder))
    pipeline.open_spider()
    await asyncio.gather(*map(pipeline.process_item, records))
    await pipeline.close_spider()


def attempt(
    url: str, name: int | None, *, repeated: bool = False, status: int = 200
) -> FetchRecord:
    outcome = FetchOutcome.FETCHED_HTML
    return FetchRecord(url, outcome, url, attempt=name, repeated=repeated, status=status)


async def test_an_attempt_made_again_replaces_its_record(tmp_path):
    await record_attempts(tmp_path, attempt("a", 1), attempt("b", -2), attempt("robots", None))
    await record_attempts(
        tmp_path,
        attempt("a", 1, repeated=True, status=201),
        attempt("c", 3, repeated=True),
        attempt("robots", None),
    )
    found = rows(tmp_path, "SELECT url, status FROM fetch ORDER BY url, id")
    assert found == [("a", 201), ("b", 200), ("c", 200), ("robots", 200), ("robots", 200)]


async def test_a_worker_that_outlives_its_lease_leaves_no_second_record(tmp_path):
    """It does not know that another one has made its attempt again."""
    await record_attempts(tmp_path, attempt("a", 1, repeated=True, status=201))
    await record_attempts(tmp_path, attempt("a", 1), attempt("b", 2))
    found = rows(tmp_path, "SELECT url, status FROM fetch ORDER BY url")
    assert found == [("a", 200), ("b", 200)]
