"""An archive under several names is read once, and no document is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from harvest.runs import Run, asked, harvest

from semcrawl.demo import DemoWeb, serve
from spiders.site import Resources, handler, page

pytestmark = pytest.mark.slow

NAMES = ("a.example", "b.example", "c.example")
PAGES = [f"/page/{n}" for n in range(60)]
TURTLE = "text/turtle"


def data(path: str) -> tuple[str, bytes]:
    return TURTLE, f'<#it> <http://v.example/name> "{path}" .\n'.encode()


def archive(*others: str) -> Resources:
    """Pages in a chain, each of which names the next by every host name, and its data."""
    resources: Resources = {}
    for n, path in enumerate(PAGES):
        following = PAGES[n + 1 : n + 4]
        links = [f"http://{name}{to}" for name in NAMES for to in following]
        resources[path] = page(*links, f"/data/{n}.ttl")
        resources[f"/data/{n}.ttl"] = data(f"{n}")
    resources["/"] = page(*[f"http://{name}{PAGES[0]}" for name in NAMES], *others)
    return resources


def crawl(
    folder: Path, sites: dict[str, Resources], *options: str
) -> tuple[Run, Counter[str], set[str]]:
    """Harvest; return the run, the requests of links, and the names of the data had."""
    log = folder / "requests.jsonl"
    log.unlink(missing_ok=True)
    handlers = {name: handler(resources) for name, resources in sites.items()}
    with serve(DemoWeb(), handlers=handlers, log=log) as server:
        run = harvest(
            "http://a.example/", "--fast", "--scope", ",".join(sites),
            "-s", "SEMCRAWL_MIRROR_COPIES=5", "-s", "CONCURRENT_REQUESTS=2", *options,
            folder=folder / "out", proxy=server.proxy_url,
        )  # fmt: skip
    run.is_calm()
    assert run.status == 0
    requests = Counter({url: n for url, n in asked(log).items() if not url.endswith("/robots.txt")})
    paths = {"/" + url.partition("/")[2] for url in requests}
    return run, requests, paths - {"/page/"}  # the folder of the pages, which no site has


def test_an_archive_under_three_names_is_read_once(tmp_path: Path) -> None:
    sites = {name: archive() for name in NAMES}
    (tmp_path / "off").mkdir()
    _, before, all_paths = crawl(tmp_path / "off", sites, "-s", "SEMCRAWL_MIRROR_COPIES=0")
    run, after, paths = crawl(tmp_path, sites)
    distinct = 1 + 2 * len(PAGES)
    assert paths == all_paths
    assert len(paths) == distinct
    assert before.total() - distinct > 200
    assert after.total() - distinct < 0.35 * (before.total() - distinct)
    copies = run.summary["not_harvested"]["copies"]
    assert copies["links"] > 50
    assert "copies: http://a.example and http://b.example give the same" in " ".join(
        run.out.split()
    )


def test_what_one_name_lacks_is_had_under_another(tmp_path: Path) -> None:
    """Also where the page that names it is not read under that name."""
    whole = archive()
    odd = {path for n, path in enumerate(whole) if path.startswith("/data/") and n % 3 == 0}
    sites = {
        "a.example": {path: r for path, r in whole.items() if path not in odd},
        "b.example": whole,
        "c.example": {path: r for path, r in whole.items() if path not in odd},
    }
    run, _, paths = crawl(tmp_path, sites)
    assert paths == set(whole)
    assert run.summary["outcomes"]["fetched-rdf"] >= len(PAGES)


def test_hosts_that_look_alike_for_a_while_are_told_apart(tmp_path: Path) -> None:
    """The first pages are the same, the data of all and the later pages are not."""
    one = archive()
    two = {**one}
    for n, path in enumerate(PAGES):
        if n >= 8:
            two[path] = page(f"/data/{n}.ttl", f"/other/{n}.ttl")
            two[f"/other/{n}.ttl"] = data(f"other {n}")
            two[f"/data/{n}.ttl"] = data(f"the other's {n}")
    sites = {"a.example": one, "b.example": two, "c.example": {}}
    run, requests, _ = crawl(tmp_path, sites)
    had = set(requests)
    assert {f"b.example/other/{n}.ttl" for n in range(8, 60)} <= had
    assert {f"a.example/data/{n}.ttl" for n in range(8, 60)} <= had
    assert {f"b.example/data/{n}.ttl" for n in range(8, 60)} <= had
    assert "copies" not in run.summary["not_harvested"]


def test_an_error_page_served_everywhere_makes_no_mirrors(tmp_path: Path) -> None:
    sorry = page()
    sites = {
        name: dict.fromkeys(PAGES, sorry)
        | {"/": page(*[f"http://{n}{p}" for n in NAMES for p in PAGES], f"/{name}")}
        for name in NAMES
    }
    _, requests, _ = crawl(tmp_path, sites)
    assert {f"{name}{path}" for name in NAMES for path in PAGES} <= set(requests)


def test_a_crawl_that_goes_on_knows_its_mirrors(tmp_path: Path) -> None:
    sites = {name: archive() for name in NAMES}
    _, first, had = crawl(tmp_path, sites, "--pages", "80")
    run, then, paths = crawl(tmp_path, sites)
    assert had | paths == set(sites["a.example"])
    distinct = 1 + 2 * len(PAGES)
    assert first.total() + then.total() - distinct < 140
    assert run.summary["not_harvested"]["copies"]["links"] > 50
