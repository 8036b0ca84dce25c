"""Subjects of a dump: the crawl has them all, or gives up soon where they cannot be fetched."""

from __future__ import annotations

from pathlib import Path

import pytest
from harvest.runs import Run, asked, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Handler, Request, Stream
from spiders.site import HTML, Resources, gzipped, handler, page

pytestmark = pytest.mark.slow

D = "http://d.example"
NT = "application/n-triples"


def dump(*paths: str) -> bytes:
    """Statements about each of these, and about some of their parts."""
    lines = [
        f'<{D}{path}{part}> <http://v.example/label> "{path}" .\n'
        for path in paths
        for part in ("", "#this", "#that")
    ]
    return gzipped("".join(lines).encode())


def data(path: str) -> tuple[str, bytes]:
    return NT, f'<{D}{path}> <http://v.example/name> "{path}" .\n'.encode()


CATCHES = [f"/catch/{n}" for n in range(300)]
SPECIES = [f"/species/{n}" for n in range(40)]


def crawl(
    folder: Path, resources: Resources, *options: str, answer: Handler | None = None
) -> tuple[Run, int]:
    """Harvest a site; return the run and how many requests reached its server for links."""
    log = folder / "requests.jsonl"
    handlers = {"d.example": answer or handler(resources)}
    with serve(DemoWeb(), handlers=handlers, log=log) as server:
        run = harvest(
            f"{D}/", "--fast", "-s", "CONCURRENT_REQUESTS=4", *options,
            folder=folder / "out", proxy=server.proxy_url,
        )  # fmt: skip
    run.is_calm()
    assert run.status == 0
    requests = sum(n for url, n in asked(log).items() if not url.endswith("/robots.txt"))
    assert requests == run.summary["requests"]
    return run, requests


def site(subjects: list[str], *had: str) -> Resources:
    return {
        "/": page("/dump.nt.gz"),
        "/dump.nt.gz": ("application/gzip", dump(*subjects)),
        **{path: data(path) for path in had},
    }


@pytest.mark.parametrize("strategy", ["breadth-first", "rules", "rules-parents", "learned"])
def test_subjects_that_do_not_exist_are_given_up_and_those_that_do_are_had(
    strategy: str, tmp_path: Path
) -> None:
    """One of two patterns can be fetched; parts of a thing (``#this``) need no request."""
    resources = site([*CATCHES, *SPECIES], *SPECIES)
    run, requests = crawl(tmp_path, resources, "--relevance", strategy)
    assert run.summary["rdf_documents"] == 1 + len(SPECIES)
    assert requests <= 2 + len(SPECIES) + 10 + 9 + 8
    withheld = run.summary["not_harvested"]["withheld"]
    (family,) = withheld["families"]
    assert (family["document"], family["pattern"]) == (f"{D}/dump.nt.gz", f"{D}/catch/0")
    assert family["links"] == withheld["links"]
    assert family["links"] + family["asked"] == len(CATCHES)
    assert (
        f"{family['links']} of {D}/dump.nt.gz like {D}/catch/0, as none of {family['asked']}"
        in (" ".join(run.out.split()))
    )


@pytest.mark.parametrize("strategy", ["breadth-first", "rules-parents", "learned"])
def test_a_family_of_which_only_later_ones_exist_is_had(strategy: str, tmp_path: Path) -> None:
    late = CATCHES[100:]
    run, _ = crawl(tmp_path, site(CATCHES, *late), "--relevance", strategy)
    assert run.summary["rdf_documents"] == 1 + len(late)
    assert "withheld" not in run.summary["not_harvested"]


def test_all_are_asked_for_where_that_is_asked_for(tmp_path: Path) -> None:
    """At once, or in a later run."""
    resources = site(CATCHES)
    first, _ = crawl(tmp_path, resources)
    left = first.summary["not_harvested"]["withheld"]["links"]
    assert left > 250
    again, _ = crawl(tmp_path, resources, "-s", "SEMCRAWL_FAMILY_TRIES=0")
    assert "withheld" not in again.summary["not_harvested"]
    assert again.summary["not_harvested"]["not-found"]["links"] == len(CATCHES)
    assert f"This run: {left} of these requests" in again.out


def test_a_second_run_knows_what_the_first_one_learned(tmp_path: Path) -> None:
    first, _ = crawl(tmp_path, site(CATCHES), "--pages", "14")
    assert first.summary["not_harvested"]["waiting"]["links"] > 250
    second, _ = crawl(tmp_path, site(CATCHES))
    assert second.summary["requests"] < 40
    found = second.summary["not_harvested"]
    assert found["withheld"]["links"] + found["not-found"]["links"] == len(CATCHES)


async def elsewhere(request: Request, out: Stream) -> None:
    """Send all subjects to one page, or answer the same page for all."""
    if request.path.startswith("/catch/"):
        await out.whole(303, [("Location", f"{D}/about")], b"")
    elif request.path.startswith("/species/"):
        await out.whole(200, [("Content-Type", HTML)], b"<p>Nothing here")
    else:
        await handler(site([*CATCHES, *SPECIES], "/about"))(request, out)


def test_a_page_that_stands_for_all_of_them_is_none(tmp_path: Path) -> None:
    run, requests = crawl(tmp_path, {}, answer=elsewhere)
    assert run.summary["rdf_documents"] == 2
    assert requests < 80
    found = run.summary["not_harvested"]["withheld"]["families"]
    assert {family["pattern"] for family in found} == {f"{D}/catch/0", f"{D}/species/0"}


def test_only_links_of_chosen_properties_are_followed(tmp_path: Path) -> None:
    run, requests = crawl(tmp_path, site(CATCHES, *CATCHES), "--links", "see-also")
    assert (run.summary["rdf_documents"], requests) == (1, 2)
