"""Seeds that lead elsewhere: the scope goes where they lead, and no further."""

from __future__ import annotations

from pathlib import Path

import pytest
from harvest.runs import Run, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Handler, Request, Stream
from spiders.site import handler, page

pytestmark = pytest.mark.slow

TURTLE = "text/turtle", b"<#it> <http://v.example/p> 1 ."
HOME = {
    "/food/": page("/a.ttl", "/more/", "/off", "http://far.example/page/"),
    "/more/": page("/b.ttl"),
    "/a.ttl": TURTLE,
    "/b.ttl": TURTLE,
}


def moving(targets: dict[str, str], rest: Handler | None = None) -> Handler:
    """Redirect some paths, and answer others as ``rest`` does."""
    rest = rest or handler({})

    async def answer(request: Request, out: Stream) -> None:
        if (target := targets.get(request.path)) is not None:
            await out.whole(302, [("Location", target)], b"")
        else:
            await rest(request, out)

    return answer


def named(host: str) -> tuple[str, bytes]:
    """A page whose data, and whose own pages, are on another host."""
    own = f'<link rel="alternate" type="text/turtle" href="{host}/mine/rdf/all.ttl">'
    return page(f"{host}/mine/id/1", f"{host}/mine/id/2", f"{host}/yours/1", head=own)


HOSTS = {
    "w3id.org": moving({"/food": "http://short.example/f", "/gone": "http://home.example/gone"}),
    "short.example": moving({"/f": "http://www.home.example/food/"}),
    "www.home.example": moving({"/off": "http://far.example/page/"}, handler(HOME)),
    "home.example": handler({}),
    "far.example": handler({"/page/": page("/c.ttl"), "/c.ttl": TURTLE}),
    "pages.example": handler({"/": named("http://data.example")}),
    "data.example": handler(
        {
            "/mine/rdf/all.ttl": TURTLE,
            "/mine/id/1": page("/mine/id/3", "/yours/2"),
            "/mine/id/3": page("/mine/3.ttl"),
            "/mine/3.ttl": ("text/turtle", b"<#it> <http://v.example/p> 3 ."),
        }
    ),
    "private.example": handler({"/": named("http://127.0.0.9:9")}),
    "inside.example": moving({"/": "http://127.0.0.9:9/secret.ttl"}),
}


def crawl(*arguments: str, folder: Path) -> Run:
    with serve(DemoWeb(), handlers=HOSTS) as server:
        return harvest(
            *arguments, "-s", "SEMCRAWL_CRAWL_DELAY=0", folder=folder, proxy=server.proxy_url
        )


def test_the_site_that_a_seed_leads_to_is_in_scope(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run = crawl("http://w3id.org/food", "--pages", "3", folder=folder)
    run = crawl(folder=folder)  # what the seed led to is known to later runs
    assert run.status == 0, run.err
    home = "http://www.home.example"
    assert set(run.documents()) == {f"{home}/a.ttl", f"{home}/b.ttl"}
    assert f"the seed http://w3id.org/food leads to {home}/food/" in run.err
    outcomes = run.outcomes()
    # others' redirects stay bound, and the site on the way is none of the crawl's
    assert outcomes[f"{home}/off"] == ["out-of-scope"]
    assert "http://far.example/page/" not in outcomes
    assert outcomes["http://short.example/f"] == ["redirected"]


def test_where_hosts_are_listed_a_seed_leads_nowhere_else(tmp_path: Path) -> None:
    run = crawl("http://w3id.org/food", "--scope", "w3id.org", folder=tmp_path / "out")
    assert run.status == 1
    assert run.outcomes()["http://w3id.org/food"] == ["out-of-scope"]
    assert "redirected out of the scope" in run.err


def test_a_redirect_of_a_seed_opens_no_private_address(tmp_path: Path) -> None:
    run = crawl("http://inside.example/", folder=tmp_path / "out")
    assert run.status == 1
    assert run.outcomes()["http://127.0.0.9:9/secret.ttl"] == ["address-refused"]
    assert "leads to http://127.0.0.9:9/secret.ttl, which fails: 127.0.0.9 is a private" in run.err


def test_the_place_where_a_seed_says_that_its_data_is_is_in_scope(tmp_path: Path) -> None:
    folder, data = tmp_path / "out", "http://data.example"
    crawl("http://pages.example/", "--pages", "4", folder=folder)
    run = crawl(folder=folder)  # later runs know it
    assert set(run.documents()) == {f"{data}/mine/rdf/all.ttl", f"{data}/mine/3.ttl"}
    assert not [url for url in run.outcomes() if "/yours/" in url]


def test_a_place_that_a_seed_names_opens_no_private_address(tmp_path: Path) -> None:
    run = crawl("http://private.example/", folder=tmp_path / "out")
    asked = {url: told for url, told in run.outcomes().items() if "127.0.0.9" in url}
    assert asked
    assert set(map(tuple, asked.values())) == {("address-refused",)}


def test_seeds_that_give_nothing_are_told_of(tmp_path: Path) -> None:
    run = crawl("http://w3id.org/gone", folder=tmp_path / "none")
    assert run.status == 1
    assert "http://w3id.org/gone leads to http://home.example/gone, which answers 404" in run.err
    assert "nothing could be fetched" in run.err
    run = crawl("http://home.example/x", "http://w3id.org/food", folder=tmp_path / "some")
    assert run.status == 0
    assert "semcrawl: the seed http://home.example/x answers 404" in run.err
