"""Where a link lies: beside its page, below the seed, under several addresses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote

#: characters of a URL that are looked at
LONGEST = 1000
#: what several addresses of one page differ in
_PAGE_EXTENSIONS = frozenset({"html", "htm", "xhtml", "php"})
_INDEX_PAGES = frozenset({"index", "default", "overview"})
_OTHER_ENDINGS = ("", "/", ".html", ".htm", ".php")


def way_between(page_folder: str, folder: str) -> str:
    """How a link's ``host/folder/`` lies to its page's."""
    if folder == page_folder:
        return "same"
    if folder.startswith(page_folder):
        return "below"
    if page_folder.startswith(folder):
        return "above"
    host = folder[: folder.index("/") + 1]
    return "aside" if page_folder.startswith(host) else "other host"


def place_in(root: str, folder: str) -> str:
    """How a link's ``host/folder/`` lies to the seed's: ``in``, ``near`` (beside it) or ``out``.

    Empty when there is no such root.
    """
    if not root:
        return ""
    if folder.startswith(root):
        return "in"
    return "near" if folder.startswith(root[:-1].rpartition("/")[0] + "/") else "out"


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

    @contextmanager
    def for_now(self, url: str) -> Iterator[None]:
        """Note a seed, and forget it afterwards."""
        host = folder_of(url).partition("/")[0]
        before = self.folders.get(host)
        self.add(url)
        try:
            yield
        finally:
            if before is None:
                del self.folders[host]
            else:
                self.folders[host] = before

    def root(self, host: str) -> str:
        """``host/folder/`` that the crawl is at home in; empty when that is all of the host."""
        root = self.folders.get(host, "")
        return root if root.count("/") > 1 else ""


def split_url(url: str) -> tuple[str, str, str]:
    """Host with port, path and query of a URL, the host in lower case; empty if it is no URL."""
    rest = url[:LONGEST].partition("://")[2].partition("#")[0]
    body, _, query = rest.partition("?")
    host, slash, path = body.partition("/")
    return host.rpartition("@")[2].lower()[:255], slash + path or "/", query


def folder_of(url: str) -> str:
    """``host/folder/`` of a URL, in lower case."""
    host, path, _ = split_url(url)
    if "%" in path:
        path = unquote(path, errors="replace")
    return f"{host}{path.rpartition('/')[0].lower()}/"


def twin_addresses(url: str) -> list[str]:
    """Other addresses under which servers often serve the same page.

    They differ in a trailing slash, an HTML extension, or ``www.``.
    """
    if len(url) > LONGEST:
        return []
    scheme, _, place = url.partition("://")
    www = f"{scheme}://{place[4:] if place.startswith('www.') else 'www.' + place}"
    start, mark, query = url.partition("?")
    stem, dot, extension = start.rpartition(".")
    if dot and extension.lower() in _PAGE_EXTENSIONS:
        above, slash, name = stem.rpartition("/")
        start = above if slash and name.lower() in _INDEX_PAGES else stem
    bare = start.rstrip("/")
    rest = mark + query
    twins = [twin for ending in _OTHER_ENDINGS if (twin := bare + ending + rest) != url]
    return [*twins, www]
