"""WARC files are read record by record; what is damaged costs itself alone."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest

from semcrawl.pipelines.warcrecords import Damage, RecordedResponse, Unchanged, responses_in
from semcrawl.web.bodies import BodyFile
from tests.evaluation.test_recording import RESPONSES, record

warcwriter = pytest.importorskip("warcio.warcwriter")

TURTLE = b"<urn:a> <urn:b> <urn:c> ."
URL = "http://a.example/x"


def raw(url: str, http: bytes, kind: str = "response", *more: str) -> bytes:
    """Write a record by hand."""
    lines = ("WARC/1.0", f"WARC-Type: {kind}", f"WARC-Target-URI: {url}", *more)
    head = "\r\n".join([*lines, f"Content-Length: {len(http)}"]) + "\r\n\r\n"
    return head.encode() + http + b"\r\n\r\n"


def answer(body: bytes, *headers: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", *headers]).encode() + b"\r\n\r\n" + body


def whole(name: str) -> bytes:
    return raw(f"http://a.example/{name}", answer(TURTLE, "Content-Type: text/turtle"))


def found(path: Path, content: bytes) -> list[RecordedResponse | Unchanged | Damage]:
    path.write_bytes(content)
    return list(responses_in(path))


def names(read: list[RecordedResponse | Unchanged | Damage]) -> list[str]:
    return [one.url.rpartition("/")[2] if hasattr(one, "url") else "damage" for one in read]


def test_responses_come_with_status_headers_body_and_date(tmp_path: Path) -> None:
    record(tmp_path / "x.warc.gz", RESPONSES)
    read = list(responses_in(tmp_path / "x.warc.gz"))
    assert [(one.url, one.status, one.body) for one in read] == [
        (url, status, body) for url, status, _, body in RESPONSES
    ]
    assert read[2].headers(b"LINK") == [b"</y>; rel=next"]
    assert read[0].date == 1767225600.0


@pytest.mark.parametrize(
    ("coding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("gzip", bytes)],
    ids=["gzip", "deflate", "undone before it was recorded"],
)
@pytest.mark.parametrize("chunked", [True, False])
def test_codings_of_bodies_are_undone(tmp_path: Path, coding, pack, chunked: bool) -> None:
    body, headers = pack(TURTLE), [f"Content-Encoding: {coding}"]
    if chunked:
        pieces = [body[:7], body[7:]]
        body = b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in pieces) + b"0\r\n\r\n"
        headers.append("Transfer-Encoding: chunked")
    (one,) = found(tmp_path / "x.warc", raw(URL, answer(body, *headers)))
    assert isinstance(one, RecordedResponse)
    assert (one.body, one.fault) == (TURTLE, "")


def test_a_damaged_body_says_so(tmp_path: Path) -> None:
    packed = gzip.compress(TURTLE * 100)
    cut = raw(URL, answer(packed[:-12], "Content-Encoding: gzip"))
    (one,) = found(tmp_path / "x.warc", cut)
    assert isinstance(one, RecordedResponse)
    assert one.fault
    cut = raw(URL, answer(TURTLE), "response", "WARC-Truncated: length")
    (one,) = found(tmp_path / "x.warc", cut)
    assert isinstance(one, RecordedResponse)
    assert "length" in one.fault


def test_large_bodies_are_files(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(raw(URL, answer(TURTLE * 100)))
    (one,) = responses_in(path, in_memory=1000, spool_dir=tmp_path)
    assert isinstance(one, RecordedResponse)
    assert isinstance(one.body, BodyFile)
    assert one.body.stream().read() == TURTLE * 100


def test_what_is_no_response_of_http_is_passed_over(tmp_path: Path) -> None:
    ask = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    others = [
        raw("dns:a.example", b"1", "response", "Content-Type: text/dns"),
        raw(URL, ask, "request"),
        raw(URL, b"a: b", "metadata", "Content-Type: application/warc-fields"),
        raw(URL, TURTLE, "resource", "Content-Type: text/turtle"),
        raw(URL, answer(b""), "revisit"),
        whole("y"),
    ]
    read = found(tmp_path / "x.warc.gz", b"".join(map(gzip.compress, others)))
    assert [type(one) for one in read] == [Unchanged, RecordedResponse]


def truncated(packed: bytes) -> bytes:
    return packed[:-30]


def flipped(packed: bytes) -> bytes:
    return packed[:60] + bytes([packed[60] ^ 255]) + packed[61:]


def overwritten(packed: bytes) -> bytes:
    return b"\0" * len(packed)


@pytest.mark.parametrize("damage", [truncated, flipped, overwritten])
@pytest.mark.parametrize("place", [1, 2])
def test_a_damaged_member_costs_itself_alone(tmp_path: Path, damage, place: int) -> None:
    members = [gzip.compress(whole(name)) for name in "abc"]
    members[place] = damage(members[place])
    read = found(tmp_path / "x.warc.gz", b"".join(members))
    kept = [name for number, name in enumerate("abc") if number != place]
    assert [name for name in names(read) if name != "damage"] == kept
    damaged = [one for one in read if isinstance(one, Damage)]
    assert [one.offset for one in damaged] == [sum(map(len, members[:place]))]


def test_a_damaged_record_that_is_not_packed_costs_itself_alone(tmp_path: Path) -> None:
    long = whole("b").replace(b"Content-Length: ", b"Content-Length: 9")
    short = whole("b").replace(b"Content-Length: ", b"Content-Length: 1\r\nX: ")
    for odd in (long, short, whole("b").replace(b"WARC/1.0", b"WXRC/1.0"), whole("b")[:-20]):
        read = found(tmp_path / "x.warc", whole("a") + odd + whole("c"))
        assert names(read)[-1] == "c", odd
        assert names(read)[0] == "a"
        assert "damage" in names(read)


def test_a_file_that_was_packed_as_a_whole_is_read(tmp_path: Path) -> None:
    content = gzip.compress(b"".join(map(whole, "abc")))
    assert names(found(tmp_path / "x.warc.gz", content)) == ["a", "b", "c"]


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x1f\x8b\x08\x00nonsense", b"\x1f\x8b"])
def test_nonsense_is_damage(tmp_path: Path, content: bytes, capfd) -> None:
    read = found(tmp_path / "x.warc.gz", content)
    assert names(read) == ["damage"] * bool(content)
    assert capfd.readouterr().err == ""
