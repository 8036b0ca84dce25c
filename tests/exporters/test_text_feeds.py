"""Scrapy's text formats carry the RDF: ordinary readers get every quad back."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from io import BytesIO, StringIO
from pathlib import Path

import pyoxigraph
import pytest
from harvest.runs import TIMEOUT, environment
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from scrapy.exporters import JsonLinesItemExporter, PprintItemExporter, PythonItemExporter
from scrapy.settings import Settings, default_settings
from spiders.site import handler, page

from semcrawl.errors import StoreError, UsageError
from semcrawl.items import DocumentError, FetchOutcome, FetchRecord, RdfDocument, TopicPage
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.pipelines.documentfeeds import (
    CsvExporter,
    DocumentLinesExporter,
    JsonExporter,
    JsonLinesExporter,
    XmlExporter,
    append_array,
    append_elements,
    append_rows,
)
from semcrawl.pipelines.feeds import APPEND, AtomicFileStorage, check_feeds
from semcrawl.settings.feedformats import FEED_EXPORTERS

csv.field_size_limit(1 << 30)

URL = "http://d.example/a.ttl"
FORMATS = {
    "json": JsonExporter,
    "jsonlines": JsonLinesExporter,
    "jl": JsonLinesExporter,
    "jsonl": DocumentLinesExporter,
    "csv": CsvExporter,
    "xml": XmlExporter,
}
BINARY = ("pickle", "marshal")


def read(kind: str, data: bytes) -> list[dict[str, object]]:
    """Read a feed as its users do."""
    if kind == "json":
        return json.loads(data)
    if kind == "csv":
        return list(csv.DictReader(StringIO(data.decode(), newline="")))
    if kind == "xml":
        root = etree.fromstring(data, etree.XMLParser(huge_tree=True))
        return [{field.tag: field.text or "" for field in item} for item in root]
    return [json.loads(line) for line in data.split(b"\n") if line]


def quads_in(items: list[dict[str, object]]) -> list[pyoxigraph.Quad]:
    texts = (str(item.get("nquads") or "") for item in items)
    return [quad for text in texts for quad in pyoxigraph.parse(text, pyoxigraph.RdfFormat.N_QUADS)]


def written(kind: str, items: list[object], **options: object) -> bytes:
    file = BytesIO()
    exporter = FORMATS[kind](file, **options)
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return file.getvalue()


def document(texts: list[str], spool: Path | None = None) -> RdfDocument:
    graph = pyoxigraph.NamedNode(URL)
    found = [
        pyoxigraph.Quad(pyoxigraph.NamedNode(f"{URL}#{i}"), graph, pyoxigraph.Literal(text), graph)
        for i, text in enumerate(texts)
    ]
    lines = pyoxigraph.serialize(found, format=pyoxigraph.RdfFormat.N_QUADS)
    assert lines is not None
    if spool is not None:
        spool.write_bytes(lines)
        lines = b""
    errors = [DocumentError("a fault", 1, 2)]
    return RdfDocument(
        url=URL, nquads=lines, spool=spool, quads=len(texts), errors=errors, rules=("ex1", "ti1")
    )


RECORD = FetchRecord(url=URL, outcome=FetchOutcome.FETCHED_RDF, extra={"a": "b"})
PAGE = TopicPage(url="http://d.example/p", title='"A", \r\n\x0b B', text="a\nb")


def test_every_format_of_scrapy_carries_rdf_or_is_refused():
    """None that a newer Scrapy registers is forgotten."""
    assert set(default_settings.FEED_EXPORTERS_BASE) == {*FORMATS, *BINARY}
    assert {name: FEED_EXPORTERS[name].rpartition(".")[2] for name in FORMATS} == {
        name: exporter.__name__ for name, exporter in FORMATS.items()
    }
    for name in BINARY:
        settings = Settings({"FEEDS": {f"o.{name}": {"format": name}}})
        with pytest.raises(UsageError, match=f"o.{name} cannot carry RDF documents") as told:
            check_feeds(settings)
        assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("feeds", "said"),
    [
        ({"a.json": None}, "FEEDS must name files with their options"),
        ({"a.json": {}}, "there is no format ''"),
        ({"a.parquet": {"format": "parquet"}}, "there is no format 'parquet'"),
        ({"stdout:": {"format": "json"}}, "two spiders cannot write one json to standard output"),
    ],
)
def test_feeds_that_cannot_be_written_are_refused_before_the_crawl(feeds, said):
    settings = Settings({"FEEDS": feeds, "FEED_EXPORTERS": FEED_EXPORTERS})
    with pytest.raises(UsageError, match=said):
        check_feeds(settings, spiders=2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
@given(texts=st.lists(st.text(st.characters(exclude_categories=("Cs",))), max_size=4))
def test_ordinary_readers_get_every_quad_back(kind, texts, tmp_path_factory):
    """Whatever their literals hold, in memory and on disk."""
    spool = tmp_path_factory.mktemp("spool") / "lines"
    plain = document(texts)
    truth = quads_in([{"nquads": plain.nquads.decode()}])
    for item in plain, document(texts, spool):
        for encoding in (None, "iso-8859-1"):
            data = written(kind, [item, RECORD, PAGE], encoding=encoding)
            if encoding and kind != "xml":  # which names its encoding
                data = data.decode(encoding).encode()
            assert quads_in(read(kind, data)) == truth


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_a_document_on_disk_is_written_in_pieces(kind, tmp_path):
    """As from memory, but without holding all of it."""
    texts = ['"a", <b>;\r\n\t\\ & é 😀\x01' * 40] * 3000
    large = document(texts, tmp_path / "lines")
    plain = document(texts)
    assert len(plain.nquads) > 4 << 20
    assert written(kind, [large, large]) == written(kind, [plain, plain])

    class Sizes(BytesIO):
        largest = 0

        def write(self, data: bytes) -> int:
            self.largest = max(self.largest, len(data))
            return len(data)

    file = Sizes()
    exporter = FORMATS[kind](file)
    exporter.start_exporting()
    exporter.export_item(large)
    exporter.finish_exporting()
    assert file.largest < 2.5 * (1 << 20)


@pytest.mark.parametrize(
    "options", [{"indent": 2}, {"fields_to_export": {"url": "u", "nquads": "q"}}]
)
@pytest.mark.parametrize("kind", FORMATS)
def test_options_of_scrapy_hold(kind, options, tmp_path):
    """Indentation, and fields with other names."""
    plain, large = document(["a\nb"]), document(["a\nb"], tmp_path / "lines")
    if kind.startswith("j") and kind != "json" and "indent" in options:
        pytest.skip("a line has no indentation")
    for item in plain, large:
        (found,) = read(kind, written(kind, [item], **options))
        name = "q" if "fields_to_export" in options else "nquads"
        assert found[name] == plain.nquads.decode()
        assert (set(found) == {"u", "q"}) == ("fields_to_export" in options)


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": ";", "quotechar": "'"},
        {"delimiter": "\t", "quoting": csv.QUOTE_ALL, "lineterminator": "\n"},
        {"doublequote": False, "escapechar": "\\"},
        {"quoting": csv.QUOTE_NONE, "escapechar": "^"},
    ],
)
def test_csv_of_other_dialects_has_the_same_quads(options, tmp_path):
    texts = ["a; 'b' \"c\" ^ \\", "d"]
    for item in document(texts), document(texts, tmp_path / "lines"):
        data = written("csv", [item, RECORD], **options).decode()
        first, _ = csv.DictReader(StringIO(data, newline=""), **options)
        assert first["nquads"] == document(texts).nquads.decode()


def test_csv_has_the_same_columns_whatever_comes_first():
    """And a place for what other items have."""
    plain = document(["a"])
    orders = [
        [plain, RECORD, PAGE],
        [RECORD, PAGE, plain],
        [PAGE, {"title": "T", "price": 3, "tags": ["a"]}, plain, RECORD],
    ]
    headers = set()
    for items in orders:
        data = written("csv", items)
        headers.add(data.split(b"\r\n")[0])
        rows = read("csv", data)
        assert len(rows) == len(items)
        classes = [row["item_class"] for row in rows]
        assert classes == [type(i).__name__ if i is not None else "" for i in items] or (
            classes[1] == ""
        )
        (found,) = [row for row in rows if row["item_class"] == "RdfDocument"]
        assert (found["rules"], json.loads(found["errors"])[0]["line"]) == ("ex1,ti1", 1)
    assert len(headers) == 1
    other = rows[1]
    assert (other["title"], json.loads(other["other"])) == ("T", {"price": 3, "tags": ["a"]})


def test_csv_of_somebody_s_own_items_is_scrapy_s():
    items = [{"b": 1, "a": ["x", "y"]}, {"b": 2, "c": 3}]
    assert written("csv", items) == b'b,a\r\n1,"x,y"\r\n2,\r\n'


def test_csv_refuses_a_document_for_which_its_first_item_left_no_column():
    file = BytesIO()
    exporter = CsvExporter(file)
    exporter.start_exporting()
    exporter.export_item({"b": 1})
    with pytest.raises(ValueError, match="FEED_EXPORT_FIELDS can name nquads"):
        exporter.export_item(document(["a"]))


def test_texts_that_xml_cannot_hold_are_replaced_and_others_stay():
    (found,) = read("xml", written("xml", [PAGE]))
    assert found["title"] == '"A", \r\n\ufffd B'


@pytest.mark.parametrize("kind", FORMATS)
def test_what_has_its_own_files_is_left_out_and_options_choose(kind):
    embedded = document(["a"])
    embedded.format = "embedded"
    everything = [embedded, document(["b"]), RECORD]
    names = {"item_class": "RdfDocument"}
    counts = [
        len(
            [x for x in read(kind, written(kind, everything, **options)) if x["item_class"] == name]
        )
        for options, name in (
            ({}, names["item_class"]),
            ({"embedded": True}, "RdfDocument"),
            ({}, "FetchRecord"),
            ({"records": kind == "jsonl"}, "FetchRecord"),
        )
    ]
    assert counts == [1, 2, int(kind != "jsonl"), int(kind == "jsonl")]


def test_exporters_of_others_show_the_quads_as_text():
    """Those that use Scrapy's serializers of fields."""
    plain = document(["é"])
    file = BytesIO()
    lines = JsonLinesItemExporter(file)
    lines.export_item(plain)
    lines.export_item(RECORD)
    first, second = map(json.loads, file.getvalue().splitlines())
    assert (first["nquads"], first["errors"][0]["line"]) == (plain.nquads.decode(), 1)
    assert (second["outcome"], first["spool"]) == ("fetched-rdf", None)
    assert PythonItemExporter().export_item(plain)["nquads"] == plain.nquads.decode()
    file = BytesIO()
    PprintItemExporter(file).export_item(plain)
    assert b"nquads" in file.getvalue()


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize(
    ("kind", "append"),
    [("json", append_array), ("xml", append_elements), ("csv", append_rows)],
)
def test_parts_of_a_feed_make_one_that_readers_accept(kind, append, ending, tmp_path):
    """Of the spiders of a run, or of a second run with ``-o``; empty parts too."""
    if ending == ".zst":
        pytest.importorskip("zstandard")
    plugins = {
        ".gz": "scrapy.extensions.postprocessing.GzipPlugin",
        ".zst": "semcrawl.pipelines.feeds.ZstdPlugin",
    }
    options = {APPEND: append}
    if ending:
        options["postprocessing"] = [plugins[ending]]
    path = tmp_path / f"o.{kind}{ending}"
    parts = [[], [document(["a"]), RECORD], [], [document(["b"])], [PAGE, {"title": "T"}]]
    for items in parts:
        storage = AtomicFileStorage(str(path), feed_options=options)
        file = storage.open(None)
        file.write(packed(header(kind, items), ending))
        storage.store(file)
    read_back = read(kind, unpacked(path.read_bytes(), ending))
    assert len(read_back) == 5
    assert len(quads_in(read_back)) == 2
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def header(kind: str, items: list[object]) -> bytes:
    """What our spiders write: with the columns, even without rows."""
    if kind != "csv" or items:
        return written(kind, items)
    return written(kind, [PAGE]).split(b"\r\n")[0] + b"\r\n"


