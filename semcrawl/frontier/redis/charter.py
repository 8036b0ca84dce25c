"""The charter of a crawl on a shared Redis: its folders, seeds and scope.

Two harvests that happen to have the same name must not mix, while workers of one crawl must find
each other. So a crawl has a *charter* among its keys, and later harvests must match it.
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

#: file in a job folder that names its crawl on a shared Redis
CRAWL_FILE = "crawl.json"
#: most characters of a folder's name in a crawl's name
_LONGEST_NAME = 40
#: most folders and lists of seeds in a charter
_MOST_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Membership:
    """A run that asks to take part in a crawl."""

    #: permanent id of the job folder
    folder: str
    #: host and absolute path of the folder
    place: str
    #: digest of the seeds; empty without seeds
    seeds: str = ""
    first_seed: str = ""
    scope: str = "site"
    #: whether the user gave the scope
    scope_given: bool = False
    #: whether it asks to join the crawl of that name
    joins: bool = False
    #: whether it is a single worker, which may have a folder of its own
    worker: bool = False
    #: whether the folder has records of earlier runs
    began_before: bool = False


@dataclass(frozen=True, slots=True)
class Charter:
    """The folders, seeds and scope of a crawl."""

    scope: str
    #: place of each participating folder, by the folder's id
    folders: dict[str, str] = field(default_factory=dict)
    #: digests of the given lists of seeds
    seeds: tuple[str, ...] = ()
    first_seed: str = ""
    #: whether the crawl is older than its charter, so that unknown folders may take part
    adopted: bool = False

    @classmethod
    def of(cls, run: Membership, *, adopted: bool = False) -> Self:
        """Make the charter of a crawl that this run begins."""
        seeds = (run.seeds,) if run.seeds else ()
        return cls(run.scope, {run.folder: run.place}, seeds, run.first_seed, adopted)

    @classmethod
    def read(cls, text: bytes | str) -> Self | None:
        """Read the text of :meth:`dump`; return ``None`` for any other."""
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
        """Return it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def admit(self, run: Membership, name: str) -> Charter:
        """Admit a run; return the charter with it.

        A folder of the crawl may bring other seeds and another scope. Raises ``UsageError`` for a
        run that is meant for another crawl.
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
        scope = run.scope if run.folder in self.folders and run.scope_given else self.scope
        first_seed = self.first_seed or run.first_seed
        return replace(self, scope=scope, folders=folders, seeds=seeds, first_seed=first_seed)

    def _check(self, run: Membership, name: str) -> None:
        """Refuse a run from another folder that does not ask to join, or cannot."""
        what = f"the crawl {name} on this Redis is that of {self._known_by()}"
        if run.scope_given and run.scope != self.scope:
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
    """Return a digest of a set of seeds; empty for none."""
    unique = sorted(set(seeds))
    return hashlib.sha256("\n".join(unique).encode()).hexdigest()[:16] if unique else ""


def place_of(folder: Path) -> str:
    """Return host and absolute path of a folder."""
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
    """A job folder's entry for a shared Redis; it stays when the folder is moved."""

    #: name of the crawl
    crawl: str
    #: permanent id of the folder
    folder: str

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read the folder's entry; return ``None`` without one."""
        try:
            data: Any = json.loads((folder / CRAWL_FILE).read_text("utf-8"))
            return cls(str(data["crawl"]), str(data["folder"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @classmethod
    def fresh(cls, crawl: str) -> Self:
        """Make an entry with a new id."""
        return cls(crawl, uuid4().hex)

    def write(self, folder: Path) -> None:
        """Write the entry into the folder."""
        with whole_file(folder / CRAWL_FILE) as file:
            file.write((json.dumps(asdict(self)) + "\n").encode())
