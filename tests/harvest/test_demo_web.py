"""A harvest of the demonstration web brings home all its RDF, once, and records every request."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.runs import GUESSES, Run, asked, duplicates, harvest, pages, start_harvest
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.web.vocabulary import FoundBy

WEB = DemoWeb()
MANIFEST = WEB.manifest()
#: its endpoint is one of the ways to data, and so are places that nothing names
FOUND = ("--fast", "-s", "SEMCRAWL_ENDPOINTS=found", *GUESSES)
#: how many requests are answered before a running harvest is disturbed
SOME = 60


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """One undisturbed harvest, and the server's log of it."""
    place = tmp_path_factory.mktemp("whole")
    with serve(WEB, log=place / "requests.jsonl") as server:
        run = harvest(WEB.start, *FOUND, folder=place / "out", proxy=server.proxy_url)
    return run, place / "requests.jsonl"


def test_it_ends_well(whole: tuple[Run, Path]) -> None:
    run, _ = whole
    run.is_calm()
    assert run.status == 0


def test_every_document_is_had_once_and_whole(whole: tuple[Run, Path]) -> None:
    run, log = whole
    assert run.documents() == MANIFEST.documents
    lines = run.quads
    assert not duplicates(lines)
    requests = asked(log)
    # (a page that is RDF too is asked for twice)
    wanted = {url.partition("#")[0]: 1 + ("#" in url) for url in MANIFEST.documents}
    assert {url: requests[url.removeprefix("http://")] for url in wanted} == wanted


def test_the_quads_are_those_of_the_documents_and_pages(whole: tuple[Run, Path]) -> None:
    run, _ = whole
    assert len(run.quads) == MANIFEST.quads
    embedded = (run.folder / "embedded.nq").read_text(encoding="utf-8").splitlines()
    assert len(embedded) == sum(MANIFEST.embedded.values())


def test_the_records_are_the_requests_of_the_server(whole: tuple[Run, Path]) -> None:
    run, log = whole
    assert run.sent() == asked(log)


def test_robots_are_obeyed(whole: tuple[Run, Path]) -> None:
    run, log = whole
    requests = asked(log)
    assert not [url for url in MANIFEST.disallowed if requests[url.removeprefix("http://")]]
    denied = {url for url, outcomes in run.outcomes().items() if outcomes == ["robots-denied"]}
    assert "http://www.demo.example/private/" in denied


def test_what_failed_is_recorded_as_failed(whole: tuple[Run, Path]) -> None:
    run, _ = whole
    outcomes = run.outcomes()
    assert {url for url in MANIFEST.dead if set(outcomes[url]) == {"http-error"}} == set(
        MANIFEST.dead
    )


def test_the_summary_tells_what_the_records_tell(whole: tuple[Run, Path]) -> None:
    run, log = whole
    summary = run.summary
    assert summary["requests"] == pages(log)
    assert summary["robots_requests"] == asked(log).total() - pages(log)
    assert summary["rdf_documents"] == len(MANIFEST.documents)
    assert summary["quads"] == len(run.quads)
    assert sum(summary["outcomes"].values()) == len(run.records)


def test_the_summary_tells_what_led_to_the_documents(whole: tuple[Run, Path]) -> None:
    run, _ = whole
    ways = run.summary["found_by"]
    assert ways["seed"]["requests"] == 1
    for name in ("requests", "rdf_documents", "html_documents"):
        assert sum(way[name] for way in ways.values()) == run.summary[name]
    told = " ".join(run.out.partition("RDF found by: ")[2].partition("Other outcomes")[0].split())
    found = {name: way["rdf_documents"] for name, way in ways.items() if way["rdf_documents"]}
    assert sorted(told.split(", ")) == sorted(f"{name} {n}" for name, n in found.items())
    asides = {row["url"] for row in run.records if not row["found_by"]}
    assert all(url.endswith("/robots.txt") for url in asides)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "way"),
    [
        ("SEMCRAWL_SITEMAPS=never", FoundBy.SITEMAP),
        ("SEMCRAWL_EMBEDDED_LINKS=", FoundBy.EMBEDDED),
        ("SEMCRAWL_SIGNPOSTING=0", FoundBy.HEADER),
        ("SEMCRAWL_CATALOGUES=0", FoundBy.CATALOGUE),
        ("SEMCRAWL_NEGOTIATION=never", FoundBy.NEGOTIATION),
        ("SEMCRAWL_WELL_KNOWN=", FoundBy.WELL_KNOWN),
        ("SEMCRAWL_ENDPOINTS=seeds", FoundBy.ENDPOINT),
    ],
)
def test_without_a_way_exactly_what_only_it_leads_to_is_missing(
    tmp_path: Path, option: str, way: FoundBy
) -> None:
    with serve(WEB) as server:
        arguments = (WEB.start, *FOUND, "-s", option)
        run = harvest(*arguments, folder=tmp_path / "out", proxy=server.proxy_url)
    lost = MANIFEST.documents.keys() - run.documents().keys()
    # (a header of the society's own site names a document as well)
    assert lost - {"http://www.demo.example/about/society"} == (
        MANIFEST.announced[way] & MANIFEST.documents.keys()
    )


