"""The real sites: quads equal those of an independent reader."""

import importlib.util
import io
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pyoxigraph
import pytest
import rdflib

from semcrawl.rdf import detect, read
from semcrawl.web.vocabulary import Kind, RdfFormat

SHARED = Path(__file__).parents[3] / "shared"
pytestmark = [
    pytest.mark.sites,
    pytest.mark.slow,
    pytest.mark.skipif(not (SHARED / "sites").is_dir(), reason="needs ../shared/sites"),
]
RDFLIB = {RdfFormat.RDF_XML: "xml", RdfFormat.TURTLE: "turtle", RdfFormat.N_QUADS: "nquads"}


@pytest.fixture(scope="module")
def replay() -> ModuleType:
    spec = importlib.util.spec_from_file_location("replay", SHARED / "bench" / "replay.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def documents(replay: ModuleType) -> Iterator[tuple[str, str, str, bytes]]:
    for site in replay.load(str(SHARED / "sites" / "sites.json")):
        for path in sorted(Path(site.root).rglob("*")):
            if path.is_file():
                kind, content_type = site.kind(str(path))
                url = f"http://{site.host}{site.base}{path.relative_to(site.root)}"
                yield kind, content_type, url, path.read_bytes()


def independent(body: bytes, syntax: RdfFormat, url: str) -> set[str] | None:
    """Return the canonical triples that rdflib reads, None when it refuses."""
    graph = rdflib.Dataset(default_union=True)
    try:
        graph.parse(
            io.BytesIO(body.removeprefix(b"\xef\xbb\xbf")), format=RDFLIB[syntax], publicID=url
        )
    except Exception:
        return None
    union = rdflib.Graph()
    for s, p, o, _ in graph.quads():
        union.add((s, p, o))
    lines = union.serialize(format="nt").encode()
    return canonical(lines, pyoxigraph.RdfFormat.N_TRIPLES)


def canonical(lines: bytes, syntax: pyoxigraph.RdfFormat) -> set[str]:
    dataset = pyoxigraph.Dataset(
        pyoxigraph.Quad(q.subject, q.predicate, q.object)
        for q in pyoxigraph.parse(lines, syntax, lenient=True)
    )
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return set(map(str, dataset))


def test_types_and_quads(replay: ModuleType) -> None:
    """Every file has its kind; every document without errors the quads that rdflib reads."""
    compared = 0
    for kind, content_type, url, body in documents(replay):
        assert detect(body[:4096], content_type, url).kind == kind, url
        if kind != Kind.RDF:
            continue
        reading = read(body, url, content_type)
        assert reading.nquads.count(b"\n") == reading.quads
        if reading.error_count or reading.detection.format not in RDFLIB:
            continue  # N3 is more than what both readers take for RDF
        wanted = independent(body, reading.detection.format, url)
        if wanted is not None:
            found = canonical(reading.nquads, pyoxigraph.RdfFormat.N_QUADS)
            assert len(found) == len(wanted), url
            ground = {q for q in found if "_:" not in q}
            assert {q.lower() for q in ground} == {q.lower() for q in wanted if "_:" not in q}, url
            compared += 1
    assert compared > 400
