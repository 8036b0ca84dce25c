"""The search as pages and JSON over HTTP, asked as a browser and as others ask."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from semcrawl.images.outcomes import TextKind
from semcrawl.imagesearch import ImageSearch
from semcrawl.imagesearch.serving import serve_search
from tests.imagesearch.made import Made, make_job

#: what a hostile page would say of its images
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    job = tmp_path_factory.mktemp("serving") / "a <b>job</b>"
    caption = TextKind.CAPTION
    return make_job(
        job,
        [
            Made([(caption, "red circle")]),
            Made([(caption, f"blue star {HOSTILE}")], title=HOSTILE, page="javascript:alert(3)"),
            Made([(caption, "red square"), (TextKind.HEADING, "قوارب")]),
            *(Made([(caption, f"boat number {n}")]) for n in range(60)),
        ],
    )


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[URL]:
    with ImageSearch(folder) as search:
        address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        stopped = asyncio.Event()
        task = asyncio.create_task(serve_search(search, 0, address.set_result, stopped))
        yield URL(await address)
        stopped.set()
        await task


@pytest.fixture
async def server(folder: Path) -> AsyncIterator[URL]:
    async with served(folder) as url:
        yield url


async def get(url: URL, **headers: str) -> tuple[int, str]:
    """Status and body; a path is sent as it stands."""
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        return answer.status, await answer.text(errors="replace")


async def get_json(url: URL) -> dict:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return await answer.json() | {"status": answer.status}


async def test_a_query_shows_images_and_a_correction(server: URL) -> None:
    status, page = await get(server / "" % {"q": "red circel"})
    assert status == 200
    assert '<strong dir="auto">red circle</strong>' in page
    assert page.index("/thumbnail/1") < page.index("/thumbnail/3")
    exact = await get(server / "" % {"q": "red circel", "exact": "1"})
    assert "Search for" not in exact[1]


async def test_the_first_page_offers_queries_and_images(server: URL) -> None:
    await get(server / "" % {"q": "red circle"})
    _, page = await get(server)
    assert 'href="/?q=red%20circle"' in page
    assert page.count("<img ") == 48


async def test_results_go_on_from_page_to_page(server: URL) -> None:
    _, first = await get(server / "" % {"q": "boat"})
    assert "60 images, page 1 of 2" in first
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    _, second = await get(server.join(URL(following[1].replace("&amp;", "&"), encoded=True)))
    assert "page 2 of 2" in second
    shown = re.findall(r'src="(/thumbnail/\d+)"', first + second)
    assert len(shown) == len(set(shown)) == 60


async def test_an_image_is_shown_with_where_it_was_found_and_its_like(server: URL) -> None:
    status, page = await get(server / "image/1")
    assert status == 200
    assert 'href="http://pictures.example/page1.html"' in page
    assert "640 × 480 pixels" in page
    assert page.count("/thumbnail/") > 5


async def test_a_thumbnail_is_sent_from_where_a_crawl_puts_it(server: URL) -> None:
    status, body = await get(server / "thumbnail/1")
    assert (status, body[6:10]) == (200, "JFIF")


async def test_no_file_outside_the_thumbnails_is_sent_whatever_the_database_says(
    server: URL, folder: Path
) -> None:
    with closing(sqlite3.connect(folder / "images.db")) as database:
        database.execute("UPDATE image SET colour_thumbnail = '../images.db' WHERE id = 60")
        database.commit()
    assert (await get(server / "thumbnail/60"))[0] == 404


@pytest.mark.parametrize("path", ["image/2", f"?q={HOSTILE}", "?q=blue+star", "", "?q=star&page=x"])
async def test_nothing_of_the_web_is_markup(server: URL, path: str) -> None:
    """Texts, titles, addresses, queries and the folder's name are shown as they stand."""
    _, page = await get(server.join(URL(path)))
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "<b>job" not in page
    assert 'href="javascript:' not in page
    assert "alert" not in "".join(re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL))


@pytest.mark.parametrize("path", ["", "image/1", "?q=red"])
async def test_pages_load_nothing_from_elsewhere(server: URL, path: str) -> None:
    _, page = await get(server.join(URL(path)))
    loaded = re.findall(r'(?:src|<link[^>]*href)="([^"]*)"', page)
    assert loaded
    assert all(address.startswith("/") and not address.startswith("//") for address in loaded)


@pytest.mark.parametrize(
    "path",
    [
        "/files/../../images.db", "/files/..%2f..%2fimages.db", "/thumbnail/../images.db",
        "/thumbnail/%2e%2e%2fimages.db", "/thumbnail/1/../../../images.db", "/images.db",
        "/files/%00", "/thumbnail/9999", "/image/9999", "/image/99999999999999999999",
        "/api/images/77",
    ],
)  # fmt: skip
async def test_no_path_leads_out_of_the_folder(server: URL, path: str) -> None:
    status, body = await get(URL(f"{server.origin()}{path}", encoded=True))
    assert status == 404
    assert "SQLite format" not in body


