"""Takes a link apart: its folder, path and words, and the texts around it; all bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from urllib.parse import unquote

from semcrawl.links import Link

_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W_]+")
#: translation table: lower-case letters, digits, and a space for every other byte
_ASCII_WORDS = bytes(
    ord(chr(b).lower()) if b < 128 and chr(b).isalnum() else 32 for b in range(256)
)
#: replaces every run of digits
FOLDED = "0"
#: most characters of a URL
LONGEST = 1000
#: parts in which several addresses of one page differ
_PAGE_EXTENSIONS = frozenset({"html", "htm", "xhtml", "php"})
_INDEX_PAGES = frozenset({"index", "default", "overview"})
_OTHER_ENDINGS = ("", "/", ".html", ".htm", ".php")
#: a folder name (digits folded) that identifies a single thing: a hash, a session, a UUID
_OPAQUE = re.compile(r"(?=[a-f]*0)[a-f0-]{6,}|(?=.*0.*0)[a-z0]{16,}")
#: most cached folders
_REMEMBERED = 5_000
_EXTENSION = re.compile(r"[a-z][a-z0-9-]{0,9}")
_NONE: tuple[str, tuple[str, ...], str] = ("", (), "")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case: runs of letters and digits."""
    if text.isascii():  # the usual case, three times as fast without a regular expression
        return text.encode().translate(_ASCII_WORDS).decode().split()
    return _WORDS.findall(text.lower())


def without_numbers(words: list[str]) -> list[str]:
    """Replace every number among the words by ``0``."""
    return [FOLDED if word.isdecimal() else word for word in words]


def fold_digits(text: str, to: str = FOLDED) -> str:
    """Replace every run of digits by ``0`` or another text."""
    if text.isdecimal():
        return to
    return _DIGITS.sub(to, text)


def way_between(page_folder: str, folder: str) -> str:
    """Return the way from a page's ``host/folder/`` to a link's."""
    if folder == page_folder:
        return "same"
    if folder.startswith(page_folder):
        return "below"
    if page_folder.startswith(folder):
        return "above"
    host = folder[: folder.index("/") + 1]
    return "aside" if page_folder.startswith(host) else "other host"


def place_in(root: str, folder: str) -> str:
    """Return whether a ``host/folder/`` is ``in`` the seed's, ``near`` (beside it) or ``out``.

    Empty without a root.
    """
    if not root:
        return ""
    if folder.startswith(root):
        return "in"
    return "near" if folder.startswith(root[:-1].rpartition("/")[0] + "/") else "out"


class SeedFolders:
    """The folders of the crawl's seeds, by host."""

    def __init__(self) -> None:
        self.folders: dict[str, str] = {}

    def add(self, url: str) -> None:
        """Add a seed; several on a host share the lowest folder above all of them."""
        folder = folder_of(url)
        host = folder.partition("/")[0]
        known = self.folders.setdefault(host, folder)
        while not folder.startswith(known):
            known = known[:-1].rpartition("/")[0] + "/"
        self.folders[host] = known

    @contextmanager
    def for_now(self, url: str) -> Iterator[None]:
        """Add a seed during the block."""
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
        """Return the ``host/folder/`` of the seeds; empty if it is the whole host."""
        root = self.folders.get(host, "")
        return root if root.count("/") > 1 else ""


def split_url(url: str) -> tuple[str, str, str]:
    """Return lower-case host with port, path and query of a URL; an empty host if it is no URL."""
    rest = url[:LONGEST].partition("://")[2].partition("#")[0]
    body, _, query = rest.partition("?")
    host, slash, path = body.partition("/")
    return host.rpartition("@")[2].lower()[:255], slash + path or "/", query


def folder_of(url: str) -> str:
    """Return ``host/folder/`` of a URL, in lower case."""
    host, path, _ = split_url(url)
    if "%" in path:
        path = unquote(path, errors="replace")
    return f"{host}{path.rpartition('/')[0].lower()}/"


