"""A crawl for images over real connections: what it keeps, what it drops and says, and once."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import time
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import aiohttp
import pyoxigraph
import pytest
from harvest.runs import Run, asked, harvest, start_harvest
from PIL import Image

from images.pictures import claimed, drawn, packed
from semcrawl.demo import DemoWeb, serve
from semcrawl.demo.stream import Request, Stream
from semcrawl.imagesearch import ImageSearch
from semcrawl.imagesearch.serving import serve_search

D = "http://i.example"
HTML, PNG, TURTLE = "text/html", "image/png", "text/turtle"
PAGES = 16
OPTIONS = ("--targets", "images", "--fast")
#: runs of the kill test, each with kills at other moments
RUNS = int(os.environ.get("SEMCRAWL_TEST_KILL_RUNS", "1"))

pytestmark = pytest.mark.slow

LOGO = packed(drawn("green", "square", (150, 120)))
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
ODD = {
    "/bomb.png": (PNG, claimed(50_000, 50_000)),
    "/huge.png": (PNG, claimed(10_000, 10_000)),
    "/cut.jpg": ("image/jpeg", packed(drawn("navy"), "JPEG")[:-2000]),
    "/page.jpg": ("image/jpeg", b"<!DOCTYPE html><html><body><p>no image at all</p></body></html>"),
    "/noise.png": (PNG, bytes(range(256)) * 9),
    "/drawing": ("image/svg+xml", SVG),
    "/small.png": (PNG, packed(drawn(size=(20, 20)))),
    "/liar.png": (PNG, packed(drawn("teal"), "WEBP")),
    "/moves.gif": ("image/gif", packed(drawn("maroon"), "GIF", save_all=True,
                                       append_images=[drawn("olive")])),
    "/untyped": ("application/octet-stream", packed(drawn("gold", "square"))),
}  # fmt: skip
OUTCOMES = {
    "/bomb.png": "too-many-pixels",
    "/huge.png": "too-many-pixels",
    "/cut.jpg": "broken",
    "/noise.png": "no-image",
    "/drawing": "no-raster",
    "/small.png": "too-small",
    "/liar.png": "kept",
    "/moves.gif": "kept",
    "/untyped": "kept",
}


def picture(number: int, at: int) -> bytes:
    """Of each page's three, the second is a copy of the first one of the page before."""
    if at == 1:
        number, at = number - 1, 0
    made = random.Random(f"{number} {at}")
    colours = [f"#{made.randrange(1 << 24):06x}" for _ in range(2)]
    size = (made.randrange(120, 300), made.randrange(120, 300))
    return packed(drawn(colours[0], made.choice(["circle", "square"]), size, colours[1]))


def shown(number: int) -> str:
    blocks = "".join(
        f"<div><img src=/i/{number}-{at}.png alt='alt {number} {at}'>"
        f"<p>what {number} shows at {at}</p></div>"
        for at in range(3)
    )
    return f"<title>Page {number}</title><img src=/logo.png alt=logo>{blocks}<a href=/>home</a>"


async def site(request: Request, out: Stream) -> None:
    path = request.path
    status, kind, body = 200, HTML, b""
    if path == "/":
        links = [f"<a href=/p/{n}>{n}</a>" for n in range(PAGES)]
        body = " ".join([*links, "<a href=/odd>odd</a> <a href=/data.ttl>data</a>"]).encode()
    elif path.startswith("/p/"):
        body = shown(int(path[3:])).encode()
    elif path == "/odd":
        body = "".join(f"<p>about {name}<img src={name}></p>" for name in ODD).encode()
        body += b"<img srcset='nonsense nonsense, , 3 x'><img src='data:image/png;base64,AAAA'>"
    elif path == "/data.ttl":
        kind = TURTLE
        body = (
            b"@prefix foaf: <http://xmlns.com/foaf/0.1/> . "
            b"<#it> foaf:name 'The thing' ; foaf:depiction </thing> ."
        )
    elif path == "/thing":
        kind, body = PNG, packed(drawn("indigo", "square", (333, 222)))
    elif path == "/logo.png":
        kind, body = PNG, LOGO
    elif path in ODD:
        kind, body = ODD[path]
    elif path.startswith("/i/"):
        number, at = path[3:-4].split("-")
        kind, body = PNG, picture(int(number), int(at))
    else:
        status, kind, body = 404, "text/plain", b"nothing here\n"
    await out.whole(status, [("Content-Type", kind)], body)


