"""What a link looks like to the model: hashed binary features, a prior and its clusters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from semcrawl.links import Link
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.places import LONGEST, Place, host_of
from semcrawl.relevance.learned.prior import LinkSigns
from semcrawl.relevance.learned.targets import TargetSigns

_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W_]+")
#: a folder name that names one thing and nothing else: a hash, a session, a UUID (digits folded)
_OPAQUE = re.compile(r"(?=[a-f]*0)[a-f0-]{6,}|(?=.*0.*0)[a-z0]{16,}")
_EXTENSION = re.compile(r"[a-z][a-z0-9-]{0,9}")
#: texts whose hashes are remembered
_CACHE_SIZE = 20_000
#: folders from the top that get a feature each
_PREFIXES = 5

#: feature prefix → what it is called in an explanation
_TOPICS = {
    "1": "always",
    "e": "extension",
    "E": "file name's end",
    "n": "number of segments",
    "u": "path word",
    "l": "last segment word",
    "q": "query word",
    "h": "host",
    "hs": "host and folder",
    "hf": "host and first folder",
    "hp": "host, file name in any folder",
    "g": "below the folder",
    "w": "way from the page's folder",
    "we": "way and file name's end",
    "o": "seed's folder",
    "a": "anchor word",
    "A": "anchor",
    "b": "word before",
    "f": "word after",
    "t": "title word",
    "y": "type",
    "r": "rel",
    "d": "predicate",
    "p": "tag path",
    "P": "end of tag path",
}


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """All that the model keeps of a link."""

    #: rows of the weight table, without repetition
    rows: NDArray[np.uint32]
    #: names of what the exploration bonus counts by: cluster, section, subsection
    groups: tuple[str, str, str]
    host: str
    #: never to be fetched
    dropped: bool
    signs: LinkSigns


class FeatureMaker:
    """Turns links into :class:`LinkFacts`. Keeps a bounded cache of hashed texts."""

    def __init__(self, options: LearnedOptions, targets: TargetSigns) -> None:
        self._targets = targets
        self._families = options.families
        self._mask = (1 << options.table_bits) - 1
        self._cache: dict[tuple[str, str, int], tuple[int, ...]] = {}

    def facts(self, link: Link, place: Place) -> LinkFacts:
        """Describe a link; one whose URL cannot be read is ``dropped``."""
        view = _View(link, self._targets, place)
        if view.dropped:
            return LinkFacts(_NO_ROWS, ("", "", ""), view.host, True, view.signs)
        rows: set[int] = set()
        cache = self._cache
        for key in view.texts(self._families):
            hashed = cache.get(key)
            rows.update(self._hash(key) if hashed is None else hashed)
        return LinkFacts(
            np.array(sorted(rows), np.uint32), view.groups(), view.host, False, view.signs
        )

    def named(self, link: Link, place: Place) -> list[tuple[str, int]]:
        """Every feature by name with its row, in the order of making (for explanations)."""
        found: dict[str, int] = {}
        for prefix, text, limit in _View(link, self._targets, place).texts(self._families):
            for token in _tokens(text, limit):
                name = f"{_TOPICS[prefix]} {token!r}" if token else _TOPICS[prefix]
                found[name] = self._row(prefix, token)
        return list(found.items())

    def _hash(self, key: tuple[str, str, int]) -> tuple[int, ...]:
        if len(self._cache) >= _CACHE_SIZE:
            self._cache.clear()
        prefix, text, limit = key
        hashed = tuple(self._row(prefix, token) for token in _tokens(text, limit))
        self._cache[key] = hashed
        return hashed

    def _row(self, prefix: str, token: str) -> int:
        return crc32(f"{prefix}:{token}".encode("utf-8", "replace")) & self._mask


def _tokens(text: str, limit: int) -> list[str]:
    """The features of a text: itself (limit 0), its first words (> 0), or its last (< 0)."""
    if limit == 0:
        return [text]
    words = _WORD.findall(fold_digits(text))
    return words[:limit] if limit > 0 else words[limit:]


def fold_digits(text: str) -> str:
    """Lower case, every run of digits turned into ``0``."""
    return _DIGITS.sub("0", text.lower())


class _View:
    """One link, taken apart once."""

    __slots__ = (
        "dropped", "ending", "extension", "file", "folders", "host", "link", "path", "query",
        "segments", "signs", "tags", "trailing", "way", "within",
    )  # fmt: skip

    def __init__(self, link: Link, targets: TargetSigns, place: Place) -> None:
        self.link = link
        self.dropped = False
        self.host = host_of(link.url)
        try:
            parts = urlsplit(link.url[:LONGEST])
            path, self.query = parts.path, parts.query.lower()
        except ValueError:
            path, self.query = "", ""
            self.dropped = True
        if "%" in path:
            path = unquote(path, errors="replace")
        path = path.lower()
        folder = path.rpartition("/")[0] + "/"
        self.way, self.within = place.way(self.host, folder), place.within(self.host, folder)
        segments = [s for s in path.split("/") if s]
        self.trailing = path.endswith("/") or not segments
        self.extension, endings = ("", []) if self.trailing else _endings(segments[-1])
        self.path = _DIGITS.sub("0", path)
        self.segments = [s for s in self.path.split("/") if s]
        self.folders = ["#" if _OPAQUE.fullmatch(s) else s for s in self.segments]
        self.file = "" if self.trailing else self.folders.pop()
        self.ending = _DIGITS.sub("0", ".".join(endings)) + ("/" if self.trailing else "")
        self.tags = _DIGITS.sub("", link.tag_path[-LONGEST:].lower())
        self.signs = LinkSigns.of(
            link,
            targets,
            extension=self.extension,
            endings=endings,
            segments=segments,
            trailing=self.trailing,
            query=self.query,
            within=self.within,
        )
        self.dropped = self.dropped or self.signs.useless or not self.host

    def texts(self, families: frozenset[str]) -> list[tuple[str, str, int]]:
        """(prefix, text, limit) of every feature; see :func:`_tokens` for the limit."""
        link, host, folders = self.link, self.host, self.folders
        found = [("1", "", 0)]
        if "extension" in families:
            found += [("e", self.extension, 0), ("E", self.ending, 0)]
        if "path" in families:
            found += [("n", str(len(self.segments)), 0), ("u", self.path, 24)]
            if self.segments:
                found.append(("l", self.segments[-1], 8))
        if "query" in families and self.query:
            found.append(("q", self.query, 6))
        if "host" in families:
            first, last = (folders[0], folders[-1]) if folders else ("", "")
            found += [
                ("h", host, 0),
                ("hs", f"{host}/{'/'.join(folders)}", 0),
                ("hf", f"{host}/{first}", 0),
                ("hp", f"{host}/{last}/*{self.file}", 0),
            ]
        if "place" in families:
            found += [("w", self.way, 0), ("we", f"{self.way} {self.ending}", 0)]
            found.append(("o", self.within, 0))
            prefix = host
            for folder in folders[:_PREFIXES]:
                prefix = f"{prefix}/{folder}"
                found.append(("g", prefix, 0))
        if "anchor" in families and link.anchor:
            found.append(("a", link.anchor[:LONGEST], 8))
            if len(link.anchor) <= 24:
                found.append(("A", fold_digits(link.anchor), 0))
        if "context" in families:
            if link.before:
                found.append(("b", link.before[-100:], -4))
            if link.after:
                found.append(("f", link.after[:100], 3))
        if "title" in families and link.title:
            found.append(("t", link.title[:LONGEST], 6))
        if "markup" in families:
            found += [("y", link.type[:80].lower(), 0), ("r", link.rel[:80].lower(), 0)]
            found += [("p", self.tags, 0), ("P", _last_levels(self.tags), 0)]
            if link.predicate:
                found.append(("d", link.predicate[:LONGEST], 0))
        return found

    def groups(self) -> tuple[str, str, str]:
        """Names of the link's cluster, section and subsection."""
        host, folders = self.host, self.folders
        return (
            f"{_last_levels(self.tags)} {host} {len(folders)} {self.extension} {self.trailing}",
            f"{host}/{folders[0] if folders else ''}",
            f"{host}/{'/'.join(folders[:2])}",
        )


_NO_ROWS: NDArray[np.uint32] = np.zeros(0, np.uint32)


def _endings(name: str) -> tuple[str, list[str]]:
    """Extension of a file name, and its last two endings (``dump.nt.gz``: ``nt``, ``gz``)."""
    stem, *endings = name.split(".")
    if not stem or not endings:
        return "", []
    extension = endings[-1] if _EXTENSION.fullmatch(endings[-1]) else ""
    return extension, [e for e in endings if _EXTENSION.fullmatch(e)][-2:]


def _last_levels(tags: str) -> str:
    """The last three levels of a tag path."""
    return "/".join(tags.rsplit("/", 3)[-3:])
