"""What re-visits replace is kept beside the ledger, and never counts as present."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.results.changes import History, State
from semcrawl.results.job import Job

from .documents import document, rows, url_of

#: a process that visits its documents again and again, and says what it has written
WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.pipelines.documents import document, url_of
from tests.pipelines.test_history import gone
from semcrawl.pipelines.quadsfile import QuadsFile
file = QuadsFile(Path(sys.argv[1]), history=True)
time = float(sys.argv[3])
while True:
    time += 1
    batch = [document(f"d{n}", *[f"{time + n / 10}"] * 50, revisit=True, fetched_at=time + n / 10)
             for n in range(5)]
    if time % 7 == 0:
        batch[0] = gone("d0", time)
    file.append(batch)
    if time % 5 == 0:
        file.compact()
    print(time, flush=True)
"""


def gone(name: str, at: float) -> FetchRecord:
    return FetchRecord(
        url_of(name), FetchOutcome.HTTP_ERROR, status=404, started_at=at, revisit=True
    )


def again(name: str, *values: str, at: float, body: str | None = None):
    more = {} if body is None else {"content_hash": body}
    return document(name, *values, revisit=True, fetched_at=at, **more)


def write(folder: Path, *items, history: bool = True) -> None:
    file = QuadsFile(folder, history=history)
    file.append(items)
    file.compact()
    file.close()


def text(state: State) -> str:
    if not state.is_kept:
        return "?"
    if state.lines is None:
        return "-"
    lines = b"".join(state.lines()).decode().splitlines()
    return ",".join(line.split('"')[1] for line in lines)


def told(folder: Path, since: float) -> dict[str, str]:
    """The change of each document since a moment, by its last part."""
    with Job(folder) as job, History(job) as history:
        found = {
            one.url.rsplit("/", 1)[1]: f"{text(one.before)} {text(one.after)}"
            for one in history.net(since)
        }
        return found | {url.rsplit("/", 1)[1]: "unknown" for url in history.unknown}


def each(folder: Path, since: float = 0.0) -> list[tuple[float, str, str, str]]:
    with Job(folder) as job, History(job) as history:
        return [
            (one.at, one.kind, text(one.before), text(one.after)) for one in history.each(since)
        ]


def test_a_document_is_compared_with_what_it_was_at_a_moment(tmp_path):
    write(tmp_path, document("a", "1"), document("b", "1"), document("c", "1"))
    write(tmp_path, again("a", "2", at=2000.0), gone("b", 2000.0))
    write(tmp_path, again("a", "3", at=3000.0), again("b", "9", at=3000.0), gone("c", 3000.0))
    assert told(tmp_path, 1500.0) == {"a": "1 3", "b": "1 9", "c": "1 -"}
    assert told(tmp_path, 2500.0) == {"a": "2 3", "b": "- 9", "c": "1 -"}
    assert told(tmp_path, 500.0) == {"a": "- 3", "b": "- 9"}
    assert told(tmp_path, 3000.0) == {}
    assert (tmp_path / "quads.nq").read_bytes() == b"".join(
        one.nquads for one in (document("a", "3"), document("b", "9"))
    )


def test_every_change_is_told_in_order(tmp_path):
    write(tmp_path, document("a", "1"))
    write(tmp_path, again("a", "2", at=2000.0), gone("a", 2500.0), again("a", "3", at=3000.0))
    assert each(tmp_path) == [
        (1000.0, "new", "-", "1"),
        (2000.0, "changed", "1", "2"),
        (2500.0, "gone", "2", "-"),
        (3000.0, "new", "-", "3"),
    ]
    assert each(tmp_path, 2000.0) == each(tmp_path)[2:]


def test_other_bytes_with_the_same_statements_are_no_change_and_take_no_room(tmp_path):
    """As pages that show the time."""
    write(tmp_path, document("a", "1"))
    visits = [again("a", "1", at=time * 1000.0, body=f"{time}") for time in range(2, 9)]
    write(tmp_path, *visits[:3])
    write(tmp_path, *visits[3:])
    assert each(tmp_path) == [(1000.0, "new", "-", "1")]
    for time in (1001.0, 4500.0, 8001.0):
        assert told(tmp_path, time) == {}
    write(tmp_path, again("a", "2", at=9000.0))
    assert told(tmp_path, 4500.0) == {"a": "1 2"}
    assert each(tmp_path)[1:] == [(9000.0, "changed", "1", "2")]


def test_what_changed_while_nothing_was_kept_is_not_known(tmp_path):
    write(tmp_path, document("a", "1"))
    write(tmp_path, again("a", "2", at=2000.0), history=False)
    write(tmp_path, again("a", "3", at=3000.0))
    assert told(tmp_path, 1500.0) == {"a": "unknown"}
    assert told(tmp_path, 2500.0) == {"a": "2 3"}
    assert told(tmp_path, 500.0) == {"a": "- 3"}
    assert each(tmp_path) == [(2000.0, "changed", "?", "2"), (3000.0, "changed", "2", "3")]


