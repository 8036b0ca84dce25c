"""The way through an endpoint, with a store of pyoxigraph that stands for one."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcrawl.sources.endpoints import (
    PAGES,
    ROWS,
    Ask,
    EndpointWalk,
    Following,
    Row,
    Step,
    after_count,
    after_default,
    after_description,
    after_failure,
    after_graphs,
    after_labels,
    after_page,
    after_plan,
    endpoint_of_seed,
    first_label,
    first_steps,
    read_rows,
)

ENDPOINT = "http://e.example/sparql"
JSON = ox.QueryResultsFormat.JSON


class Endpoint:
    """An endpoint that gives no more than ``limit`` rows, and perhaps new labels each time."""

    def __init__(
        self,
        store: ox.Store,
        limit: int = 10**9,
        *,
        renames: bool = False,
        broken: str = "",
        union: bool = False,
    ) -> None:
        self.store = store
        self.limit = limit
        self.renames = renames
        #: what a query that it cannot answer holds
        self.broken = broken
        #: whether the default graph has the triples of all others, and counts each copy
        self.union = union
        self.asked: list[Step] = []

    def answer(self, step: Step) -> bytes | None:
        """Rows as JSON, or N-Triples; ``None`` where it fails."""
        self.asked.append(step)
        if self.broken and re.search(self.broken, step.query):
            return None
        results = self.store.query(step.query, use_default_graph_as_union=self.union)
        if step.ask in ROWS:
            body = results.serialize(format=JSON)
            rows = read_rows(body, "application/sparql-results+json")
            assert rows is not None
            return body
        lines = [
            ox.serialize([triple], format=ox.RdfFormat.N_TRIPLES)
            for triple in list(results)[: self.limit]
        ]
        data = b"".join(lines)
        if self.renames:
            salt = str(len(self.asked))
            data = re.sub(
                rb"_:(\w+)",
                lambda m: b"_:x" + sha256(m[1] + salt.encode()).hexdigest()[:12].encode(),
                data,
            )
        return data


def follow(endpoint: Endpoint, step: Step) -> tuple[Following, bytes]:
    answer = endpoint.answer(step)
    if answer is None:
        return after_failure(step, "it fails"), b""
    if step.ask is Ask.DESCRIPTION:
        return Following([after_description(step, union=False)]), b""
    if step.ask in ROWS:
        rows = read_rows(answer, "application/sparql-results+json")
        if isinstance(rows, bool):
            return after_default(step, has_own=rows), b""
        rows = rows[: endpoint.limit]
        if step.ask is Ask.PLAN:
            return after_plan(step, rows), b""
        if step.ask is Ask.COUNT:
            return after_count(step, rows[0]), b""
        return after_graphs(step, rows, ()), b""
    if step.ask is Ask.LABELS:
        return after_labels(step, first_label(answer)), b""
    return after_page(step, answer.count(b"\n"), sha256(answer).hexdigest()), answer


def harvest(endpoint: Endpoint, page: int, most: int = 0) -> tuple[list[ox.Quad], Following]:
    """Ask all there is to ask; return the quads, and all notes."""
    _, begin = first_steps(ENDPOINT, page, most)
    waiting, seen, quads, told = deque([begin]), {begin.url}, [], Following()
    while waiting:
        step = waiting.popleft()
        assert len(endpoint.asked) < 5000
        assert Step.unpack(step.pack()) == step
        following, body = follow(endpoint, step)
        told.notes += following.notes
        told.lost += following.lost
        for one in following.steps:
            assert one.url not in seen, "asked twice"
            seen.add(one.url)
            waiting.append(one)
        if step.ask in PAGES and not following.again:
            scope = "" if step.stable else str(len(endpoint.asked))
            quads += named(body, step.graph, scope)
    return quads, told


def named(body: bytes, graph: str, scope: str) -> Iterator[ox.Quad]:
    """Put triples into a graph; blank nodes are those of a page, unless it has no scope."""
    text = re.sub(rb"_:(\w+)", rb"_:\g<1>x" + scope.encode(), body) if scope else body
    name = ox.NamedNode(graph) if graph else ox.DefaultGraph()
    for quad in ox.parse(text, format=ox.RdfFormat.N_TRIPLES):
        yield ox.Quad(quad.subject, quad.predicate, quad.object, name)


def canonical(quads: object) -> set[str]:
    data = ox.Dataset(quads)
    data.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return {str(quad) for quad in data}


def iri(n: int) -> ox.NamedNode:
    return ox.NamedNode(f"http://d.example/{n}")


resources = st.integers(0, 8).map(iri) | st.integers(0, 5).map(lambda n: ox.BlankNode(f"n{n}"))
objects = resources | st.integers(0, 30).map(lambda n: ox.Literal(f'line "{n}"\n\\'))
graphs = st.sampled_from([ox.DefaultGraph(), ox.NamedNode("http://g.example/a"), iri(900)])
quads = st.builds(ox.Quad, resources, st.integers(100, 103).map(iri), objects, graphs)


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(quads, max_size=60), st.integers(1, 20))
def test_every_quad_is_had_once_whatever_the_size_of_a_page(data, page) -> None:
    store = ox.Store()
    store.extend(data)
    got, told = harvest(Endpoint(store), page)
    wanted = set(data) - hidden(data)
    assert len(got) == len(wanted)
    assert not told.lost
    for graph in {q.graph_name for q in wanted}:  # (each graph has blank nodes of its own)
        one, other = ([q for q in each if q.graph_name == graph] for each in (got, wanted))
        name = getattr(graph, "value", "the default graph")
        apart = any("not joined" in note and name in note for note in told.notes)
        assert len(one) == len(other) if apart else canonical(one) == canonical(other)


def hidden(data: list[ox.Quad]) -> set[ox.Quad]:
    """The default graph, where all of it is in named graphs as well: as in a union of them."""
    own = {q for q in data if q.graph_name == ox.DefaultGraph()}
    others = {(q.subject, q.predicate, q.object) for q in data} if own != set(data) else set()
    elsewhere = {
        (q.subject, q.predicate, q.object) for q in data if q.graph_name != ox.DefaultGraph()
    }
    is_union = bool(others) and all((q.subject, q.predicate, q.object) in elsewhere for q in own)
    return own if is_union else set()


def big(count: int = 2000, blanks: int = 400) -> ox.Store:
    """A graph with a hub, and with blank nodes in chains."""
    store, graph = ox.Store(), ox.NamedNode("http://g.example/big")
    p, hub = iri(100), iri(10**6)
    for n in range(count):
        store.add(ox.Quad(iri(n), p, ox.Literal(str(n)), graph))
        store.add(ox.Quad(hub, p, iri(n), graph))
    for n in range(blanks):
        one, other = ox.BlankNode(f"c{n}"), ox.BlankNode(f"c{n + 1}")
        store.add(ox.Quad(one, p, ox.Literal(str(n)), graph))
        if n % 10:
            store.add(ox.Quad(one, p, other, graph))
    return store


@pytest.mark.slow
@pytest.mark.parametrize("limit", [10**9, 300, 137])
def test_a_server_that_gives_fewer_rows_than_asked_for_is_read_whole(limit) -> None:
    store = big(blanks=100)
    got, told = harvest(Endpoint(store, limit), 1000)
    assert canonical(got) == canonical(list(store))
    assert not told.lost


@pytest.mark.slow
def test_blank_nodes_on_several_pages_are_joined_where_their_labels_stay() -> None:
    store = big()
    endpoint = Endpoint(store)
    got, _ = harvest(endpoint, 250)
    assert sum(step.ask is Ask.BLANKS for step in endpoint.asked) == 4
    assert canonical(got) == canonical(list(store))


@pytest.mark.slow
def test_blank_nodes_whose_labels_change_stay_apart_and_that_is_told() -> None:
    store = big()
    got, told = harvest(Endpoint(store, renames=True), 250)
    assert len(got) == len(store)
    nodes = {q.subject for q in got if isinstance(q.subject, ox.BlankNode)}
    assert len(nodes) > 400
    assert "not joined across pages" in " ".join(told.notes)


def test_blank_nodes_on_one_page_are_joined_whatever_their_labels() -> None:
    store = big(blanks=400)
    got, _ = harvest(Endpoint(store, renames=True), 1000)
    assert canonical(got) == canonical(list(store))


@pytest.mark.parametrize("broken", ["GROUP BY", "COUNT", "ORDER BY|COUNT"])
def test_an_endpoint_that_cannot_count_or_sort_is_read_all_the_same(broken) -> None:
    store = big(blanks=0)
    got, told = harvest(Endpoint(store, broken=broken), 1000)
    if "ORDER" in broken:  # it cannot list its graphs either
        assert not got
    else:
        assert canonical(got) == canonical(list(store))
    assert any("it fails" in note for note in told.notes)


def test_no_more_triples_are_asked_for_than_an_endpoint_may_bring() -> None:
    store = big()
    got, told = harvest(Endpoint(store), 300, most=1000)
    assert len(got) == 1000
    assert told.lost == len(store) - 1000
    assert "SEMCRAWL_ENDPOINT_TRIPLES" in told.notes[0]


def test_a_page_that_fails_is_asked_for_in_halves_until_it_is_given_up() -> None:
    step = Step(ENDPOINT, Ask.WALK, "http://g.example/a", size=1000, page=1000)
    sizes = []
    while True:
        following = after_failure(step, "status 500")
        if not following.steps:
            break
        (step,) = following.steps
        sizes.append(step.size)
    assert sizes == [500, 250, 125, 62]
    assert following.lost == 62


def test_a_query_that_cannot_be_sorted_is_nested_before_its_pages_are_made_smaller() -> None:
    step = Step(ENDPOINT, Ask.SUBJECT, first="http://d.example/1", size=500, page=500)
    (nested,) = after_failure(step, "status 500").steps
    assert nested == replace(step, nested=True)
    assert len(after_failure(nested, "status 500").steps) == 2


def test_a_walk_ends_where_offset_is_not_heeded() -> None:
    step = Step(ENDPOINT, Ask.WALK, size=10, page=10)
    (second,) = after_page(step, 10, "digest").steps
    assert second.offset == 10
    found = after_page(second, 10, "digest")
    assert not found.steps
    assert "OFFSET" in found.notes[0]


def test_names_of_graphs_that_no_query_can_have_are_told() -> None:
    store = ox.Store()
    endpoint = Endpoint(store)
    endpoint.answer = lambda step: (  # type: ignore[method-assign]
        b'{"head":{"vars":["k","n","b"]},"results":{"bindings":[{"k":{"type":"literal","value":'
        b'"a b> } ; DROP ALL"},"n":{"type":"literal","value":"3"}}]}}'
        if step.ask is Ask.GRAPHS and not step.first
        else b'{"head":{"vars":["k"]},"results":{"bindings":[]}}'
        if step.ask is Ask.GRAPHS
        else b'{"head":{},"boolean":false}'
    )
    got, told = harvest(endpoint, 10)
    assert not got
    assert "name that no query can contain" in told.notes[0]


@pytest.mark.parametrize("page", [40, 1000])
def test_copies_in_several_graphs_are_neither_lost_nor_told_to_be(page: int) -> None:
    """Where the default graph is the union of graphs that cannot be listed."""
    quads = [
        ox.Quad(iri(n), iri(p), iri(n * p), iri(1000 + graph))
        for graph in range(3)
        for n in range(30 + graph)
        for p in range(4)
    ]
    store = ox.Store()
    store.extend(quads)
    got, told = harvest(Endpoint(store, broken="GRAPH", union=True), page)
    assert sorted(map(str, got)) == sorted({str(ox.Quad(*quad.triple)) for quad in quads})
    assert told.lost == 0


def test_yes_and_no_may_come_as_a_table() -> None:
    """As Virtuoso writes them for some types; rows are no answer to yes or no, nor the reverse."""

    def table(*values: str) -> bytes:
        rows = ",".join(f'{{"__ASK_RETVAL":{{"type":"literal","value":"{v}"}}}}' for v in values)
        return f'{{"head":{{"vars":["__ASK_RETVAL"]}},"results":{{"bindings":[{rows}]}}}}'.encode()

    assert read_rows(table("1"), "application/sparql-results+json") is True
    assert read_rows(table("0"), "application/sparql-results+json") is False
    assert read_rows(table("0", "1"), "application/sparql-results+json") is None
    walk, count = EndpointWalk(), Step(ENDPOINT, Ask.COUNT)
    default = replace(count, ask=Ask.DEFAULT)
    assert walk.after_rows(default, True).steps == [count]
    assert walk.after_rows(default, read_rows(table(), "")) == Following()
    for step, answer in ((default, [Row("", 7)]), (count, True), (count, [])):
        following = walk.after_rows(step, answer)
        assert "none to the question" in following.notes[0]


def test_a_description_is_asked_for_as_rdf_with_its_usual_syntax_first() -> None:
    """Some servers heed the first type only, and give a form for queries to others."""
    accept = Step(ENDPOINT, Ask.DESCRIPTION).accept
    assert accept.startswith("text/turtle, application/rdf+xml")
    assert "html" not in accept


@pytest.mark.parametrize(
    ("body", "media_type"),
    [(b"<html>", "text/html"), (b'{"head":{"vars":["k"]},"results":{"bind', "application/json")],
)
def test_what_is_no_list_of_results_is_none(body, media_type) -> None:
    assert read_rows(body, media_type) is None


def test_results_in_xml_are_read_as_well() -> None:
    body = (
        ox.Store()
        .query("SELECT (7 AS ?n) (2 AS ?b) {}")
        .serialize(format=ox.QueryResultsFormat.XML)
    )
    (row,) = read_rows(body, "application/sparql-results+xml; charset=utf-8")
    assert (row.name, row.triples, row.blanks) == ("", 7, 2)


def test_a_seed_names_an_endpoint_by_its_scheme() -> None:
    assert endpoint_of_seed("sparql+https://a.example/sparql") == "https://a.example/sparql"
    assert endpoint_of_seed("SPARQL+http://a.example/") == "http://a.example/"
    assert endpoint_of_seed("https://a.example/sparql") == ""
    assert Step.unpack("[]") is Step.unpack("{") is Step.unpack('{"ask":"all"}') is None