def twin_addresses(url: str) -> list[str]:
    """Return other addresses under which servers often serve the same page.

    They differ in the scheme, a trailing slash, an HTML extension, or ``www.``.
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
    secure = f"http{'' if scheme == 'https' else 's'}://{place}"
    return [*twins, www, secure]


class Folder:
    """A folder of a host: the common part of the links into it."""

    __slots__ = (
        "host", "names", "rows", "section", "segments", "subsection", "text", "within", "words",
    )  # fmt: skip

    def __init__(self, host: str, path: str, root: str) -> None:
        self.host = host
        #: ``host/folder/``
        self.text = f"{host}{path}/"
        #: its relation to the seed's folder
        self.within = place_in(root, self.text)
        #: segments of the path, not folded
        self.segments = [s for s in path.split("/") if s]
        #: digits folded, identifiers turned into ``#``
        self.names = [folded_name(s) for s in self.segments]
        self.words = words_of(path)
        #: places for the exploration bonus: the first folder on the host, and the folder itself
        self.section = f"{host}/{'/'.join(self.names[:1])}"
        self.subsection = f"{host}/{'/'.join(self.names)}"
        #: rows of the folder's features, cached by :class:`FeatureMaker`
        self.rows: tuple[int, ...] | None = None


class Folders:
    """A bounded cache of folders by host and path."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Folder] = {}

    def get(self, host: str, path: str, seeds: SeedFolders) -> Folder:
        """Return the folder of a lower-case path without its last slash."""
        key = (host, path, seeds.root(host))
        folder = self._known.get(key)
        if folder is None:
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            folder = self._known[key] = Folder(*key)
        return folder


def folded_name(segment: str) -> str:
    """Fold the digits of a segment; return ``#`` if it identifies a single thing."""
    folded = fold_digits(segment)
    return "#" if _OPAQUE.fullmatch(folded) else folded


class LinkParts:
    """The parts of a link; ``readable`` is false for an invalid URL."""

    __slots__ = (
        "anchor_words", "ending", "endings", "extension", "file", "folder", "folder_words",
        "folders", "host", "last_words", "query", "query_words", "readable", "segments",
        "title_words", "trailing", "way", "within", "words_after", "words_before",
    )  # fmt: skip

    def __init__(self, link: Link, page_folder: str, seeds: SeedFolders, folders: Folders) -> None:
        self.host, path, query = split_url(link.url)
        self.readable = bool(self.host)
        if "%" in path:
            path = unquote(path, errors="replace")
        above, _, last = path.lower().rpartition("/")
        self.folder = folder = folders.get(self.host, above, seeds)
        self.way = way_between(page_folder, folder.text)
        self.within = folder.within
        #: digits folded, identifiers turned into ``#``
        self.folders = folder.names
        self.folder_words = folder.words
        self.trailing = not last
        self.extension, self.endings, self.ending = _NONE
        if last:
            #: segments of the path, not folded; at least one
            self.segments = [*folder.segments, last]
            self.file = folded_name(last)
            stem, dot, endings = last.partition(".")
            self.extension, self.endings, self.ending = _endings(endings) if dot and stem else _NONE
        else:
            self.segments = folder.segments or [""]
            self.file = ""
            self.ending = "/"
        self.last_words = without_numbers(words_of(self.segments[-1]))
        self.query = query.lower()
        self.query_words = words_of(self.query) if query else []
        self.anchor_words = without_numbers(words_of(link.anchor[:300])) if link.anchor else []
        self.title_words = without_numbers(words_of(link.title[:300])) if link.title else []
        self.words_before = words_of(link.before[-200:]) if link.before else []
        self.words_after = words_of(link.after[:200]) if link.after else []


def tags_of(link: Link) -> tuple[str, str]:
    """Return a link's tag path without digits, and its last three levels."""
    tags = fold_digits(link.tag_path[-LONGEST:].lower(), "")
    return tags, "/".join(tags.rsplit("/", 3)[-3:])


@lru_cache(maxsize=4096)
def _endings(dotted: str) -> tuple[str, tuple[str, ...], str]:
    """Return extension, last two endings, and these folded, of a file name's part behind its dot.

    For ``dump.nt.gz``: ``gz``; ``nt`` and ``gz``; ``nt.gz``.
    """
    endings = dotted.split(".")
    extension = endings[-1] if _EXTENSION.fullmatch(endings[-1]) else ""
    found = tuple(e for e in endings if _EXTENSION.fullmatch(e))[-2:]
    return extension, found, fold_digits(".".join(found))
