import gzip
from io import BytesIO

import pytest
from harvest.runs import harvest
from spiders.site import handler, page, triples

from semcrawl.errors import UsageError
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.recorded import RecordedWorld
from semcrawl.lab.worldsets import load_worlds
from semcrawl.pipelines.warcrecords import find_recording
from semcrawl.web.vocabulary import Kind

warcwriter = pytest.importorskip("warcio.warcwriter")
StatusAndHeaders = pytest.importorskip("warcio.statusandheaders").StatusAndHeaders

PAGE = b'<html><body><a href="x.ttl">data</a></body></html>'
TURTLE = b"<urn:a> <urn:b> <urn:c> ."
RESPONSES = [
    ("http://a.example/robots.txt", 200, {"Content-Type": "text/plain"}, b"User-agent: *"),
    ("http://a.example/", 500, {"Content-Type": "text/html"}, b"oops"),
    ("http://a.example/", 200, {"Content-Type": "text/html", "Link": "</y>; rel=next"}, PAGE),
    ("http://a.example/old", 301, {"Location": "/x.ttl"}, b""),
    ("http://a.example/x.ttl", 200, {"Content-Type": "text/plain"}, TURTLE),
    ("http://b.example/copy", 200, {"Content-Type": "text/turtle"}, TURTLE),
]


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "semcrawl-1.warc.gz.open"
    record(path, RESPONSES)
    return path


def record(path, responses, date="2026-01-01T00:00:00Z", accept="text/html"):
    with path.open("wb") as file:
        writer = warcwriter.WARCWriter(file, gzip=path.suffix != ".warc")
        writer.write_record(writer.create_warcinfo_record("x", {"software": "test"}))
        writer.write_record(
            writer.create_warc_record(
                "dns:a.example", "response", payload=BytesIO(b"1"), warc_content_type="text/dns"
            )
        )
        for url, status, headers, body in responses:
            wishes = [("Host", "a"), ("Accept", accept)]
            question = StatusAndHeaders("GET / HTTP/1.1", wishes, is_http_request=True)
            asked = writer.create_warc_record(
                url,
                "request",
                payload=BytesIO(b""),
                length=0,
                http_headers=question,
                warc_headers_dict={"WARC-Date": "2026-02-01T00:00:00Z"},
            )
            writer.write_record(asked)
            http = StatusAndHeaders(f"{status} X", list(headers.items()), protocol="HTTP/1.1")
            response = writer.create_warc_record(
                url,
                "response",
                payload=BytesIO(body),
                length=len(body),
                http_headers=http,
                warc_headers_dict={
                    "WARC-Date": date,
                    "WARC-Concurrent-To": asked.rec_headers.get_header("WARC-Record-ID"),
                },
            )
            writer.write_record(response)


def test_a_recorded_crawl_answers_as_the_servers_did(recording):
    world = RecordedWorld.load(find_recording(recording.parent))
    assert world.starts == ("http://a.example/",)
    assert world.hosts == {"a.example", "b.example"}
    assert world.name == recording.parent.name
    home = world.fetch("http://a.example/")
    assert (home.status, home.kind) == (200, Kind.HTML)
    assert home.headers == (("Link", "</y>; rel=next"),)
    assert home.content_type == "text/html"
    assert world.body("http://a.example/") == PAGE
    assert world.fetch("http://a.example/old").location == "http://a.example/x.ttl"
    data = world.fetch("http://a.example/x.ttl")
    assert data.kind is Kind.RDF
    assert data.document == world.fetch("http://b.example/copy").document
    assert world.robots("a.example") == "User-agent: *"
    assert world.fetch("http://a.example/never").status == 404


@pytest.mark.parametrize(
    ("second", "status"), [(304, 200), (503, 200), (302, 200), (404, 404), (410, 410), (301, 301)]
)
@pytest.mark.parametrize("name", ["a.warc.gz", "z.warc.gz"])
def test_a_recorded_site_is_as_it_was_seen_last(recording, name, second, status):
    """In whatever order its files come; what says nothing of what is there does not count."""
    url = "http://a.example/x.ttl"
    again = [(url, second, {"Location": "/"} if second in (301, 302) else {}, b"")]
    record(recording.parent / name, again, "2026-01-02T00:00:00Z")
    assert RecordedWorld.load(find_recording(recording.parent)).fetch(url).status == status


@pytest.mark.parametrize("first", [302, 303, 307])
@pytest.mark.parametrize(("second", "status"), [(503, None), (304, None), (404, 404)])
@pytest.mark.parametrize("name", ["a.warc.gz", "z.warc.gz"])
def test_an_address_that_led_on_leads_on_although_it_failed_later(
    recording, name, first, second, status
):
    """As those of things do, in Linked Data."""
    url = "http://a.example/id/ann"
    record(recording, [*RESPONSES, (url, first, {"Location": "/x.ttl"}, b"")])
    record(recording.parent / name, [(url, second, {}, b"")], "2026-01-02T00:00:00Z")
    answer = RecordedWorld.load(find_recording(recording.parent)).fetch(url)
    assert answer.status == (status or first)
    assert answer.redirect == (status is None)


def test_a_host_that_told_no_more_than_its_robots_txt_is_none_of_the_world(tmp_path):
    rules = b"User-agent: *\nDisallow: /"
    record(
        path := tmp_path / "x.warc",
        [
            *RESPONSES,
            ("https://c.example/robots.txt", 200, {"Content-Type": "text/plain"}, rules),
            ("http://d.example/gone", 404, {}, b""),
        ],
    )
    world = RecordedWorld.load([path])
    assert world.hosts == {"a.example", "b.example"}
    assert world.robots("c.example") == rules.decode()
    assert world.robots("d.example") == ""


