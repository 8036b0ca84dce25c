"""Feeds as Scrapy users know them, with RDF formats, endings, rotation and splitting."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyoxigraph
import pytest

from semcrawl.pipelines.feeds import BEGUN, AtomicFileStorage, moment, why_unwritable

CRAWL = """
import asyncio, json, sys
import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from semcrawl.config.components import install_results
from semcrawl.items import FetchedFile, FetchOutcome, FetchRecord, RdfDocument

class Own(scrapy.Spider):
    name = "own"
    @classmethod
    def update_settings(cls, settings):
        super().update_settings(settings)
        install_results(settings)
    first_is_done = None
    async def start(self):
        if self.settings.getbool("LATE"):
            # the second of two crawlers waits until the first has finished its feeds
            if Own.first_is_done is None:
                Own.first_is_done = asyncio.Event()
                self.crawler.signals.connect(self.set_done, signals.feed_exporter_closed)
            else:
                await Own.first_is_done.wait()
        yield scrapy.Request("data:,")
    def set_done(self):
        Own.first_is_done.set()
    def parse(self, response):
        for host in ("one.example", "two.example"):
            for i in range(30):
                url = f"http://{host}/{i}"
                lines = "".join(
                    f'<{url}> <http://example.org/p> "{i} {j}" <{url}> .' + chr(10)
                    for j in range(20)
                ) + f"_:b{i}{host[0]} <http://example.org/p> _:b{i}{host[0]} <{url}> ." + chr(10)
                yield RdfDocument(url=url, nquads=lines.encode(), quads=21, rules=("ex1",))
                yield FetchRecord(url=url, outcome=FetchOutcome.FETCHED_RDF, quads=21)
        yield FetchRecord(url="http://none.example/", outcome=FetchOutcome.FETCHED_HTML)
        yield FetchedFile(url="http://none.example/a.csv", body=b"a,b")
        yield {"other": "item"}
        if self.settings.getbool("ODD"):
            yield {"odd": b"no text"}
            yield {"other": "after"}

process = CrawlerProcess({**json.loads(sys.argv[1]), "LOG_LEVEL": "INFO"})
for _ in range(int(sys.argv[2])):
    process.crawl(Own)
