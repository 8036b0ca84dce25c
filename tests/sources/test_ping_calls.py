"""Pings: calls of XML-RPC and plain POSTs, and what is read out of them."""

from __future__ import annotations

import xmlrpc.client
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.sources.pings import answer_call, is_xml, read_call, read_plain

BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">'
    b'<!ENTITY f SYSTEM "file:///etc/passwd">]>'
)


def test_entities_are_not_resolved() -> None:
    with pytest.raises(ValueError, match="not an XML-RPC call"):
        read_call(BOMB + b"<methodCall><methodName>weblogUpdates.ping</methodName></methodCall>")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_call_or_an_error(body) -> None:
    with suppress(ValueError):
        read_call(body)


def call(method: str, *params: str) -> bytes:
    return xmlrpc.client.dumps(params, method).encode()


def test_a_ping_names_its_page_and_an_extended_one_what_is_to_be_looked_at() -> None:
    page, check, feed = "http://a.example/", "http://a.example/new", "http://a.example/rss"
    assert read_call(call("weblogUpdates.ping", "A", page, check)) == [page]
    assert read_call(call("weblogUpdates.extendedPing", "A", page, check, feed)) == [
        page,
        check,
        feed,
    ]
    bare = (
        f"<methodCall><methodName>weblogUpdates.ping</methodName><params><param><value>A</value>"
        f"</param><param><value>{page}</value></param></params></methodCall>"
    )
    assert read_call(bare.encode()) == [page]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (call("system.listMethods"), "no method"),
        (call("weblogUpdates.ping", "only a name"), "no address"),
        (b"<methodCall", "not XML"),
        (b"<other/>", "not an XML-RPC call"),
    ],
)
def test_what_is_no_ping_is_told(body, words) -> None:
    with pytest.raises(ValueError, match=words):
        read_call(body)


def test_a_plain_ping_is_lines_or_a_form() -> None:
    assert read_plain("text/plain", b"http://a/\r\n# no\n\nhttp://b/\nhttp://a/") == [
        "http://a/",
        "http://b/",
    ]
    form = "application/x-www-form-urlencoded; charset=utf-8"
    assert read_plain(form, b"url=http%3A%2F%2Fa%2F&x=1&url=http://b/") == [
        "http://a/",
        "http://b/",
    ]
    assert is_xml("text/xml; charset=utf-8", b"")
    assert is_xml("text/plain", b' <?xml version="1.0"?>')
    assert not is_xml("text/plain", b"http://a/")


def test_the_answer_of_a_call_is_read_by_any_client() -> None:
    ((answer,), _) = xmlrpc.client.loads(answer_call("<soon>", failed=False))
    assert answer == {"flerror": False, "message": "<soon>"}
