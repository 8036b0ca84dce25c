"""The model's view of a link: hashed binary features, a prior, and its places."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from semcrawl.links import Link
from semcrawl.links.model import NEAR_TEXT
from semcrawl.relevance.learned.aboutness import TopicSigns, about
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.parts import (
    FOLDED,
    LONGEST,
    Folder,
    Folders,
    LinkParts,
    SeedFolders,
    fold_digits,
    parts_of,
    stem_of,
    tags_of,
    way_between,
    words_of,
)
from semcrawl.relevance.learned.prior import LinkSigns, MarkupSigns, TargetSigns

#: most texts of one kind whose rows are cached
_CACHE_SIZE = 5_000
#: number of folders from the top with a feature each
_PREFIXES = 5
#: most characters of an anchor that is a feature as a whole
_SHORT_ANCHOR = 24
#: position on the page from which on it is a feature too; later links are mostly in long lists,
#: whose first entries often differ
_LONG_LIST = 32
_LONG_LIST_BITS = _LONG_LIST.bit_length()

#: letter of a kind of features → its name in explanations
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
    "z": "heading word",
    "t": "title word",
    "y": "type",
    "r": "rel",
    "d": "predicate",
    "p": "tag path",
    "P": "end of tag path",
    "s": "its source says",
    "k": "end of tag path, how far down the page",
    "m": "own words near the topic (0 to 4)",
    "c": "words around near the topic (0 to 4)",
    "v": "own words, relevance of the page (0 to 4)",
}


#: kinds whose texts are words, in which all runs of digits are equal
_WORDY = frozenset("ulqaAbfzt")


class LinkFacts(NamedTuple):
    """Everything that the model keeps of a link."""

    #: rows of the weight table, without repetition
    rows: NDArray[np.uint32]
    #: places for the exploration bonus: cluster, section, subsection
    groups: tuple[str, str, str]
    host: str
    #: the site, and the place in its pages, that name another host; empty for the site's own
    named_by: str
    #: whether it is never fetched
    dropped: bool
    signs: LinkSigns
    #: what it shares with other addresses of the same page (:func:`stem_of`)
    stem: int


class FeatureMaker:
    """Turns links into :class:`LinkFacts`, with bounded caches of rows."""

    def __init__(
        self,
        options: LearnedOptions,
        targets: TargetSigns,
        topic: TopicSigns | None = None,
        *,
        with_shares: bool = False,
    ) -> None:
        self._with_shares = with_shares
        self._targets = targets
        self._topic = topic if "topic" in options.families else None
        self._families = options.families
        mask = (1 << options.table_bits) - 1
        self._rows = {topic: _Rows(topic, mask) for topic in _TOPICS}
        self._folders = Folders()
        self._markups: dict[tuple[str, str, str, str, str], _Markup] = {}
        self._forms: dict[tuple[str, str, str, int], tuple[int, ...]] = {}

    def facts(
        self,
        links: Sequence[Link],
        page_folder: str,
        seeds: SeedFolders,
        relevance: float | None = None,
    ) -> list[LinkFacts]:
        """Describe links found on a page in ``page_folder`` (``host/folder/``).

        ``relevance`` is that of the page to the topic. A link with an invalid URL is ``dropped``.
        """
        if not links:
            return []
        site, tables = page_folder.partition("/")[0], self._rows
        described: list[_Described] = []
        flat: list[int] = []
        ends = [0]
        for link, parts in zip(links, parts_of(links, self._folders.among(seeds)), strict=True):
            markup = self._markup(link)
            signs = LinkSigns.of(link, parts, markup.signs, self._targets)
            host, folder = parts.host, parts.folder
            if link.element != "seed" and (signs.useless or not parts.readable):
                flat.append(tables["1"][""])
                described.append((("", "", ""), host, "", True, signs, 0))
            else:
                if folder.rows is None:
                    folder.rows = self._rows_of(self._folder_tokens(folder))
                rows = {*folder.rows, *markup.rows, *self._form(parts, page_folder)}
                for topic, tokens in self._own_tokens(link, parts):
                    rows.update(map(tables[topic].__getitem__, tokens))
                if self._topic is not None:
                    near = self._topic.of(link, parts, relevance)
                    rows.update(self._rows_of(near.tokens))
                    signs = about(signs, near, with_shares=self._with_shares)
                flat += rows
                cluster = f"{markup.shape} {host} {len(folder.names)} {parts.extension} "
                groups = f"{cluster}{parts.trailing}", folder.section, folder.subsection
                named_by = f"{site} {markup.shape}" if site != host else ""
                described.append((groups, host, named_by, False, signs, stem_of(link.url)))
            ends.append(len(flat))
        every = np.frombuffer(array("I", flat), np.uint32)  # four times as fast as of a list
        return [
            LinkFacts(every[begin:end], *rest)
            for (begin, end), rest in zip(pairwise(ends), described, strict=True)
        ]

    def named(
        self, link: Link, page_folder: str, seeds: SeedFolders, relevance: float | None = None
    ) -> list[tuple[str, int]]:
        """Return the names and rows of all features, for explanations."""
        found: dict[str, int] = {}
        (parts,) = parts_of([link], self._folders.among(seeds))
        for topic, tokens in chain(
            self._form_tokens(parts, way_between(page_folder, parts.folder.text)),
            self._own_tokens(link, parts),
            self._folder_tokens(parts.folder),
            self._markup_tokens(link),
            self._topic.of(link, parts, relevance).tokens if self._topic else (),
        ):
            for token in tokens:
                text = fold_digits(token) if topic in _WORDY else token
                name = f"{_TOPICS[topic]} {text!r}" if text else _TOPICS[topic]
                found[name] = self._rows[topic][token]
        return list(found.items())

    def _rows_of(self, found: Iterable[tuple[str, Iterable[str]]]) -> tuple[int, ...]:
        return tuple({self._rows[topic][token] for topic, tokens in found for token in tokens})

    def _markup(self, link: Link) -> _Markup:
        """Return the model's view of a link's element, cached."""
        key = (link.tag_path, link.type, link.rel, link.predicate, link.element)
        markup = self._markups.get(key)
        if markup is None:
            if len(self._markups) >= _CACHE_SIZE:
                self._markups.clear()
            rows = self._rows_of(self._markup_tokens(link))
            signs = MarkupSigns.of(link, self._targets)
            markup = self._markups[key] = _Markup(tags_of(link)[1], rows, signs)
        return markup

    def _form(self, parts: LinkParts, page_folder: str) -> tuple[int, ...]:
        """Return the rows of a link's form, which many links of a site share, cached."""
        way = way_between(page_folder, parts.folder.text)
        key = (parts.extension, parts.ending, way, len(parts.segments))
        rows = self._forms.get(key)
        if rows is None:
            if len(self._forms) >= _CACHE_SIZE:
                self._forms.clear()
            rows = self._forms[key] = self._rows_of(self._form_tokens(parts, way))
        return rows

    # kind and texts of all features: of the folder, the element, the form, the link itself

    def _folder_tokens(self, folder: Folder) -> Iterator[tuple[str, Sequence[str]]]:
        families, host, names = self._families, folder.host, folder.names
        if "path" in families:
            yield "u", folder.words[:20]
        if "host" in families:
            yield "h", (host,)
            yield "hs", (f"{host}/{'/'.join(names)}",)
            yield "hf", (f"{host}/{names[0] if names else ''}",)
        if "place" in families:
            yield "o", (folder.within,)
            yield "g", ["/".join((host, *names[:n])) for n in range(1, _PREFIXES + 1)][: len(names)]

    def _markup_tokens(self, link: Link) -> Iterator[tuple[str, Sequence[str]]]:
        if "markup" in self._families:
            tags, shape = tags_of(link)
            yield "y", (link.type[:80].lower(),)
            yield "r", (link.rel[:80].lower(),)
            yield "p", (tags,)
            yield "P", (shape,)
            if link.predicate:
                yield "d", (link.predicate[:LONGEST],)

    def _form_tokens(self, parts: LinkParts, way: str) -> Iterator[tuple[str, Sequence[str]]]:
        families = self._families
        yield "1", ("",)
        if "extension" in families:
            yield "e", (parts.extension,)
            yield "E", (parts.ending,)
        if "path" in families:
            yield "n", (str(len(parts.segments)),)
        if "place" in families:
            yield "w", (way,)
            yield "we", (f"{way} {parts.ending}",)

    def _own_tokens(self, link: Link, parts: LinkParts) -> list[tuple[str, Sequence[str]]]:
        families = self._families
        found: list[tuple[str, Sequence[str]]] = []
        if "path" in families:
            last = parts.last_words[:8]
            found += ("u", last), ("l", last)
        if parts.query and "query" in families:
            found.append(("q", parts.query_words[:6]))
        if "host" in families:
            names = parts.folder.names
            nearest = names[-1] if names else ""
            found.append(("hp", (f"{parts.host}/{nearest}/*{parts.file}",)))
        if link.anchor and "anchor" in families:
            words = parts.anchor_words[:8]
            found.append(("a", words))
            if len(link.anchor) <= _SHORT_ANCHOR:
                found.append(("A", (" ".join(words) or link.anchor,)))
        if "context" in families:
            if parts.words_before:
                found.append(("b", parts.words_before[-4:]))
            if parts.words_after:
                found.append(("f", parts.words_after[:3]))
            if link.heading:
                found.append(("z", words_of(link.heading)[:8]))
        if link.title and "title" in families:
            found.append(("t", parts.title_words[:6]))
        if link.cues and "markup" in families:
            cues = link.cues[:LONGEST].split()[:6]
            found.append(("s", [cue for cue in cues if not cue.startswith(NEAR_TEXT)]))
        if link.position >= _LONG_LIST and "markup" in families:
            shape, farthest = tags_of(link)[1], link.position.bit_length()
            # one per power of two up to the position, so that a weight also holds for later ones
            found.append(("k", [f"{shape} {n}" for n in range(_LONG_LIST_BITS, farthest + 1)]))
        return found


class _Markup(NamedTuple):
    """The model's view of an element: the end of its tag path, its rows, and its signs."""

    shape: str
    rows: tuple[int, ...]
    signs: MarkupSigns


#: the fields of :class:`LinkFacts` behind ``rows``
_Described = tuple[tuple[str, str, str], str, str, bool, LinkSigns, int]


class _Rows(dict[str, int]):
    """The rows of texts of one kind, hashed on first use."""

    def __init__(self, topic: str, mask: int) -> None:
        super().__init__()
        self._salt = crc32(f"{topic}:".encode())
        self._mask = mask
        self._folds = topic in _WORDY

    def __missing__(self, token: str) -> int:
        if self._folds and token != FOLDED and token.isdecimal():
            return self[FOLDED]  # not cached, as there is no end of numbers
        if len(self) >= _CACHE_SIZE:
            self.clear()
        folded = fold_digits(token) if self._folds else token
        if folded != token:
            row = self[token] = self[folded]
            return row
        row = self[token] = crc32(token.encode("utf-8", "replace"), self._salt) & self._mask
        return row
