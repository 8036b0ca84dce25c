"""A harvest that is watched from its beginning to its end, and pages in a real browser."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
from pathlib import Path

import aiohttp
import pytest
from harvest.runs import environment, harvest

from semcrawl.lab.demo import DemoWeb, serve
from tests.imagesearch.browser import CHROMIUM, browser
from tests.watch.test_watchpages import next_view
from tests.watch.watched import make_crawl, served, steered

pytestmark = pytest.mark.slow

FIGURES = ("requests", "targets", "rdf_documents", "html_documents", "quads", "embedded_quads")


async def test_a_watched_harvest_shows_its_figures_until_its_end(tmp_path: Path) -> None:
    """The last view of the page has the figures of the summary, and no worker any more."""
    out = tmp_path / "out"
    with serve(DemoWeb()) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "semcrawl", "harvest", "--watch", "http://www.demo.example/"),
            *("--fast", "--workers", "2", "-s", "CONCURRENT_REQUESTS=1", "--out", str(out)),
            *("-s", "SEMCRAWL_PACE_BY=host", "--quiet"),
            env=environment(server.proxy_url),
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        found = re.search(r"watch the crawl at (http://[^#\s]+)", line)
        assert found, line
        views = []
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{found[1]}events") as answer,
        ):
            while not answer.content.at_eof():
                try:
                    views.append(await next_view(answer))
                except EOFError:
                    break
        await process.communicate()
    assert process.returncode == 0
    summary = json.loads((out / "summary.json").read_text())
    assert {name: views[-1]["totals"][name] for name in FIGURES} == {
        name: summary[name] for name in FIGURES
    }
    assert views[-1]["outcomes"] == summary["outcomes"]
    assert (views[-1]["state"], views[-1]["workers"]) == ("ended", [])
    assert any(view["state"] == "running" and view["workers"] for view in views)
    assert not any(view["error"] for view in views)


def test_a_port_that_is_taken_gives_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        run = harvest("http://a.example/", "--watch", port, folder=tmp_path / "out")
    run.says_in_one_line(f"cannot serve on port {port}", "in use")


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
async def test_the_page_shows_hostile_texts_as_texts(tmp_path: Path) -> None:
    """In a browser, light, dark and on a phone, without a complaint and without side scrolling."""
    folder = tmp_path / "crawl"
    await asyncio.to_thread(folder.mkdir)
    await make_crawl(folder)
    async with served(folder) as url, browser(tmp_path / "profile") as page:
        for width, dark in ((1200, False), (1200, True), (390, False)):
            await page.resize(width, 1000, dark=dark)
            await page.open(url)
            while not await page.value("document.querySelectorAll('#tiles div').length"):
                pass
            assert await page.value("document.title") == "semcrawl: ended"
            text = await page.value("document.getElementById('problems').innerText")
            assert "<img src=x onerror=alert(1)>" in text
            assert "document.title='taken'" in text
            assert await page.value("document.querySelectorAll('img, script').length") == 1
            wide = "document.documentElement.scrollWidth > window.innerWidth"
            assert not await page.value(wide)
        assert not page.complaints


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
async def test_the_page_gives_orders_with_the_token_alone(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    await asyncio.to_thread(folder.mkdir)
    await make_crawl(folder)
    async with steered(folder) as (url, token), browser(tmp_path / "profile") as page:
        await page.open(url)
        assert await page.value("document.getElementById('steer').hidden")
        await page.open(f"{url}?#token={token}")
        assert await page.value("location.href") == url  # nobody reads the token over a shoulder
        while not await page.value("document.querySelectorAll('#hosts button').length"):
            pass
        await page.value("document.querySelector('#hosts button').click()")
        while "paused: " not in await page.value("document.getElementById('holding').innerText"):
            pass
        await page.value("document.getElementById('pause').click()")
        while await page.value("document.getElementById('pause').textContent") != "Go on":
            pass
        assert not page.complaints
