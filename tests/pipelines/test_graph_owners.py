"""No document changes a graph that another document, or somebody else, made."""

from __future__ import annotations

import collections

import pyoxigraph
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from semcrawl.results.stores.oxigraph import EmbeddedStore
from semcrawl.results.stores.sparql import SparqlStore

from .deliveries import options_of
from .graph_owners import StoreMachine, objects_of
from .servers import Virtuoso


class KeptStore(EmbeddedStore):
    """Stays open between deliveries, as opening takes long."""

    def close(self) -> None:
        pass


class EmbeddedMachine(StoreMachine):
    def __init__(self):
        super().__init__()
        self.store = KeptStore(self.top / "store")
        self.store.target = "shared"

    def open_store(self):
        return self.store

    def write(self, graph, value):
        name = pyoxigraph.NamedNode(graph[1:-1])
        subject = pyoxigraph.NamedNode("urn:s")
        self.store._store.add(pyoxigraph.Quad(subject, subject, pyoxigraph.Literal(value), name))

    def held(self):
        return objects_of(self.store._store)

    def teardown(self):
        EmbeddedStore.close(self.store)
        super().teardown()


#: 1, and 15 for ``make many``
TIMES = settings.default.max_examples // 40
FEW = settings(max_examples=6, stateful_step_count=10, suppress_health_check=list(HealthCheck))
TestEmbedded = EmbeddedMachine.TestCase
TestEmbedded.settings = FEW


@pytest.mark.slow
def test_no_document_changes_what_others_made_in_the_embedded_store():
    run_state_machine_as_test(
        EmbeddedMachine, settings=settings(FEW, max_examples=16 * TIMES, stateful_step_count=25)
    )


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["gsp", "update", "gsp update", "gsp update bulk"])
def test_no_document_changes_what_others_made_in_a_server(server, protocol):
    if isinstance(server, Virtuoso) and protocol in ("update", "gsp update bulk"):
        pytest.skip("Virtuoso takes no blank nodes by Update, and no N-Quads in a POST")

    class ServerMachine(StoreMachine):
        def __init__(self):
            super().__init__()
            for graph in server.counts():
                server.write(f"DROP SILENT GRAPH <{graph}>")

        def open_store(self):
            store = SparqlStore(options_of(server, protocol))
            store.target = "shared"
            return store

        def write(self, graph, value):
            server.write(f'INSERT DATA {{ GRAPH {graph} {{ <urn:s> <urn:p> "{value}" }} }}')

        def held(self):
            found = server.ask("SELECT ?g ?o { GRAPH ?g { ?s ?p ?o } }")
            graphs = {}
            for row in found["results"]["bindings"]:
                graph, value = row["g"]["value"], row["o"]
                if not server.is_system(graph):
                    text = "" if is_blank(value) else value["value"]
                    graphs.setdefault(f"<{graph}>", collections.Counter())[text] += 1
            return graphs

    few = settings(FEW, max_examples=8 * TIMES, stateful_step_count=12)
    run_state_machine_as_test(ServerMachine, settings=few)


def is_blank(term):
    """Virtuoso tells of blank nodes as of IRIs."""
    return term["type"] == "bnode" or term["value"].startswith("nodeID://")
