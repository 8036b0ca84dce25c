"""No link disappears: every URL of every page is a record, waits, or has a counted reason."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from pathlib import Path
from urllib.parse import urljoin

import pytest
from harvest.runs import Run, harvest

from semcrawl.frontier.links import digest
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.links import Reason, extract_links
from spiders.site import Resources, handler, page

pytestmark = pytest.mark.slow

D = "http://d.example"
TURTLE = "text/turtle"
HERRING = ("--about", "keywords:herring", "--targets", "html")
#: settings of a crawl, and the reason that they must bring
SETTINGS: dict[str, tuple[tuple[str, ...], str]] = {
    "as usual": ((), "out-of-scope"),
    "dynamic depth": (("-s", "SEMCRAWL_DYNAMIC_DEPTH=2"), "dynamic-depth"),
    "hard focus": ((*HERRING, "-s", "SEMCRAWL_FOCUS=hard"), "hard-focus"),
    "links per page": (("-s", "SEMCRAWL_MAX_LINKS_PER_PAGE=3"), "links-per-page"),
    "properties": (("--links", "see-also"), "other-property"),
    "depth limit": (("-s", "DEPTH_LIMIT=2"), "too-deep"),
    "patterns": (("--exclude", "*/p3*"), "excluded"),
    "pruning": (("-s", "SEMCRAWL_KEEP_UNLIKELY=false", "--relevance", "rules"), "pruned"),
    "few requests": (("--pages", "9"), "waiting"),
    "only sitemaps": (("-s", "SEMCRAWL_SITEMAPS=only"), "sitemaps-only"),
}


def made(seed: int) -> dict[str, tuple[str, bytes]]:
    """A random site of pages, RDF, images, links off the site and links not to be followed."""
    chance = random.Random(seed)
    site: dict[str, tuple[str, bytes]] = {}
    names = [f"/p{n}" for n in range(20)] + [f"/d{n}.ttl" for n in range(8)]
    more = [
        "/x.png",
        "/y.unknown",
        "/z.pdf",
        "http://e.example/off.html",
        "/gone",
        "mailto:a@d.example",
    ]
    for number, name in enumerate(names):
        links = chance.sample(names, 4) + chance.sample(more, 3)
        links += [f"/p{number + 1}", f"/deep/{number}/"]
        if name.endswith(".ttl"):
            see = "<http://www.w3.org/2000/01/rdf-schema#seeAlso>"
            lines = [f"<{D}{name}#it> {see} <{urljoin(D, chance.choice(names))}> ."]
            lines += [f"<{D}{name}#it> <http://v.example/p> <{urljoin(D, to)}> ." for to in links]
            site[name] = TURTLE, "\n".join(lines).encode()
        else:
            refused = '<a rel="nofollow" href="/refused">no</a>'
            head = '<meta name="robots" content="nofollow">' if number % 7 == 5 else ""
            body = refused + ("herring " * 40 if number % 3 else "")
            site[name] = page(*links, head=head, body=body)
    site["/"] = page("/p0", "/p1", "/p2", "/d0.ttl", "/x.png", *(more[3:]))
    return site


def crawl(site: Resources, folder: Path, *arguments: str) -> Run:
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        return harvest(f"{D}/", "--fast", *arguments, folder=folder, proxy=server.proxy_url)


def lost(run: Run, site: Resources) -> list[str]:
    """The URLs of pages that are no record, do not wait, and have no reason."""
    records = run.records
    known = {r["url"] for r in records} | {r["final_url"] for r in records}
    missing = []
    with contextlib.closing(sqlite3.connect(run.folder / "frontier.db")) as frontier:
        for record in records:
            if record["outcome"] != "fetched-html":
                continue
            kind, body = site[record["url"].removeprefix(D) or "/"]
            for link in extract_links(body, record["url"], kind):
                if link.url in known:
                    continue
                name = (digest(link.url),)
                waits = "SELECT 1 FROM seen JOIN link USING (seq) WHERE digest = ?"
                left = "SELECT 1 FROM left_link WHERE digest = ?"
                if not any(frontier.execute(sql, name).fetchone() for sql in (waits, left)):
                    missing.append(link.url)
        counted = frontier.execute("SELECT count(*) FROM left_link").fetchone()[0]
    found = run.summary["not_harvested"].items()
    assert sum(facts["links"] for reason, facts in found if reason in set(Reason)) == counted
    return missing


@pytest.mark.parametrize("name", SETTINGS)
def test_every_link_is_a_record_waits_or_has_a_reason(tmp_path: Path, name: str) -> None:
    """Whatever leaves links out, the summary counts them with the reason."""
    site = made(list(SETTINGS).index(name))
    arguments, reason = SETTINGS[name]
    run = crawl(site, tmp_path / "out", *arguments)
    assert run.status == 0, run.err
    assert lost(run, site) == []
    assert reason in run.summary["not_harvested"]
