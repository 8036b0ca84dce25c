"""Bodies that are larger than memory should be asked to hold: kept on disk until they are read."""

from __future__ import annotations

import gzip
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import brotli
import pytest
from harvest.runs import Run, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from semcrawl.web.bodies import BodyBuffer, BodyFile
from spiders.site import gzipped, page, triples
from tests.archives import tarred, zipped

pytestmark = pytest.mark.slow

D = "http://d.example"
TABLE = b"a,b\n" + b"1,2\n" * 10_000
#: more than fits into memory even when it is packed
NAMES = b"".join(b"%s\n" % sha256(b"%d" % n).hexdigest().encode() for n in range(1_000))
LIMIT = 10_000  # bytes
#: packed, but little, so that it is more, too
BROTLI: bytes = brotli.compress(triples("brotli", 2_000), quality=0, lgwin=10)
assert len(BROTLI) > LIMIT
SITE: dict[str, tuple[str, bytes]] = {
    "/": page("/big.nt", "/big.nt.gz", "/coded.nt", "/all.tar.gz", "/all.zip", "/big.html",
              "/table.csv", "/cut.nt", "/small.nt", "/coded.csv", "/coded.html", "/names.csv",
              "/brotli.nt"),
    "/big.nt": ("application/n-triples", triples("big", 2_000)),
    "/big.nt.gz": ("application/gzip", gzipped(triples("packed", 20_000))),
    "/coded.nt": ("application/n-triples", gzip.compress(triples("coded", 20_000))),
    "/brotli.nt": ("application/n-triples", BROTLI),
    "/all.tar.gz": ("application/x-tar",
                    tarred("w:gz", a_nt=triples("a", 20_000), b_nt=triples("b", 7))),
    "/all.zip": ("application/zip", zipped(c_nt=triples("c", 20_000))),
    "/big.html": page("/from-big.nt", body="<p>" + "text " * 4_000 + "</p>",
                      head='<link rel="alternate" href="/early.nt">'),
    "/early.nt": ("application/n-triples", triples("early", 1)),
    "/from-big.nt": ("application/n-triples", triples("late", 1)),
    "/table.csv": ("text/csv", TABLE),
    "/coded.csv": ("text/csv", gzip.compress(NAMES)),
    "/names.csv": ("text/csv", gzip.compress(NAMES)),
    "/coded.html": ("text/html", gzip.compress(page(
        head='<link rel="alternate" href="/from-coded.nt">', body=NAMES.decode())[1])),
    "/from-coded.nt": ("application/n-triples", triples("coded-page", 1)),
    "/cut.nt": ("application/n-triples", triples("cut", 2_000)),
    "/small.nt": ("application/n-triples", triples("small", 2)),
}  # fmt: skip


