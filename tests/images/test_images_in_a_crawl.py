"""A crawl for images over real connections: what it keeps, what it drops and says, and once."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import time
from io import BytesIO
from pathlib import Path

import aiohttp
import pyoxigraph
import pytest
from harvest.runs import Run, asked, harvest, start_harvest
from PIL import Image

from images.imagesite import OPTIONS, OUTCOMES, PAGES, D, contents, rows, site
from semcrawl.imagesearch import ImageSearch
from semcrawl.imagesearch.serving import serve_search
from semcrawl.lab.demo import DemoWeb, serve

#: runs of the kill test, each with kills at other moments
RUNS = int(os.environ.get("SEMCRAWL_TEST_KILL_RUNS", "1"))

pytestmark = pytest.mark.slow


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
    assert " images " in run.out.partition("harvest")[2].splitlines()[1]


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
