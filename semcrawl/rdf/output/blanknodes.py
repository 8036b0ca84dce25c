"""Blank node labels that are unique per document and the same on every run.

A label of the document itself becomes ``b<hash>x<label>``; a node without a label, which the
parser gives a random name, becomes ``b<hash>n<rank>`` by its first appearance. ``<hash>`` is that
of the document's URL.
"""

from __future__ import annotations

import re
from collections import defaultdict
from hashlib import blake2b
from itertools import count

#: The form of the names that the parser makes up: 128 random bits without leading zeros. One of
#: fewer than 20 digits comes once in 2**48.
_MADE_UP = re.compile(rb"[a-f][0-9a-f]{19,31}\Z")


def skolem_iris(base: str) -> re.Pattern[bytes]:
    """Return what the IRIs begin with that :class:`BlankNodeNames` gives under a Skolem base."""
    return re.compile(re.escape(f"{base.rstrip('/')}/b".encode()) + rb"[0-9a-f]{20}[xn]")


class BlankNodeNames:
    """Renames the blank nodes of one document.

    Only made-up names need memory. It is bounded: of a document with more than twice ``window`` of
    them, those not met for a while are forgotten. The parser never comes back to a node without a
    label once its statement is finished, so nothing is lost by it.
    """

    def __init__(self, url: str, skolem_base: str = "", window: int = 1 << 18) -> None:
        """Name the blank nodes of the document at ``url``."""
        #: whether the document's syntax has labelled nodes only (N-Triples, N-Quads, TriX)
        self.all_labelled = False
        digest = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest().encode()
        if skolem_base:
            start, self.end = f"<{skolem_base.rstrip('/')}/".encode(), b">"
        else:
            start, self.end = b"_:", b""
        #: what a label of the document is put behind, and before :attr:`end`
        self.labelled = start + b"b" + digest + b"x"
        #: what a rank is put behind, and before :attr:`end`
        self.ranked = start + b"b" + digest + b"n"
        self._window = window
        #: nodes without a label so far
        self.count = 0
        #: ranks given lately, and before that
        self._known: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._old: dict[bytes, int] = {}

    def name(self, label: bytes) -> bytes:
        """Return the N-Quads term for the blank node that the parser calls ``label``."""
        return self.terms([label])[0]

    def terms(self, labels: list[bytes]) -> list[bytes]:
        """Return the N-Quads terms for the blank nodes that the parser calls ``labels``."""
        made_up = set() if self.all_labelled else {x for x in labels if _MADE_UP.match(x)}
        ranks = iter(self.ranks([label for label in labels if label in made_up]))
        ranked, labelled, end = self.ranked, self.labelled, self.end
        return [
            b"%b%d%b" % (ranked, next(ranks), end) if label in made_up else labelled + label + end
            for label in labels
        ]

    def ranks(self, made_up: list[bytes]) -> list[int]:
        """Return the ranks of nodes without a label, by the names that the parser made up."""
        if len(self._known) > self._window:
            self._old = dict(self._known)
            self._known = defaultdict(self._known.default_factory)
        known = self._known
        if self._old:  # keep what is still referred to
            met_again = self._old.keys() & set(made_up)
            known.update((name, self._old[name]) for name in met_again)
        before = len(known)
        ranks = list(map(known.__getitem__, made_up))
        self.count += len(known) - before
        return ranks

    def forget(self, number: int) -> None:
        """Go back to where there were ``number`` nodes without a label."""
        for ranks in (self._known, self._old):
            for name in [name for name, rank in ranks.items() if rank >= number]:
                del ranks[name]
        self._known.default_factory = count(number).__next__
        self.count = number
