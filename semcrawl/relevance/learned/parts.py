"""A link taken apart: path, words, texts around it; everything in lower case and bounded."""

from __future__ import annotations

import re
from urllib.parse import unquote

from semcrawl.links import Link
from semcrawl.relevance.learned.places import LONGEST, SeedFolders, place_in, split_url, way_between

_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W_]+")
#: a folder name that names one thing and nothing else: a hash, a session, a UUID (digits folded)
_OPAQUE = re.compile(r"(?=[a-f]*0)[a-f0-]{6,}|(?=.*0.*0)[a-z0]{16,}")
_EXTENSION = re.compile(r"[a-z][a-z0-9-]{0,9}")


class LinkParts:
    """One link, taken apart once. ``readable`` is false for a URL that is none."""

    __slots__ = (
        "anchor_words", "ending", "endings", "extension", "file", "folder_words", "folders",
        "host", "last_words", "query", "query_words", "readable", "segments", "tags",
        "title_words", "trailing", "way", "within", "words_after", "words_before",
    )  # fmt: skip

    def __init__(self, link: Link, page_folder: str, seeds: SeedFolders) -> None:
        self.host, path, query = split_url(link.url)
        self.readable = bool(self.host)
        if "%" in path:
            path = unquote(path, errors="replace")
        path = path.lower()
        above, _, last = path.rpartition("/")
        folder = f"{self.host}{above}/"
        self.way = way_between(page_folder, folder)
        self.within = place_in(seeds.root(self.host), folder)
        self.trailing = not last
        self.extension, self.endings = _endings(last) if "." in last else ("", [])
        self.ending = fold_digits(".".join(self.endings)) + ("/" if self.trailing else "")
        #: of the path, not folded; at least one
        self.segments = [s for s in path.split("/") if s] or [""]
        self.query = query.lower()
        folded = [s for s in fold_digits(path).split("/") if s]
        #: digits folded, identifiers turned into ``#``
        self.folders = ["#" if _OPAQUE.fullmatch(s) else s for s in folded]
        self.file = "" if self.trailing or not folded else self.folders.pop()
        self.last_words = words_of(self.segments[-1])
        self.folder_words = words_of(above) if not self.trailing else words_of(path)
        self.query_words = words_of(self.query) if query else []
        self.anchor_words = words_of(link.anchor[:300].lower()) if link.anchor else []
        self.title_words = words_of(link.title[:300].lower()) if link.title else []
        self.words_before = words_of(link.before[-200:].lower()) if link.before else []
        self.words_after = words_of(link.after[:200].lower()) if link.after else []
        self.tags = fold_digits(link.tag_path[-LONGEST:].lower(), "")

    @property
    def shape(self) -> str:
        """The last three levels of the tag path."""
        return "/".join(self.tags.rsplit("/", 3)[-3:])


def words_of(text: str) -> list[str]:
    """The words of a text: runs of letters and digits."""
    return _WORDS.findall(text)


def fold_digits(text: str, to: str = "0") -> str:
    """Every run of digits turned into ``0``."""
    return _DIGITS.sub(to, text)


def fold_all(words: list[str]) -> list[str]:
    """:func:`fold_digits` of each."""
    return _DIGITS.sub("0", " ".join(words)).split()


def _endings(name: str) -> tuple[str, list[str]]:
    """Extension of a file name, and its last two endings (``dump.nt.gz``: ``nt``, ``gz``)."""
    stem, *endings = name.split(".")
    if not stem or not endings:
        return "", []
    extension = endings[-1] if _EXTENSION.fullmatch(endings[-1]) else ""
    return extension, [e for e in endings if _EXTENSION.fullmatch(e)][-2:]
