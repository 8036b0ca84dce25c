"""Bodies with a ``Content-Encoding``."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib

import brotli
import pytest
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Headers, Request, Response
from scrapy.utils.test import get_crawler

from semcrawl.middlewares.codings import ForgivingCompressionMiddleware

URL = "http://a.example/x"
LARGEST = 4_000_000


@pytest.fixture
def middleware() -> ForgivingCompressionMiddleware:
    settings = {
        "DOWNLOAD_MAXSIZE": LARGEST,
        "SEMCRAWL_MAX_SIZE_IN_MEMORY": LARGEST,
    }
    made = ForgivingCompressionMiddleware.from_crawler(get_crawler(settings_dict=settings))
    made._thread_above = 100_000
    return made


async def unpacked(
    middleware: ForgivingCompressionMiddleware, request: Request, body: bytes, *codings: str
) -> Response:
    headers = Headers({"Content-Encoding": list(codings), "Content-Type": "text/turtle"})
    response = middleware.process_response(request, Response(URL, 200, headers, body))
    if asyncio.iscoroutine(response):
        response = await response
    assert isinstance(response, Response)
    return response


async def test_bodies_are_unpacked(middleware: ForgivingCompressionMiddleware) -> None:
    """A list of codings is undone from its end, be it one header or several."""
    short = b"<a> <b> <c> ."
    twice = brotli.compress(gzip.compress(short))
    for codings in (("gzip, br",), ("gzip", "br")):
        assert (await unpacked(middleware, Request(URL), twice, *codings)).body == short
    assert (await unpacked(middleware, Request(URL), gzip.compress(short), "gzip")).body == short
    assert (await unpacked(middleware, Request(URL), short)).body == short


async def test_a_body_that_is_not_packed_keeps_its_bytes(
    middleware: ForgivingCompressionMiddleware,
) -> None:
    for codings in ("gzip", "gzip, br"):
        response = await unpacked(middleware, Request(URL), b"<a> <b> <c> .", codings)
        assert response.body == b"<a> <b> <c> ."
        assert "Content-Encoding" not in response.headers


@pytest.mark.parametrize("codings", [1, 2])
async def test_a_refused_body_is_not_kept_by_the_error(
    middleware: ForgivingCompressionMiddleware, codings: int
) -> None:
    """Errors live until the garbage collector looks, and may be many."""
    bomb = zlib.compress(b" " * 5 * LARGEST)
    for _ in range(codings - 1):
        bomb = zlib.compress(bomb)
    tracemalloc.start()
    try:
        with pytest.raises(IgnoreRequest) as raised:
            await unpacked(middleware, Request(URL), bomb, ", ".join(["deflate"] * codings))
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert raised.value.__cause__ is not None  # (which makes the outcome ``too-large``)
    assert most > LARGEST > 4 * kept


@pytest.mark.slow
async def test_the_loop_goes_on_while_much_is_unpacked(
    middleware: ForgivingCompressionMiddleware,
) -> None:
    """Empty members of gzip take long each; packed once more, many of them are a few bytes."""
    slow = gzip.compress(gzip.compress(b"") * 100_000)
    work = asyncio.ensure_future(unpacked(middleware, Request(URL), slow, "gzip, gzip"))
    turns = 0
    while not work.done():
        await asyncio.sleep(0)
        turns += 1
    assert (await work).body == b""
    assert turns > 100