def packed(data: bytes, ending: str) -> bytes:
    if ending == ".zst":
        import zstandard

        return zstandard.compress(data)
    return gzip.compress(data) if ending else data


def unpacked(data: bytes, ending: str) -> bytes:
    if ending == ".zst":
        import zstandard

        return zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    return gzip.decompress(data) if ending else data


@pytest.mark.parametrize(
    ("append", "before", "data"),
    [
        (append_array, b'{"a": 1}\n', b"[]"),
        (append_array, b"[", b"[]"),
        (append_elements, b"<a></a>", b"<items></items>"),
        (append_elements, b"text", b"<items></items>"),
        (append_rows, b"a,b\r\n1,2\r\n", b"b,a\r\n3,4\r\n"),
    ],
)
def test_a_part_that_does_not_fit_is_kept_beside_the_file(append, before, data, tmp_path):
    path = tmp_path / "o.txt"
    path.write_bytes(before)
    storage = AtomicFileStorage(str(path), feed_options={APPEND: append})
    file = storage.open(None)
    file.write(data)
    with pytest.raises(StoreError, match=r"cannot append to .* the new items are in .*o-2\.txt"):
        storage.store(file)
    assert path.read_bytes() == before
    assert (tmp_path / "o-2.txt").read_bytes() == data
    assert len(list(tmp_path.iterdir())) == 2


