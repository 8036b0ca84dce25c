"""Blank node labels that are unique per document and the same on every run.

A label of the document itself becomes ``b<hash>x<label>``; a node without a label, which the
parser gives a random name, becomes ``b<hash>n<rank>`` by its first appearance. ``<hash>`` is that
of the document's URL.
"""

from __future__ import annotations

import re
from hashlib import blake2b

#: The form of the names that the parser makes up: 128 random bits without leading zeros. One of
#: fewer than 20 digits comes once in 2**48.
_MADE_UP = re.compile(rb"[a-f][0-9a-f]{19,31}\Z")


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
        self._ranked = start + b"b" + digest + b"n"
        self._window = window
        #: nodes without a label so far
        self.count = 0
        #: names given lately
        self.known: dict[bytes, bytes] = {}
        self._old: dict[bytes, bytes] = {}

    def name(self, label: bytes) -> bytes:
        """Return the N-Quads term for the blank node that the parser calls ``label``."""
        if self.all_labelled or not _MADE_UP.match(label):
            return self.labelled + label + self.end
        return self.known.get(label) or self._rank(label)

    def _rank(self, label: bytes) -> bytes:
        known = self._old.get(label)
        if known is None:
            known = b"%s%d%s" % (self._ranked, self.count, self.end)
            self.count += 1
        if len(self.known) >= self._window:
            # keep what is referred to by others: the dictionary itself stays the same
            self._old = dict(self.known)
            self.known.clear()
        self.known[label] = known
        return known

    def made_up(self, labels: list[bytes]) -> list[bytes] | None:
        """Return the terms for ``labels``, or None when one of them is not made up."""
        known, terms = self.known.get, []
        for label in labels:
            term = known(label)
            if term is None:
                if not _MADE_UP.match(label):
                    return None
                term = self._rank(label)
            terms.append(term)
        return terms

    def forget(self, count: int) -> None:
        """Go back to where there were ``count`` nodes without a label."""
        start, end = len(self._ranked), len(self.end)
        for names in (self.known, self._old):
            late = [k for k, v in names.items() if int(v[start : len(v) - end]) >= count]
            for label in late:
                del names[label]
        self.count = count
