"""Lines damaged on the disk: every reader leaves the document out, says so, and ends with 1."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from semcrawl import results
from semcrawl.pipelines.quadsfile import (
    EMBEDDED_FILE,
    EMBEDDED_LEDGER,
    QUADS_FILE,
    QuadsFile,
    is_sound,
)

from .jobs import ANN, BOB, PAGE, add, changed, people

COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"


def place(folder: Path, url: str, ledger: str = "crawl.db") -> tuple[int, int]:
    with closing(sqlite3.connect(folder / ledger)) as database:
        query = "SELECT offset, length FROM document WHERE url = ?"
        offset, length = database.execute(query, (url,)).fetchone()
    return offset, length


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def zero(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at : at + 20] = bytes(20)
    path.write_bytes(data)


def swap(path: Path, at: int) -> None:
    """Put other characters there, which are sound N-Quads."""
    data = path.read_bytes()
    path.write_bytes(data[:at] + data[at:].replace(b"Person", b"Bottle", 1))


DAMAGES = [flip, zero, swap]


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "command",
    [
        ("profile",),
        ("profile", "--json"),
        ("query", "DIR", COUNT),
        ("query", "--csv", "DIR", COUNT),
        ("parquet", "DIR", "--out", "DIR.set"),
        ("merge", "DIR", "--out", "DIR.merged"),
        ("load", "--store", "embedded", "DIR"),
    ],
    ids=" ".join,
)
def test_every_command_leaves_out_what_is_damaged_and_says_so(
    command: tuple[str, ...], damage: Callable[[Path, int], None], semcrawl, job
) -> None:
    """The other documents are there, the damaged one is named, and the status is 1."""
    if "parquet" in command:
        pytest.importorskip("pyarrow")
    damage(job / QUADS_FILE, place(job, ANN)[0] + 30)
    words = [word.replace("DIR", str(job)) for word in command]
    done = semcrawl(*(words if len(words) > 2 else [*words, str(job)]))
    assert done.code == 1
    assert f"left out: {ANN}" in done.err
    assert "1 document left out" in done.err
    assert "Traceback" not in done.err
    if "query" in command:
        assert "4" in done.out  # two statements about Bob, two in the page
    if "parquet" in command:
        assert done.out.startswith("4 quads of 2 documents")


@pytest.mark.slow
def test_a_query_tells_of_them_again_though_its_store_is_kept(semcrawl, job):
    flip(job / QUADS_FILE, place(job, ANN)[0] + 30)
    for _ in range(2):
        done = semcrawl("query", str(job), COUNT)
        assert (done.code, "left out" in done.err) == (1, True)


def test_a_search_tells_of_documents_that_could_not_be_indexed(semcrawl, tmp_path):
    add(tmp_path, *people(), terms=0)
    flip(tmp_path / QUADS_FILE, place(tmp_path, ANN)[0] + 30)
    done = semcrawl("find", "foaf:Person", str(tmp_path))
    assert (done.code, f"left out: {ANN}" in done.err, BOB in done.out) == (1, True, True)


def test_data_of_pages_are_checked_too(semcrawl, job):
    flip(job / EMBEDDED_FILE, place(job, PAGE, EMBEDDED_LEDGER)[0] + 30)
    done = semcrawl("profile", str(job))
    assert (done.code, f"left out: {PAGE}" in done.err) == (1, True)


def test_python_gets_a_warning_and_the_addresses(job):
    flip(job / QUADS_FILE, place(job, ANN)[0] + 30)
    with results.open(job) as opened:
        with pytest.warns(UserWarning, match="1 documents of .* are left out"):
            quads = list(opened.quads())
        assert opened.damaged == [ANN]
    assert len(quads) == 4


def test_a_merge_takes_a_sound_version_from_another_folder(semcrawl, job, tmp_path):
    other, out = tmp_path / "other", tmp_path / "out"
    other.mkdir()
    add(other, people()[0])
    flip(job / QUADS_FILE, place(job, ANN)[0] + 30)
    assert semcrawl("merge", str(job), str(other), "--out", str(out)).code == 0
    assert semcrawl("profile", str(out)).code == 0


@pytest.mark.slow
def test_what_no_folder_has_is_lost_in_the_merged_one(semcrawl, job, tmp_path):
    flip(job / QUADS_FILE, place(job, ANN)[0] + 30)
    assert semcrawl("merge", str(job), "--out", str(tmp_path / "out")).code == 1
    assert place(tmp_path / "out", ANN) == (0, 0)
    assert semcrawl("profile", str(tmp_path / "out")).code == 1


@pytest.mark.slow
def test_a_store_keeps_the_former_graph_of_a_damaged_document(semcrawl, job):
    """A delivery of nothing would drop the graph."""
    assert semcrawl("load", "--store", "embedded", str(job)).code == 0
    add(job, changed(ANN, '<http://v.example/p> "new"'))
    flip(job / QUADS_FILE, place(job, ANN)[0] + 30)
    assert semcrawl("load", "--store", "embedded", str(job)).code == 1
    from pyoxigraph import NamedNode, Store

    (store,) = (path for path in job.iterdir() if (path / "CURRENT").is_file())
    found = list(Store(str(store)).quads_for_pattern(None, None, None, NamedNode(ANN)))
    assert len(found) == 5


def test_a_revisit_compares_with_what_is_in_the_file(tmp_path):
    """The same content is written again if the file has lost it."""
    first = changed(ANN, '<http://v.example/p> "x"', at=1.0)
    first.revisit = False
    add(tmp_path, first)
    flip(tmp_path / QUADS_FILE, 30)
    again = changed(ANN, '<http://v.example/p> "x"', at=9.0)
    again.content_hash = first.content_hash
    file = QuadsFile(tmp_path)
    assert file.append([again]) == ["replaced"]
    again.fetched_at = 10.0
    assert file.append([again]) == ["unchanged"]
    file.close()


def test_ledgers_without_checksums_are_checked_as_far_as_may_be(tmp_path):
    path = tmp_path / "x.nq"
    path.write_bytes(b"<a:a> <b:b> <c:c> .\n")
    with path.open("rb") as file:
        assert is_sound(file, 0, 20, None)
        assert not is_sound(file, 0, 19, None)
        assert not is_sound(file, 0, 21, None)
    path.write_bytes(b"<a:a> <b:b\0 <c:c> .\n")
    with path.open("rb") as file:
        assert not is_sound(file, 0, 20, None)
