"""Whatever a site does wrong is recorded, and everything else is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.runs import Run, asked, harvest, logged, pages
from semcrawl.lab.demo import DemoWeb, serve
from tests.faults import FAULTY, GOOD_DOCUMENTS

pytestmark = pytest.mark.slow

HOST = "http://faults.example"
QUICK = ("--fast", "-s", "RETRY_TIMES=0", "-s", "DOWNLOAD_TIMEOUT=3")

#: outcomes of the faults that the start page links to
EXPECTED = {
    "cut-body": {"fetched-rdf", "network-error"},
    "cut-turtle": {"fetched-rdf"},
    "cut-rdfxml": {"fetched-rdf"},
    "html-as-turtle": {"fetched-html", "parse-error"},
    "turtle-as-html": {"fetched-rdf"},
    "turtle-as-image": {"filtered-type", "fetched-rdf"},
    "turtle-untyped": {"fetched-rdf"},
    "image-as-rdf": {"fetched-other", "parse-error"},
    "length-too-small": {"fetched-rdf", "network-error"},
    "length-nonsense": {"fetched-rdf", "network-error"},
    "binary-html": {"fetched-html", "fetched-other"},
    "wrong-encoding": {"fetched-html"},
    "unknown-encoding": {"fetched-html"},
    "redirect-loop": {"redirected"},
    "redirect-forever": {"redirected"},
    "redirect-nowhere": {"http-error"},
    "redirect-oddly": {"http-error", "out-of-scope", "redirected"},
    "reset": {"network-error"},
    "reset-in-body": {"network-error"},
    "gzip-nonsense": {"fetched-rdf", "network-error", "parse-error", "fetched-other"},
    "status-nonsense": {"http-error"},
    "empty": {"fetched-rdf", "fetched-other", "parse-error"},
}


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """A harvest that begins at the page with all faults."""
    place = tmp_path_factory.mktemp("faults")
    with serve(DemoWeb(), log=place / "requests.jsonl", handlers=FAULTY) as server:
        run = harvest(f"{HOST}/", *QUICK, folder=place / "out", proxy=server.proxy_url)
    return run, place / "requests.jsonl"


def test_a_site_full_of_faults_ends_well(faults: tuple[Run, Path]) -> None:
    run, _ = faults
    run.is_calm()
    assert run.status == 0


def test_sound_documents_beside_faults_are_kept(faults: tuple[Run, Path]) -> None:
    documents = faults[0].documents()
    good = [f"{HOST}/good/{n}.ttl" for n in range(GOOD_DOCUMENTS)]
    assert [documents[url] for url in good] == [2] * GOOD_DOCUMENTS


@pytest.mark.parametrize("name", EXPECTED)
def test_each_fault_has_its_outcome(name: str, faults: tuple[Run, Path]) -> None:
    outcomes = faults[0].outcomes()[f"{HOST}/{name}"]
    assert set(outcomes) <= EXPECTED[name]


def test_a_document_cut_in_half_keeps_its_good_half(faults: tuple[Run, Path]) -> None:
    documents = faults[0].documents()
    assert documents[f"{HOST}/cut-turtle"] == 50
    assert documents[f"{HOST}/cut-rdfxml"] >= 40
    errors = {r["url"]: r["errors"] for r in faults[0].records}
    assert errors[f"{HOST}/cut-turtle"]
    assert "\n" not in errors[f"{HOST}/cut-turtle"].strip()


def test_redirects_without_end_are_given_up(faults: tuple[Run, Path]) -> None:
    requests = asked(faults[1])
    assert requests["faults.example/redirect-loop"] == 1
    assert sum("redirect-forever" in url for url in requests) <= 25


def test_faults_leave_one_record_for_each_request(faults: tuple[Run, Path]) -> None:
    run, log = faults
    assert run.sent() == asked(log)


@pytest.mark.parametrize("name", ["huge", "huge-unannounced", "huge-html", "gzip-bomb"])
def test_a_body_too_large_is_stopped(name: str, tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    limit = 10_000_000
    with serve(DemoWeb(), log=log, handlers=FAULTY) as server:
        run = harvest(
            f"{HOST}/{name}",
            f"{HOST}/good/0.ttl",
            *QUICK,
            "-s",
            f"DOWNLOAD_MAXSIZE={limit}",
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    run.is_calm()
    assert run.status == 0
    assert run.outcomes()[f"{HOST}/{name}"] == ["too-large"]
    assert run.documents()[f"{HOST}/good/0.ttl"] == 2
    [line] = [line for line in logged(log) if line["path"] == f"/{name}"]
    assert line["bytes"] < 4 * limit


@pytest.mark.parametrize("name", ["hang", "hang-in-body", "slow-drip"])
def test_an_answer_that_does_not_come_is_given_up(name: str, tmp_path: Path) -> None:
    with serve(DemoWeb(), handlers=FAULTY) as server:
        run = harvest(
            f"{HOST}/{name}",
            f"{HOST}/good/0.ttl",
            *QUICK,
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    run.is_calm()
    assert run.status == 0
    assert run.outcomes()[f"{HOST}/{name}"] == ["timeout"]
    assert run.documents()[f"{HOST}/good/0.ttl"] == 2


@pytest.mark.parametrize("name", ["calendar", "labyrinth"])
def test_a_trap_ends_with_the_budget(name: str, tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), log=log, handlers=FAULTY) as server:
        run = harvest(
            f"{HOST}/{name}",
            *QUICK,
            "--pages",
            "40",
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    assert run.status == 0
    assert run.summary["requests"] == pages(log) == 40


def test_a_page_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    with serve(DemoWeb(), handlers=FAULTY) as server:
        run = harvest(f"{HOST}/many-links", *QUICK, folder=tmp_path / "out", proxy=server.proxy_url)
    assert run.status == 0
    assert run.outcomes()[f"{HOST}/many-links"] == ["fetched-html"]


def test_a_host_that_is_not_there_is_recorded(tmp_path: Path) -> None:
    with serve(DemoWeb(), handlers=FAULTY) as server:
        run = harvest(
            "http://nowhere.invalid/",
            f"{HOST}/good/0.ttl",
            *QUICK,
            folder=tmp_path / "out",
            proxy=server.proxy_url,
            no_proxy="nowhere.invalid",
        )
    run.is_calm()
    assert run.status == 0
    outcomes = run.outcomes()
    assert set(outcomes["http://nowhere.invalid/"]) == {"network-error"}
    assert run.documents()[f"{HOST}/good/0.ttl"] == 2


def test_a_crawl_that_could_fetch_nothing_says_so(tmp_path: Path) -> None:
    run = harvest("http://nowhere.invalid/", *QUICK, folder=tmp_path / "out")
    run.is_calm()
    assert run.status == 1
    seed, said = [line for line in run.err.splitlines() if line.startswith("semcrawl: ")]
    assert seed.startswith("semcrawl: the seed http://nowhere.invalid/")
    assert said.startswith("semcrawl: nothing could be fetched: DNS lookup failed")
    assert run.outcomes()["http://nowhere.invalid/"] == ["network-error"]