class Changing:
    """The site, of which some answers are others from some moment on."""

    def __init__(self) -> None:
        self.changed: dict[str, tuple[int, str, bytes]] = {}

    async def __call__(self, request: Request, out: Stream) -> None:
        if request.path in self.changed:
            status, kind, body = self.changed[request.path]
            await out.whole(status, [("Content-Type", kind)], body)
        else:
            await site(request, out)


def rows(run: Run, query: str) -> list[tuple]:
    with sqlite3.connect(run.folder / "images.db") as database:
        return sorted(database.execute(query).fetchall())


def contents(run: Run) -> dict[str, list[tuple]]:
    """All that does not depend on the order in which things came."""
    return {
        "addresses": rows(run, "SELECT url, sha256, image_id IS NULL FROM image_address"),
        # (the pages of a logo are counted until it is known as one)
        "images": rows(run, "SELECT CASE WHEN dropped THEN 0 ELSE pages END, dropped FROM image"),
        "places": rows(
            run,
            "SELECT url, image_url, image_id IS NULL FROM image_place JOIN page"
            " ON page.id = page_id WHERE image_url NOT LIKE '%logo%'",
        ),
        "texts": rows(
            run,
            "SELECT place_id, text, kind, tag, distance, level FROM near_text WHERE text <> 'logo'",
        ),
        "visits": rows(run, "SELECT page_id, images_seen, links_seen, links_normalised FROM visit"),
        "links": rows(run, "SELECT source_id, target_id FROM page_link"),
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    place = tmp_path_factory.mktemp("whole")
    log = place / "log.jsonl"
    with serve(DemoWeb(), handlers={"i.example": site}, log=log) as server:
        run = harvest(f"{D}/", *OPTIONS, folder=place / "job", proxy=server.proxy_url)
    run.is_calm()
    return run, log


def test_all_images_are_kept_with_their_places_and_texts(whole: tuple[Run, Path]) -> None:
    run, _ = whole
    kept = {
        url.removeprefix(D)
        for (url,) in rows(run, "SELECT url FROM image_address WHERE image_id IS NOT NULL")
    }
    good = {f"/i/{n}-{at}.png" for n in range(PAGES) for at in range(3)}
    assert kept == good | {"/logo.png", "/thing", "/liar.png", "/moves.gif", "/untyped"}
    said = dict(
        rows(
            run,
            "SELECT image_url, text FROM image_place JOIN near_text"
            " ON place_id = image_place.id WHERE kind = 'after' AND level = 1",
        )
    )
    assert said[f"{D}/i/3-2.png"] == "what 3 shows at 2"
    assert ("The thing", "data") in rows(run, "SELECT text, kind FROM near_text")
    assert run.summary["images"] > 2 * PAGES
    assert run.summary["hosts"]["i.example"]["images"] == len(kept)
    assert "│ images │" in run.out.replace("┃", "│")


def test_copies_are_one_image_and_a_logo_is_dropped(whole: tuple[Run, Path]) -> None:
    run, _ = whole
    by_url = dict(rows(run, "SELECT url, image_id FROM image_address"))
    for number in range(1, PAGES):
        assert by_url[f"{D}/i/{number}-1.png"] == by_url[f"{D}/i/{number - 1}-0.png"]
    dropped = rows(run, "SELECT id FROM image WHERE dropped")
    assert dropped == [(by_url[f"{D}/logo.png"],)]
    assert rows(run, "SELECT * FROM near_text WHERE text = 'logo'") == []


def test_what_is_no_picture_to_keep_is_recorded_with_its_reason(whole: tuple[Run, Path]) -> None:
    run, _ = whole
    outcomes = dict(rows(run, "SELECT url, outcome FROM image_address"))
    assert {path: outcomes.get(D + path) for path in OUTCOMES} == OUTCOMES
    records = {record["url"].removeprefix(D): record for record in run.records}
    for path, outcome in OUTCOMES.items():
        if outcome == "kept":
            assert records[path]["outcome"] == "fetched-image"
            assert not records[path]["errors"]
        else:
            assert records[path]["outcome"] == "fetched-other"
            assert records[path]["errors"].startswith(f"{outcome}: ")
    assert records["/page.jpg"]["outcome"] == "fetched-html"
    assert rows(run, "SELECT frames FROM image WHERE media_type = 'image/gif'") == [(2,)]


def test_what_a_page_holds_that_is_no_image_is_counted(tmp_path: Path) -> None:
    with serve(DemoWeb(), handlers={"i.example": site}) as server:
        run = harvest(
            *(f"{D}/odd", *OPTIONS, "--pages", "1"),
            folder=tmp_path / "job",
            proxy=server.proxy_url,
        )
    run.is_calm()
    log = (run.folder / "crawl.log").read_text()
    for name in ("data_urls", "bad_srcset"):
        assert f"'semcrawl/images/{name}': 1," in log


async def test_what_a_crawl_keeps_is_found_and_shown(whole: tuple[Run, Path]) -> None:
    """By words, with its address, its page and its thumbnail over HTTP."""
    run, _ = whole
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stopped = asyncio.Event()
    with ImageSearch(run.folder) as search:
        task = asyncio.create_task(serve_search(search, 0, address.set_result, stopped))
        url = await address
        async with aiohttp.ClientSession(raise_for_status=True) as session:
            async with session.get(f"{url}api/search", params={"q": "the thing"}) as answer:
                best = (await answer.json())["images"][0]
            async with session.get(f"{url}thumbnail/{best['id']}") as answer:
                size = Image.open(BytesIO(await answer.read())).size
        stopped.set()
        await task
    assert (best["url"], best["text"]) == (f"{D}/thing", "The thing")
    assert [place["page"] for place in best["places"]] == [f"{D}/data.ttl"]
    assert size == (255, 170)


def test_each_address_is_asked_for_once(whole: tuple[Run, Path]) -> None:
    _, log = whole
    assert {url: times for url, times in asked(log).items() if times > 1} == {}


def test_the_images_are_rdf_as_well(whole: tuple[Run, Path]) -> None:
    run, _ = whole
    quads = pyoxigraph.Store()
    quads.bulk_load(path=str(run.folder / "images.nq"), format=pyoxigraph.RdfFormat.N_QUADS)
    found = quads.query(
        """PREFIX schema: <http://schema.org/> PREFIX foaf: <http://xmlns.com/foaf/0.1/>
        PREFIX prov: <http://www.w3.org/ns/prov#>
        PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
        SELECT ?image ?text WHERE { ?image a schema:ImageObject ; schema:sha256 ?hash .
          GRAPH ?page { ?page schema:image ?image . ?image prov:hadPrimarySource ?page ;
            foaf:depicts/rdfs:label ?text } }"""
    )
    said = {(row["image"].value, row["text"].value) for row in found}
    assert (f"{D}/thing", "The thing") in said
    assert len({image for image, _ in said}) == 3 * PAGES + 4
    assert not [image for image, _ in said if "logo" in image]


@pytest.mark.parametrize("seed", range(RUNS))
def test_a_crawl_killed_and_resumed_has_the_same_images_once(
    whole: tuple[Run, Path], tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    log = tmp_path / "log.jsonl"
    moments = sorted(rng.sample(range(5, 5 * PAGES), 2))
    with serve(DemoWeb(), handlers={"i.example": site}, log=log) as server:
        for moment in moments:
            run = start_harvest(f"{D}/", *OPTIONS, folder=tmp_path / "job", proxy=server.proxy_url)
            while run.process.poll() is None and sum(asked(log).values()) < moment:
                time.sleep(0.005)
            run.kill()
            run.wait()
        last = harvest(f"{D}/", *OPTIONS, folder=tmp_path / "job", proxy=server.proxy_url)
    last.is_calm()
    assert contents(last) == contents(whole[0])
    thumbnails = [path for path in (last.folder / "thumbnails").rglob("*") if path.is_file()]
    assert len(thumbnails) == 2 * len(rows(last, "SELECT id FROM image"))


def test_a_revisit_neither_doubles_images_nor_loses_them(
    whole: tuple[Run, Path], tmp_path: Path
) -> None:
    """What changed is there as it is now, all else as it was."""
    answers, log = Changing(), tmp_path / "log.jsonl"
    with serve(DemoWeb(), handlers={"i.example": answers}, log=log) as server:
        reach = {"folder": tmp_path / "job", "proxy": server.proxy_url}
        harvest(f"{D}/", *OPTIONS, **reach)
        before = asked(log)
        new = packed(drawn("orchid", "square", (210, 190)))
        answers.changed = {
            "/p/3": (200, HTML, b"<title>Page 3</title>" + 2 * b"<p>x<img src=/i/3-2.png></p>"),
            "/i/5-2.png": (200, PNG, new),
            "/i/6-2.png": (200, PNG, picture(6, 2)[:-900]),
            "/i/7-2.png": (404, "text/plain", b"nothing here"),
        }
        last = harvest(f"{D}/", *OPTIONS, "--revisit", **reach)
    last.is_calm()
    now, then = contents(last), contents(whole[0])
    assert {url for url, times in asked(log).items() if times > before[url]} >= {
        f"i.example/i/{n}-2.png" for n in range(PAGES)
    }
    changed = {place for place in now["places"] if place not in then["places"]}
    assert not changed  # only page 3 has others: fewer
    lost = {place for place in then["places"] if place not in now["places"]}
    assert lost == {(f"{D}/p/3", f"{D}/i/3-{at}.png", 0) for at in (0, 1)}
    assert len(now["places"]) == len(then["places"]) - 1
    assert set(now["addresses"]) - set(then["addresses"]) == {
        (f"{D}/i/5-2.png", sha256(new).hexdigest(), 0)
    }
    assert len(now["images"]) == len(then["images"])
    thumbnails = [path for path in (last.folder / "thumbnails").rglob("*") if path.is_file()]
    assert len(thumbnails) == 2 * len(now["images"])


class Moving(Changing):
    """Some images answer by another address; each has a validator, which is honoured."""

    moved = {f"/i/{number}-0.png": f"/there/{number}-0.png" for number in (2, 3)} | {
        "/i/4-2.png": "/i/5-2.png",
        "/i/6-2.png": "/i/8-2.png",
        "/i/8-2.png": "/there/8-2.png",
    }

    async def __call__(self, request: Request, out: Stream) -> None:
        if to := self.moved.get(request.path):
            await out.whole(302, [("Location", D + to)], b"")
        elif request.headers.get("if-none-match") == "x" and request.path not in self.changed:
            await out.whole(304, [("ETag", "x")], b"")
        else:
            path = request.path.replace("/there/", "/i/")
            status, kind, body = self.changed.get(request.path) or (200, PNG, b"")
            if body:
                await out.whole(status, [("Content-Type", kind), ("ETag", "x")], body)
            else:
                await site(replace(request, path=path), out)


def test_an_image_that_is_redirected_is_one_also_when_it_is_asked_for_again(
    tmp_path: Path,
) -> None:
    """Two addresses of one image, and an image that was moved twice."""
    answers, log = Moving(), tmp_path / "log.jsonl"
    of_place = (
        "SELECT image_url, sha256 FROM image_place JOIN image ON image.id = image_id"
        " WHERE image_url LIKE '%-2.png' OR image_url LIKE '%-0.png'"
    )
    with serve(DemoWeb(), handlers={"i.example": answers}, log=log) as server:
        reach = {"folder": tmp_path / "job", "proxy": server.proxy_url}
        first = harvest(f"{D}/", *OPTIONS, **reach)
        shown, images = dict(rows(first, of_place)), rows(first, "SELECT id FROM image")
        assert len(shown) == 2 * PAGES
        assert shown[f"{D}/i/4-2.png"] == shown[f"{D}/i/5-2.png"]
        assert shown[f"{D}/i/6-2.png"] == shown[f"{D}/i/8-2.png"]
        before = asked(log)
        new = packed(drawn("orchid", "square", (210, 190)))
        answers.changed = {"/there/3-0.png": (200, PNG, new)}
        last = harvest(f"{D}/", *OPTIONS, "--revisit", **reach)
    last.is_calm()
    assert asked(log)["i.example/there/3-0.png"] > before["i.example/there/3-0.png"]
    assert dict(rows(last, of_place)) == shown | {f"{D}/i/3-0.png": sha256(new).hexdigest()}
    assert len(rows(last, "SELECT id FROM image")) == len(images) + 1  # (page 4 has the old one)


def test_an_image_that_was_broken_is_asked_for_again_whole(tmp_path: Path) -> None:
    """Without its validators: it may be the same, and had been cut off on the way."""
    answers, log = Moving(), tmp_path / "log.jsonl"
    page = b"<p>good<img src=/good.png></p><p>was cut<img src=/cut.png></p><img src=/small.png>"
    good, cut = packed(drawn("navy")), packed(drawn("maroon", "square"))
    answers.changed = {
        "/odd": (200, HTML, page),
        "/good.png": (200, PNG, good),
        "/cut.png": (200, PNG, cut[:-900]),
    }
    texts = "SELECT text FROM near_text JOIN image_place ON image_place.id = place_id"
    texts += " JOIN image ON image.id = image_id WHERE kind = 'before' AND level = 1"
    with serve(DemoWeb(), handlers={"i.example": answers}, log=log) as server:
        reach = {"folder": tmp_path / "job", "proxy": server.proxy_url}
        first = harvest(f"{D}/odd", *OPTIONS, **reach)
        assert rows(first, texts) == [("good",)]
        answers.changed["/cut.png"] = (200, PNG, cut)
        last = harvest(f"{D}/odd", *OPTIONS, "--revisit", **reach)
        assert rows(last, texts) == [("good",), ("was cut",)]
        third = harvest(f"{D}/odd", *OPTIONS, "--revisit", **reach)
    third.is_calm()
    assert rows(third, texts) == [("good",), ("was cut",)]
    assert asked(log)["i.example/small.png"] == 1  # (refused for good)


def test_the_strategys_scores_of_domains_are_kept(tmp_path: Path) -> None:
    with serve(DemoWeb(), handlers={"i.example": site}) as server:
        run = harvest(
            *(f"{D}/", *OPTIONS, "-s", "SEMCRAWL_RELEVANCE=domain-score", "--pages", "40"),
            folder=tmp_path / "job",
            proxy=server.proxy_url,
        )
    run.is_calm()
    ((name, score, estimate, rate),) = rows(
        run,
        "SELECT name, score, estimate, learning_rate"
        " FROM domain_score JOIN domain ON domain.id = domain_id",
    )
    assert (name, score) == ("i.example", estimate)
    assert 0 < rate < 0.1  # it has learned
    votes = dict(rows(run, "SELECT url, page.score FROM page"))
    fetched = [url for (url,) in rows(run, "SELECT url FROM page WHERE title LIKE 'Page%'")]
    assert fetched
    assert all(0 < votes[url] <= 1 for url in fetched)


def test_a_crawl_for_rdf_asks_for_no_image(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with serve(DemoWeb(), handlers={"i.example": site}, log=log) as server:
        run = harvest(f"{D}/", "--fast", folder=tmp_path / "job", proxy=server.proxy_url)
    assert not [url for url in asked(log) if url.endswith((".png", ".gif", ".jpg"))]
    assert not (run.folder / "images.db").exists()


def test_a_database_of_another_version_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    with sqlite3.connect(folder / "images.db") as database:
        database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        database.execute("INSERT INTO alembic_version VALUES ('9999')")
    run = harvest(f"{D}/", *OPTIONS, folder=folder)
    assert run.status != 0
    assert "images.db has schema 9999" in run.err
    assert "Traceback" not in run.err
