import gzip
from io import BytesIO

import pytest

from semcrawl.errors import UsageError
from semcrawl.evaluation.recording import RecordedWorld, find_recording
from semcrawl.evaluation.worlds import load_worlds
from semcrawl.vocabulary import Kind

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


def record(path, responses, date="2026-01-01T00:00:00Z"):
    with path.open("wb") as file:
        writer = warcwriter.WARCWriter(file, gzip=path.suffix != ".warc")
        writer.write_record(writer.create_warcinfo_record("x", {"software": "test"}))
        writer.write_record(
            writer.create_warc_record(
                "dns:a.example", "response", payload=BytesIO(b"1"), warc_content_type="text/dns"
            )
        )
        for url, status, headers, body in responses:
            question = StatusAndHeaders("GET / HTTP/1.1", [("Host", "a")], is_http_request=True)
            writer.write_record(
                writer.create_warc_record(
                    url,
                    "request",
                    payload=BytesIO(b""),
                    length=0,
                    http_headers=question,
                    warc_headers_dict={"WARC-Date": "2026-02-01T00:00:00Z"},
                )
            )
            http = StatusAndHeaders(f"{status} X", list(headers.items()), protocol="HTTP/1.1")
            response = writer.create_warc_record(
                url,
                "response",
                payload=BytesIO(body),
                length=len(body),
                http_headers=http,
                warc_headers_dict={"WARC-Date": date},
            )
            writer.write_record(response)


def test_a_recorded_crawl_answers_as_the_servers_did(recording):
    world = RecordedWorld.load(find_recording(recording.parent))
    assert world.starts == ("http://a.example/",)
    assert world.hosts == {"a.example", "b.example"}
    home = world.fetch("http://a.example/")
    assert (home.status, home.kind) == (200, Kind.HTML)
    assert ("Link", "</y>; rel=next") in home.headers
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
