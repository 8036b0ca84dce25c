"""Made-up sites of many kinds, to try the order of a crawl on sites nobody tuned for.

Every kind is a function of a random generator; the same seed gives the same site. Pages are
real HTML, so that link extraction is part of the trial. Which kinds there are is told by
:data:`KINDS`; `learned_order.py --kinds` crawls them.

| module | sites |
|---|---|
| `twins` | every page of a thing has an RDF document of its own |
| `listings` | long lists, of whose entries only some have RDF |
| `scattered` | RDF files here and there among much that has none |
| `endless` | traps |
| `site` | what they are all built with |
| `mixed` | several of them in one world |
"""

from __future__ import annotations

from collections.abc import Callable

from .endless import traps
from .listings import bibliography, deep_pages, portal
from .mixed import MixedWorld
from .scattered import handmade, needle, ontologies, prose_docs
from .site import HOST, WORDS, MadeSite
from .twins import catalogue, csv_pages, extensionless, json_context, thesaurus, wiki

__all__ = ["KINDS", "WORDS", "MadeSite", "MixedWorld", "make"]

KINDS: dict[str, Callable[[MadeSite], None]] = {
    f.__name__: f
    for f in (
        catalogue, prose_docs, handmade, needle, extensionless, csv_pages, wiki, bibliography,
        ontologies, deep_pages, json_context, portal, thesaurus, traps,
    )
}  # fmt: skip


def make(kind: str, seed: int = 0, host: str = HOST) -> MadeSite:
    """A site of one of :data:`KINDS`; every third seed lies below a folder of its host."""
    site = MadeSite(kind, seed, "/project/" if seed % 3 == 2 else "/", host)
    KINDS[kind](site)
    return site
