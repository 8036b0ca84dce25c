"""Outputs of a harvest beside its job folder's usual files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from .runs import harvest, semcrawl
from .test_revisit import site as site
from .test_revisit import write

TEXTS = {"a": "first a", "b": "first b"}


@pytest.mark.slow
def test_feeds_and_tables_are_written_on_request(site: tuple[Path, str], tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    folder, start = site
    write(folder, TEXTS)
    feed = tmp_path / "data.nq.gz"
    run = harvest(
        start, "--fast", "-o", str(feed), "--metadata", "parquet", folder=tmp_path / "out"
    )
    assert run.status == 0, run.err
    lines = gzip.decompress(feed.read_bytes()).decode().splitlines(keepends=True)
    assert sorted(lines) == sorted(run.quads)
    assert len(lines) == len(TEXTS)
    table = pq.read_table(run.folder / "fetch.parquet")
    assert table.column("url").to_pylist() == [record["url"] for record in run.records]
    assert pq.read_table(run.folder / "document.parquet").num_rows == len(TEXTS)


@pytest.mark.slow
def test_documents_on_standard_output_are_alone_there(
    site: tuple[Path, str], tmp_path: Path
) -> None:
    folder, start = site
    write(folder, TEXTS)
    run = harvest(start, "--fast", "-o", "-:nq", folder=tmp_path / "out")
    assert run.status == 0, run.err
    assert sorted(run.out.splitlines(keepends=True)) == sorted(run.quads)
    assert "Records: " in run.err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["what?", "http%3A%2F%2Fexample.org"])
def test_a_job_folder_may_have_any_name(site: tuple[Path, str], tmp_path: Path, name: str) -> None:
    folder, start = site
    write(folder, TEXTS)
    run = harvest(start, "--fast", folder=tmp_path / name)
    assert run.status == 0, run.err
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(name[0])) == [
        name
    ]
    assert (run.folder / "crawl.db").is_file()
    assert len(run.quads) == len(TEXTS)


@pytest.mark.slow
@pytest.mark.parametrize(("place", "why"), [("file/data.nq", "Not a directory"), (".:nq", "Is a")])
def test_a_feed_that_cannot_be_is_refused_at_once(tmp_path: Path, place: str, why: str) -> None:
    (tmp_path / "file").touch()
    run = harvest("http://x.example/", "-o", f"{tmp_path}/{place}", folder=tmp_path / "out")
    run.says_in_one_line(why)
    assert not run.folder.exists()


@pytest.mark.slow
def test_a_harvest_whose_feed_is_lost_has_failed(site: tuple[Path, str], tmp_path: Path) -> None:
    folder, start = site
    write(folder, TEXTS)
    run = harvest(start, "--fast", "-o", "/dev/full:nq", folder=tmp_path / "out")
    assert run.status == 1
    assert len(run.quads) == len(TEXTS)
    complaints = [line for line in run.err.splitlines() if line.startswith("semcrawl: ")]
    assert complaints == ["semcrawl: The feed /dev/full is given up: No space left on device"]
    assert Path("/dev/full").is_char_device()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["data.docx", "data.docx.gz", "data.gz"])
def test_an_unknown_format_is_named(tmp_path: Path, name: str) -> None:
    run = harvest("http://x.example/", "-o", name, folder=tmp_path / "out")
    run.says_in_one_line("format", name.removeprefix("data."))
    assert not run.folder.exists()


@pytest.mark.slow
def test_records_may_be_elsewhere_and_others_there_are_told_of(
    site: tuple[Path, str], tmp_path: Path
) -> None:
    folder, start = site
    write(folder, TEXTS)
    database = f"sqlite:///{tmp_path}/records.db"
    runs = [
        harvest(start, "--fast", "-s", f"SEMCRAWL_METADATA_URL={database}", folder=tmp_path / name)
        for name in ("first", "first", "second")
    ]
    assert [run.status for run in runs] == [0, 0, 0]
    assert all(f"Records: {database}\n" in run.out for run in runs)
    assert [line.count("records of other crawls") for line in (run.err for run in runs)] == [
        0,
        0,
        1,
    ]


@pytest.mark.slow
def test_the_job_folder_may_be_a_setting(site: tuple[Path, str], tmp_path: Path) -> None:
    folder, start = site
    write(folder, TEXTS)
    run = semcrawl(
        "harvest", start, "--fast", "-s", f"SEMCRAWL_JOBDIR={tmp_path}/job", folder=tmp_path / "job"
    )
    assert run.status == 0, run.err
    assert len(run.quads) == len(TEXTS)