def test_nothing_is_kept_unless_it_is_asked_for(tmp_path):
    write(tmp_path, document("a", "1"), history=False)
    write(tmp_path, again("a", "2", at=2000.0), history=False)
    assert not list(tmp_path.glob("*history*"))


def test_a_document_in_pieces_is_kept_whole(tmp_path):
    values = [f"{number:08}" for number in range(40_000)]
    write(tmp_path, document("a", *values))
    write(tmp_path, again("a", "2", at=2000.0))
    assert told(tmp_path, 1500.0) == {"a": f"{','.join(values)} 2"}
    assert (tmp_path / "history.db").stat().st_size < 1_000_000


def test_damaged_lines_are_not_kept(tmp_path):
    write(tmp_path, document("a", "1"), document("b", "1"))
    content = (tmp_path / "quads.nq").read_bytes()
    (tmp_path / "quads.nq").write_bytes(
        content.replace(b'a> <http://example.org/p> "1"', b'a> <http://example.org/p> "7"')
    )
    write(tmp_path, again("a", "2", at=2000.0), again("b", "2", at=2000.0))
    assert told(tmp_path, 1500.0) == {"a": "unknown", "b": "1 2"}


def test_a_crash_before_the_ledger_is_committed_keeps_the_present_present(tmp_path, monkeypatch):
    """The history was committed: its version is still the document's, and is kept again later."""
    write(tmp_path, document("a", "1"))
    file = QuadsFile(tmp_path, history=True)

    def crash(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(QuadsFile, "_sync_if_due", lambda self: None)
    whole = QuadsFile._append_all
    monkeypatch.setattr(QuadsFile, "_append_all", lambda *args: (whole(*args), crash()))
    with pytest.raises(KeyboardInterrupt):
        file.append([again("a", "2", at=2000.0), again("a", "3", at=2001.0)])
    monkeypatch.undo()
    file.close()
    write(tmp_path)
    assert rows(tmp_path, "SELECT revision, changes FROM document") == [(1, 0)]
    assert each(tmp_path) == [(1000.0, "new", "-", "1")]
    # another document takes the revision that was not committed
    write(tmp_path, document("b", "1", fetched_at=2500.0))
    write(tmp_path, again("a", "4", at=3000.0))
    assert told(tmp_path, 2001.5) == {"a": "1 4", "b": "- 1"}
    assert [one[1:] for one in each(tmp_path) if one[0] > 2600] == [("changed", "1", "4")]


@pytest.mark.slow
def test_kills_lose_no_version_and_make_none(tmp_path):
    root = Path(__file__).parents[2]
    write(tmp_path, *(document(f"d{n}", "0") for n in range(5)))
    chance, last = random.Random(4), 2000.0
    for _ in range(6):
        command = [sys.executable, "-c", WRITER, str(tmp_path), str(root), str(last)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
        for _ in range(chance.randrange(3, 30)):
            last = float(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read().split()
        process.wait()
        last = float(rest[-1]) if rest else last
    write(tmp_path)
    for number in range(5):
        with Job(tmp_path) as job, History(job) as history:
            changes = [one for one in history.each(0.0) if one.url == url_of(f"d{number}")]
            # every time that was written was seen, and each state follows the one before
            times = [one.at for one in changes]
            for before, after in pairwise(changes):
                assert text(after.before) == text(before.after)
                assert text(after.after) in ("-", ",".join([f"{after.at}"] * 50))
            written = {2001.0 + n + number / 10 for n in range(int(last - 2000))}
            assert written <= {round(time, 1) for time in times}
            assert not history.unknown
    assert rows(tmp_path, "SELECT count(*) FROM document") == [(5,)]


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(["", "1", "2", "3"]), st.booleans()),
        max_size=12,
    )
)
@settings(max_examples=30, deadline=None)
def test_the_states_are_those_that_a_model_remembers(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("job")
    file = QuadsFile(folder, history=True)
    file.append([document("a", "0"), document("b", "0")])
    model = {"a": [(1000.0, "0")], "b": [(1000.0, "0")]}
    for number, (name, value, compacts) in enumerate(steps, 1):
        time = 1000.0 + number
        if value:
            file.append([again(name, value, at=time, body=f"{time}")])
            model[name].append((time, value))
        else:
            file.append([gone(name, time)])
            model[name].append((time, "-"))
        if compacts:
            file.compact()
    file.close()
    for since in range(999, 1001 + len(steps)):
        expected = {}
        for name, states in model.items():
            before = [value for time, value in states if time <= since] or ["-"]
            # a document that has the same statements again after it was gone is as it was
            if before[-1] != states[-1][1]:
                expected[name] = f"{before[-1]} {states[-1][1]}"
        found = told(folder, float(since))
        assert {name: one for name, one in found.items() if len(set(one.split())) > 1} == expected
