"""Data nodes: one function for each way of publishing."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile

from rdflib import BNode, Dataset, Graph, Literal, URIRef
from rdflib.namespace import FOAF, OWL, RDF, RDFS

from hostile.cloud.model import Node, Resource, page, redirect
from semcrawl.lab.demo.model import Response

#: media types and extensions that rdflib writes, by its names of syntaxes
SYNTAXES = {
    "turtle": ("text/turtle", "ttl"),
    "xml": ("application/rdf+xml", "rdf"),
    "json-ld": ("application/ld+json", "jsonld"),
    "nt": ("application/n-triples", "nt"),
    "trig": ("application/trig", "trig"),
    "nquads": ("application/n-quads", "nq"),
}
ENTITIES = 4
#: entities of a dump
DUMPED = 150


def person(graph: Graph, it: URIRef, name: str, *sees: str) -> None:
    """Say a few things about somebody: blank nodes, tagged and typed literals among them."""
    graph.add((it, RDF.type, FOAF.Person))
    graph.add((it, FOAF.name, Literal(name, lang="en")))
    graph.add((it, FOAF.age, Literal(len(name))))
    address = BNode()
    graph.add((it, FOAF.based_near, address))
    graph.add((address, RDFS.label, Literal(f'"{name}" \\ home\n')))
    for url in sees:
        graph.add((it, RDFS.seeAlso, URIRef(url)))


def document(url: str, graph: Graph, syntax: str) -> tuple[tuple[str, Response], Dataset]:
    """Write a graph; return the answer with its media type, and the quads that it holds."""
    kind = SYNTAXES[syntax][0]
    body = graph.serialize(format=syntax, encoding="utf-8")
    if syntax == "turtle":
        body = body.replace(f"<{url}#".encode(), b"<#")
    quads = Dataset()
    for triple in graph:
        quads.add((*triple, URIRef(url)))
    return (kind, Response(200, (("Content-Type", kind),), body)), quads


def put(node: Node, path: str, graph: Graph, syntax: str) -> None:
    """Put a document at a path."""
    variant, quads = document(node.url(path), graph, syntax)
    node.resources[path] = Resource((variant,), quads)


def hash_vocabulary(node: Node, sees: list[str], count: int = 1) -> list[str]:
    """Documents whose things have hash IRIs."""
    paths = []
    for number in range(count):
        path = f"/people-{number}"
        graph = Graph()
        for thing in range(ENTITIES):
            it = URIRef(f"{node.url(path)}#p{thing}")
            person(graph, it, f"Person {number}.{thing}", *(sees if thing == 0 else ()))
        put(node, path, graph, ("turtle", "xml")[number % 2])
        paths.append(path)
    return paths


def slash_303(node: Node, sees: list[str], syntax: str) -> list[str]:
    """Things that redirect to data or to a page, as the client likes it (303)."""
    kind, extension = SYNTAXES[syntax]
    ids = [f"/id/{thing}" for thing in range(ENTITIES)]
    for thing, path in enumerate(ids):
        it, data = URIRef(node.url(path)), f"/data/{thing}.{extension}"
        graph = Graph()
        person(graph, it, f"Thing {thing}", *(sees if thing == 0 else ()))
        graph.add((it, FOAF.knows, URIRef(node.url(ids[(thing + 1) % ENTITIES]))))
        put(node, data, graph, syntax)
        alternate = f'<link rel="alternate" type="{kind}" href="{data}">'
        html = page([path], head=alternate)
        node.resources[f"/page/{thing}"] = Resource(
            (("text/html", html),), links=frozenset({node.url(data), node.url(path)})
        )
        node.resources[path] = Resource(
            (
                ("text/html", redirect(f"/page/{thing}")),
                (kind, redirect(data)),
            ),
            links=frozenset({node.url(data)}),
        )
    return ids[:1]


def negotiated(node: Node, sees: list[str], syntax: str) -> list[str]:
    """Things whose address answers with data or with a page itself; a catalogue names them."""
    catalogue = Graph()
    about = URIRef(node.url("/catalogue.ttl#it"))
    for thing in range(ENTITIES):
        path = f"/thing/{thing}"
        it = URIRef(node.url(path))
        catalogue.add((about, RDFS.member, it))
        graph = Graph()
        person(graph, it, f"Thing {thing}", *(sees if thing == 0 else ()))
        variant, quads = document(node.url(path), graph, syntax)
        html = page(["/"])
        node.resources[path] = Resource((("text/html", html), variant), quads)
    put(node, "/catalogue.ttl", catalogue, "turtle")
    return ["/catalogue.ttl"]


def packed(node: Node, packing: str) -> list[str]:
    """A dump, and the document that its entities are described in beside it."""
    home = node.url("/entities.ttl")
    graph = Graph()
    person(graph, URIRef(f"{home}#e0"), "The first entity")
    put(node, "/entities.ttl", graph, "turtle")
    dump = Graph()
    for entity in range(DUMPED):
        it = URIRef(f"{home}#e{entity}")
        dump.add((it, RDF.type, FOAF.Agent))
        dump.add((it, FOAF.name, Literal(f"Entity {entity}")))
    lines = dump.serialize(format="nt", encoding="utf-8")
    turtle = dump.serialize(format="turtle", encoding="utf-8")
    single = {
        "nt.gz": lambda: gzip.compress(lines),
        "ttl.bz2": lambda: bz2.compress(turtle),
        "nq.xz": lambda: lzma.compress(lines),
        "zip": lambda: _zipped({"a/dump.ttl": turtle, "dump.nt": lines, "README": b"Data."}),
        "tar": lambda: _tarred({"dump.ttl": turtle, "LICENSE": b"Free."}, ""),
        "tar.gz": lambda: _tarred({"data/dump.nt": lines}, "gz"),
        "nt.zst": lambda: _zstandard(lines),
    }
    path = f"/dump.{packing}"
    quads = Dataset()
    for triple in dump:
        quads.add((*triple, URIRef(node.url(path))))
    kind = "application/octet-stream"
    answer = Response(200, (("Content-Type", kind),), single[packing]())
    node.resources[path] = Resource(((kind, answer),), quads)
    return [path]


def packings() -> list[str]:
    """Those that can be made here."""
    known = ["nt.gz", "ttl.bz2", "nq.xz", "zip", "tar", "tar.gz"]
    try:
        import zstandard  # noqa: F401
    except ImportError:
        return known
    return [*known, "nt.zst"]


def embedded(node: Node, context: str) -> list[str]:
    """Pages with data in them: JSON-LD with a context from elsewhere, RDFa, Microdata."""
    schema = "http://schema.example/"
    texts = {
        "jsonld": '<script type="application/ld+json">{"@context": "%s", "@id": "%s",'
        ' "@type": "Thing", "name": "In a script"}</script>',
        "rdfa": '<div prefix="s: http://schema.example/" resource="%s" typeof="s:Thing">'
        '<span property="s:name">In attributes</span></div>',
        "microdata": '<div itemscope itemid="%s" itemtype="http://schema.example/Thing">'
        '<span itemprop="name">In items</span></div>',
    }
    said = {"jsonld": "In a script", "rdfa": "In attributes", "microdata": "In items"}
    for kind, text in texts.items():
        path = f"/page-{kind}.html"
        it = URIRef(f"{node.url(path)}#it")
        filled = text % ((context, it) if kind == "jsonld" else (it,))
        graph = Graph(identifier=URIRef(node.url(path)))
        graph.add((it, RDF.type, URIRef(schema + "Thing")))
        graph.add((it, URIRef(schema + "name"), Literal(said[kind])))
        needed = (context,) if kind == "jsonld" else ()
        node.resources[path] = Resource(
            (("text/html", page(["/"], filled)),), embedded=graph, contexts=needed
        )
    return [f"/page-{kind}.html" for kind in texts]


def with_contexts(node: Node, contexts: list[str], readable: bool = True) -> list[str]:
    """JSON-LD documents whose contexts are elsewhere; the last ones may be forbidden there."""
    paths = []
    for number, context in enumerate(contexts):
        path = f"/record-{number}.jsonld"
        it, other = URIRef(f"{node.url(path)}#it"), URIRef(f"{node.url(path)}#other")
        body = json.dumps(
            {"@context": context, "@id": str(it), "@type": "Thing", "name": "A record"}
            | {"same": str(other)}
        )
        quads = Dataset()
        if readable:
            here = URIRef(node.url(path))
            quads.add((it, RDF.type, URIRef("http://schema.example/Thing"), here))
            quads.add((it, URIRef("http://schema.example/name"), Literal("A record"), here))
            quads.add((it, OWL.sameAs, other, here))
        kind = "application/ld+json"
        answer = Response(200, (("Content-Type", kind),), body.encode())
        node.resources[path] = Resource(
            ((kind, answer),), quads if readable else None, contexts=(context,)
        )
        paths.append(path)
    return paths


def context(node: Node, path: str) -> str:
    """A JSON-LD context at a path of a node; return its address."""
    terms = {
        "Thing": "http://schema.example/Thing",
        "name": "http://schema.example/name",
        "same": {"@id": str(OWL.sameAs), "@type": "@id"},
    }
    kind = "application/ld+json"
    body = json.dumps({"@context": terms}).encode()
    node.resources[path] = Resource(((kind, Response(200, (("Content-Type", kind),), body)),))
    return node.url(path)


def graphs(node: Node, sees: list[str]) -> list[str]:
    """TriG and N-Quads with graphs of their own names."""
    paths = []
    for syntax in ("trig", "nquads"):
        kind, extension = SYNTAXES[syntax]
        path = f"/graphs.{extension}"
        url = node.url(path)
        quads = Dataset()
        for number in range(3):
            it = URIRef(f"{url}#g{number}")
            quads.add((it, RDFS.label, Literal(f"Graph {number}"), it))
            quads.add((it, RDFS.seeAlso, URIRef(sees[number % len(sees)]), it))
        body = quads.serialize(format=syntax, encoding="utf-8")
        answer = Response(200, (("Content-Type", kind),), body)
        node.resources[path] = Resource(((kind, answer),), quads)
        paths.append(path)
    return paths


def moved(node: Node, sees: list[str]) -> list[str]:
    """Documents that have moved once or twice, and lists of lists that lead to documents."""
    graph = Graph()
    person(graph, URIRef(node.url("/new/1.ttl#it")), "Somebody who moved", *sees)
    put(node, "/new/1.ttl", graph, "turtle")
    for old, new in (("/old/1", "/older/1"), ("/older/1", "/new/1.ttl")):
        node.resources[old] = Resource(
            (("text/html", redirect(new, 301)),), links=frozenset({node.url(new)})
        )
    leaves = []
    for number in range(3):
        graph = Graph()
        person(graph, URIRef(node.url(f"/list/{number}.rdf#it")), f"Leaf {number}")
        put(node, f"/list/{number}.rdf", graph, "xml")
        leaves.append(f"/list/{number}.rdf")
    pages = {"/list/": ["/list/more.html"], "/list/more.html": leaves}
    for path, links in pages.items():
        node.resources[path] = Resource(
            (("text/html", page(links)),), links=frozenset(map(node.url, links))
        )
    return ["/old/1", "/list/"]


def _zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return file.getvalue()


def _tarred(members: dict[str, bytes], packing: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=f"w:{packing}") as archive:
        for name, body in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return file.getvalue()


def _zstandard(body: bytes) -> bytes:
    import zstandard

    return zstandard.compress(body)
