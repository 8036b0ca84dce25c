"""A job folder, or a file of results, that somebody deletes or moves during a crawl."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.waiting import until

from .runs import Run, harvest, start_harvest
from .test_revisit import site as site
from .test_revisit import write

pytestmark = pytest.mark.slow

TEXTS = {f"d{number}": f"text {number}" for number in range(12)}
#: one request after the other, so that there is time to meddle
PACED = ("-s", "SEMCRAWL_CRAWL_DELAY=0.3", "-s", "SEMCRAWL_ADDRESS_DELAY=0")


def meddled(start: str, out: Path, meddle: Callable[[], object], *options: str) -> Run:
    """Harvest, and meddle with the folder when some documents are there."""
    started = start_harvest(start, *PACED, *options, folder=out)
    quads = out / "quads.nq"
    until(lambda: quads.exists() and quads.read_bytes().count(b"\n") >= 3)
    meddle()
    return started.wait()


def says_so(run: Run, what: Path) -> None:
    """Assert that the run tells of it, once, and of nothing else."""
    run.is_calm()
    assert run.status == 1, run.err
    said = [line for line in run.err.splitlines() if line.startswith("semcrawl: ")]
    assert said == [
        f"semcrawl: {what} was deleted, moved or replaced while the crawl wrote to it: "
        "what it held may be lost, and the crawl ends"
    ]


def test_a_deleted_folder_ends_the_crawl_and_the_next_run_has_all(
    site: tuple[Path, str], tmp_path: Path
) -> None:
    folder, start = site
    write(folder, TEXTS)
    out = tmp_path / "out"
    run = meddled(start, out, lambda: shutil.rmtree(out))
    says_so(run, out)
    assert "fetched" not in run.out
    again = harvest(start, "--fast", folder=out)
    assert again.status == 0, again.err
    assert len(again.quads) == len(set(again.quads)) == len(TEXTS)


def test_a_folder_that_is_moved_goes_on_where_it_is(site: tuple[Path, str], tmp_path: Path) -> None:
    folder, start = site
    write(folder, TEXTS)
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    says_so(meddled(start, out, lambda: out.rename(elsewhere)), out)
    again = harvest("--fast", folder=elsewhere)
    assert again.status == 0, again.err
    assert len(again.quads) == len(set(again.quads)) == len(TEXTS)


def test_a_folder_in_its_place_gets_nothing(site: tuple[Path, str], tmp_path: Path) -> None:
    folder, start = site
    write(folder, TEXTS)
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"

    def replace() -> None:
        out.rename(elsewhere)
        out.mkdir()

    run = meddled(start, out, replace)
    assert run.status == 1
    assert f"{out / 'crawl.db'} was deleted, moved or replaced" in run.err
    assert not (out / "quads.nq").exists()


@pytest.mark.parametrize("name", ["quads.nq", "crawl.db", ".quads.nq.lock"])
def test_a_file_that_is_deleted_ends_the_crawl(
    name: str, site: tuple[Path, str], tmp_path: Path
) -> None:
    folder, start = site
    write(folder, TEXTS)
    out = tmp_path / "out"
    says_so(meddled(start, out, (out / name).unlink), out / name)


@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        ("files/index.jsonl", ("--targets", "text/turtle")),
        ("semcrawl-*.warc.gz.open", ("--record",)),
    ],
)
def test_a_kept_file_that_is_deleted_ends_the_crawl(
    pattern: str, options: tuple[str, ...], site: tuple[Path, str], tmp_path: Path
) -> None:
    folder, start = site
    write(folder, TEXTS)
    out = tmp_path / "out"
    removed: list[Path] = []

    def remove() -> None:
        removed.extend(out.glob(pattern))
        for path in removed:
            path.unlink()

    run = meddled(start, out, remove, *options)
    run.is_calm()
    assert run.status == 1
    assert any(f"{path} was deleted" in run.err for path in removed), run.err
