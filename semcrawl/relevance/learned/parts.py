"""Takes a link apart: its folder, path and words, and the texts around it; all bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import Self
from urllib.parse import unquote

from semcrawl.links import Link

_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W_]+")
#: translation table: lower-case letters, digits, and a space for every other byte but line feeds
_ASCII_WORDS = bytes(
    ord(chr(b).lower()) if b < 128 and chr(b).isalnum() else 10 if b == 10 else 32
    for b in range(256)
)
#: replaces every run of digits
FOLDED = "0"
#: beginning of words for ontologies in many languages, and of names like ``OntologyDocumentation``
RDF_STEM = "ontolog"
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


def words_of_each(texts: Sequence[str]) -> list[list[str]]:
    """Return :func:`words_of` of each text, in one pass over all of them."""
    joined = "\n".join(texts)
    if joined.isascii() and joined.count("\n") == len(texts) - 1:
        lines = joined.encode().translate(_ASCII_WORDS).decode().split("\n")
        return [line.split() for line in lines]
    return [words_of(text) if text else [] for text in texts]


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

    def __init__(self, folders: Mapping[str, str] = MappingProxyType({})) -> None:
        self.folders: dict[str, str] = dict(folders)
        #: number of changes, for those who remember what follows from them
        self.changes = 0

    def add(self, url: str) -> None:
        """Add a seed; several on a host share the lowest folder above all of them."""
        folder = folder_of(url)
        host = folder.partition("/")[0]
        known = self.folders.setdefault(host, folder)
        while not folder.startswith(known):
            known = known[:-1].rpartition("/")[0] + "/"
        self.folders[host] = known
        self.changes += 1

    @contextmanager
    def for_now(self, url: str) -> Iterator[None]:
        """Add a seed during the block."""
        host = folder_of(url).partition("/")[0]
        before = self.folders.get(host)
        self.add(url)
        try:
            yield
        finally:
            self.changes += 1
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


def stem_of(url: str) -> int:
    """Return a number that an address and all its :func:`twin_addresses` share.

    Few others have the same, so that most links need no comparison of addresses.
    """
    place, _, query = url.partition("://")[2].partition("?")
    while place.startswith("www."):
        place = place[4:]
    above, _, name = place.rstrip("/").rpartition("/")
    name = name.partition(".")[0].lower()
    while above and (not name or name in _INDEX_PAGES):
        above, _, name = above.rstrip("/").rpartition("/")
        name = name.partition(".")[0].lower()
    return hash((above, name, query))


class Folder:
    """A folder of a host: the common part of the links into it."""

    __slots__ = (
        "dull", "host", "named", "names", "rows", "section", "segments", "subsection", "text",
        "within", "words",
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
        #: whether it has words of targets, and dull ones, cached by :class:`LinkSigns`
        self.named: bool | None = None
        self.dull = False


class Folders(dict[str, Folder]):
    """A bounded cache of folders, by the beginning of a URL without the folder's last slash."""

    def __init__(self) -> None:
        super().__init__()
        self._seeds = SeedFolders()
        self._changes = 0

    def among(self, seeds: SeedFolders) -> Self:
        """Return the folders as they are to these seeds."""
        if self._seeds is not seeds or self._changes != seeds.changes or len(self) > _REMEMBERED:
            self.clear()
            self._seeds, self._changes = seeds, seeds.changes
        return self

    def __missing__(self, start: str) -> Folder:
        """Take a URL without its last slash and what follows apart."""
        host, path, _ = split_url(start + "/")
        return self.add(start, host, path[:-1].lower())

    def add(self, key: str, host: str, path: str) -> Folder:
        """Add a folder by its host and its lower-case path without the last slash."""
        folder = self[key] = Folder(host, path, self._seeds.root(host))
        return folder


def folded_name(segment: str) -> str:
    """Fold the digits of a segment; return ``#`` if it identifies a single thing."""
    folded = fold_digits(segment)
    return "#" if _OPAQUE.fullmatch(folded) else folded


class LinkParts:
    """The parts of a link; ``readable`` is false for an invalid URL."""

    __slots__ = (
        "anchor_words", "ending", "endings", "extension", "file", "folder", "host", "last_words",
        "may_name", "query", "query_words", "readable", "segments", "title_words", "trailing",
        "words_after", "words_before",
    )  # fmt: skip

    anchor_words: list[str]
    title_words: list[str]
    last_words: list[str]
    words_before: list[str]
    words_after: list[str]
    #: false if no text of the page's links has :data:`RDF_STEM`
    may_name: bool

    def __init__(self, url: str, folders: Folders) -> None:
        if "?" in url or "%" in url or "#" in url or len(url) > LONGEST or url.count("/") < 3:
            self.host, path, query = split_url(url)
            if "%" in path:
                path = unquote(path, errors="replace")
            above, _, last = path.lower().rpartition("/")
            key = f"{self.host}{above}/"  # without a scheme, as URLs have one
            folder = folders.get(key) or folders.add(key, self.host, above)
            self.query = query.lower()
            self.query_words = words_of(self.query) if query else []
        else:  # most URLs
            start, _, last = url.rpartition("/")
            last = last.lower()
            folder = folders[start]
            self.host = folder.host
            self.query = ""
            self.query_words = []
        self.folder = folder
        self.readable = bool(self.host)
        self.trailing = not last
        self.extension, self.endings, self.ending = _NONE
        if last:
            #: segments of the path, not folded; at least one
            self.segments = [*folder.segments, last]
            self.file = folded_name(last)
            stem, dot, endings = last.partition(".")
            if dot and stem:
                self.extension, self.endings, self.ending = _endings(endings)
        else:
            self.segments = folder.segments or [""]
            self.file = ""
            self.ending = "/"


def parts_of(links: Sequence[Link], folders: Folders) -> list[LinkParts]:
    """Take links of a page apart, their texts together."""
    parts = [LinkParts(link.url, folders) for link in links]
    texts = [each.segments[-1] for each in parts]
    texts += [link.anchor[:300] for link in links]
    texts += [link.title[:300] for link in links]
    texts += [link.before[-200:] for link in links]
    texts += [link.after[:200] for link in links]
    words, count = words_of_each(texts), len(links)
    may_name = RDF_STEM in "\n".join(texts).lower()
    for number, each in enumerate(parts):
        each.may_name = may_name
        each.last_words = without_numbers(words[number])
        each.anchor_words = without_numbers(words[number + count])
        each.title_words = without_numbers(words[number + 2 * count])
        each.words_before = words[number + 3 * count]
        each.words_after = words[number + 4 * count]
    return parts


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
