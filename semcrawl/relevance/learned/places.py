"""Where a link lies: beside its page, below the seed, under several addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

#: characters of a URL that are looked at
LONGEST = 1000
#: what several addresses of one page differ in
_PAGE_ENDING = re.compile(r"(?i)(?:/(?:index|default|overview))?(?:\.(?:html?|xhtml|php))?$")
_OTHER_ENDINGS = ("", "/", ".html", ".htm", ".php", "/index.html", "/index.htm", "/Overview.html")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a link was found and where the crawl began on that host."""

    #: host and folder of the page, ``host/folder/``
    folder: str = ""
    #: the same of the host's seed; empty if it has none or the seed lies at the top
    root: str = ""

    def way(self, host: str, folder: str) -> str:
        """How a folder lies to the page's."""
        mine = host + folder
        if not self.folder.startswith(f"{host}/"):
            return "other host"
        if mine == self.folder:
            return "same"
        if mine.startswith(self.folder):
            return "below"
        return "above" if self.folder.startswith(mine) else "aside"

    def within(self, host: str, folder: str) -> str:
        """How a folder lies to the seed's: ``in``, ``near`` (below its parent) or ``out``.

        Empty when the seed lies at the top of its host, so that everything would be ``in``.
        """
        if not self.root.startswith(f"{host}/"):
            return ""
        mine = host + folder
        if mine.startswith(self.root):
            return "in"
        above = self.root[:-1].rpartition("/")[0] + "/"
        return "near" if mine.startswith(above) else "out"


class SeedFolders:
    """The folders that the crawl's seeds lie in, by host."""

    def __init__(self) -> None:
        self.folders: dict[str, str] = {}

    def add(self, url: str) -> None:
        """Note a seed; of several on a host, the folder above all of them counts."""
        folder = folder_of(url)
        host = folder.partition("/")[0]
        known = self.folders.setdefault(host, folder)
        while not folder.startswith(known):
            known = known[:-1].rpartition("/")[0] + "/"
        self.folders[host] = known

    def place(self, page: str, url: str) -> Place:
        """The place of a link to ``url`` on ``page``."""
        root = self.folders.get(host_of(url), "")
        return Place(folder_of(page), root if root.count("/") > 1 else "")


def host_of(url: str) -> str:
    """Host of a URL, with its port, in lower case; no more than 255 characters."""
    authority = url[:LONGEST].partition("://")[2].partition("/")[0].partition("?")[0]
    return authority.rpartition("@")[2].lower()[:255]


def folder_of(url: str) -> str:
    """``host/folder/`` of a URL, in lower case."""
    rest = url[:LONGEST].partition("://")[2].partition("#")[0].partition("?")[0]
    return host_of(url) + rest[len(rest.partition("/")[0]) :].rpartition("/")[0].lower() + "/"


def twin_addresses(url: str) -> Iterator[str]:
    """Other addresses under which servers often serve the same page.

    They differ in a trailing slash, an index file or an HTML extension.
    """
    if len(url) > LONGEST:
        return
    start, mark, query = url.partition("?")
    try:
        path = urlsplit(start).path
    except ValueError:
        return
    bare = _PAGE_ENDING.sub("", path).rstrip("/")
    front = start[: len(start) - len(path)]
    for ending in _OTHER_ENDINGS:
        if bare or ending.startswith("/"):
            twin = f"{front}{bare}{ending}{mark}{query}"
            if twin != url:
                yield twin