process.start()
"""


def crawl(folder: Path, feeds: dict, times: int = 1, preexec=None, **settings) -> str:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            CRAWL,
            json.dumps({"FEEDS": feeds, "SEMCRAWL_JOBDIR": str(folder / "job"), **settings}),
            str(times),
        ],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=folder,
        preexec_fn=preexec,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr


def quads(data: bytes, syntax: pyoxigraph.RdfFormat) -> set:
    return set(pyoxigraph.parse(data, syntax))


@pytest.mark.slow
def test_every_format_holds_every_statement(tmp_path):
    names = ["a.nq", "a.nt", "a.trig", "a.ttl", "a.jsonl", "a.nq.gz", "a.ttl.zst"]
    feeds = {name: {"format": name.rsplit(".")[-1]} for name in names}
    log = crawl(tmp_path, feeds)
    assert "WARNING" not in log
    read = {name: (tmp_path / name).read_bytes() for name in names}
    truth = quads((tmp_path / "job" / "quads.nq").read_bytes(), pyoxigraph.RdfFormat.N_QUADS)
    triples = {pyoxigraph.Quad(*quad.triple) for quad in truth}
    assert len(truth) == 60 * 21
    assert quads(read["a.nq"], pyoxigraph.RdfFormat.N_QUADS) == truth
    assert quads(read["a.trig"], pyoxigraph.RdfFormat.TRIG) == truth
    assert quads(read["a.nt"], pyoxigraph.RdfFormat.N_TRIPLES) == triples
    assert quads(read["a.ttl"], pyoxigraph.RdfFormat.TURTLE) == triples
    assert gzip.decompress(read["a.nq.gz"]) == read["a.nq"]
    zstandard = pytest.importorskip("zstandard")
    assert zstandard.decompress(read["a.ttl.zst"], 1 << 24) == read["a.ttl"]
    lines = [json.loads(line) for line in read["a.jsonl"].splitlines()]
    assert len(lines) == 61
    assert {"other": "item"} in lines
    assert all(line["rules"] == ["ex1"] for line in lines if "url" in line)
    assert "".join(line.get("nquads", "") for line in lines).encode() == read["a.nq"]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*names, "job"])


@pytest.mark.slow
def test_an_item_that_a_feed_cannot_hold_costs_no_other(tmp_path):
    feeds = {"a.jsonl": {"format": "jsonl"}, "b.nq": {"format": "nq"}}
    log = crawl(tmp_path, feeds, ODD=True)
    assert [line for line in log.splitlines() if "ERROR" in line and "dict cannot be put" in line]
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert len(lines) == 62
    assert {"other": "after"} in lines
    assert len((tmp_path / "b.nq").read_bytes().splitlines()) == 60 * 21


@pytest.mark.slow
def test_two_crawlers_of_a_run_write_one_feed(tmp_path):
    """Also with overwriting: what was there before goes, what the sibling wrote stays."""
    for name in ("new.nq", "old.nq", "more.nq"):
        (tmp_path / name).write_text("" if name == "new.nq" else "# before\n")
    (tmp_path / "new.nq").unlink()
    feeds = {
        "new.nq": {"format": "nq"},
        "old.nq": {"format": "nq", "overwrite": True},
        "more.nq": {"format": "nq"},
    }
    crawl(tmp_path, feeds, times=2)
    assert len((tmp_path / "new.nq").read_text().splitlines()) == 2 * 60 * 21
    assert len((tmp_path / "old.nq").read_text().splitlines()) == 2 * 60 * 21
    more = (tmp_path / "more.nq").read_text().splitlines()
    assert more[0] == "# before"
    assert len(more) == 2 * 60 * 21 + 1


@pytest.mark.slow
def test_what_one_crawler_of_a_run_finished_another_does_not_overwrite(tmp_path):
    """Nor its later file of the same name: batches and files of hosts are finished early."""
    for name in ("1.nq", "one.example.nq"):
        (tmp_path / name).write_text("# before\n")
    feeds = {
        "%(batch_id)d.nq": {"format": "nq", "overwrite": True, "batch_item_count": 7},
        "%(host)s.nq": {"format": "nq", "overwrite": True},
    }
    crawl(tmp_path, feeds, times=2, LATE=True)
    batches = [path for path in tmp_path.glob("*.nq") if path.stem.isdigit()]
    for paths in batches, tmp_path.glob("*.example.nq"):
        lines = [line for path in paths for line in path.read_bytes().splitlines()]
        assert len(lines) == 2 * 60 * 21
        assert b"# before" not in lines


def test_a_later_run_of_the_same_process_overwrites(tmp_path):
    path = tmp_path / "data.nq"
    for text in (b"first", b"second"):
        storage = AtomicFileStorage(str(path), feed_options={"overwrite": True, BEGUN: moment()})
        file = storage.open(None)
        file.write(text)
        storage.store(file)
        assert path.read_bytes() == text


@pytest.mark.slow
def test_a_pipe_stays_a_pipe_and_a_link_a_link(tmp_path):
    os.mkfifo(tmp_path / "pipe.nq")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "real.nq").write_text("# before\n")
    (tmp_path / "link.nq").symlink_to("data/real.nq")
    (tmp_path / "ahead.nq").symlink_to("not/yet/there.nq")
    reader = subprocess.Popen(["cat", tmp_path / "pipe.nq"], stdout=subprocess.PIPE)
    names = ("pipe.nq", "link.nq", "ahead.nq")
    assert [why_unwritable(tmp_path / name) for name in names] == ["", "", ""]
    crawl(tmp_path, {name: {"format": "nq"} for name in names})
    piped, _ = reader.communicate(timeout=600)
    assert (tmp_path / "pipe.nq").is_fifo()
    assert len(piped.splitlines()) == 60 * 21
    assert (tmp_path / "link.nq").is_symlink()
    assert (tmp_path / "data" / "real.nq").read_bytes() == b"# before\n" + piped
    assert (tmp_path / "not" / "yet" / "there.nq").read_bytes() == piped
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="takes on another user's rights")
def test_a_file_in_a_folder_that_may_not_be_written_is_refused():
    """The file itself may be written: that is not enough, as the new one is made beside it."""
    code = (
        "import os, sys; from pathlib import Path\n"
        "from semcrawl.pipelines.feeds import why_unwritable\n"
        "os.setuid(65534)\n"
        "print(*(why_unwritable(Path(name)) for name in sys.argv[1:]), sep='|')"
    )
    with tempfile.TemporaryDirectory() as closed:
        Path(closed).chmod(0o755)
        feed = Path(closed, "data.nq")
        feed.touch()
        feed.chmod(0o666)
        done = subprocess.run(
            [sys.executable, "-c", code, feed, "/dev/null"], capture_output=True, text=True
        )
    assert done.stdout == "Permission denied|\n", done.stderr


@pytest.mark.slow
def test_a_feed_below_a_file_ends_with_one_line_and_touches_nothing(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "data.part").write_text("somebody's")
    log = crawl(tmp_path, {"file/data.nq": {"format": "nq"}})
    errors = [line for line in log.splitlines() if " ERROR: " in line]
    assert len(errors) == 1, log
    assert "The feed file/data.nq is given up: cannot write file/data.nq" in errors[0]
    AtomicFileStorage(str(tmp_path / "data.nq")).discard()
    assert (tmp_path / "data.part").read_text() == "somebody's"


@pytest.mark.slow
def test_feeds_rotate_and_split(tmp_path):
    feeds = {
        "size/%(batch_id)03d.nq": {"format": "nq", "batch_bytes": 20_000},
        "count/%(batch_id)d.nq.gz": {"format": "gz", "batch_item_count": 25},
        "host/%(host)s.nq.gz": {"format": "gz"},
        "odd#name? 50%.nq.gz": {"format": "gz"},
        "document/%(document)s.ttl": {"format": "ttl"},
        "objects/%(host)s.jsonl": {"format": "jsonl"},
    }
    log = crawl(tmp_path, feeds)
    assert "Stored nq feed (30 items) in: host/one.example.nq.gz" in log
    assert {p.name for p in (tmp_path / "objects").iterdir()} == {
        "one.example.jsonl",
        "two.example.jsonl",
    }
    whole = sorted((tmp_path / "job" / "quads.nq").read_bytes().splitlines())
    parts = sorted((tmp_path / "size").iterdir())
    assert len(parts) > 2
    assert parts[0].name == "001.nq"
    lines = [line for p in parts for line in p.read_bytes().splitlines()]
    assert sorted(lines) == whole
    counted = [gzip.decompress(p.read_bytes()) for p in sorted((tmp_path / "count").iterdir())]
    # (only documents fill a batch)
    assert [len(data.splitlines()) for data in counted] == [25 * 21, 25 * 21, 10 * 21]
    assert sorted(b"".join(counted).splitlines()) == whole
    hosts = {p.name: gzip.decompress(p.read_bytes()) for p in (tmp_path / "host").iterdir()}
    assert set(hosts) == {"one.example.nq.gz", "two.example.nq.gz"}
    assert all(f"http://{name[:11]}/".encode() in data for name, data in hosts.items())
    assert sorted(b"".join(hosts.values()).splitlines()) == whole
    odd = gzip.decompress((tmp_path / "odd#name? 50%.nq.gz").read_bytes())
    assert sorted(odd.splitlines()) == whole
    documents = list((tmp_path / "document").iterdir())
    assert len(documents) == 60
    assert all(p.name.startswith(("one.example_", "two.example_")) for p in documents)
    assert all(len(quads(p.read_bytes(), pyoxigraph.RdfFormat.TURTLE)) == 21 for p in documents)


def limit_file_size() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))


@pytest.mark.slow
def test_a_full_disk_ends_a_feed_with_one_line_and_no_file(tmp_path):
    (tmp_path / "c.nt.gz").write_bytes(bytes(49_990))
    log = crawl(
        tmp_path,
        {
            "a.nq": {"format": "nq", "batch_item_count": 0},
            "b.nt.gz": {"format": "gz"},
            "c.nt.gz": {"format": "gz"},
        },
        times=2,
        preexec=limit_file_size,
        ITEM_PIPELINES={
            "semcrawl.pipelines.quads.QuadsFilePipeline": None,
            "semcrawl.pipelines.metadata.MetadataPipeline": None,
        },
    )
    errors = [line.split("ERROR: ")[1] for line in log.splitlines() if "] ERROR: " in line]
    assert set(errors) == {
        f"The feed {name} is given up: File too large" for name in ("a.nq", "c.nt.gz")
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.nt.gz", "c.nt.gz"]
    assert (tmp_path / "c.nt.gz").read_bytes() == bytes(49_990)


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ({"a.gz": {"format": "gz"}}, "needs a format before .gz"),
        ({"a.foo.gz": {"format": "gz"}}, "needs a format before .gz"),
        ({"a.nq.gz.gz": {"format": "gz"}}, "needs a format before .gz"),
        ({"a.nq": {"format": "nq", "batch_bytes": 5}}, "batch_bytes needs %(batch_id)d"),
    ],
)
@pytest.mark.slow
def test_wrong_feeds_are_told_of(tmp_path, feeds, message):
    code = CRAWL
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps({"FEEDS": feeds}), "1"],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=tmp_path,
    )
    assert message in done.stderr


@pytest.mark.slow
def test_the_command_line_knows_the_formats(tmp_path):
    """``-o data.nq.gz`` needs no more than the name."""
    spider = tmp_path / "spider.py"
    spider.write_text(CRAWL.split("process =")[0])
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "runspider", str(spider), "-o", "data.nq.gz"],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=tmp_path,
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": "semcrawl.settings"},
    )
    assert done.returncode == 0, done.stderr
    data = gzip.decompress((tmp_path / "data.nq.gz").read_bytes())
    assert len(data.splitlines()) == 60 * 21
