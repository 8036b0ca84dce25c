"""A power loss takes what was not synced, and the ledger never speaks of that."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcrawl import wholefiles
from semcrawl.items import RdfDocument
from semcrawl.pipelines.quadsfile import QUADS_FILE, QuadsFile
from tests.waiting import until

Sync = Callable[[int], None]


def document(number: int, size: int) -> RdfDocument:
    url = f"http://d.example/{number}"
    lines = (f'<{url}> <http://v.example/p> "{n}" <{url}> .\n' for n in range(size))
    return RdfDocument(url, content_hash=str(number), quads=size, nquads="".join(lines).encode())


@pytest.mark.slow
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    batches=st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=3), min_size=1, max_size=4)
)
def test_what_the_ledger_says_is_there_after_a_power_loss(
    batches: list[list[int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("job")
    path, synced = folder / QUADS_FILE, 0
    real: Sync = getattr(os, "fdatasync", os.fsync)

    def sync(descriptor: int) -> None:
        nonlocal synced
        real(descriptor)
        if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
            synced = path.stat().st_size

    number = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fdatasync", sync, raising=False)
        file = QuadsFile(folder)
        for batch in batches:
            documents = [document(number + n, size) for n, size in enumerate(batch)]
            file.append(documents)
            number += len(batch)
            # the worst moment: right after the commit
            assert synced == path.stat().st_size
        file.close()
    os.truncate(path, synced)
    again = QuadsFile(folder)
    assert again.missing == 0
    again.close()
    assert path.read_bytes().count(b"\n") == sum(map(sum, batches))


def test_lines_that_may_wait_are_synced_at_the_end_and_missed_after_a_power_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger says which: they are read again."""
    synced: list[int] = []
    numbers = itertools.count()
    path = tmp_path / QUADS_FILE
    sync = "semcrawl.pipelines.quadsfile.sync"
    monkeypatch.setattr(sync, lambda descriptor: synced.append(path.stat().st_size))
    file = QuadsFile(tmp_path, sync_interval=0.1)
    file.append([document(0, 3)])
    assert synced == []
    until(lambda: file.append([document(100 + next(numbers), 3)]) and synced)
    kept = synced[-1]
    file.append([document(1, 3)])
    assert synced[-1] == kept < path.stat().st_size
    file.close()
    assert synced[-1] == path.stat().st_size
    os.truncate(path, kept)
    again = QuadsFile(tmp_path)
    assert again.missing == 1
    again.close()


def test_folders_and_files_can_be_synced_everywhere(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as file:
        file.write(b"x")
        file.flush()
        wholefiles.sync(file.fileno())
    wholefiles.sync_folder(tmp_path)
