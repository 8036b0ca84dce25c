"""Folders that are linked without their slash."""

from __future__ import annotations

from pathlib import Path

import pytest
from harvest.runs import Run, asked, harvest

from semcrawl.crawl.redirects import FolderSlashes
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from spiders.site import HTML, page

D = "http://d.example"
NT = "application/n-triples"


def heard(*answers: tuple[str, bool]) -> FolderSlashes:
    """Answers from a server: path, and whether it led to a folder."""
    slashes = FolderSlashes()
    for path, added in answers:
        slashes.note(D + path, added=added)
    return slashes


def test_a_slash_is_foreseen_where_it_was_added_before() -> None:
    slashes = heard(("/term/a", True), ("/term/b-2", True))
    assert slashes.foreseen(f"{D}/term/c") == f"{D}/term/c/"
    assert slashes.foreseen("http://e.example/term/c") == ""


def test_one_answer_is_not_enough() -> None:
    assert heard(("/term/a", True)).foreseen(f"{D}/term/c") == ""


def test_folders_that_differ_in_digits_are_one_place() -> None:
    slashes = heard(("/2001/1/a", True), ("/2002/17/b", True))
    assert slashes.foreseen(f"{D}/1999/3/c") == f"{D}/1999/3/c/"


@pytest.mark.parametrize("name", ["c/", "c.html", "c.rdf", "c?page=2", "c?a=/b", ""])
def test_what_is_no_bare_name_is_left_alone(name: str) -> None:
    slashes = heard(*[("/term/a", True)] * 9)
    assert slashes.foreseen(f"{D}/term/{name}") == ""


def test_a_version_is_a_name() -> None:
    slashes = heard(*[("/v/a", True)] * 2)
    assert slashes.foreseen(f"{D}/v/1.0") == f"{D}/v/1.0/"


def test_a_place_without_answers_goes_by_its_host_later() -> None:
    few = heard(*[("/term/a", True)] * 3)
    assert few.foreseen(f"{D}/other/c") == ""
    more = heard(*[("/term/a", True)] * 4)
    assert more.foreseen(f"{D}/other/c") == f"{D}/other/c/"


def test_answers_against_it_outweigh_several_for_it() -> None:
    answers = [("/term/a", True)] * 2 + [("/term/page", False)]
    assert heard(*answers).foreseen(f"{D}/term/c") == ""
    assert heard(*answers, *[("/term/a", True)] * 4).foreseen(f"{D}/term/c") == f"{D}/term/c/"


def test_documents_beside_the_folders_do_not_speak_against_it() -> None:
    slashes = heard(*[("/term/a", True)] * 2, *[("/term/a.ttl", False)] * 5)
    assert slashes.foreseen(f"{D}/term/c") == f"{D}/term/c/"


def test_links_that_are_dead_by_both_addresses_are_told_from_documents() -> None:
    slashes = heard(*[("/term/a", True)] * 2)
    for n in range(3):
        assert not slashes.is_dead(f"{D}/term/c")
        slashes.note_dead(f"{D}/term/gone{n}")
    assert slashes.is_dead(f"{D}/term/c")
    assert not slashes.is_dead(f"{D}/other/c")
    slashes.note(f"{D}/term/page", added=False)
    assert not slashes.is_dead(f"{D}/term/c")


FOLDERS = [f"/term/t{n}" for n in range(20)]
#: linked in the same way, and no folders
OTHERS = ["/term/page", "/term/data", "/term/round"]


async def terms(request: Request, out: Stream) -> None:
    """Answer for folders as servers of files do, and for some names that are no folders."""
    path = request.path
    if path == "/":
        content_type, body = page(*FOLDERS[:16], *OTHERS, *FOLDERS[16:], "/term/gone")
        await out.whole(200, [("Content-Type", content_type)], body)
    elif path in FOLDERS:
        await out.whole(301, [("Location", f"{D}{path}/")], b"")
    elif path == "/term/round/":
        await out.whole(301, [("Location", "/term/round")], b"")
    elif path.endswith("/") and path[:-1] in FOLDERS:
        await out.whole(200, [("Content-Type", HTML)], page("it.nt")[1])
    elif path in ("/term/page", "/term/round"):
        await out.whole(200, [("Content-Type", HTML)], page(f"{path}.nt")[1])
    elif path == "/term/data" or path.endswith(".nt"):
        body = f'<http://v.example/> <http://v.example/label> "{path}" .\n'.encode()
        await out.whole(200, [("Content-Type", NT)], body)
    else:
        await out.whole(404, [("Content-Type", "text/plain")], b"nothing here\n")


DOCUMENTS = {f"{D}{path}/it.nt" for path in FOLDERS} | {
    f"{D}/term/{name}" for name in ("data", "page.nt", "round.nt")
}


def crawl(folder: Path, *settings: str) -> tuple[Run, int]:
    """Crawl the terms one request at a time; and how many folders were asked for by name."""
    log = folder / "requests.jsonl"
    options = ("--fast", "--relevance", "breadth-first", "-s", "CONCURRENT_REQUESTS=1", *settings)
    with serve(DemoWeb(), handlers={"d.example": terms}, log=log) as server:
        run = harvest(f"{D}/", *options, folder=folder / "out", proxy=server.proxy_url)
    return run, sum(asked(log)[f"d.example{path}"] for path in FOLDERS)


@pytest.mark.slow
def test_folders_are_asked_for_at_once_and_nothing_else_is_lost(tmp_path: Path) -> None:
    run, by_name = crawl(tmp_path)
    assert set(run.documents()) == DOCUMENTS
    assert by_name == 2
    outcomes = run.outcomes()
    assert outcomes[f"{D}/term/t0"] == ["redirected"]
    assert f"{D}/term/t5" not in outcomes  # nothing was sent for it
    assert all(outcomes[f"{D}{path}/"] == ["fetched-html"] for path in FOLDERS)
    assert outcomes[f"{D}/term/page/"] == ["http-error"]
    assert outcomes[f"{D}/term/page"] == outcomes[f"{D}/term/round"] == ["fetched-html"]
    assert outcomes[f"{D}/term/gone"] == ["http-error"]
    assert len(run.records) == sum(run.summary["outcomes"].values())


@pytest.mark.slow
def test_every_folder_is_asked_for_by_name_where_that_is_wanted(tmp_path: Path) -> None:
    run, by_name = crawl(tmp_path, "-s", "SEMCRAWL_FORESEE_SLASHES=0")
    assert set(run.documents()) == DOCUMENTS
    assert by_name == len(FOLDERS)


async def dead_terms(request: Request, out: Stream) -> None:
    """Answer for folders, and for links beside them that lead nowhere."""
    path = request.path
    if path == "/":
        content_type, body = page(*FOLDERS[:4], *(f"/term/gone{n}x" for n in range(20)))
        await out.whole(200, [("Content-Type", content_type)], body)
    else:
        await terms(request, out)


@pytest.mark.slow
def test_dead_links_beside_folders_cost_one_request_each_after_a_few(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    options = ("--fast", "--relevance", "breadth-first", "-s", "CONCURRENT_REQUESTS=1")
    with serve(DemoWeb(), handlers={"d.example": dead_terms}, log=log) as server:
        run = harvest(f"{D}/", *options, folder=tmp_path / "out", proxy=server.proxy_url)
    counts = asked(log)
    dead = sum(count for url, count in counts.items() if "gone" in url)
    assert run.status == 0
    assert dead <= 20 + 6
