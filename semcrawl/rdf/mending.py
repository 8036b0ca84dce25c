"""Mends terms that can only mean one thing: references to IRIs, and names of nodes.

Each function returns what the term is, and whether it had to be mended, which the caller records.
"""

from __future__ import annotations

from hashlib import blake2b

import pyoxigraph

from semcrawl.rdf.patterns import re
from semcrawl.rdf.terms import iri_of

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NCNAME = re.compile(r"[^\W\d][\w.\-\xb7]*(?<!\.)\Z")
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?\Z")
_SPACE = " \t\n\r"


def resolved(reference: str, base: str | None) -> tuple[str, bool]:
    """Return the IRI of a reference; an empty string if none is certain.

    White space around it is dropped, and what an IRI must not contain is percent-encoded.
    """
    iri = _resolved(reference, base)
    if iri:
        return iri, False
    return _resolved(iri_of(reference.strip(_SPACE)), base), True


def _resolved(reference: str, base: str | None) -> str:
    """Return the IRI, or an empty string if the reference is not valid."""
    try:
        if _ABSOLUTE.match(reference):
            return pyoxigraph.NamedNode(reference).value
        if base is None or iri_of(reference) != reference:
            return ""
        # a statement of Turtle: the parser resolves
        [quad] = pyoxigraph.parse(
            f"<{reference}> <x:> <x:> .", pyoxigraph.RdfFormat.TURTLE, base_iri=base
        )
    except (SyntaxError, ValueError):
        return ""
    subject = quad.subject
    return subject.value if isinstance(subject, pyoxigraph.NamedNode) else ""


def label(name: str) -> tuple[str, bool]:
    """Return a blank node label for a name of a node.

    A name that is none gets a label that no name has.
    """
    if _NCNAME.match(name):
        return name, False
    if _LABEL.match(name):
        return name, True
    return f"x-{blake2b(name.encode('utf-8', 'replace'), digest_size=16).hexdigest()}", True
