"""The HTTP client as Scrapy calls it."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from aiohttp.abc import ResolveResult
from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError, ResponseDataLossError
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from semcrawl.crawl.attempt import LEAVES
from semcrawl.crawl.downloadhandler import AddressRules, AiohttpDownloadHandler
from semcrawl.crawl.failures import PutBack

TEXT = b"Content-Type: text/plain"


@asynccontextmanager
async def server(*pieces: bytes) -> AsyncIterator[str]:
    """Answers every request with these bytes, and closes."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
        host, port = listening.sockets[0].getsockname()
        yield f"http://{host}:{port}/"


def handler_with(**settings: Any) -> AiohttpDownloadHandler:
    return AiohttpDownloadHandler(
        get_crawler(
            settings_dict={
                "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": True,
                "SEMCRAWL_MAX_HEADERS_SIZE": 1000,
                "SEMCRAWL_MAX_SIZE_IN_MEMORY": 1000,
                **settings,
            }
        )
    )


async def fetch(*pieces: bytes, meta: dict[str, Any] | None = None, **settings: Any) -> Response:
    handler = handler_with(**settings)
    async with server(*pieces) as url:
        try:
            return await handler.download_request(Request(url, meta=meta or {}))
        finally:
            await handler.close()


def answer(*lines: bytes, body: bytes = b"", first: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return b"\r\n".join([first, *lines, b"", body])


async def test_a_response_has_what_scrapys_have() -> None:
    response = await fetch(answer(TEXT, b"Set-Cookie: a=1", b"Set-Cookie: b=2", body=b"it"))
    assert (response.status, response.body) == (200, b"it")
    assert response.headers.getlist("set-cookie") == [b"a=1", b"b=2"]
    assert (str(response.ip_address), response.protocol) == ("127.0.0.1", "HTTP/1.1")


async def test_the_length_of_a_document_that_is_not_sent_is_no_bodys() -> None:
    large, first = b"Content-Length: 5000", b"HTTP/1.1 304 Not Modified"
    response = await fetch(answer(large, first=first), DOWNLOAD_MAXSIZE=100)
    assert (response.status, response.body) == (304, b"")


@pytest.mark.parametrize("announced", [(b"Content-Length: 500",), ()])
async def test_what_is_larger_than_asked_for_is_given_up(announced: tuple[bytes, ...]) -> None:
    whole = answer(*announced, body=b"x" * 500)
    with pytest.raises(DownloadCancelledError, match="500 bytes"):
        await fetch(whole, DOWNLOAD_MAXSIZE=100)
    with pytest.raises(DownloadCancelledError, match="500 bytes"):
        await fetch(whole, meta={"download_maxsize": 499})
    assert len((await fetch(whole, meta={"download_maxsize": 500})).body) == 500


@pytest.mark.parametrize("announced", [(b"Content-Length: 500",), ()])
async def test_what_is_large_is_told_of_once(
    announced: tuple[bytes, ...], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        await fetch(answer(*announced), *[b"x" * 100] * 5, DOWNLOAD_WARNSIZE=300)
    assert len([line for line in caplog.messages if "warn size" in line]) == 1


async def test_a_body_that_breaks_off_fails_unless_that_is_allowed() -> None:
    half = answer(b"Content-Length: 10", body=b"half")
    with pytest.raises(ResponseDataLossError, match=r"broke off: .*4 of 10 bytes"):
        await fetch(half)
    response = await fetch(half, DOWNLOAD_FAIL_ON_DATALOSS=False)
    assert (response.body, response.flags) == (b"half", ["dataloss"])


async def test_names_of_proxies_may_be_private_and_links_to_them_may_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("https_proxy", "bare.example:3128")
    rules = AddressRules(get_crawler(settings_dict={"SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": False}))
    for name in ("proxy.example", "bare.example"):
        assert rules.allow_name(name)
        assert not rules.allow(name)
    assert not rules.allow_name("a.example")


async def test_a_request_leaves_when_its_connection_is_there_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Looking a name up may take longer than a crawl delay."""
    order: list[str] = []

    def slow(host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
        order.append("name")
        flags = socket.AI_NUMERICHOST
        v4 = socket.AF_INET
        return [
            ResolveResult(
                hostname=host, host="127.0.0.1", port=port, family=v4, proto=0, flags=flags
            )
        ]

    async def leaves() -> None:
        await asyncio.wait_for(connected.wait(), 10)
        order.append("leaves")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        order.append("connected")
        connected.set()
        await reader.readuntil(b"\r\n\r\n")
        order.append("request")
        writer.write(answer(b"Content-Length: 0"))
        writer.close()

    monkeypatch.setattr("semcrawl.crawl.downloadhandler._addresses", slow)
    connected = asyncio.Event()
    handler = handler_with()
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        url = f"http://slow.example:{listening.sockets[0].getsockname()[1]}/"
        await handler.download_request(Request(url, meta={LEAVES: leaves}))
        await handler.close()
    assert order == ["name", "connected", "leaves", "request"]


async def test_nothing_is_sent_for_a_link_that_may_not_leave() -> None:
    async def leaves() -> None:
        raise PutBack("its lease ran out")

    received = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read())
        writer.close()

    handler = handler_with()
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
        with pytest.raises(PutBack):
            await handler.download_request(Request(url, meta={LEAVES: leaves}))
        await handler.close()
    assert received in ([b""], [])


@asynccontextmanager
async def dripping(whole: bytes, at_once: int) -> AsyncIterator[str]:
    """Gives so many bytes at once and then one every 20 ms, as long as anybody takes them."""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        with suppress(ConnectionError, asyncio.CancelledError):
            for piece in (whole[:at_once], *(bytes([byte]) for byte in whole[at_once:])):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.02)
        writer.close()

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as listening:
        host, port = listening.sockets[0].getsockname()
        yield f"http://{host}:{port}/"


def rated(grace: float) -> AiohttpDownloadHandler:
    """A handler that wants 1,000 bytes/s."""
    settings = {
        "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": True,
        "SEMCRAWL_MAX_HEADERS_SIZE": 1000,
        "SEMCRAWL_MAX_SIZE_IN_MEMORY": 1000,
        "SEMCRAWL_LEAST_RATE": 1000.0,
    }
    made = AiohttpDownloadHandler(get_crawler(settings_dict=settings))
    made._grace = grace
    return made


@pytest.mark.parametrize("at_once", [1, 5000], ids=["head", "body"])
async def test_an_answer_that_drips_is_broken_off(at_once: int) -> None:
    """However much came quickly before."""
    whole, handler = answer(TEXT, b"Content-Length: 9000", body=b"x" * 9000), rated(0.2)
    async with dripping(whole, at_once) as url:
        try:
            with pytest.raises(DownloadTimeoutError, match="less than 1000 bytes/s"):
                await handler.download_request(Request(url))
        finally:
            await handler.close()


@pytest.mark.slow
async def test_an_answer_that_takes_its_time_to_begin_does_not_drip() -> None:
    async def answer_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.6)
        writer.write(answer(TEXT, b"Content-Length: 2", body=b"it"))
        writer.close()

    handler = rated(0.1)
    async with await asyncio.start_server(answer_late, "127.0.0.1", 0) as listening:
        host, port = listening.sockets[0].getsockname()
        response = await handler.download_request(Request(f"http://{host}:{port}/"))
        await handler.close()
    assert response.body == b"it"
