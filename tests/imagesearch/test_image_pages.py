"""The pages in a real browser: by keyboard, on a phone, in the dark."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from semcrawl.imagesearch import ImageSearch
from semcrawl.imagesearch.serving import serve_search
from tests.imagesearch.browser import CHROMIUM, browser
from tests.imagesearch.made import gallery, make_job

#: whether something is wider than the window, or a text is cut off at its right
_TOO_WIDE = "document.documentElement.scrollWidth > window.innerWidth"
_BROKEN = "[...document.images].filter(one => one.complete && !one.naturalWidth).length"
_HERE = "document.activeElement.getAttribute('href') || document.activeElement.tagName"
_LUMINANCE = """
    getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((a, b) => a + +b, 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
async def test_the_pages_work_in_a_browser(tmp_path: Path) -> None:
    """By keyboard alone from the first page to an image, at three widths, without a complaint."""
    folder = make_job(tmp_path / "gallery", gallery())
    pictures: dict[str, bytes] = {}
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stopped = asyncio.Event()
    with ImageSearch(folder) as search:
        task = asyncio.create_task(serve_search(search, 0, address.set_result, stopped))
        url = await address
        async with browser(tmp_path / "profile") as page:
            await page.resize(1200, 900)
            await page.open(url)
            assert await page.value(_HERE) == "INPUT"  # one may type at once
            pictures["home"] = await page.picture()
            await page.type("red circel")
            await page.press("Enter", leads_on=True)
            assert "red circle" in await page.value("document.querySelector('.told').innerText")
            pictures["search"] = await page.picture()
            first = await page.value("document.querySelector('.grid a').getAttribute('href')")
            await page.press("ArrowDown")
            assert await page.value(_HERE) == first
            await page.press("ArrowRight")
            assert await page.value(_HERE) not in (first, "INPUT")
            await page.press("ArrowDown")
            await page.press("ArrowUp")
            await page.press("ArrowLeft")
            assert await page.value(_HERE) == first
            await page.press("Enter", leads_on=True)
            assert await page.value("location.pathname + location.search") == first
            assert "page" in await page.value("document.querySelector('.places a').href")
            pictures["image"] = await page.picture()
            await page.press("/")
            assert await page.value(_HERE) == "INPUT"
            await page.type("blue star")
            await page.press("Enter", leads_on=True)
            paths = ("", "?q=blue+star", "image/1", f"?q={'long' * 70}", "?q=!", "image/99")
            for width in (360, 700, 1600):
                for path in paths:
                    await page.resize(width, 800, dark=width == 360)
                    await page.open(url + path)
                    assert not await page.value(_TOO_WIDE), (width, path)
                    assert await page.value(_BROKEN) == 0
                    if path == "?q=blue+star" and width == 360:
                        pictures["phone"] = await page.picture()
                        assert await page.value(_LUMINANCE) < 150
                        assert await page.value("document.querySelectorAll('.grid li').length") > 5
                assert width != 1600 or await page.value(_LUMINANCE) > 600
            # pages that are not there are told of by the browser as well
            complaints = [one for one in page.complaints if "the server responded" not in one]
            assert complaints == []
        stopped.set()
        await task
    for name, picture in pictures.items():  # for people to look at: pytest --basetemp
        (tmp_path / f"{name}.png").write_bytes(picture)
        assert len(picture) > 5000
