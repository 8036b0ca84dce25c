"""Folders of sites, each taken apart once for all links into it."""

from __future__ import annotations

import re

from semcrawl.relevance.learned.places import SeedFolders, place_in
from semcrawl.relevance.learned.words import fold_digits, words_of

#: a folder name that names one thing and nothing else: a hash, a session, a UUID (digits folded)
_OPAQUE = re.compile(r"(?=[a-f]*0)[a-f0-]{6,}|(?=.*0.*0)[a-z0]{16,}")
#: folders that are remembered
_REMEMBERED = 20_000


class Folder:
    """A folder of a host: what the links into it have in common."""

    __slots__ = (
        "host", "names", "rows", "section", "segments", "subsection", "text", "within", "words",
    )  # fmt: skip

    def __init__(self, host: str, path: str, root: str) -> None:
        self.host = host
        #: ``host/folder/``
        self.text = f"{host}{path}/"
        #: how it lies to the seed's folder
        self.within = place_in(root, self.text)
        #: of the path, not folded
        self.segments = [s for s in path.split("/") if s]
        #: digits folded, identifiers turned into ``#``
        self.names = [folded_name(s) for s in self.segments]
        self.words = words_of(path)
        #: what exploration counts fetches by: the first folder on the host, and the first two
        self.section = f"{host}/{'/'.join(self.names[:1])}"
        self.subsection = f"{host}/{'/'.join(self.names[:2])}"
        #: rows of the features that go with the folder, for who makes them
        self.rows: tuple[int, ...] | None = None


class Folders:
    """Folders by host and path, a bounded number of them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Folder] = {}

    def get(self, host: str, path: str, seeds: SeedFolders) -> Folder:
        """Return the folder of that path (without its last slash), in lower case."""
        key = (host, path, seeds.root(host))
        folder = self._known.get(key)
        if folder is None:
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            folder = self._known[key] = Folder(*key)
        return folder


def folded_name(segment: str) -> str:
    """A segment with its digits folded, or ``#`` if it names one thing and nothing else."""
    folded = fold_digits(segment)
    return "#" if _OPAQUE.fullmatch(folded) else folded
