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
from semcrawl.relevance.learned.prior import LinkSigns, prior_logit
from semcrawl.relevance.learned.targets import TargetSigns

_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W_]+")
_LETTER_DIGITS = re.compile(r"(?<=[a-z])(?=0)|(?<=0)(?=[a-z])")
#: a path segment that names one thing and nothing else: a hash, a session, a UUID
_OPAQUE = re.compile(r"(?=[a-f]*0)[a-f0-]{6,}|(?=.*0.*0)[a-z0]{16,}")
_EXTENSION = re.compile(r"[a-z][a-z0-9-]{0,9}")
#: characters of a URL or text that are looked at
_LONGEST = 1000
_CACHE_SIZE = 50_000


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """All that the model keeps of a link."""

    #: rows of the weight table, without repetition, uint32
    rows: NDArray[np.uint32]
    #: prior logit, without jitter
    prior: float
    #: names of what the exploration bonus counts by: cluster, section, subsection
    groups: tuple[str, str, str]
    host: str
    #: never to be fetched
    dropped: bool
    #: what the URL and the type attribute promise: see :class:`LinkSigns`
    signs: LinkSigns


class FeatureMaker:
    """Turns links into :class:`LinkFacts`. Keeps a bounded cache of hashed texts."""

    def __init__(self, options: LearnedOptions, signs: TargetSigns) -> None:
        self._signs = signs
        self._families = options.families
        self._mask = (1 << options.table_bits) - 1
        self._cache: dict[tuple[str, str, int], tuple[int, ...]] = {}

    def facts(self, link: Link) -> LinkFacts:
        """Describe a link; one whose URL cannot be read is ``dropped``."""
        view = _View(link, self._signs)
        rows: set[int] = set()
        for prefix, text, limit in view.texts(self._families):
            key = (prefix, text, limit)
            hashed = self._cache.get(key)
            if hashed is None:
                hashed = self._hash(prefix, text, limit)
            rows.update(hashed)
        return LinkFacts(
            rows=np.fromiter(sorted(rows), np.uint32, len(rows)),
            prior=prior_logit(view.signs),
            groups=view.groups(),
            host=view.host,
            dropped=view.dropped,
            signs=view.signs,
        )

    def named(self, link: Link) -> list[tuple[str, int]]:
        """Every feature by name with its row, in the order of making (for explanations)."""
        view = _View(link, self._signs)
        found: dict[str, int] = {}
        for prefix, text, limit in view.texts(self._families):
            for token in _tokens(text, limit):
                found[f"{_TOPICS[prefix]} {token!r}" if token else _TOPICS[prefix]] = (
                    crc32(f"{prefix}:{token}".encode("utf-8", "replace")) & self._mask
                )
        return list(found.items())

    def _hash(self, prefix: str, text: str, limit: int) -> tuple[int, ...]:
        if len(self._cache) >= _CACHE_SIZE:
            self._cache.clear()
        mask = self._mask
        hashed = tuple(
            crc32(f"{prefix}:{token}".encode("utf-8", "replace")) & mask
            for token in _tokens(text, limit)
        )
        self._cache[prefix, text, limit] = hashed
        return hashed


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
    "a": "anchor word",
    "A": "anchor",
    "b": "word before",
    "f": "word after",
    "t": "title word",
    "y": "type",
    "r": "rel",
    "p": "tag path",
    "P": "end of tag path",
}


def _tokens(text: str, limit: int) -> list[str]:
    """The features of a text: itself (limit 0), its first words (> 0), or its last (< 0)."""
    if limit == 0:
        return [text]
    words = fold_words(text)
    return words[:limit] if limit > 0 else words[limit:]


def fold_digits(text: str) -> str:
    """Lower case, every run of digits turned into ``0``."""
    return _DIGITS.sub("0", text.lower())


def fold_words(text: str) -> list[str]:
    """Words of a text, folded by :func:`fold_digits`."""
    return _WORD.findall(fold_digits(text))