def test_the_records_tell_the_way_to_each_document(whole: tuple[Run, Path]) -> None:
    """What an RDF document names that was found so counts as found by RDF, or by a catalogue."""
    run, _ = whole
    ways = {record["url"]: record["found_by"] for record in run.records}
    for way, documents in MANIFEST.announced.items():
        assert str(way) in {ways[url] for url in documents}
        if way is not FoundBy.SITEMAP:  # (whose page has links)
            assert not {"link", "seed"} & {ways[url] for url in documents}


@pytest.mark.slow
def test_running_it_again_asks_for_nothing_more(whole: tuple[Run, Path], tmp_path: Path) -> None:
    first, _ = whole
    quads = first.quads
    log = tmp_path / "requests.jsonl"
    with serve(WEB, log=log) as server:
        again = harvest(WEB.start, *FOUND, folder=first.folder, proxy=server.proxy_url)
    assert again.status == 0
    assert not {url for url in asked(log) if not url.endswith("/robots.txt")}
    assert again.quads == quads


def disturbed(place: Path, disturb: str) -> tuple[Run, Run, Path]:
    """Harvest, disturb it after some requests, and harvest again to the end."""
    log = place / "requests.jsonl"
    with serve(WEB, log=log) as server:
        run = start_harvest(WEB.start, *FOUND, folder=place / "out", proxy=server.proxy_url)
        assert server.wait_until_answered(SOME, timeout=60)
        if disturb == "kill":
            run.kill()
        else:
            run.interrupt()
            if disturb == "twice":
                run.interrupt()
        stopped = run.wait()
        again = harvest(WEB.start, *FOUND, folder=place / "out", proxy=server.proxy_url)
    return stopped, again, log


def same_as(whole: Run, again: Run) -> None:
    """Assert that the disturbed harvest ended with the documents of the undisturbed one."""
    assert again.status == 0
    assert again.documents() == whole.documents()
    assert sorted(set(again.quads)) == sorted(whole.quads)
    assert not duplicates(again.quads)


@pytest.mark.slow
def test_ctrl_c_once_finishes_what_is_in_flight(whole: tuple[Run, Path], tmp_path: Path) -> None:
    stopped, again, log = disturbed(tmp_path, "once")
    stopped.is_calm()
    assert stopped.summary["requests"] >= SOME
    same_as(whole[0], again)
    assert again.sent() == asked(log)


@pytest.mark.slow
def test_ctrl_c_twice_loses_nothing(whole: tuple[Run, Path], tmp_path: Path) -> None:
    stopped, again, _ = disturbed(tmp_path, "twice")
    stopped.is_calm()
    same_as(whole[0], again)


@pytest.mark.slow
def test_kill_9_in_the_middle_loses_nothing(whole: tuple[Run, Path], tmp_path: Path) -> None:
    _, again, log = disturbed(tmp_path, "kill")
    same_as(whole[0], again)
    # at most what was in flight is asked for again
    assert asked(log).total() <= asked(whole[1]).total() + 40


@pytest.mark.slow
def test_the_budget_is_kept_and_continued(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with serve(WEB, log=log) as server:
        first = harvest(
            WEB.start, *FOUND, "--pages", "50", folder=tmp_path / "out", proxy=server.proxy_url
        )
        assert first.status == 0
        assert first.summary["requests"] == pages(log) == 50
        rest = harvest(
            WEB.start, *FOUND, "--pages", "5000", folder=tmp_path / "out", proxy=server.proxy_url
        )
    assert rest.documents() == MANIFEST.documents
