"""SPARQL endpoints as sources, harvested as users do."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyoxigraph as ox
import pytest
import requests
from harvest.runs import Run, harvest, start_harvest
from pipelines.servers import Oxigraph, Virtuoso
from requests.auth import HTTPDigestAuth

from tests.loopback import web
from tests.waiting import until

BIG, SMALL = "http://g.example/big", "http://g.example/small"
N_TRIPLES = "application/n-triples"


def triples(name: str, count: int) -> bytes:
    """A graph with a hub, literals, and chains of blank nodes."""
    lines = []
    for n in range(count):
        subject = f"<http://d.example/{name}/{n}>"
        lines += [
            f'{subject} <http://v.example/label> "number {n}"@en .',
            f"<http://d.example/{name}/hub> <http://v.example/has> {subject} .",
        ]
        if n % 20 == 0:
            lines += [
                f"{subject} <http://v.example/address> _:a{n} .",
                f'_:a{n} <http://v.example/city> "City {n}" .',
                f"_:a{n} <http://v.example/near> _:a{(n + 20) % count} .",
            ]
    return ("\n".join(lines) + "\n").encode()


def canonical(quads: Iterator[ox.Quad] | list[ox.Quad]) -> set[str]:
    data = ox.Dataset(quads)
    data.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return {str(quad) for quad in data}


def harvested(run: Run) -> list[ox.Quad]:
    """The quads of an endpoint's pages: those of the default graph are in graphs of their pages."""
    quads = ox.parse("".join(run.quads).encode(), format=ox.RdfFormat.N_QUADS)
    found = []
    for quad in quads:
        name = quad.graph_name.value
        if "?query=" in name:
            quad = ox.Quad(quad.subject, quad.predicate, quad.object)
        elif name.startswith("http://127.0.0.1"):
            continue  # the endpoint's description
        found.append(quad)
    return found


@pytest.fixture
def oxigraph(tmp_path: Path) -> Iterator[Oxigraph]:
    server = Oxigraph(tmp_path / "oxigraph")
    server.start()
    for graph, body in ((BIG, triples("big", 800)), (SMALL, triples("small", 5))):
        _put(server.gsp, {"graph": graph}, body)
    _put(server.gsp, {"default": ""}, triples("default", 30))
    yield server
    server.kill()


def _put(gsp: str, name: dict[str, str], body: bytes, auth: HTTPDigestAuth | None = None) -> None:
    kind = {"Content-Type": "text/turtle"}
    requests.put(gsp, body, params=name, headers=kind, auth=auth, timeout=60).raise_for_status()


def exported(server: Oxigraph) -> list[ox.Quad]:
    """All quads, as the server itself exports them."""
    kind = {"Accept": "application/n-quads"}
    answer = requests.get(server.gsp, headers=kind, timeout=60)
    answer.raise_for_status()
    return list(ox.parse(answer.content, format=ox.RdfFormat.N_QUADS))


@pytest.mark.slow
@pytest.mark.parametrize("page", [100_000, 1000, 70])
def test_an_endpoint_is_harvested_whole(oxigraph: Oxigraph, page: int, tmp_path: Path) -> None:
    run = harvest(
        *("--endpoint", oxigraph.query, "--fast", "-q", "-s", f"SEMCRAWL_ENDPOINT_PAGE={page}"),
        folder=tmp_path / "out",
    )
    assert run.status == 0, run.err
    assert canonical(harvested(run)) == canonical(exported(oxigraph))
    answers = [r["outcome"] for r in run.records if r["found_by"] == "endpoint"]
    assert set(answers) <= {"fetched-rdf", "fetched-other"}
    assert run.summary["found_by"]["endpoint"]["rdf_documents"] >= 3
    assert max(r["quads"] for r in run.records) <= page


