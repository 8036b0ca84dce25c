"""The topic ``new``: statements that no kept document made before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from math import log1p
from typing import Self

import numpy as np
import numpy.typing as npt

from semcrawl.errors import UsageError
from semcrawl.topics.contract import (
    MOST_REMEMBERED,
    STATEMENTS,
    Document,
    Judgement,
    StatementMemory,
    TopicOptions,
)
from semcrawl.topics.texts import blocks

#: entries per bucket
_WAYS = 4
_TAG_BITS = 40

#: subject, predicate and object of a line; its graph name may follow
_TRIPLE = re.compile(
    rb'^(\S+) (\S+) ("(?:[^"\\\n]|\\.)*"(?:@[^\s]+|\^\^<[^>]*>)?|<<.*>>|\S+)', re.MULTILINE
)
#: rounds of refining the signatures of blank nodes
_ROUNDS = 2

Triple = tuple[bytes, bytes, bytes]


def _hash(*parts: bytes) -> int:
    return int.from_bytes(blake2b(b" ".join(parts), digest_size=8).digest(), "big")


def statement_hashes(lines: Iterable[bytes]) -> set[int]:
    """Return a 64-bit hash of each distinct statement, the same in every process.

    Graph names do not count. The statements about a blank node and its neighbouring blank nodes
    stand for it, never its label. Two blank nodes with the same such statements count as one.
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
    signatures: dict[bytes, bytes] = {}
    for _ in range(_ROUNDS):
        signatures = _signatures(with_blanks, signatures)
    return plain.union(
        _hash(_signature(subject, signatures), predicate, _signature(value, signatures))
        for subject, predicate, value in with_blanks
    )


def _signature(term: bytes, signatures: dict[bytes, bytes]) -> bytes:
    return signatures.get(term, b"_:") if term.startswith(b"_:") else term


def _signatures(triples: Sequence[Triple], known: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Return a signature of each blank node, from all statements that it occurs in."""
    said: dict[bytes, set[int]] = {}
    for subject, predicate, value in triples:
        if subject.startswith(b"_:"):
            said.setdefault(subject, set()).add(_hash(b">", predicate, _signature(value, known)))
        if value.startswith(b"_:"):
            said.setdefault(value, set()).add(_hash(b"<", predicate, _signature(subject, known)))
    return {
        node: b"_:%d" % _hash(*(b"%d" % one for one in sorted(hashes)))
        for node, hashes in said.items()
    }


class New:
    """RDF with new statements: the relevance is their share of the distinct statements.

    A document's worth to the crawl is that share, times a factor that grows with the logarithm of
    the number of new statements: ½ for the (geometric) mean of the documents with new statements
    so far, 1 for its square. Both guide the crawl. A document is kept for a single new statement.
    """

    name = "new"
    needs = frozenset({STATEMENTS})
    #: any document may have new statements: the topic says nothing of what to look for
    has_subject = False
    knows_words = False

    def __init__(self, memory: StatementMemory, options: TopicOptions) -> None:
        """Judge by ``memory``."""
        self.memory = memory
        self._options = options
        #: number of documents with new statements, and the sum of the logarithms of their numbers
        self._documents, self._logarithms = 0, 0.0

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Make the topic; raise ``UsageError`` for an argument."""
        if argument.strip():
            raise UsageError("it takes no argument")
        return cls(LocalMemory(MOST_REMEMBERED), options)

    @property
    def takes_long(self) -> bool:
        """Whether the memory may wait for another process."""
        return self.memory.takes_long

    def remember_in(self, memory: StatementMemory) -> None:
        """Use a memory that all workers share."""
        self.memory = memory

    def judge(self, document: Document) -> Judgement:
        """Count the new statements; they are remembered once the document is kept.

        A document that is too large to be judged whole decides for itself: it may make more.
        """
        read = 0

        def counted() -> Iterator[bytes]:
            nonlocal read
            for piece in document.statements():
                read += len(piece)
                yield piece

        most = self._options.max_size
        hashes = statement_hashes(blocks(replace(document, statements=counted), most))
        return self.judge_hashes(document.url, hashes, whole=read < most)

    def judge_hashes(self, url: str, statements: Iterable[int], *, whole: bool = True) -> Judgement:
        """Judge a document by the hashes of its distinct statements, all of them if ``whole``."""
        hashes, name = sorted(statements), _hash(url.encode())
        if not hashes:
            none = [(self.name, "it makes no statement")]
            return Judgement.of(0.0, none, 0.0, float(not whole))
        new = sum(self.memory.add(name, hashes, remember=False))
        share = new / len(hashes)
        reasons = [(self.name, f"{new} of {len(hashes)} distinct statements")]
        return Judgement.of(
            share,
            reasons,
            share * self._factor(new),
            decides=float(new > 0 or not whole),
            on_kept=partial(self.memory.add, name, hashes),
        )

    def _factor(self, statements: int) -> float:
        """Return the factor of worth, 0 to 1, for a number of new statements."""
        if not statements:
            return 0.0
        logarithm = log1p(statements)
        self._documents += 1
        self._logarithms += logarithm
        return min(1.0, logarithm * self._documents / (2 * self._logarithms))

    def similarity(self, text: str, language: str = "") -> float:
        """Always 0."""
        return 0.0

    def iri_similarity(self, iri: str) -> float:
        """Always 0."""
        return 0.0


class LocalMemory:
    """A memory in this process, with 8 bytes per statement.

    It is a hash table with buckets of four entries, each a part of a statement's hash and a part of
    its document's hash. A full bucket forgets one of its entries, whose statement counts as new
    again. A new statement counts as known with a probability of 4 in 10¹².
    """

    takes_long = False

    def __init__(self, statements: int) -> None:
        """Allocate room for this many statements, rounded up to a power of two."""
        self._buckets = 1 << max(0, (statements - 1) // _WAYS).bit_length()
        self._table = np.zeros((self._buckets, _WAYS), np.uint64)
        self._turn = 0

    def add(self, document: int, statements: Sequence[int], *, remember: bool = True) -> list[bool]:
        """Add a document's statements or look them up; return for each whether no other made it."""
        hashes = np.fromiter(statements, np.uint64, len(statements))
        places = (hashes % np.uint64(self._buckets)).astype(np.int64)
        tags = (hashes >> np.uint64(64 - _TAG_BITS)) << np.uint64(64 - _TAG_BITS)
        mark = np.uint64((document % ((1 << (64 - _TAG_BITS)) - 1)) + 1)
        mask = np.uint64((1 << (64 - _TAG_BITS)) - 1)
        found = self._table[places]
        same = ((found & ~mask) == tags[:, None]) & (found != 0)
        known = same.any(axis=1)
        others = (same & ((found & mask) != mark)).any(axis=1)
        if remember:
            self._put(places[~known], tags[~known] | mark)
        return [not other for other in others.tolist()]

    def _put(self, places: npt.NDArray[np.int64], entries: npt.NDArray[np.uint64]) -> None:
        """Store entries in empty slots of their buckets, else replace others in turn."""
        for _ in range(_WAYS):  # each round stores one entry per bucket
            if not len(places):
                return
            empty = self._table[places] == 0
            ways = np.where(empty.any(axis=1), empty.argmax(axis=1), self._turn % _WAYS)
            self._turn += 1
            self._table[places, ways] = entries
            left = self._table[places, ways] != entries
            places, entries = places[left], entries[left]