HOST = "http://d.example"
SITE = {
    "/": page("/a.ttl", "/b.nt", "/2/"),
    "/2/": page("/c.ttl"),
    "/a.ttl": ("text/turtle", '<#it> <http://v.example/p> "a, \\"é\\" <&>\\n" .'.encode()),
    "/b.nt": (
        "application/n-triples",
        b"".join(
            b'<%s/b#%d> <%s/p> "%d" .\n' % (HOST.encode(), i, HOST.encode(), i) for i in range(9000)
        ),
    ),
    "/c.ttl": ("text/turtle", b"<#it> <http://v.example/p> [] ."),
}
SPIDER = """
from semcrawl.spiders.html import HtmlSpider

class Mine(HtmlSpider):
    name = "mine"

    async def parse(self, response):
        async for item in super().parse(response):
            yield item
        yield {"title": response.url, "length": len(response.body)}
"""
PICKLES = """
from scrapy import Spider
from semcrawl.items import RdfDocument

class Pickles(Spider):
    name = "pickles"
    start_urls = ["data:,"]

    async def parse(self, response):
        yield {"a": 1}
        yield RdfDocument(url="http://d.example/", nquads=b"<a:a> <a:b> <a:c> .\\n", quads=1)
"""
EXPORTER = """
from scrapy.exporters import JsonLinesItemExporter

class Mine(JsonLinesItemExporter):
    pass
"""
QUIET = (
    "-s",
    "SEMCRAWL_CRAWL_DELAY=0",
    "-s",
    "SEMCRAWL_SITEMAPS=never",
    "-s",
    "SEMCRAWL_WELL_KNOWN=",
)