@pytest.mark.slow
def test_a_harvest_that_is_killed_goes_on_and_nothing_is_lost_or_doubled(
    oxigraph: Oxigraph, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    options = ("-s", "SEMCRAWL_ENDPOINT_PAGE=70", "-s", "SEMCRAWL_CRAWL_DELAY=0.02", "-q")
    seed = f"sparql+{oxigraph.query}"
    kills = 0
    for least in (8, 20, 35):
        run = start_harvest(seed, "--fast", *options, folder=folder)
        until(lambda n=least, r=run: _records(folder) >= n or r.process.poll() is not None)
        if run.process.poll() is None:
            kills += 1
            run.kill()
        run.process.communicate()
    assert kills >= 2
    done = harvest("--fast", *options, folder=folder)
    assert done.status == 0, done.err
    assert canonical(harvested(done)) == canonical(exported(oxigraph))
    documents = Counter(r["url"] for r in done.records if r["outcome"] == "fetched-rdf")
    assert max(documents.values()) == 1


def _records(folder: Path) -> int:
    try:
        with sqlite3.connect(f"file:{folder / 'crawl.db'}?mode=ro", uri=True) as database:
            return int(database.execute("SELECT COUNT(*) FROM fetch").fetchone()[0])
    except sqlite3.Error:
        return 0


class LimitedVirtuoso(Virtuoso):
    """As public endpoints are set up: no more than so many rows, whatever is asked for."""

    def configuration(self):
        ini = super().configuration()
        ini["SPARQL"]["ResultSetMaxRows"] = "1000"
        return ini


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize("kind", [Virtuoso, LimitedVirtuoso])
def test_virtuoso_is_harvested_whole(kind: type[Virtuoso], tmp_path: Path) -> None:
    if not Virtuoso.binary:
        pytest.skip("needs virtuoso-opensource")
    server = kind(tmp_path / "virtuoso")
    server.start()
    try:
        data = {BIG: triples("big", 1500), SMALL: triples("small", 5)}
        for graph, body in data.items():
            _put(server.gsp, {"graph": graph}, body, HTTPDigestAuth("dba", "dba"))
        run = harvest(
            *(f"sparql+{server.query}", "--fast", "-q", "-s", "SEMCRAWL_ENDPOINT_PAGE=2500"),
            folder=tmp_path / "out",
        )
    finally:
        server.kill()
    assert run.status == 0, run.err
    assert run.outcomes()[server.query] == ["fetched-rdf"]  # its description
    assert canonical(harvested(run)) == canonical(
        [
            ox.Quad(q.subject, q.predicate, q.object, ox.NamedNode(graph))
            for graph, body in data.items()
            for q in _apart(body, graph)
        ]
    )


def _apart(body: bytes, graph: str) -> Iterator[ox.Quad]:
    scope = graph.rpartition("/")[2].encode()
    return ox.parse(re.sub(rb"_:a", b"_:" + scope, body), format=ox.RdfFormat.N_TRIPLES)


Fault = Callable[[str, ox.Store], "tuple[int, str, bytes] | None"]


@contextmanager
def endpoint(store: ox.Store, fault: Fault = lambda query, store: None) -> Iterator[str]:
    """An endpoint that answers by a store, unless ``fault`` has another answer."""

    def answer(path: str, asked: dict[str, list[str]]) -> tuple[int, str, bytes]:
        query = asked.get("query", [""])[0]
        if found := fault(query, store):
            return found
        if not query:
            form = path == "/sparql"
            body = b"<html><a href='/form'>a form</a></html>" if form else b""
            return (200, "text/html", body) if form else (404, "text/plain", b"")
        results = store.query(query)
        if isinstance(results, ox.QueryTriples):
            return 200, N_TRIPLES, ox.serialize(results, format=ox.RdfFormat.N_TRIPLES)
        kind = ox.QueryResultsFormat.JSON
        return 200, kind.media_type, results.serialize(format=kind)

    with web(answer) as url:
        yield f"{url}/sparql"


def filled(count: int = 800) -> ox.Store:
    store = ox.Store()
    store.load(triples("big", count), format=ox.RdfFormat.TURTLE, to_graph=ox.NamedNode(BIG))
    return store


@pytest.mark.slow
def test_an_endpoint_that_fails_at_large_answers_is_asked_for_smaller_ones(tmp_path: Path) -> None:
    def fails(query: str, store: ox.Store) -> tuple[int, str, bytes] | None:
        if "CONSTRUCT" in query and len(list(store.query(query))) > 300:
            return 500, "text/html", b"<html>transaction timed out</html>"
        return None

    store = filled()
    with endpoint(store, fails) as url:
        run = harvest("--endpoint", url, "--fast", "-q", folder=tmp_path / "out")
    assert canonical(harvested(run)) == canonical(list(store))
    assert "smaller pages are requested" in " ".join(r["errors"] for r in run.records)
    run.is_calm()


@pytest.mark.slow
def test_an_endpoint_that_does_not_answer_in_time_is_asked_for_smaller_pages(
    tmp_path: Path,
) -> None:
    closing = threading.Event()

    def sleeps(query: str, store: ox.Store) -> tuple[int, str, bytes] | None:
        if "CONSTRUCT" in query and len(list(store.query(query))) > 1000:
            closing.wait(30)
            return 200, N_TRIPLES, b""
        return None

    store = filled()
    with endpoint(store, sleeps) as url:
        run = harvest(
            *(
                "--endpoint",
                url,
                "--fast",
                "-q",
                "bound:config.options:EndpointOptions.timeout=1",
            ),
            folder=tmp_path / "out",
        )
        closing.set()
    assert canonical(harvested(run)) == canonical(list(store))
    assert "timeout" in {r["outcome"] for r in run.records}


@pytest.mark.slow
def test_an_endpoint_that_changes_while_it_is_read_comes_to_an_end_and_tells(
    tmp_path: Path,
) -> None:
    def changes(query: str, store: ox.Store) -> None:
        if "CONSTRUCT" in query:
            subject = ox.NamedNode(f"http://d.example/big/{len(query)}-{len(store)}")
            label = ox.NamedNode("http://v.example/label")
            store.add(ox.Quad(subject, label, ox.Literal("new"), ox.NamedNode(BIG)))
            for quad in list(
                store.quads_for_pattern(None, label, ox.Literal("number 7", language="en"))
            ):
                store.remove(quad)

    store = filled()
    before = {str(q) for q in store if not isinstance(q.subject, ox.BlankNode)}
    with endpoint(store, changes) as url:
        run = harvest(
            *("--endpoint", url, "--fast", "-q", "-s", "SEMCRAWL_ENDPOINT_PAGE=200"),
            folder=tmp_path / "out",
        )
    assert run.status == 0
    told = " ".join(r["errors"] for r in run.records)
    assert "it changed while it was read" in told
    missing = before - {str(q) for q in harvested(run)}
    assert not [q for q in missing if "_:" not in q and "number 7" not in q]


@pytest.mark.slow
def test_what_is_no_endpoint_is_one_clear_line(tmp_path: Path) -> None:
    with endpoint(ox.Store(), lambda query, store: (404, "text/html", b"<html>")) as url:
        run = harvest("--endpoint", url, "--fast", folder=tmp_path / "out")
    assert run.status == 1
    assert "404" in run.err
    run.is_calm()


@pytest.mark.slow
def test_no_more_is_asked_of_an_endpoint_than_is_allowed(tmp_path: Path) -> None:
    with endpoint(filled()) as url:
        options = ("-s", "SEMCRAWL_ENDPOINT_TRIPLES=500", "-s", "SEMCRAWL_ENDPOINT_PAGE=100")
        run = harvest("--endpoint", url, "--fast", *options, folder=tmp_path / "out")
    assert len(harvested(run)) == 500
    assert "1,220 triples" in run.err
    assert "SEMCRAWL_ENDPOINT_TRIPLES" in run.err


@pytest.mark.slow
def test_queries_whose_time_is_over_wait_for_another_run(tmp_path: Path) -> None:
    store, folder = filled(), tmp_path / "out"
    options = ("--fast", "-q", "-s", "SEMCRAWL_ENDPOINT_PAGE=200")
    with endpoint(store) as url:
        run = harvest(
            *("--endpoint", url, "bound:config.options:EndpointOptions.seconds=0.001"),
            *options,
            folder=folder,
        )
        late = [r for r in run.records if r["outcome"] == "ignored"]
        assert late
        assert "time is over" in late[0]["errors"]


@pytest.mark.slow
def test_an_endpoint_is_refused_where_none_are_allowed(tmp_path: Path) -> None:
    run = harvest(
        *("--endpoint", "http://127.0.0.1:9/sparql", "-s", "SEMCRAWL_ENDPOINTS=never"),
        folder=tmp_path / "out",
    )
    run.says_in_one_line("SEMCRAWL_ENDPOINTS", "127.0.0.1:9/sparql")
    run = harvest("--endpoint", "ftp://x", folder=tmp_path / "out")
    run.says_in_one_line("ftp://x")


@pytest.mark.slow
@pytest.mark.parametrize("allowed", ["seeds", "found"])
def test_an_endpoint_that_a_document_names_is_read_where_that_is_allowed(
    allowed: str, tmp_path: Path
) -> None:
    store = filled(40)
    void = ""

    def described(query: str, store: ox.Store) -> tuple[int, str, bytes] | None:
        return None if query else (200, "text/turtle", void.encode())

    with endpoint(store, described) as url:
        void = f"<#data> <http://rdfs.org/ns/void#sparqlEndpoint> <{url}> ."
        run = harvest(
            *(url.replace("/sparql", "/void.ttl"), "--fast", "-q"),
            *("--links", "see-also", "-s", f"SEMCRAWL_ENDPOINTS={allowed}"),
            folder=tmp_path / "out",
        )
    wanted = canonical(list(store)) if allowed == "found" else set()
    assert canonical([q for q in harvested(run) if q.graph_name.value == BIG]) == wanted


@pytest.mark.slow
def test_pages_of_an_endpoint_are_judged_by_the_topic_of_the_crawl(tmp_path: Path) -> None:
    store = filled(40)
    other = ox.NamedNode("http://g.example/other")
    kind = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    person = ox.NamedNode("http://xmlns.com/foaf/0.1/Person")
    store.add(ox.Quad(ox.NamedNode("http://d.example/ann"), kind, person, other))
    with endpoint(store) as url:
        run = harvest(
            *("--endpoint", url, "--fast", "-q", "--about", "vocabulary:foaf:"),
            folder=tmp_path / "out",
        )
    assert {quad.graph_name for quad in harvested(run)} == {other}
    outcomes = [r["outcome"] for r in run.records if r["found_by"] == "endpoint"]
    assert outcomes.count("off-topic") == 1
    assert outcomes.count("fetched-rdf") == 1