@pytest.mark.parametrize(
    ("host", "status"),
    [("evil.example", 403), ("", 403), ("127.0.0.1.evil.example", 403), ("[::1]", 200),
     ("localhost:8266", 200), ("LOCALHOST", 200), ("127.0.0.1@evil.example", 403), ("[", 403)],
)  # fmt: skip
async def test_it_answers_to_local_names_alone(server: URL, host: str, status: int) -> None:
    """A site that has its own name lead to this machine reads nothing."""
    assert (await get(server, Host=host))[0] == status


async def test_queries_that_other_sites_send_leave_no_trace(server: URL) -> None:
    await get(server / "" % {"q": "red square"}, **{"Sec-Fetch-Site": "cross-site"})
    assert "red square" not in (await get_json(server / "api/queries"))["popular"]


async def test_the_api_tells_all_that_the_pages_show(server: URL) -> None:
    found = await get_json(server / "api/search" % {"q": "red circel", "limit": "1"})
    assert (found["asked"], found["searched"], found["total"]) == ("red circel", "red circle", 2)
    (image,) = found["images"]
    assert image["places"][0]["page"] == "http://pictures.example/page1.html"
    more = await get_json(server / "api/search" % {"q": "red circle", "offset": "1"})
    assert [one["id"] for one in more["images"]] == [3]
    one = await get_json(server / "api/images/1")
    assert one["text"] == "red circle"
    assert {like["image"] for like in one["similar"]} > {3}


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("api/search", "give a word"), ("api/search?q=%20", "give a word"),
        (f"api/search?q={'a' * 301}", "at most 300"), ("api/search?q=x&limit=-1", "limit"),
        ("api/search?q=x&offset=1e9", "offset"), ("api/search?q=%FF&limit=%FF", "limit"),
    ],
)  # fmt: skip
async def test_a_wrong_question_has_one_line_for_an_answer(
    server: URL, path: str, word: str
) -> None:
    answer = await get_json(server.join(URL(path, encoded=True)))
    assert answer["status"] == 400
    assert word in answer["error"]
    assert "\n" not in answer["error"]


async def test_a_page_beyond_the_last_one_is_the_last_one(server: URL) -> None:
    _, page = await get(server / "" % {"q": "boat", "page": "99"})
    assert "page 2 of 2" in page
    assert "/thumbnail/" in page


async def test_what_is_no_request_is_logged_in_one_line(
    server: URL, caplog: pytest.LogCaptureFixture
) -> None:
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n")
    assert b" 400 " in await reader.readline()
    writer.close()
    ((record, text),) = [(record, record.getMessage()) for record in caplog.records]
    assert not record.exc_info
    assert "\n" not in text
    assert len(text) <= 300


async def test_images_that_cannot_be_read_are_told_of_in_one_line(tmp_path: Path) -> None:
    job = make_job(tmp_path / "job", [Made([(TextKind.CAPTION, "red circle")])])
    async with served(job) as server:
        (job / "images.db-wal").write_bytes(b"")
        (job / "images.db").write_bytes(b"no database " * 999)
        found = await get_json(server / "api/search" % {"q": "red"})
    assert found["status"] == 500
    assert "\n" not in found["error"]


async def test_pages_are_only_read(server: URL) -> None:
    async with aiohttp.ClientSession() as session, session.post(server, data=b"x") as answer:
        assert answer.status == 405


@pytest.mark.slow
async def test_clicks_move_what_a_query_finds_and_others_links_do_not(tmp_path: Path) -> None:
    """The chosen image and those with similar texts come first; other queries stay as they were."""
    texts = ["fresh fish from the river", "tuna boat in the harbour", "tuna boat at sea", "red car"]
    job = make_job(tmp_path / "job", [Made([(TextKind.CAPTION, f"photo of a {t}")]) for t in texts])

    async def order(server: URL, query: str) -> list[int]:
        found = await get_json(server / "api/search" % {"q": query})
        return [image["id"] for image in found["images"]]

    async with served(job) as server:
        _, page = await get(server / "" % {"q": "photo"})
        assert 'href="/image/3?q=photo"' in page
        before, other = await order(server, "photo"), await order(server, "red car")
        assert before[-1] != 4
        link = server / "image/4" % {"q": "photo"}
        for site in ("cross-site", "same-site", "none"):
            assert (await get(link, **{"Sec-Fetch-Site": site}))[0] == 200
        ahead = {"Sec-Fetch-Site": "same-origin", "Sec-Purpose": "prefetch"}
        assert [(await get(link, **headers))[0] for headers in ({}, ahead)] == [200, 200]
        assert await order(server, "photo") == before
        for number in (2, 2, 2, 2, 9, 2, 2):
            shown = server / f"image/{number}" % {"q": "Photo"}
            await get(shown, **{"Sec-Fetch-Site": "same-origin"})
        assert (await order(server, "photo"))[:2] == [2, 3]
        assert await order(server, "red car") == other
    async with served(job) as server:
        assert (await order(server, "photo"))[:2] == [2, 3]
    with closing(sqlite3.connect(job / "images.db")) as database:
        assert database.execute("SELECT image_id, count FROM click").fetchall() == [(2, 6)]
