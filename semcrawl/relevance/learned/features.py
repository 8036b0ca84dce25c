"""What a link looks like to the model: hashed binary features, a prior and its clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from semcrawl.links import Link
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.parts import LinkParts, fold_all
from semcrawl.relevance.learned.places import LONGEST, SeedFolders
from semcrawl.relevance.learned.prior import LinkSigns
from semcrawl.relevance.learned.targets import TargetSigns

#: texts of one kind whose rows are remembered
_CACHE_SIZE = 20_000
#: folders from the top that get a feature each
_PREFIXES = 5
#: longest anchor that is a feature as a whole, characters
_SHORT_ANCHOR = 24

#: what a feature is of → how it is called in an explanation
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
    """Turns links into :class:`LinkFacts`. Remembers the rows of texts, a bounded number."""

    def __init__(self, options: LearnedOptions, targets: TargetSigns) -> None:
        self._targets = targets
        self._families = options.families
        mask = (1 << options.table_bits) - 1
        self._rows = {topic: _Rows(topic, mask) for topic in _TOPICS}

    def facts(self, link: Link, page_folder: str, seeds: SeedFolders) -> LinkFacts:
        """Describe a link found on a page in ``page_folder`` (``host/folder/``).

        One whose URL cannot be read is ``dropped``.
        """
        parts = LinkParts(link, page_folder, seeds)
        signs = LinkSigns.of(link, parts, self._targets)
        dropped = link.element != "seed" and (signs.useless or not parts.readable)
        if dropped:
            row = np.array([self._rows["1"][""]], np.uint32)
            return LinkFacts(row, ("", "", ""), parts.host, True, signs)
        rows: set[int] = set()
        for topic, tokens in self._tokens(link, parts):
            rows.update(map(self._rows[topic].__getitem__, tokens))
        return LinkFacts(
            np.fromiter(rows, np.uint32, len(rows)), _groups(parts), parts.host, False, signs
        )

    def forget(self) -> None:
        """Keep the memory of rows bounded; to be called from time to time."""
        for table in self._rows.values():
            if len(table) > _CACHE_SIZE:
                table.clear()

    def named(self, link: Link, page_folder: str, seeds: SeedFolders) -> list[tuple[str, int]]:
        """Every feature by name with its row, in the order of making (for explanations)."""
        found: dict[str, int] = {}
        for topic, tokens in self._tokens(link, LinkParts(link, page_folder, seeds)):
            for token in tokens:
                name = f"{_TOPICS[topic]} {token!r}" if token else _TOPICS[topic]
                found[name] = self._rows[topic][token]
        return list(found.items())

    def _tokens(self, link: Link, parts: LinkParts) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Topic and texts of every feature."""
        families, host, folders = self._families, parts.host, parts.folders
        yield "1", ("",)
        if "extension" in families:
            yield "e", (parts.extension,)
            yield "E", (parts.ending,)
        if "path" in families:
            last = fold_all(parts.last_words)
            above = fold_all(parts.folder_words)
            yield "n", (str(len(parts.segments)),)
            yield "u", (*above[:20], *last[:8])
            yield "l", tuple(last[:8])
        if "query" in families and parts.query:
            yield "q", tuple(fold_all(parts.query_words)[:6])
        if "host" in families:
            first, nearest = (folders[0], folders[-1]) if folders else ("", "")
            yield "h", (host,)
            yield "hs", (f"{host}/{'/'.join(folders)}",)
            yield "hf", (f"{host}/{first}",)
            yield "hp", (f"{host}/{nearest}/*{parts.file}",)
        if "place" in families:
            yield "w", (parts.way,)
            yield "we", (f"{parts.way} {parts.ending}",)
            yield "o", (parts.within,)
            prefixes, prefix = [], host
            for folder in folders[:_PREFIXES]:
                prefix = f"{prefix}/{folder}"
                prefixes.append(prefix)
            yield "g", tuple(prefixes)
        if "anchor" in families and link.anchor:
            words = fold_all(parts.anchor_words[:8])
            yield "a", tuple(words)
            if len(link.anchor) <= _SHORT_ANCHOR:
                yield "A", (" ".join(words) or link.anchor,)
        if "context" in families:
            yield "b", tuple(fold_all(parts.words_before[-4:]))
            yield "f", tuple(fold_all(parts.words_after[:3]))
        if "title" in families and link.title:
            yield "t", tuple(fold_all(parts.title_words[:6]))
        if "markup" in families:
            yield "y", (link.type[:80].lower(),)
            yield "r", (link.rel[:80].lower(),)
            yield "p", (parts.tags,)
            yield "P", (parts.shape,)
            if link.predicate:
                yield "d", (link.predicate[:LONGEST],)


class _Rows(dict[str, int]):
    """Rows of the texts of one topic, hashed when first asked for."""

    def __init__(self, topic: str, mask: int) -> None:
        super().__init__()
        self._salt = crc32(f"{topic}:".encode())
        self._mask = mask

    def __missing__(self, token: str) -> int:
        row = self[token] = crc32(token.encode("utf-8", "replace"), self._salt) & self._mask
        return row


def _groups(parts: LinkParts) -> tuple[str, str, str]:
    """Names of the link's cluster, section and subsection."""
    host, folders = parts.host, parts.folders
    return (
        f"{parts.shape} {host} {len(folders)} {parts.extension} {parts.trailing}",
        f"{host}/{folders[0] if folders else ''}",
        f"{host}/{'/'.join(folders[:2])}",
    )
