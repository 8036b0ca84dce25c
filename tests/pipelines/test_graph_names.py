"""Names of graphs in a store, and the owner of a graph that a crash left in doubt."""

from __future__ import annotations

import sqlite3
from itertools import islice
from urllib.parse import quote

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.errors import UsageError
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.results.stores.contract import StoreUnavailable
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.naming import STATED_NAME, GraphNaming
from semcrawl.results.stores.oxigraph import EmbeddedStore

from .deliveries import deliver
from .documents import document, url_of

NAMING = GraphNaming.trusting(["trusted.example", "data.other.example"])
DOCUMENT = "http://a.example/doc"
GONE = FetchRecord(
    url_of("a"), FetchOutcome.HTTP_ERROR, status=404, started_at=9000.0, revisit=True
)


@pytest.mark.parametrize(
    ("url", "name", "may_keep"),
    [
        (DOCUMENT, "<http://a.example/doc>", True),
        (DOCUMENT, "<http://a.example/doc#part>", True),
        (DOCUMENT, "<http://a.example/other>", True),
        (DOCUMENT, "<https://a.example:443/other>", True),
        (DOCUMENT, "<HTTP://A.example:80/other>", True),
        (DOCUMENT, "<http://a.example>", True),
        (DOCUMENT, "<http://a.example:8080/doc>", False),
        (DOCUMENT, "<http://a.example.b.example/doc>", False),
        (DOCUMENT, "<http://a.example@b.example/doc>", False),
        (DOCUMENT, "<http://b.example/a.example/doc>", False),
        (DOCUMENT, "<http://data.a.example/doc>", False),
        (DOCUMENT, "<ftp://a.example/doc>", False),
        (DOCUMENT, "<urn:untouched>", False),
        (DOCUMENT, "<relative>", False),
        (DOCUMENT, "<http://a.example/\\u0064oc>", False),
        (DOCUMENT, "<http://a.example/ } ; DROP ALL>", False),
        (DOCUMENT, "_:g", False),
        ("http://trusted.example/doc", "<urn:untouched>", True),
        ("http://www.trusted.example/doc", "<urn:untouched>", True),
        ("http://nottrusted.example/doc", "<urn:untouched>", False),
        ("http://data.other.example/doc", "<urn:untouched>", True),
        ("http://other.example/doc", "<urn:untouched>", False),
        ("http://trusted.example/doc", "_:g", False),
        ("http://trusted.example/doc", "<relative>", False),
    ],
)
def test_a_document_keeps_the_names_of_its_host_or_of_a_trusted_site(url, name, may_keep):
    assert NAMING.may_keep(url, name) is may_keep
    first, second = islice(NAMING.candidates(url, name), 2)
    assert (first == name) is may_keep
    assert (second if may_keep else first).startswith(f"<{url}#graph=")


graphs = st.one_of(
    st.text(min_size=1, max_size=700).map(lambda text: f"<urn:{text}>"),
    st.text(min_size=1, max_size=20).map(lambda text: f"_:{text}"),
)
urls = st.sampled_from([DOCUMENT, f"{DOCUMENT}s", "http://b.example/doc", "http://b.example/ bad"])


@given(st.lists(st.tuples(urls, graphs, st.integers(1, 3)), unique=True, max_size=8))
def test_no_two_documents_and_no_two_names_meet(stated):
    untrusting = GraphNaming()
    names = [
        next(islice(untrusting.candidates(url, graph), number - 1, None))
        for url, graph, number in stated
    ]
    for name in names:
        pyoxigraph.NamedNode(name[1:-1])  # raises for what a store would not take
    # (what is no text has no name of its own)
    assert len(set(names)) == len(stated)


def test_what_is_no_site_is_not_trusted():
    with pytest.raises(UsageError, match=r"SEMCRAWL_TRUSTED_SITES: 'a/b' is no host and no domain"):
        GraphNaming.trusting(["a/b"])
    assert GraphNaming.trusting(["http://A.example/"]).trusted_sites == {"a.example"}


class CutOffStore(EmbeddedStore):
    """Goes away before or after it has written."""

    cut = ""

    def replace(self, contents):
        if self.cut != "before":
            super().replace(contents)
        if self.cut:
            raise StoreUnavailable("gone")


@pytest.fixture
def store(job):
    store = CutOffStore(job / "store")
    yield store
    store.close()


@pytest.fixture
def deliverer(job, store):
    return Deliverer(job, store)


@pytest.fixture
def file(job):
    file = QuadsFile(job)
    yield file
    file.close()


def make(store, name: str, value: str = "by hand") -> None:
    """The user writes a graph."""
    subject = pyoxigraph.NamedNode("urn:s")
    statement = (subject, subject, pyoxigraph.Literal(value))
    store._store.add(pyoxigraph.Quad(*statement, pyoxigraph.NamedNode(name)))


def held(store) -> dict[str, list[str]]:
    """The objects of statements by graph."""
    found: dict[str, list[str]] = {}
    for quad in store._store:
        value = "blank" if isinstance(quad.object, pyoxigraph.BlankNode) else quad.object.value
        found.setdefault(quad.graph_name.value, []).append(value)
    return {graph: sorted(values) for graph, values in found.items()}


def own(name: str, number: int = 1) -> str:
    """The graph name of a document whose address is taken."""
    again = f"-{number}" if number > 1 else ""
    return f"{url_of(name)}#graph{again}={quote(url_of(name), safe='')}"


