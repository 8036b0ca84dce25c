"""Requests pass to an address at the address's pace."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from typing import Any

import pytest
from aiohttp.abc import ResolveResult
from scrapy.http import Request
from scrapy.utils.test import get_crawler

from semcrawl.crawl.attempt import AT_ADDRESS
from semcrawl.crawl.downloadhandler import AiohttpDownloadHandler
from semcrawl.crawl.failures import PutBack

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every name lead to loopback."""

    def local(host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
        v4, flags = socket.AF_INET, socket.AI_NUMERICHOST
        where = "127.0.0.1"
        return [
            ResolveResult(hostname=host, host=where, port=port, family=v4, proto=0, flags=flags)
        ]

    monkeypatch.setattr("semcrawl.crawl.downloadhandler._addresses", local)


class Server:
    def __init__(self) -> None:
        self.connections = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(ANSWER)
        except asyncio.IncompleteReadError:
            writer.close()


def handler() -> AiohttpDownloadHandler:
    settings = {"SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": True, "SEMCRAWL_MAX_HEADERS_SIZE": 1000}
    return AiohttpDownloadHandler(get_crawler(settings_dict=settings))


async def test_the_gate_is_asked_before_there_is_a_connection_and_when_one_was_kept(
    names: None,
) -> None:
    server, asked, downloads = Server(), [], handler()
    answers: deque[bool] = deque([True, False, True, False])

    async def gate(address: str) -> None:
        asked.append(address)
        if not answers.popleft():
            raise PutBack("others are asked at its address")

    async def get(url: str) -> Any:
        return await downloads.download_request(Request(url, meta={AT_ADDRESS: gate}))

    async with await asyncio.start_server(server.answer, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        answers = deque([True, True])  # its name is looked up, and then there is a connection
        assert (await get(f"http://one.example:{port}/")).status == 200
        answers = deque([False])
        with pytest.raises(PutBack):
            await get(f"http://two.example:{port}/")
        assert server.connections == 1
        answers = deque([False])
        with pytest.raises(PutBack):
            await get(f"http://one.example:{port}/")
        answers = deque([True])
        assert (await get(f"http://one.example:{port}/")).status == 200
        assert server.connections == 1
        assert set(asked) == {"127.0.0.1"}
        await downloads.close()


async def test_through_a_proxy_there_is_no_gate(names: None) -> None:
    server, downloads = Server(), handler()

    async def gate(address: str) -> None:
        raise AssertionError("the proxy's address is none of the host's")

    async with await asyncio.start_server(server.answer, "127.0.0.1", 0) as listening:
        proxy = f"http://proxy.example:{listening.sockets[0].getsockname()[1]}"
        request = Request("http://one.example/", meta={AT_ADDRESS: gate, "proxy": proxy})
        assert (await downloads.download_request(request)).status == 200
        await downloads.close()
