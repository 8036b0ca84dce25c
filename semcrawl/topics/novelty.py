"""The topic ``new``: statements that no earlier document said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from math import log1p
from typing import Self

import numpy as np
import numpy.typing as npt

from semcrawl.config.numbers import whole_number
from semcrawl.errors import UsageError
from semcrawl.topics.contract import STATEMENTS, Document, Judgement, StatementMemory
from semcrawl.topics.excerpts import blocks
from semcrawl.topics.options import TopicOptions

_WAYS = 4
_TAG_BITS = 40

#: subject, predicate and object of a line; what follows is its graph name
_TRIPLE = re.compile(
    rb'^(\S+) (\S+) ("(?:[^"\\\n]|\\.)*"(?:@[^\s]+|\^\^<[^>]*>)?|<<.*>>|\S+)', re.MULTILINE
)
#: rounds in which blank nodes are told apart by what is said of them
_ROUNDS = 2

Triple = tuple[bytes, bytes, bytes]


def _hash(*parts: bytes) -> int:
    return int.from_bytes(blake2b(b" ".join(parts), digest_size=8).digest(), "big")


def statement_hashes(lines: Iterable[bytes]) -> set[int]:
    """Return a 64-bit hash of each distinct statement, the same in every process.

    Graph names do not count. A blank node counts as what is said of it, and of the blank nodes
    beside it; two that are the same so far are the same. A blank node's label never counts.
    """
    plain: set[int] = set()
    with_blanks: list[Triple] = []
    for block in lines:
        for triple in _TRIPLE.findall(block):
            if triple[0].startswith(b"_:") or triple[2].startswith(b"_:"):
                with_blanks.append(triple)
            else:
                plain.add(_hash(*triple))
    if not with_blanks:
        return plain
    signs: dict[bytes, bytes] = {}
    for _ in range(_ROUNDS):
        signs = _signs(with_blanks, signs)
    return plain.union(
        _hash(_as(subject, signs), predicate, _as(value, signs))
        for subject, predicate, value in with_blanks
    )


def _as(term: bytes, signs: dict[bytes, bytes]) -> bytes:
    return signs.get(term, b"_:") if term.startswith(b"_:") else term


def _signs(triples: Sequence[Triple], known: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Return for each blank node a sign of all that is said with it."""
    said: dict[bytes, set[int]] = {}
    for subject, predicate, value in triples:
        if subject.startswith(b"_:"):
            said.setdefault(subject, set()).add(_hash(b">", predicate, _as(value, known)))
        if value.startswith(b"_:"):
            said.setdefault(value, set()).add(_hash(b"<", predicate, _as(subject, known)))
    return {
        node: b"_:%d" % _hash(*(b"%d" % one for one in sorted(hashes)))
        for node, hashes in said.items()
    }


class New:
    """RDF that says what no earlier document said: the share of its distinct statements.

    To a crawl a document is worth more the more statements are new, by their logarithm: the share,
    times ½ where they are as many as in the documents with new ones so far, on average, times 1
    where they are its square.
    """

    name = "new"
    needs = frozenset({STATEMENTS})
    knows_words = False

    def __init__(self, memory: StatementMemory, options: TopicOptions) -> None:
        """Take the memory of what was said."""
        self.memory = memory
        self._options = options
        #: documents that said something new, and the logarithms of how much, in all
        self._documents, self._logarithms = 0, 0.0

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Take nothing; raise ``UsageError`` for an argument."""
        if argument.strip():
            raise UsageError("it takes no argument")
        size = whole_number(options.settings, "SEMCRAWL_ABOUT_NEW_STATEMENTS")
        return cls(LocalMemory(size), options)

    @property
    def takes_long(self) -> bool:
        """Whether the memory is in another process."""
        return self.memory.takes_long

    def remember_in(self, memory: StatementMemory) -> None:
        """Use a memory that all workers share."""
        self.memory = memory

    def judge(self, document: Document) -> Judgement:
        """Count the statements that are new, and remember them."""
        return self.judge_hashes(document.url, statement_hashes(self._lines(document)))

    def judge_hashes(self, url: str, statements: Iterable[int]) -> Judgement:
        """Judge a document by the hashes of its distinct statements."""
        hashes = sorted(statements)
        if not hashes:
            return Judgement.of(0.0, [(self.name, "it makes no statement")], 0.0)
        new = sum(self.memory.add(_hash(url.encode()), hashes))
        share = new / len(hashes)
        reasons = [(self.name, f"{new} of {len(hashes)} distinct statements")]
        return Judgement.of(share, reasons, share * self._size(new))

    def _size(self, statements: int) -> float:
        """Return how much so many new statements are, 0 to 1, beside those of earlier documents."""
        if not statements:
            return 0.0
        logarithm = log1p(statements)
        self._documents += 1
        self._logarithms += logarithm
        return min(1.0, logarithm * self._documents / (2 * self._logarithms))

    def _lines(self, document: Document) -> Iterator[bytes]:
        return blocks(document, self._options.max_size)

    def similarity(self, text: str, language: str = "") -> float:
        """Nothing is known of words."""
        return 0.0

    def iri_similarity(self, iri: str) -> float:
        """Nothing is known of terms."""
        return 0.0


class LocalMemory:
    """A memory in this process, 8 bytes per statement.

    Each statement has a bucket of four places, which holds a part of its hash and a part of its
    document's hash. A full bucket forgets one of its statements, and what was forgotten counts as
    new again. That a statement counts as known which nobody said has a chance of 4 in 10¹².
    """

    takes_long = False

    def __init__(self, statements: int) -> None:
        """Make room for this many statements, rounded up to a power of two."""
        self._buckets = 1 << max(0, (statements - 1) // _WAYS).bit_length()
        self._table = np.zeros((self._buckets, _WAYS), np.uint64)
        self._turn = 0

    def add(self, document: int, statements: Sequence[int]) -> list[bool]:
        """Add the statements of a document; return for each whether no other one said it."""
        hashes = np.fromiter(statements, np.uint64, len(statements))
        places = (hashes % np.uint64(self._buckets)).astype(np.int64)
        tags = (hashes >> np.uint64(64 - _TAG_BITS)) << np.uint64(64 - _TAG_BITS)
        mark = np.uint64((document % ((1 << (64 - _TAG_BITS)) - 1)) + 1)
        mask = np.uint64((1 << (64 - _TAG_BITS)) - 1)
        found = self._table[places]
        same = ((found & ~mask) == tags[:, None]) & (found != 0)
        known = same.any(axis=1)
        others = (same & ((found & mask) != mark)).any(axis=1)
        self._put(places[~known], tags[~known] | mark)
        return [not other for other in others.tolist()]

    def _put(self, places: npt.NDArray[np.int64], entries: npt.NDArray[np.uint64]) -> None:
        """Put entries into empty places of their buckets, else in place of others in turn."""
        for _ in range(_WAYS):  # (of entries with one bucket, one is put at a time)
            if not len(places):
                return
            empty = self._table[places] == 0
            ways = np.where(empty.any(axis=1), empty.argmax(axis=1), self._turn % _WAYS)
            self._turn += 1
            self._table[places, ways] = entries
            left = self._table[places, ways] != entries
            places, entries = places[left], entries[left]
