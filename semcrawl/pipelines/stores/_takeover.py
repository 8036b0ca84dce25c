"""Stores that an older version of semcrawl has filled, which noted no owners of graphs.

Its documents replaced whatever graphs they stated. What they made under names that they may keep is
theirs from now on, and all documents are delivered anew, each to graphs of its own. Graphs that
older versions made under other names stay as they are: nobody knows whose they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from semcrawl.metadata.models import url_key
from semcrawl.pipelines.stores.naming import GraphNaming
from semcrawl.pipelines.stores.owners import Made, Owners
from semcrawl.pipelines.stores.source import Spool
from semcrawl.rdf.quadlines import iri

#: graphs named by blank nodes were called so on servers; the embedded store has blank nodes
_BLANK_NAME = "urn:semcrawl:graph:"


def take_over_delivery(spool: Spool, owners: Owners, naming: GraphNaming) -> None:
    """Note the owners of what was delivered without, once. Raises SQLAlchemy's errors."""
    if not spool.has_older_delivery():
        return
    made = {each.name: each for each in _made(spool, naming)}
    known = owners.taken(made)
    owners.claim(each for name, each in made.items() if name not in known)
    spool.start_again()


def _made(spool: Spool, naming: GraphNaming) -> Iterator[Made]:
    """Yield the graphs that documents made; of a name the last counts, its own document's."""
    is_server = not spool.target.startswith("embedded:")
    own: list[Made] = []
    for url, graphs in spool.delivered():
        key = url_key(url)
        own.append(Made(key, iri(url), iri(url), ""))
        for graph in graphs:
            if graph.startswith("_:"):
                name = f"<{_BLANK_NAME}{graph[2:]}>" if is_server else graph
                yield Made(key, graph, name, "")
            elif graph and naming.may_keep(url, graph):
                yield Made(key, graph, graph, "")
    yield from own