def test_what_has_no_document_has_no_body(tmp_path):
    path = tmp_path / "x.warc"
    moved = ("http://a.example/moved", 301, {"Location": "/"}, b"it is at /")
    broken = ("http://a.example/broken", 500, {"Content-Type": "text/html"}, PAGE)
    odd = ("http://a.example/odd", "abc", {"Content-Type": "text/html"}, PAGE)
    record(path, [moved, broken, odd, ("http://a.example/lost", 302, {}, b""), *RESPONSES])
    world = RecordedWorld.load([path])
    for name, status in {"moved": 301, "broken": 500, "odd": 0, "lost": 302, "never": 404}.items():
        url = f"http://a.example/{name}"
        assert world.body(url) == b""
        assert (world.fetch(url).status, world.fetch(url).kind) == (status, None)
    assert not world.fetch("http://a.example/lost").redirect


def test_documents_are_the_same_if_all_of_their_bytes_are(tmp_path):
    """Empty ones are not: nothing tells them apart but their address."""
    long = PAGE * 9000
    bodies = {"one": long, "two": long, "three": long[:-1] + b"!", "four": b"", "five": b""}
    path = tmp_path / "x.warc"
    record(path, [(f"http://a.example/{name}", 200, {}, body) for name, body in bodies.items()])
    world = RecordedWorld.load([path])
    one, two, three, four, five = (world.fetch(f"http://a.example/{n}").document for n in bodies)
    assert one == two
    assert len({one, three, four, five}) == 4
    assert world.body("http://a.example/three") == bodies["three"]


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_bodies_are_unpacked_however_they_came(tmp_path, coding):
    page = PAGE * 5000
    pack = {
        "gzip": gzip.compress,
        "br": lambda data: pytest.importorskip("brotli").compress(data),
        "zstd": lambda data: pytest.importorskip("zstandard").ZstdCompressor().compress(data),
    }
    headers = {"Content-Type": "text/html", "Content-Encoding": coding}
    packed = pack[coding](page)
    path = tmp_path / "x.warc.gz"
    record(path, [("http://a.example/", 200, headers, packed), *RESPONSES[3:]])
    world = RecordedWorld.load([path])
    assert world.fetch("http://a.example/").kind is Kind.HTML
    assert world.body("http://a.example/") == page
    assert world.body("http://a.example/x.ttl") == TURTLE


def test_of_answers_of_the_same_second_the_later_one_counts(tmp_path):
    """A folder that led to its index by name, say: both are asked for by one address here."""
    path = tmp_path / "x.warc"
    first = ("http://a.example/", 301, {"Location": "/index.html"}, b"")
    record(path, [first, ("http://a.example/index.html", 200, {}, PAGE)])
    assert RecordedWorld.load([path]).fetch("http://a.example/").status == 200


@pytest.mark.slow
def test_the_seeds_are_those_that_the_crawl_was_given(tmp_path):
    """Not what they led to, nor what was asked for beside all links; those that failed, too."""
    site = {
        "/": page("/a.nt"),
        "/a.nt": ("application/n-triples", triples("a", 2)),
        "/names.jsonld": (
            "application/ld+json",
            b'{"@context": "http://d.example/context.jsonld", "@id": "#x", "label": "X"}',
        ),
        "/context.jsonld": ("application/ld+json", b'{"@context": {"label": "urn:l"}}'),
    }
    rest = handler(site)

    async def answer(request, out):
        if request.path == "/old":
            await out.whole(301, [("Location", "/")], b"")
        else:
            await rest(request, out)

    seeds = [f"http://d.example/{name}" for name in ("old", "gone", "names.jsonld")]
    with serve(DemoWeb(), handlers={"d.example": answer}) as server:
        run = harvest(*seeds, "--fast", "--record", folder=tmp_path / "job", proxy=server.proxy_url)
    assert run.documents()["http://d.example/names.jsonld"] == 1
    world = RecordedWorld.load(find_recording(tmp_path / "job"))
    assert set(world.starts) == set(seeds)
    (tmp_path / "job" / "crawl.db").write_bytes(b"no database")
    world = RecordedWorld.load(find_recording(tmp_path / "job"))
    assert len(world.starts) == 1


def test_an_unpacked_record_cut_off_in_its_body_is_left_out(tmp_path):
    path = tmp_path / "x.warc"
    record(path, RESPONSES)
    path.write_bytes(path.read_bytes()[:-20])
    world = RecordedWorld.load([path])
    assert world.fetch("http://b.example/copy").status == 404
    assert world.body("http://a.example/x.ttl") == TURTLE


def test_recordings_are_found_by_their_file_or_their_folder(recording, tmp_path):
    (tmp_path / "crawl.log").write_text("no recording")
    assert find_recording(recording) == find_recording(tmp_path) == [recording]
    assert find_recording(tmp_path / "crawl.log") == []
    assert find_recording(tmp_path / "nowhere") == []


def test_a_record_cut_off_by_a_crash_is_left_out(recording):
    recording.write_bytes(recording.read_bytes()[:-40])
    world = RecordedWorld.load([recording])
    assert world.fetch("http://b.example/copy").status == 404
    assert world.body("http://a.example/x.ttl") == TURTLE


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x1f\x8b\x08\x00nonsense"])
def test_what_is_no_recording_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "x.warc.gz"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        load_worlds(str(path))
    assert "\n" not in str(caught.value)
