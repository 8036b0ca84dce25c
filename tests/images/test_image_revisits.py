"""Images that are asked for again: changed, gone, moved and mended ones."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from harvest.runs import Run, asked, harvest

from images.imagesite import HTML, OPTIONS, PAGES, PNG, D, contents, picture, rows, site
from images.pictures import drawn, packed
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream

pytestmark = pytest.mark.slow


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
