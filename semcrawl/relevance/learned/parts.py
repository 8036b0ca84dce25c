"""A link taken apart: path, words, texts around it; everything in lower case and bounded."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

from semcrawl.links import Link
from semcrawl.relevance.learned.folders import Folders, folded_name
from semcrawl.relevance.learned.places import LONGEST, SeedFolders, split_url, way_between
from semcrawl.relevance.learned.words import fold_digits, without_numbers, words_of

_EXTENSION = re.compile(r"[a-z][a-z0-9-]{0,9}")


class LinkParts:
    """One link, taken apart once. ``readable`` is false for a URL that is none."""

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
            #: of the path, not folded; at least one
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
    """A link's tag path without digits, and the last three levels of it."""
    tags = fold_digits(link.tag_path[-LONGEST:].lower(), "")
    return tags, "/".join(tags.rsplit("/", 3)[-3:])


@lru_cache(maxsize=4096)
def _endings(dotted: str) -> tuple[str, tuple[str, ...], str]:
    """Extension, last two endings, and these folded, of what follows a file name's first dot.

    Of ``dump.nt.gz``: ``gz``; ``nt`` and ``gz``; ``nt.gz``.
    """
    endings = dotted.split(".")
    extension = endings[-1] if _EXTENSION.fullmatch(endings[-1]) else ""
    found = tuple(e for e in endings if _EXTENSION.fullmatch(e))[-2:]
    return extension, found, fold_digits(".".join(found))


_NONE: tuple[str, tuple[str, ...], str] = ("", (), "")
