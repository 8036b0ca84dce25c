"""The quads of a job in a store that can be queried, kept in the job folder as a cache."""

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

from semcrawl.errors import StoreError
from semcrawl.machine.filelocks import lock
from semcrawl.results.quadsource import Place, QuadSource, Snapshot, State

#: folder in the job folder; may be removed at any time
CACHE = "query"
_STATE = "state.json"
#: bytes of lines that are loaded at once
_PORTION = 32_000_000
#: a whole line: subject, predicate and object, then the graph
_LINE = re.compile(
    rb"(\S+ \S+ (?:<(?!<)[^>]*>|_:\S+|<<\(.*\)>>"
    rb'|"[^"\\]*(?:\\.[^"\\]*)*"(?:@[A-Za-z0-9-]+|\^\^<[^>]*>)?))'
    rb"(?: (?:<[^>]*>|_:\S+))? \.\n"
)

#: called with the bytes that were read into the store, and all bytes
Progress = Callable[[int, int], None]


@contextmanager
def held_store(
    folder: Path, sources: Sequence[QuadSource], progress: Progress = lambda done, whole: None
) -> Iterator[Path]:
    """Give the folder of a store that holds what the sources hold now.

    Documents that came are added to it; when some changed or went it is made anew. Until the
    context ends no other process changes it. A job folder that may not be written has a store that
    lasts as long as the context. Raises ``StoreError``.
    """
    cache = folder / CACHE
    if not os.access(cache if cache.exists() else folder, os.W_OK):
        with TemporaryDirectory(prefix="semcrawl-") as temporary:
            yield _up_to_date(Path(temporary), sources, progress)
        return
    try:
        cache.mkdir(exist_ok=True)
        file = (cache / "lock").open("ab")
    except OSError as error:
        raise StoreError(f"cannot write {cache}: {error.strerror}") from None
    with file:
        lock(file)
        store = _up_to_date(cache, sources, progress)
        lock(file, shared=True)
        yield store


def _up_to_date(cache: Path, sources: Sequence[QuadSource], progress: Progress) -> Path:
    store, note = cache / "store", cache / _STATE
    try:
        known = _known(note) if store.is_dir() else {}
        with ExitStack() as stack:
            snapshots = {one.path.name: stack.enter_context(one.snapshot()) for one in sources}
            states = {name: snapshot.state for name, snapshot in snapshots.items()}
            if known == states:
                return store
            if not all(_only_grew(state, states.get(name)) for name, state in known.items()):
                known = {}
            # without a note the store counts as broken: a process may be killed here
            note.unlink(missing_ok=True)
            if not known:
                shutil.rmtree(store, ignore_errors=True)
            done = 0
            whole = sum(source.path.stat().st_size for source in sources if source.path.exists())
            progress(done, whole)
            target = Store(str(store))
            for name, snapshot in snapshots.items():
                newer_than = known[name].revision if name in known else 0
                for places in _portions(snapshot.places(newer_than=newer_than)):
                    lines = cast("IO[bytes]", _Lines(snapshot, places))
                    target.bulk_load(lines, RdfFormat.N_QUADS, lenient=True)
                    done += sum(place.length for place in places)
                    progress(done, whole)
            target.flush()
            del target
            content = {name: astuple(state) for name, state in states.items()}
            note.write_text(json.dumps(content), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write {store}: {error.strerror or error}") from None
    except SyntaxError as error:
        raise StoreError(f"the quads of {cache.parent} cannot be read: {error}") from None
    return store


def _known(note: Path) -> dict[str, State]:
    """Return what the store holds, by file; nothing where that is not sure."""
    try:
        content = json.loads(note.read_text(encoding="utf-8"))
        return {name: State(*values) for name, values in content.items()}
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return {}


def _only_grew(before: State, now: State | None) -> bool:
    return now is not None and before.changes == now.changes and before.documents <= now.documents


def _portions(places: Iterable[Place]) -> Iterator[list[Place]]:
    """Cut documents into portions that are loaded at once: memory grows with these.

    A document is in one, as blank nodes get new names with each.
    """
    portion: list[Place] = []
    size = 0
    for place in places:
        portion.append(place)
        size += place.length
        if size >= _PORTION:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


class _Lines:
    """The lines of a snapshot as a file to read, each with its graph and without.

    So the default graph is the union as a set: what several documents say is there once. (A store
    that joins graphs while it answers would count it several times.)
    """

    def __init__(self, snapshot: Snapshot, places: Sequence[Place]) -> None:
        self._pieces = (
            each
            for place in places
            for lines in snapshot.lines(place)
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
