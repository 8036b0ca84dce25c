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
_ALL_MADE_UP = re.compile(rb"(?:[a-f][0-9a-f]{19,31}(?: |\Z))+")


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
        #: names given lately, and before that
        self._known: dict[bytes, bytes] = {}
        self._old: dict[bytes, bytes] = {}

    def name(self, label: bytes) -> bytes:
        """Return the N-Quads term for the blank node that the parser calls ``label``."""
        return self.terms([label])[0]

    def terms(self, labels: list[bytes]) -> list[bytes]:
        """Return the N-Quads terms for the blank nodes that the parser calls ``labels``."""
        if not self.all_labelled:
            terms = self.made_up(labels)
            if terms is not None:
                return terms
        start, end = self.labelled, self.end
        given = {
            label: start + label + end
            for label in set(labels)
            if self.all_labelled or not _MADE_UP.match(label)
        }
        rest = iter(self.made_up([label for label in labels if label not in given]) or ())
        return [given.get(label) or next(rest) for label in labels]

    def made_up(self, labels: list[bytes]) -> list[bytes] | None:
        """Return the terms for ``labels``, or None when one of them is not made up."""
        if len(self._known) > self._window:
            self._old, self._known = self._known, {}
        known, old = self._known, self._old
        new = [label for label in dict.fromkeys(labels) if label not in known]
        if new and old:  # keep what is still referred to
            known.update((label, old[label]) for label in new if label in old)
            new = [label for label in new if label not in old]
        if new:
            if not _all_made_up(new):
                return None
            known.update(zip(new, self._next(len(new)), strict=True))
        return list(map(known.__getitem__, labels))

    def _next(self, count: int) -> list[bytes]:
        """Return the next ``count`` terms; all at once, as a document may have very many."""
        first, self.count = self.count, self.count + count
        numbers = repr(list(range(first, self.count)))[1:-1].encode()
        between = self.end + b"\n" + self._ranked
        return (self._ranked + numbers.replace(b", ", between) + self.end).split(b"\n")

    def forget(self, count: int) -> None:
        """Go back to where there were ``count`` nodes without a label."""
        start, end = len(self._ranked), len(self.end)
        for names in (self._known, self._old):
            late = [k for k, v in names.items() if int(v[start : len(v) - end]) >= count]
            for label in late:
                del names[label]
        self.count = count


def _all_made_up(labels: list[bytes]) -> bool:
    """Whether all ``labels`` have the form of :data:`_MADE_UP`; asked at once, as that is fast."""
    return _ALL_MADE_UP.fullmatch(b" ".join(labels)) is not None