@pytest.fixture(scope="module")
def site():
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        yield environment(server.proxy_url)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What ``scrapy startproject`` writes, with the line for our add-on."""
    subprocess.run(
        [sys.executable, "-m", "scrapy", "startproject", "theirs", "."],
        cwd=tmp_path, check=True, capture_output=True, timeout=TIMEOUT,
    )  # fmt: skip
    with (tmp_path / "theirs" / "settings.py").open("a") as file:
        file.write(
            '\nADDONS = {"semcrawl.addon.Addon": 500}\n'
            'SEMCRAWL_JOBDIR = "job"\nDOWNLOAD_DELAY = 0\n'
            'FEED_EXPORTERS = {"mine": "theirs.exporters.Mine"}\n'
        )
    (tmp_path / "theirs" / "spiders" / "mine.py").write_text(SPIDER)
    (tmp_path / "theirs" / "spiders" / "pickles.py").write_text(PICKLES)
    (tmp_path / "theirs" / "exporters.py").write_text(EXPORTER)
    return tmp_path


def run(folder: Path, environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT,
    )  # fmt: skip


def truth(folder: Path) -> set[pyoxigraph.Quad]:
    data = (folder / "quads.nq").read_bytes()
    return set(pyoxigraph.parse(data, pyoxigraph.RdfFormat.N_QUADS))


@pytest.mark.slow
@pytest.mark.parametrize("spider", ["html", "mine"])
def test_scrapy_crawl_in_an_add_on_project_writes_every_format(spider, project, site):
    """Documents on disk too, and items of a subclass beside them."""
    kinds = [*FORMATS, "mine"]
    done = run(
        project, site, "scrapy", "crawl", spider, "-a", f"seeds={HOST}/", "-a", "follow_rdf=1",
        *QUIET, *(word for kind in kinds for word in ("-O", f"o.{kind}")),
        "-s", "SEMCRAWL_MAX_SIZE_IN_MEMORY=100000",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stderr
    wanted = truth(project / "job")
    assert len(wanted) == 9002
    for kind in kinds:
        items = read(kind, (project / f"o.{kind}").read_bytes())
        assert set(quads_in(items)) == wanted, kind
        titles = [item for item in items if HOST + "/2/" in (item.get("title"), item.get("other"))]
        assert len(titles) == (spider == "mine"), kind


@pytest.mark.slow
def test_fields_and_classes_of_feeds_in_the_settings(project, site):
    feeds = {
        "o.json": {
            "format": "json",
            "fields": ["url", "nquads"],
            "item_classes": ["semcrawl.items.RdfDocument"],
        },
        "r.csv": {"format": "csv", "item_classes": ["semcrawl.items.FetchRecord"]},
        "g.xml.gz": {"format": "gz", "indent": 1},
        "%(host)s.json": {"format": "json"},
    }
    with (project / "theirs" / "settings.py").open("a") as file:
        file.write(f"FEEDS = {feeds!r}\n")
    done = run(
        project, site, "semcrawl", "crawl", "html", "-a", f"seeds={HOST}/",
        "-a", "follow_rdf=1", *QUIET,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    wanted = truth(project / "job")
    items = read("json", (project / "o.json").read_bytes())
    assert {tuple(item) for item in items} == {("url", "nquads")}
    assert set(quads_in(items)) == wanted
    assert {row["item_class"] for row in read("csv", (project / "r.csv").read_bytes())} == {
        "FetchRecord"
    }
    packed = gzip.decompress((project / "g.xml.gz").read_bytes())
    assert set(quads_in(read("xml", packed))) == wanted
    assert set(quads_in(read("json", (project / "d.example.json").read_bytes()))) == wanted


@pytest.mark.slow
def test_a_harvest_writes_whole_files_in_every_format(tmp_path, site):
    """Its two spiders and two workers write one file; a second run appends to it."""
    words = [word for kind in FORMATS for word in ("-o", f"o.{kind}")]
    done = run(
        tmp_path, site, "semcrawl", "harvest", f"{HOST}/", "--out", "job",
        "--workers", "2", *words, *QUIET,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    wanted = truth(tmp_path / "job")
    for kind in FORMATS:
        assert set(quads_in(read(kind, (tmp_path / f"o.{kind}").read_bytes()))) == wanted, kind
    done = run(
        tmp_path, site, "semcrawl", "harvest", f"{HOST}/", "--out", "again", *words, *QUIET
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for kind in FORMATS:
        found = quads_in(read(kind, (tmp_path / f"o.{kind}").read_bytes()))
        assert len(found) == 2 * len(set(found)), kind
        assert set(found) == wanted


@pytest.mark.slow
@pytest.mark.parametrize(("command", "kind"), [("scrapy", "pickle"), ("semcrawl", "marshal")])
def test_binary_formats_are_refused_for_our_spiders_alone(command, kind, project, site):
    done = run(project, site, command, "crawl", "html", "-a", f"seeds={HOST}/", "-O", f"o.{kind}")
    assert done.returncode != 0
    assert [line for line in done.stderr.splitlines() if "cannot carry RDF" in line]
    assert not (project / f"o.{kind}").exists()
    done = run(project, site, "scrapy", "crawl", "pickles", "-O", f"o.{kind}")
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stderr
    assert b"<a:c> ." in (project / f"o.{kind}").read_bytes()


@pytest.mark.slow
def test_runspider_writes_them_as_well(project, site):
    done = run(
        project, site, "scrapy", "runspider", "theirs/spiders/mine.py", "-a", f"seeds={HOST}/",
        "-a", "follow_rdf=1", *QUIET, "-O", "o.csv", "-O", "-:jl",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    wanted = truth(project / "job")
    assert set(quads_in(read("csv", (project / "o.csv").read_bytes()))) == wanted
    assert set(quads_in(read("jl", done.stdout.encode()))) == wanted
