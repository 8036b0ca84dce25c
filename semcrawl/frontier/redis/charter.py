"""The charter of a crawl on a shared Redis: whose it is, where it began, what it may follow.

Two harvests that happen to have one name must not mix; workers of one crawl must find each other.
So a crawl keeps its *charter* among its keys, and later harvests have to keep to it.
"""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from semcrawl.errors import UsageError
from semcrawl.machine.wholefiles import whole_file

#: file of a job folder that says which crawl on a shared Redis is its own
CRAWL_FILE = "crawl.json"
#: characters of a folder's name that a crawl's name takes over
_LONGEST_NAME = 40
#: folders and lists of seeds that a charter remembers
_MOST_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Membership:
    """A run that asks to take part in a crawl."""

    #: the job folder, by the name that it has for good
    folder: str
    #: where it is: host and absolute path
    place: str
    #: digest of the seeds; empty when the run brings none
    seeds: str = ""
    #: the first of them
    first_seed: str = ""
    scope: str = "site"
    #: the scope was said, and not left to its default
    scope_said: bool = False
    #: it asks to take part in whatever crawl has the name
    joins: bool = False
    #: a worker, which may have a folder of its own
    worker: bool = False
    #: the folder has records of earlier runs
    began_before: bool = False


@dataclass(frozen=True, slots=True)
class Charter:
    """Which folders, seeds and scope a crawl has."""

    scope: str
    #: place of each folder that takes part, by the folder's own name
    folders: dict[str, str] = field(default_factory=dict)
    #: digests of the lists of seeds that were given
    seeds: tuple[str, ...] = ()
    first_seed: str = ""
    #: the crawl is older than its charter: others may have a part in it
    adopted: bool = False

    @classmethod
    def of(cls, run: Membership, *, adopted: bool = False) -> Self:
        """Found a crawl."""
        seeds = (run.seeds,) if run.seeds else ()
        return cls(run.scope, {run.folder: run.place}, seeds, run.first_seed, adopted)

    @classmethod
    def read(cls, text: bytes | str) -> Self | None:
        """Read what :meth:`dump` wrote; ``None`` for anything else."""
        try:
            data: dict[str, Any] = json.loads(text)
            return cls(
                str(data["scope"]),
                {str(name): str(place) for name, place in data["folders"].items()},
                tuple(map(str, data["seeds"])),
                str(data["first_seed"]),
                bool(data["adopted"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def dump(self) -> str:
        """Write it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def admit(self, run: Membership, name: str) -> Charter:
        """Take a run in, and return the charter with it.

        A folder of the crawl may bring other seeds and another scope: that is its own crawl.
        Raises ``UsageError`` for a run that has another crawl in mind.
        """
        old = self.adopted and (run.began_before or run.worker)
        if run.folder not in self.folders and not old:
            self._check(run, name)
        seeds = self.seeds
        if run.seeds and run.seeds not in seeds:
            seeds = (*seeds, run.seeds)[-_MOST_KEPT:]
        folders = self.folders
        if run.folder in folders or len(folders) < _MOST_KEPT:
            folders = {**folders, run.folder: run.place}
        scope = run.scope if run.folder in self.folders and run.scope_said else self.scope
        first_seed = self.first_seed or run.first_seed
        return replace(self, scope=scope, folders=folders, seeds=seeds, first_seed=first_seed)

    def _check(self, run: Membership, name: str) -> None:
        """Refuse a run from another folder that did not ask to join, or cannot."""
        what = f"the crawl {name} on this Redis is that of {self._known_by()}"
        if run.scope_said and run.scope != self.scope:
            raise UsageError(
                f"{what} and has the scope {self.scope}, not {run.scope}; leave the scope out to "
                "join it, or give this crawl a name of its own (SEMCRAWL_CRAWL_NAME)"
            )
        if run.joins:
            return
        if not run.worker:
            raise UsageError(
                f"{what}; to work on it together give --join {name}, for a crawl of its own leave "
                "SEMCRAWL_CRAWL_NAME out or give another one"
            )
        if run.seeds and self.seeds and run.seeds not in self.seeds:
            raise UsageError(
                f"{what}, and has other seeds; to add these to it give -s SEMCRAWL_JOIN=1, for a "
                "crawl of their own another SEMCRAWL_CRAWL_NAME"
            )

    def _known_by(self) -> str:
        place = next(iter(self.folders.values()), "another run")
        return f"{place} (from {self.first_seed})" if self.first_seed else place


def digest_of(seeds: Iterable[str]) -> str:
    """Return a digest of a list of seeds, whatever its order; empty for none."""
    unique = sorted(set(seeds))
    return hashlib.sha256("\n".join(unique).encode()).hexdigest()[:16] if unique else ""


def place_of(folder: Path) -> str:
    """Return where a folder is, for all machines."""
    return f"{socket.gethostname()}:{folder.resolve()}"


def name_for(folder: Path) -> str:
    """Name a crawl by its job folder: the folder's name, and a hash of host and path."""
    place = place_of(folder)
    readable = "".join(
        sign if sign.isalnum() or sign in "-_." else "-" for sign in folder.resolve().name
    )
    code = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{readable[:_LONGEST_NAME] or 'crawl'}-{code}"


@dataclass(frozen=True, slots=True)
class JobName:
    """Return the name of a job folder on a shared Redis; it stays when the folder is moved."""

    #: the crawl's name
    crawl: str
    #: the folder's own
    folder: str

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the folder's charter; ``None`` without one."""
        try:
            data: Any = json.loads((folder / CRAWL_FILE).read_text("utf-8"))
            return cls(str(data["crawl"]), str(data["folder"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @classmethod
    def fresh(cls, crawl: str) -> Self:
        """Make a folder's own name."""
        return cls(crawl, uuid4().hex)

    def write(self, folder: Path) -> None:
        """Have the folder say it from now on."""
        with whole_file(folder / CRAWL_FILE) as file:
            file.write((json.dumps(asdict(self)) + "\n").encode())
