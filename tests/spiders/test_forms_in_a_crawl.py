"""Data behind a portal's search form, in a crawl."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

import pytest
from harvest.runs import NO_GUESSES, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from spiders.site import page, triples

D = "http://d.example"
SEARCH = (
    "<form action=/find><label>Words <input name=w></label></form>"
    "<form action=/private/find><label>Words <input name=w></label></form>"
    "<form action=/add method=post><label>Words <input name=w></label></form>"
)
DATA = {"water": ("lake", "river"), "soil": ("clay",), "air": ("wind",)}


async def portal(request: Request, out: Stream) -> None:
    path, _, query = request.path.partition("?")
    kind, body = page("/about", body=SEARCH)
    if path == "/robots.txt":
        kind, body = "text/plain", b"User-agent: *\nDisallow: /private/\n"
    elif path == "/find":
        found = DATA.get(parse_qs(query).get("w", [""])[0], ())
        kind, body = page(*(f"/{name}.nt" for name in found), body=SEARCH)
    elif path.endswith(".nt"):
        kind, body = "application/n-triples", triples(path[1:-3], 1)
    await out.whole(200, [("Content-Type", kind)], body)


@pytest.mark.slow
def test_forms_are_filled_if_asked_for(tmp_path: Path) -> None:
    """robots.txt and the limit hold; nothing is posted; without the table nothing is asked."""
    runs = []
    table = '{"words": ["water", "soil", "fire", "air"]}'
    for number, options in enumerate(
        [(), ("-s", f"SEMCRAWL_FORMS={table}", "bound:sources.forms:FormTable.most=7")]
    ):
        with serve(DemoWeb(), handlers={"d.example": portal}) as server:
            runs.append(
                harvest(
                    f"{D}/", "--fast", *NO_GUESSES, *options, folder=tmp_path / f"{number}",
                    proxy=server.proxy_url,
                )
            )  # fmt: skip
    assert not runs[0].documents()
    assert {url.removeprefix(D) for url in runs[1].documents()} == {
        "/lake.nt", "/river.nt", "/clay.nt", "/wind.nt",
    }  # fmt: skip
    outcomes = {url.removeprefix(D): each[-1] for url, each in runs[1].outcomes().items()}
    asked = [url for url in outcomes if "w=" in url]
    assert len(asked) == 7
    denied = [url for url in asked if url.startswith("/private/")]
    assert {outcomes[url] for url in denied} == {"robots-denied"}
    assert len(denied) == 3
    assert "/add" not in "".join(outcomes)
    assert {record["found_by"] for record in runs[1].records if "w=" in record["url"]} == {"form"}