class _View:
    """One link, taken apart once."""

    __slots__ = (
        "directories", "dropped", "ending", "extension", "file", "host", "link", "path", "query",
        "segments", "signs", "tags", "trailing",
    )  # fmt: skip

    def __init__(self, link: Link, targets: TargetSigns) -> None:
        self.link = link
        self.dropped = False
        try:
            parts = urlsplit(link.url[:_LONGEST])
            self.host = parts.netloc.rpartition("@")[2].lower()[:255]
            path, self.query = parts.path, parts.query
        except ValueError:
            self.host, path, self.query = "", "", ""
            self.dropped = True
        if "%" in path:
            path = unquote(path, errors="replace")
        self.path = fold_digits(path)
        self.segments = [s for s in self.path.split("/") if s]
        self.trailing = path.endswith("/") or not path
        self.directories = [_fold_opaque(s) for s in self.segments]
        self.file = "" if self.trailing or not self.directories else self.directories.pop()
        name = "" if self.trailing else (self.segments[-1] if self.segments else "")
        stem, *endings = name.split(".")
        endings = [e for e in endings if _EXTENSION.fullmatch(e)][-2:] if stem else []
        # digits are folded, so n3 and mp4 are put back
        last = path.rpartition(".")[2].lower() if endings else ""
        self.extension = last if _EXTENSION.fullmatch(last) else ""
        self.ending = ".".join(endings) + ("/" if self.trailing else "")
        self.tags = _folded_tags(link.tag_path)
        self.signs = LinkSigns.of(
            link,
            targets,
            extension=self.extension,
            endings=endings,
            segments=[s for s in path.lower().split("/") if s],
            trailing=self.trailing,
            query=bool(self.query),
        )
        self.dropped = self.dropped or self.signs.useless

    def texts(self, families: frozenset[str]) -> list[tuple[str, str, int]]:
        """(prefix, text, limit) of every feature; see :func:`_tokens` for the limit."""
        link, host = self.link, self.host
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
            folders = self.directories
            found += [
                ("h", host, 0),
                ("hs", f"{host}/{'/'.join(folders)}", 0),
                ("hf", f"{host}/{folders[0] if folders else ''}", 0),
                ("hp", f"{host}/{folders[-1] if folders else ''}/*{self.file}", 0),
            ]
        if "anchor" in families and link.anchor:
            anchor = link.anchor[:_LONGEST]
            found.append(("a", anchor, 8))
            if len(anchor) <= 24:
                found.append(("A", fold_digits(anchor), 0))
        if "context" in families:
            if link.before:
                found.append(("b", link.before[-100:], -4))
            if link.after:
                found.append(("f", link.after[:100], 3))
        if "title" in families and link.title:
            found.append(("t", link.title[:_LONGEST], 6))
        if "markup" in families:
            found += [("y", link.type[:80].lower(), 0), ("r", link.rel[:80].lower(), 0)]
            found += [("p", self.tags, 0), ("P", _last_levels(self.tags), 0)]
        return found

    def groups(self) -> tuple[str, str, str]:
        """Names of the link's cluster, section and subsection."""
        host, folders = self.host, self.directories
        return (
            f"{_last_levels(self.tags)} {host} {len(folders)} {self.extension} {self.trailing}",
            f"{host}/{folders[0] if folders else ''}",
            f"{host}/{'/'.join(folders[:2])}",
        )


def _fold_opaque(segment: str) -> str:
    """A segment that is an identifier becomes ``#``: every such folder counts as the same."""
    return "#" if _OPAQUE.fullmatch(segment) else segment


def _folded_tags(tag_path: str) -> str:
    """The tag path in lower case, without digits."""
    return _DIGITS.sub("", tag_path[-_LONGEST:].lower())


def _last_levels(tags: str) -> str:
    """The last three levels of a tag path."""
    return "/".join(tags.rsplit("/", 3)[-3:])
