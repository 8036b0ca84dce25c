"""Compressed documents and archives."""

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile
from collections.abc import Callable
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.rdf import ReadOptions, detect, read, read_stream
from semcrawl.rdf.detection import Compression
from semcrawl.web.vocabulary import Kind, RdfFormat
from tests.archives import tarred, zipped

URL = "http://example.org/dump"
TURTLE = b"<a> <http://b/> [ <http://c/> 1 ] ."
LINES = b"".join(b"<http://a/%d> <http://b/> _:x .\n" % i for i in range(1000))


def zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


def brotli(data: bytes) -> bytes:
    return pytest.importorskip("brotli").compress(data)


@pytest.mark.parametrize(
    ("pack", "suffix"),
    [
        (gzip.compress, ".nt.gz"),
        (bz2.compress, ".nt.bz2"),
        (lzma.compress, ".nt.xz"),
        (zstd, ".nt.zst"),
        (brotli, ".nt.br"),
        (gzip.compress, ""),
        (lambda data: gzip.compress(data[:9000]) + gzip.compress(data[9000:]), ".nt.gz"),
        (lambda data: lzma.compress(data[:9000]) + lzma.compress(data[9000:]), ".nt.xz"),
        (lambda data: bz2.compress(data[:9000]) + bz2.compress(data[9000:]), ".nt.bz2"),
        (lambda data: zstd(data[:9000]) + zstd(data[9000:]), ".nt.zst"),
    ],
)
def test_compressed_documents_are_read(pack: Callable[[bytes], bytes], suffix: str) -> None:
    reading = read(pack(LINES), URL + suffix, "application/octet-stream")
    assert (reading.quads, reading.errors) == (1000, [])
    assert reading.detection.format is RdfFormat.N_TRIPLES
    assert reading.nquads == read(LINES, URL + suffix).nquads