def test_a_document_writes_what_it_states_of_others_in_graphs_of_its_own(file, store, deliverer):
    make(store, "urn:untouched")
    a = document("a", "1")
    a.nquads += document("a", "2", graph="urn:untouched").nquads
    a.nquads += document("a", "3").nquads.replace(f" <{url_of('a')}> .".encode(), b" _:g .")
    a.nquads += b'<urn:s> <urn:p> "4" .\n'
    file.append([a])
    deliver(deliverer)
    assert held(store) == {
        "urn:untouched": ["by hand"],
        url_of("a"): sorted(["1", "4", "urn:untouched", "blank"]),
        f"{url_of('a')}#graph=urn%3Auntouched": ["2"],
        f"{url_of('a')}#graph=_%3Ag": ["3"],
    }
    about = next(store._store.quads_for_pattern(None, pyoxigraph.NamedNode(STATED_NAME), None))
    assert about.graph_name.value == url_of("a")
    file.append([document("a", "5", revisit=True, fetched_at=2000.0)])
    deliver(deliverer)
    assert held(store) == {"urn:untouched": ["by hand"], url_of("a"): ["5"]}
    file.append([GONE])
    deliver(deliverer)
    assert held(store) == {"urn:untouched": ["by hand"]}


def test_a_graph_by_hand_under_a_documents_address_stays(file, store, deliverer):
    make(store, url_of("a"))
    file.append([document("a", "1")])
    assert deliverer.step().renamed == 1
    assert held(store) == {url_of("a"): ["by hand"], own("a"): sorted(["1", url_of("a")])}
    file.append([GONE])
    deliver(deliverer)
    assert held(store) == {url_of("a"): ["by hand"]}


def test_a_graph_by_hand_is_adopted_if_that_is_asked_for(job, file, store):
    make(store, url_of("a"))
    make(store, url_of("other"))
    a = document("a", "1")
    a.nquads += document("a", "2", graph=url_of("other")).nquads
    file.append([a])
    deliver(Deliverer(job, store, adopting=True))
    renamed = f"{url_of('a')}#graph={quote(url_of('other'), safe='')}"
    assert held(store) == {
        url_of("a"): sorted(["1", url_of("other")]),
        url_of("other"): ["by hand"],
        renamed: ["2"],
    }


def test_of_two_documents_of_a_host_the_first_has_a_graph(file, store, deliverer):
    shared = url_of("shared")
    file.append([document("a", "1", graph=shared)])
    deliver(deliverer)
    file.append([document("b", "2", graph=shared), document("shared", "3")])
    deliver(deliverer)
    assert held(store) == {
        shared: ["1"],
        f"{url_of('b')}#graph={quote(shared, safe='')}": ["2"],
        url_of("b"): [shared],
        own("shared"): sorted(["3", shared]),
    }
    file.append([GONE])
    deliver(deliverer)
    assert shared not in held(store)


@pytest.mark.parametrize("changes", [False, True])
@pytest.mark.parametrize("cut", ["before", "after"])
def test_what_the_user_makes_while_a_delivery_is_broken_off_stays(
    file, store, deliverer, cut, changes
):
    """The claim is noted, the store has nothing yet; or it has, and that is known again."""
    blank = document("a", "1")
    blank.nquads += f'_:b <urn:p> "blank" <{url_of("a")}> .\n'.encode()
    file.append([blank])
    store.cut = cut
    with pytest.raises(StoreUnavailable):
        deliverer.step()
    store.cut = ""
    expected = ["1", "blank"]
    if changes:
        file.append([document("a", "2", revisit=True, fetched_at=2000.0)])
        file.compact()
        expected = ["2"]
    if cut == "before":
        make(store, url_of("a"))
    deliver(deliverer)
    if cut == "before":
        by_hand = {url_of("a"): ["by hand"]}
        assert held(store) == by_hand | {own("a"): sorted([*expected, url_of("a")])}
    else:
        assert held(store) == {url_of("a"): expected}


@pytest.mark.parametrize("cut", ["before", "after"])
def test_what_the_user_makes_after_a_graph_was_dropped_stays(file, store, deliverer, cut):
    file.append([document("a", "1"), document("b", "1")])
    deliver(deliverer)
    file.append([GONE])
    store.cut = cut
    with pytest.raises(StoreUnavailable):
        deliverer.step()
    store.cut = ""
    if cut == "after":
        make(store, url_of("a"))
    deliver(deliverer)
    by_hand = {url_of("a"): ["by hand"]} if cut == "after" else {}
    assert held(store) == by_hand | {url_of("b"): ["1"]}


def test_a_job_folder_of_an_older_version_goes_on(job, file, store, deliverer):
    """It noted no owners, and several documents' statements were in one graph."""
    dump = document("dump", "of dump", graph=url_of("part"))
    dump.nquads += document("dump", "foreign", graph="urn:untouched").nquads
    file.append([document("a", "1"), dump, document("b", "1")])
    deliver(deliverer)
    store._store.clear()
    for graph in (url_of("a"), url_of("b"), url_of("part"), "urn:untouched"):
        make(store, graph, "by the older version")
    with sqlite3.connect(job / "crawl.db") as ledger:
        ledger.execute("DELETE FROM made_graph")
        ledger.execute("UPDATE delivery SET has_owners = 0")
    gone_since = document("a", "2", revisit=True, fetched_at=2000.0)
    file.append([gone_since])
    deliver(Deliverer(job, store))
    assert held(store) == {
        url_of("a"): ["2"],
        url_of("b"): ["1"],
        url_of("part"): ["of dump"],
        url_of("dump"): ["urn:untouched"],
        f"{url_of('dump')}#graph=urn%3Auntouched": ["foreign"],
        "urn:untouched": ["by the older version"],
    }
