"""The IRIs that N-Quads lines have as objects, found without parsing them."""

from __future__ import annotations

import re

_OBJECT = re.compile(rb"^\S+ \S+ <([^>]*)> ", re.MULTILINE)


def objects_in(lines: bytes) -> set[str]:
    """Return the IRIs that whole lines have as objects."""
    return {iri.decode("utf-8", "replace") for iri in set(_OBJECT.findall(lines))}