async def answer(request: Request, out: Stream) -> None:
    found = SITE.get(request.path)
    if found is None:
        await out.whole(404, [], b"")
        return
    content_type, body = found
    headers = [("Content-Type", content_type)]
    if request.path.startswith("/coded."):
        headers.append(("Content-Encoding", "gzip"))
    if request.path == "/brotli.nt":
        headers.append(("Content-Encoding", "br"))
    if request.path == "/cut.nt":
        await out.head(200, [*headers, ("Content-Length", str(len(body)))])
        await out.body(body[: len(body) // 2])
        out.reset()
        return
    await out.whole(200, headers, body)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with serve(DemoWeb(), handlers={"d.example": answer}) as server:
        return harvest(
            f"{D}/",
            "--fast",
            *("-s", "RETRY_TIMES=0"),
            *("-s", f"SEMCRAWL_MAX_SIZE_IN_MEMORY={LIMIT}"),
            *("-s", "SEMCRAWL_TARGETS=rdf,text/csv"),
            *("-s", f"SEMCRAWL_WARC={int(find_spec('warcio') is not None)}"),
            folder=tmp_path_factory.mktemp("large") / "out",
            proxy=server.proxy_url,
        )


def test_they_are_read_like_others(run: Run) -> None:
    run.is_calm()
    assert run.status == 0
    documents = run.documents()
    assert {name: documents[f"{D}/{name}"] for name in ("big.nt", "small.nt")} == {
        "big.nt": 2_000,
        "small.nt": 2,
    }
    assert documents[f"{D}/brotli.nt"] == 2_000
    assert documents[f"{D}/big.nt.gz"] == documents[f"{D}/coded.nt"] == 20_000
    assert (documents[f"{D}/all.tar.gz"], documents[f"{D}/all.zip"]) == (20_007, 20_000)
    assert len(run.quads) == sum(documents.values())


def test_their_records_know_what_was_received(run: Run) -> None:
    records = {r["url"]: r for r in run.records}
    for name in ("/big.nt", "/big.nt.gz", "/coded.nt"):
        body = SITE[name][1]
        assert records[D + name]["bytes"] == len(body)
    assert records[f"{D}/cut.nt"]["outcome"] == "network-error"


def test_of_a_page_the_beginning_is_read(run: Run) -> None:
    assert run.outcomes()[f"{D}/big.html"] == ["fetched-html"]
    assert f"{D}/early.nt" in run.documents()
    assert f"{D}/from-big.nt" not in run.outcomes()
    [record] = [r for r in run.records if r["url"] == f"{D}/big.html"]
    size = len(SITE["/big.html"][1])
    assert record["errors"] == f"only the first {LIMIT} of its {size} bytes are read"


def test_files_are_kept_whole(run: Run) -> None:
    """Without the coding that they had on their way; what was packed before stays so."""
    for content in (TABLE, NAMES, SITE["/names.csv"][1]):
        name = sha256(content).hexdigest() + ".csv"
        assert (run.folder / "files" / name).read_bytes() == content


def test_of_a_page_that_came_packed_the_beginning_is_read(run: Run) -> None:
    assert run.outcomes()[f"{D}/coded.html"] == ["fetched-html"]
    assert f"{D}/from-coded.nt" in run.documents()


def test_their_warc_records_tell_how_they_are_coded(run: Run) -> None:
    pytest.importorskip("warcio")
    from warcio.archiveiterator import ArchiveIterator

    found = {}
    for path in run.folder.glob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == "response":
                    coding = record.http_headers.get_header("Content-Encoding")
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    if coding != "br":  # (warcio reads it with some versions of brotli only)
                        found[url.removeprefix(D)] = (coding, record.content_stream().read())
    assert found["/coded.nt"] == ("gzip", triples("coded", 20_000))  # unpacked by the reader
    assert found["/big.nt"] == (None, SITE["/big.nt"][1])


def test_nothing_is_left_behind(run: Run) -> None:
    assert not list(run.folder.glob(".spool-*"))


def test_scrapys_cache_gives_none_of_them_back_empty(tmp_path: Path) -> None:
    with serve(DemoWeb(), handlers={"d.example": answer}) as server:
        first, second = (
            harvest(
                f"{D}/",
                "--fast",
                *("-s", "RETRY_TIMES=0"),
                *("-s", f"SEMCRAWL_MAX_SIZE_IN_MEMORY={LIMIT}"),
                *("-s", "HTTPCACHE_ENABLED=1", "-s", f"HTTPCACHE_DIR={tmp_path / 'cache'}"),
                folder=tmp_path / name,
                proxy=server.proxy_url,
            )
            for name in ("first", "second")
        )
    assert first.documents()[f"{D}/big.nt"] == 2_000
    assert second.documents() == first.documents()
    assert sorted(second.quads) == sorted(first.quads)
    assert second.outcomes()[f"{D}/table.csv"] == first.outcomes()[f"{D}/table.csv"]


def test_a_body_moves_to_disk_and_can_be_read_by_several(tmp_path: Path) -> None:
    buffer = BodyBuffer(b"abc", 5, tmp_path)
    buffer.write(b"de")
    assert buffer.file is None
    assert buffer.getvalue() == b"abcde"
    buffer.write(b"fgh")
    buffer.write(b"i")
    assert buffer.getvalue() == b""
    assert isinstance(buffer.file, BodyFile)
    one, other = buffer.file.stream(), buffer.file.stream()
    assert (one.read(4), other.read(2), one.read(), other.read(-1)) == (
        b"abcd", b"ab", b"efghi", b"cdefghi",
    )  # fmt: skip
    assert one.read(1) == b""
    assert (buffer.file.size, buffer.file.head(3)) == (9, b"abc")
    assert list(tmp_path.iterdir()) == []
