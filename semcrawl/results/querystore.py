"""The store of a job folder that queries run on, kept up to date with its quads."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, cast

from pyoxigraph import RdfFormat, Store

from semcrawl.errors import StoreError, os_errors_as
from semcrawl.filelocks import lock
from semcrawl.results.quadsource import QuadSource, Snapshot, Span, State

#: cache in the job folder; may be deleted at any time
CACHE = "query"
_STATE = "state.json"
#: bytes of lines loaded at once
_PORTION = 32_000_000
#: a line; group 1 is the triple
_LINE = re.compile(
    rb"(\S+ \S+ (?:<(?!<)[^>]*>|_:\S+|<<\(.*\)>>"
    rb'|"[^"\\]*(?:\\.[^"\\]*)*"(?:@[A-Za-z0-9-]+|\^\^<[^>]*>)?))'
    rb"(?: (?:<[^>]*>|_:\S+))? \.\n"
)

#: called with the bytes loaded so far and the total
Progress = Callable[[int, int], None]


@contextmanager
def held_store(
    folder: Path, sources: Sequence[QuadSource], progress: Progress = lambda done, whole: None
) -> Iterator[Path]:
    """Yield the folder of a store with the present quads of the sources.

    New documents are added; after changes or removals the store is rebuilt. No other process
    changes it within the context. A read-only job folder gets a temporary store. Raises
    ``StoreError``.
    """
    cache = folder / CACHE
    if not os.access(cache if cache.exists() else folder, os.W_OK):
        with TemporaryDirectory(prefix="semcrawl-") as temporary:
            yield _up_to_date(Path(temporary), sources, progress)
        return
    with os_errors_as(StoreError, f"cannot write {cache}"):
        cache.mkdir(exist_ok=True)
        file = (cache / "lock").open("ab")
    with file:
        lock(file)
        store = _up_to_date(cache, sources, progress)
        lock(file, shared=True)
        yield store


def _up_to_date(cache: Path, sources: Sequence[QuadSource], progress: Progress) -> Path:
    store, note = cache / "store", cache / _STATE
    try:
        known, left_out = _known(note) if store.is_dir() else ({}, {})
        with ExitStack() as stack:
            snapshots = {one.path.name: stack.enter_context(one.snapshot()) for one in sources}
            states = {name: snapshot.state for name, snapshot in snapshots.items()}
            if known == states:
                for source in sources:
                    source.damaged |= dict.fromkeys(left_out.get(source.path.name, ()))
                return store
            if not all(_only_grew(state, states.get(name)) for name, state in known.items()):
                known = {}
            if known:
                for source in sources:
                    source.damaged |= dict.fromkeys(left_out.get(source.path.name, ()))
            # without its state file the store counts as broken, should the process be killed
            note.unlink(missing_ok=True)
            if not known:
                shutil.rmtree(store, ignore_errors=True)
            done = 0
            whole = sum(source.path.stat().st_size for source in sources if source.path.exists())
            progress(done, whole)
            target = Store(str(store))
            for name, snapshot in snapshots.items():
                newer_than = known[name].revision if name in known else 0
                for spans in _portions(snapshot.spans(newer_than=newer_than)):
                    lines = cast("IO[bytes]", _Lines(snapshot, spans))
                    target.bulk_load(lines, RdfFormat.N_QUADS, lenient=True)
                    done += sum(span.length for span in spans)
                    progress(done, whole)
            target.flush()
            del target
            content = {
                "states": {name: astuple(state) for name, state in states.items()},
                "left_out": {source.path.name: list(source.damaged) for source in sources},
            }
            note.write_text(json.dumps(content), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write {store}: {error.strerror or error}") from None
    except SyntaxError as error:
        raise StoreError(f"the quads of {cache.parent} cannot be read: {error}") from None
    return store


def _known(note: Path) -> tuple[dict[str, State], dict[str, list[str]]]:
    """Return the state of each file in the store, and the damaged documents that it lacks.

    Both are empty if it is uncertain.
    """
    try:
        content = json.loads(note.read_text(encoding="utf-8"))
        states = {name: State(*values) for name, values in content["states"].items()}
        return states, {name: list(map(str, each)) for name, each in content["left_out"].items()}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return {}, {}


def _only_grew(before: State, now: State | None) -> bool:
    return now is not None and before.changes == now.changes and before.documents <= now.documents


def _portions(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Group documents into portions to load at once; memory grows with their size.

    No document is split, as each load renames blank nodes.
    """
    portion: list[Span] = []
    size = 0
    for span in spans:
        portion.append(span)
        size += span.length
        if size >= _PORTION:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


class _Lines:
    """A file of a snapshot's lines, each with and without its graph name.

    So the default graph is the union as a set: a statement of several documents is in it once. A
    union made at query time would count it several times.
    """

    def __init__(self, snapshot: Snapshot, spans: Sequence[Span]) -> None:
        self._pieces = (
            each
            for span in spans
            for lines in snapshot.lines(span)
            for each in (lines, _LINE.sub(rb"\1 .\n", lines))
        )
        self._held = b""

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` bytes."""
        if not self._held:
            some, length = [], 0
            for piece in self._pieces:
                some.append(piece)
                length += len(piece)
                if 0 <= size <= length:
                    break
            self._held = b"".join(some)
        found = self._held if size < 0 else self._held[:size]
        self._held = self._held[len(found) :]
        return found