class Trickle(io.BytesIO):
    """A file that comes byte by byte."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(1 if size else 0)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
@pytest.mark.parametrize("between", [b"", bytes(8)], ids=["", "padded"])
def test_all_parts_are_read_wherever_the_pieces_of_a_file_end(
    pack: Callable[[bytes], bytes], between: bytes
) -> None:
    """The mark of a part may be torn between two pieces."""
    if pack is zstd and between:
        pytest.skip("not of zstd")
    names = [sha256(b"%d" % number).hexdigest().encode() for number in range(100)]
    lines = [b"<http://a/%s> <http://b/> 1 .\n" % name for name in names]
    body = pack(b"".join(lines[:50])) + between + pack(b"".join(lines[50:]))
    reading = read_stream(Trickle(body), f"{URL}.nt.packed")
    assert (reading.quads, reading.errors) == (100, [])


@pytest.mark.parametrize(
    "body",
    [
        zipped(a_ttl=TURTLE, b_nt=LINES, c_txt=b"nothing"),
        tarred(a_ttl=TURTLE, b_nt=LINES, c_txt=b"nothing"),
        gzip.compress(tarred(a_ttl=TURTLE, b_nt=LINES, c_txt=b"nothing")),
        tarred("w:xz", a_ttl=TURTLE, b_nt_gz=gzip.compress(LINES), c_txt=b"nothing"),
    ],
    ids=["zip", "tar", "tar.gz", "tar.xz with gz"],
)
def test_the_members_of_an_archive_are_told(body: bytes) -> None:
    reading = read(body, URL)
    assert [(m.quads, m.detection.kind) for m in reading.members] == [
        (2, Kind.RDF),
        (1000, Kind.RDF),
        (0, Kind.OTHER),
    ]
    assert reading.quads == 1002
    assert reading.errors == []


def test_blank_nodes_of_members_are_different() -> None:
    reading = read(zipped(a_nt=LINES, b_nt=LINES), URL)
    assert len({line.split()[2] for line in reading.nquads.splitlines()}) == 2


def spoiled(archive: bytes, field: int) -> bytes:
    """A zip whose first member has other two bytes at a place of its header, in both copies."""
    spoiled = bytearray(archive)
    directory = archive.index(b"PK\x01\x02") + 2
    for start in (field, directory + field):
        spoiled[start : start + 2] = bytes(byte ^ 0x41 for byte in spoiled[start : start + 2])
    return bytes(spoiled)


def misnamed(archive: bytes) -> bytes:
    """A zip whose first member says that its name is UTF-8, and is wrong."""
    return archive[:6] + b"\x00\x08" + archive[8:].replace(b"a.nt", b"\xe9.nt", 1)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(spoiled(zipped(a_nt=LINES, b_nt=LINES), 6), id="encrypted"),
        pytest.param(spoiled(zipped(a_nt=LINES, b_nt=LINES), 8), id="packed in an unknown way"),
        pytest.param(misnamed(zipped(a_nt=LINES, b_nt=LINES)), id="of a name that is no UTF-8"),
    ],
)
def test_a_member_that_cannot_be_read_costs_no_other(body: bytes) -> None:
    reading = read(body, URL)
    assert (reading.quads, reading.error_count) == (1000, 1)
    assert reading.errors[0].message.startswith("a.nt: ")


def test_names_of_members_may_be_in_any_encoding() -> None:
    reading = read(tarred(**{"\udce9_nt": LINES, "b_nt": LINES}), URL)
    assert (reading.quads, reading.errors) == (2000, [])
    assert [member.name for member in reading.members] == ["\ufffd.nt", "b.nt"]


def test_members_can_name_their_graph() -> None:
    reading = read(zipped(a_ttl=TURTLE), URL, None, ReadOptions(member_graphs=True))
    assert {line.split()[3] for line in reading.nquads.splitlines()} == {f"<{URL}#a.ttl>".encode()}


def test_a_cut_archive_keeps_what_was_whole() -> None:
    body = gzip.compress(LINES)
    reading = read(body[: len(body) // 2], URL + ".nt.gz")
    assert 100 < reading.quads < 1000
    assert reading.error_count >= 1
    assert reading.errors[-1].message.startswith(URL)
    cut = read(zipped(a_nt_gz=body[: len(body) // 2], b_nt=LINES), URL)
    assert 1100 < cut.quads < 2000
    assert cut.errors[-1].message.startswith("a.nt.gz: ")


@pytest.mark.parametrize(
    "break_off",
    [
        pytest.param(lambda tar, place: tar[: place + 100], id="cut"),
        pytest.param(lambda tar, place: tar[:place] + b"X" * 512 + tar[place:], id="broken"),
    ],
)
def test_a_tar_that_breaks_off_between_two_members_is_an_error(
    break_off: Callable[[bytes, int], bytes],
) -> None:
    """Its members before that are kept; the others are not lost without a word."""
    tar = tarred(a_nt=LINES, b_nt=LINES, c_nt=LINES)
    reading = read(break_off(tar, tar.index(b"c.nt")), URL)
    assert (reading.quads, reading.error_count) == (2000, 1)
    assert "header" in reading.errors[0].message


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_names_in_a_tar_do_not_fill_the_memory(kind: bytes) -> None:
    """Those are read as a whole, and pack well."""
    name = tarfile.TarInfo("name")
    name.type, name.size = kind, 2**21
    body = name.tobuf() + b"x" * 2**21 + tarred(a_nt=LINES)
    reading = read(body, URL)
    assert (reading.quads, reading.error_count) == (0, 1)
    assert "a header of 2097152 bytes" in reading.errors[0].message


@pytest.mark.parametrize("offset", [b"", b"PK\x05\x06"], ids=["told", "hidden"])
def test_a_zip_with_a_huge_directory_is_not_opened(offset: bytes) -> None:
    """Nor one that puts the mark of its directory where that would be looked for in vain.

    Its members are read one by one, as many as there may be.
    """
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(20):
            archive.writestr(f"{number}.nt".rjust(60_000, "x"), b"")
    body = file.getvalue()
    end = body.rindex(b"PK\x05\x06") + 16
    body = body[:end] + offset + body[end + len(offset) :]
    reading = read(body, URL, None, ReadOptions(max_members=5))
    assert (len(reading.members), reading.error_count) == (5, 2)
    assert "directory is too large" in reading.errors[0].message
    assert reading.errors[1].message == "more than 5 members"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "word"),
    [
        (ReadOptions(max_ratio=10), "times its size"),
        (ReadOptions(max_unpacked_bytes=20_000_000), "bytes unpacked"),
        (ReadOptions(max_seconds=0), "seconds"),
    ],
)
def test_bombs_are_stopped(options: ReadOptions, word: str) -> None:
    body = gzip.compress(b"<http://a/> <http://b/> <http://c/> .\n" * 10 + b" " * 40_000_000, 1)
    reading = read(body, URL, None, options)
    assert word in " ".join(error.message for error in reading.errors)


def test_too_many_members_and_layers_are_left_alone() -> None:
    many = zipped(**{f"m{i}_nt": LINES for i in range(5)})
    reading = read(many, URL, None, ReadOptions(max_members=3))
    assert reading.quads == 3000
    assert "more than 3 members" in reading.errors[0].message
    nested = gzip.compress(gzip.compress(gzip.compress(gzip.compress(LINES))))
    assert read(nested, URL).error_count == 1


def test_an_archive_in_an_archive_is_left_alone() -> None:
    for inner in (zipped(x_nt=LINES), gzip.compress(tarred(x_nt=LINES))):
        reading = read(zipped(a_nt=LINES, b_zip=inner), URL)
        assert reading.quads == 1000
        assert [error.message for error in reading.errors] == ["b.zip: packed too often"]


@pytest.mark.parametrize("package", ["zstandard", "brotli"])
def test_what_needs_a_package_that_is_missing_says_so(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, suffix = (zstd(LINES), ".zst") if package == "zstandard" else (brotli(LINES), ".br")
    monkeypatch.setitem(sys.modules, package, None)
    reading = read_stream(io.BytesIO(body), f"{URL}.nt{suffix}")
    assert (reading.quads, reading.error_count) == (0, 1)
    assert "semcrawl[compression]" in reading.errors[0].message


def test_what_is_compressed_is_detected_by_its_mark() -> None:
    found = detect(gzip.compress(b"x"), "text/turtle", URL)
    assert (found.compression, found.format) == (Compression.GZIP, RdfFormat.TURTLE)


@pytest.mark.parametrize("body", [b"PK\x03\x04rubbish", b"\x1f\x8brubbish", b"BZh9rubbish"])
def test_broken_archives_are_an_error(body: bytes) -> None:
    reading = read(body, URL)
    assert (reading.quads, reading.error_count) == (0, 1)


@pytest.mark.parametrize(
    ("syntax", "body"),
    [
        ("nt", LINES),
        (
            "ttl",
            b"@prefix e: <http://e/> .\n"
            + b"".join(b"e:%d e:p [ e:q 1 ] .\n" % i for i in range(500)),
        ),
        (
            "rdf",
            b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
            + b"".join(b"<e:T rdf:about='%d'/>" % i for i in range(1000))
            + b"</rdf:RDF>",
        ),
    ],
)  # fmt: skip
def test_streamed_documents_give_what_whole_ones_give(syntax: str, body: bytes) -> None:
    url = f"{URL}.{syntax}"
    streamed = read_stream(io.BytesIO(body), url, None, ReadOptions(max_in_memory=1000))
    assert streamed.nquads == read(body, url).nquads
    assert (streamed.quads, streamed.errors) == (1000, [])


def test_streamed_documents_in_utf_16_are_decoded() -> None:
    body = LINES.decode().encode("utf-16")
    reading = read_stream(io.BytesIO(body), URL + ".nt", None, ReadOptions(max_in_memory=1000))
    assert (reading.quads, reading.errors) == (1000, [])


def test_many_quads_go_to_a_file() -> None:
    reading = read(LINES, URL + ".nt", None, ReadOptions(spool_above=1000))
    assert reading.nquads == b""
    assert reading.spool is not None
    assert reading.spool.read_bytes() == read(LINES, URL + ".nt").nquads
    assert len(reading.links) == 1000
    reading.spool.unlink()


def test_limits_within_a_parser_are_recorded() -> None:
    deep = b"<http://a/> <http://b/> " + b"<<( <http://a/> <http://b/> " * 300 + b"1"
    body = LINES + deep + b" )>>" * 300 + b" .\n"
    reading = read_stream(io.BytesIO(body), URL + ".ttl", None, ReadOptions(max_in_memory=1000))
    assert reading.error_count == 1
    small = read(LINES, URL + ".nt", None, ReadOptions(max_nquads_bytes=1000))
    assert "bytes of N-Quads" in small.errors[0].message


def numbered_zip(count: int, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("folder/", b"")
        for n in range(count):
            archive.writestr(f"folder/{n}.nt", f"<urn:{n}> <urn:b> <urn:c> .\n")
    return file.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_a_zip_that_is_cut_gives_what_came_before(method):
    whole = numbered_zip(20, method)
    place = whole.index(b"folder/12.nt") - 30
    for end, least in ((place, 12), (place + 20, 12), (len(whole) - 5, 20)):
        reading = read(whole[:end], "http://a.org/x.zip", "application/zip")
        assert [m.name for m in reading.members][:least] == [f"folder/{n}.nt" for n in range(least)]
        assert reading.quads == least
        assert "read one by one" in reading.errors[0].message


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED])
def test_a_cut_zip_whose_sizes_stand_behind_its_members(method):
    """As programs write that cannot go back in a file."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise OSError

    file = Pipe()
    with zipfile.ZipFile(file, "w", method) as archive:
        for n in range(9):
            archive.writestr(f"{n}.nt", f"<urn:{n}> <urn:b> <urn:c> .\n")
    body = file.getvalue()
    reading = read(body[: body.index(b"PK\x01\x02")], "http://a.org/x.zip", "application/zip")
    assert (reading.quads, len(reading.members)) == (9, 9)


@pytest.mark.slow
def test_of_a_zip_of_too_many_members_the_first_are_read():
    body = numbered_zip(20_000, zipfile.ZIP_STORED)
    options = ReadOptions(max_members=50)
    reading = read(body, "http://a.org/x.zip", "application/zip", options)
    assert reading.quads == 50
    assert reading.errors[-1].message == "more than 50 members"


@given(st.binary(max_size=60), st.integers(0, 200), st.integers(0, 2000))
def test_no_broken_zip_makes_it_fail(noise, place, end):
    body = numbered_zip(5)
    body = body[:place] + noise + body[place + len(noise) :]
    read(body[:end], "http://a.org/x.zip", "application/zip")
