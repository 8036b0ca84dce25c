"""A crawl for images about a topic keeps those whose near texts are about it."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from harvest.runs import Run, harvest

from images.pictures import drawn, packed
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream

D = "http://i.example"
#: caption of each image; the third, of lamps, is about none of the topic's words
CAPTIONS = {
    "boat": "A sailing boat with two masts in the harbour",
    "sails": "The sails of the boat are dried after the race",
    "lamp": "A desk lamp of brass and green glass",
    "chair": "A chair of oak, made about 1900",
}

OPTIONS = ("--targets", "images", "--about", "keywords:boat,sails,harbour", "--fast")

pytestmark = pytest.mark.slow


def picture(name: str) -> bytes:
    made = Random(name)
    ground, colour = (f"#{made.randrange(1 << 24):06x}" for _ in range(2))
    shape = made.choice(["circle", "square"])
    return packed(drawn(colour, shape, (200 + made.randrange(99), 180), ground))


#: images whose picture is another one by now, and those of which the end is missing
CHANGED: set[str] = set()
CUT: set[str] = set()


async def site(request: Request, out: Stream) -> None:
    name = request.path.strip("/").removesuffix(".png")
    status, kind, body = 200, "text/html", b""
    if not name:
        links = "".join(f"<p><a href=/{name}>Number {n}</a></p>" for n, name in enumerate(CAPTIONS))
        body = f"<title>A collection of boats</title>{links}".encode()
    elif name not in CAPTIONS:
        status, kind, body = 404, "text/plain", b"nothing here"
    elif request.path.endswith(".png"):
        kind, body = "image/png", picture(f"{name} again" if name in CHANGED else name)
        body = body[:-500] if name in CUT else body
    else:
        figure = f"<figure><img src=/{name}.png><figcaption>{CAPTIONS[name]}</figcaption></figure>"
        body = f"<title>A collection of boats</title>{figure}".encode()
    await out.whole(status, [("Content-Type", kind)], body)


def test_those_are_kept_whose_near_texts_are_about_the_topic(tmp_path: Path) -> None:
    """Though all pages have the topic's word in their title; a re-visit keeps them as well."""
    CHANGED.clear()
    with serve(DemoWeb(), handlers={"i.example": site}) as server:
        reach = {"folder": tmp_path / "job", "proxy": server.proxy_url}
        run = harvest(f"{D}/", *OPTIONS, **reach)
        outcomes_are_right(run)
        CHANGED.add("boat")
        run = harvest(f"{D}/", *OPTIONS, "--revisit", **reach)
        outcomes_are_right(run)
    with sqlite3.connect(run.folder / "images.db") as database:
        hashes = dict(database.execute("SELECT url, sha256 FROM image_address"))
    assert hashes[f"{D}/boat.png"] == sha256(picture("boat again")).hexdigest()


def test_what_was_broken_is_judged_when_it_is_whole(tmp_path: Path) -> None:
    """By its near texts, as they were when it was found."""
    CHANGED.clear()
    with serve(DemoWeb(), handlers={"i.example": site}) as server:
        reach = {"folder": tmp_path / "job", "proxy": server.proxy_url}
        CUT.update(("boat", "lamp"))
        assert harvest(f"{D}/", *OPTIONS, **reach).summary["images"] == 1
        CUT.clear()
        run = harvest(f"{D}/", *OPTIONS, "--revisit", **reach)
    outcomes_are_right(run)


def outcomes_are_right(run: Run) -> None:
    run.is_calm()
    outcomes = {
        record["url"].removeprefix(f"{D}/"): (record["outcome"], record["relevance"])
        for record in run.records
        if record["url"].endswith(".png")
    }
    assert {name for name, (outcome, _) in outcomes.items() if outcome == "fetched-image"} == {
        "boat.png",
        "sails.png",
    }
    for name in ("lamp.png", "chair.png"):
        assert outcomes.get(name, ("off-topic", 0)) == ("off-topic", 0)
    with sqlite3.connect(run.folder / "images.db") as database:
        kept = database.execute(
            "SELECT text FROM image JOIN image_place ON image_id = image.id"
            " JOIN near_text ON place_id = image_place.id WHERE kind = 'caption'"
        )
        assert {text for (text,) in kept} == {CAPTIONS["boat"], CAPTIONS["sails"]}
    assert run.summary["images"] == 2
