"""Heads as servers write them, and as they reach the parser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.crawl.downloadhandler import head_end, is_interim, may_be_http, repaired_head

OK = b"HTTP/1.1 200 OK"


def head(*lines: bytes, first: bytes = OK, end: bytes = b"\r\n") -> bytes:
    return end.join([first, *lines, b"", b""])


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
@pytest.mark.parametrize(
    "lines",
    [
        (),
        (b"Content-Type: text/html", b"Content-Length: 3"),
        (b"Date: Mon, 23 Nov 2026 14:00:00 GMT", b"Link: <http://a.example/>; rel=x"),
        (b"X-Long: begun", b"  and gone on"),
        (b"transfer-encoding: chunked", b"Empty:"),
        (b"content-length:  12  ", b"X-Latin: \xe9"),
    ],
)
def test_a_head_as_it_should_be_stays(lines: tuple[bytes, ...], end: bytes) -> None:
    assert repaired_head(head(*lines, end=end)) == head(*lines, end=end)


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ((b"nonsense", b"A: 1"), (b"A: 1",)),
        ((b"A: 1", b"nonsense"), (b"A: 1",)),
        ((b"A: 1", b"Date : now", b"X Y: z", b": none"), (b"A: 1",)),
        ((b"A: a\x00b",), (b"A: ab",)),
        ((b"Content-Length: 3", b"content-length: 3"), (b"Content-Length: 3",)),
        ((b"Content-Length: 3, 3",), (b"Content-Length: 3",)),
        ((b"Content-Length: 3", b"Transfer-Encoding: chunked"), (b"Transfer-Encoding: chunked",)),
        ((b"nonsense", b"X-Long: begun", b"\tand gone on"), (b"X-Long: begun and gone on",)),
    ],
)
def test_what_a_strict_parser_refuses_is_mended(
    lines: tuple[bytes, ...], left: tuple[bytes, ...]
) -> None:
    assert repaired_head(head(*lines)) == head(*left)
    assert repaired_head(head(*lines, end=b"\n")) == head(*left)


def test_lengths_that_contradict_each_other_are_left_to_be_refused() -> None:
    contradiction = head(b"Content-Length: 3", b"Content-Length: 4")
    assert repaired_head(contradiction) == contradiction
    assert repaired_head(head(b"Content-Length: 3, 4")) == contradiction


def test_a_length_that_is_none_is_left_to_be_refused() -> None:
    assert repaired_head(head(b"Content-Length: x")) == head(b"Content-Length: x")


def test_a_later_version_is_read_as_the_one_that_we_know() -> None:
    assert repaired_head(head(b"A: 1", first=b"HTTP/1.2 200 OK")) == head(b"A: 1")
    assert repaired_head(head(first=b"HTTP/1.0 200 OK")) == head(first=b"HTTP/1.0 200 OK")


NAMES = st.sampled_from([b"A", b"Content-Length", b"Transfer-Encoding", b"", b"a b", b" x"])
LINES = st.lists(
    st.one_of(
        st.tuples(NAMES, st.binary(max_size=6)).map(b":".join),
        st.binary(max_size=8),
        st.just(b"Content-Length: 7"),
    ).filter(lambda line: not set(line) & set(b"\r\n")),
    max_size=5,
)


@given(LINES)
def test_mending_ends_in_a_whole_head_that_needs_no_more(lines: list[bytes]) -> None:
    once = repaired_head(head(*[line for line in lines if line]))
    assert once.startswith(OK)
    assert head_end(bytearray(once)) == len(once)
    assert repaired_head(once) == once


@given(st.binary(max_size=30), st.integers(1, 40), st.sampled_from([b"\r\n", b"\n"]))
def test_the_end_of_a_head_is_found_however_it_comes(body: bytes, size: int, end: bytes) -> None:
    whole = head(b"A: 1", b"B: 2", end=end)
    came = bytearray()
    for place in range(0, len(whole + body), size):
        searched = len(came)
        came += (whole + body)[place : place + size]
        found = head_end(came, searched)
        if found >= 0:
            assert found == len(whole)
            return
    pytest.fail("no end was found")


@pytest.mark.parametrize(
    ("first", "interim"),
    [
        (b"HTTP/1.1 100 Continue", True),
        (b"HTTP/1.1 103", True),
        (b"HTTP/1.1 101 Switching Protocols", False),
        (b"HTTP/1.1 200 OK", False),
        (b"HTTP/1.1 1000 Odd", False),
    ],
)
def test_an_interim_answer_is_told_from_an_answer(first: bytes, interim: bool) -> None:
    assert is_interim(head(first=first)) == interim


@pytest.mark.parametrize(
    ("start", "may_be"), [(b"", True), (b"HT", True), (b"HTTP/1", True), (b"SSH-2.0", False)]
)
def test_what_speaks_no_http_is_told_by_its_first_bytes(start: bytes, may_be: bool) -> None:
    assert may_be_http(bytearray(start)) == may_be
