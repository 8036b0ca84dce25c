"""Bytes of each syntax to finished N-Quads lines, beside pyoxigraph's bare parse and rdflib.

    python benchmarks/rdf_syntaxes.py [--statements 100000] [--rounds 5]

Each contender gets the same bytes in the same run; the least processor time of the rounds counts.
``bare`` iterates over pyoxigraph's parser and throws the quads away; ``written`` does the same job
as semcrawl, from bytes to N-Quads, and so does rdflib on a tenth of the data; ``parse only`` is
rdflib's way without writing.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import pyoxigraph
import rdflib

from semcrawl.rdf import read

URL = "http://example.org/data"
RDFLIB = {
    "application/n-triples": "nt",
    "application/n-quads": "nquads",
    "text/turtle": "turtle",
    "application/trig": "trig",
    "application/rdf+xml": "xml",
    "application/ld+json": "json-ld",
}
Ox = pyoxigraph.RdfFormat
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:e="http://example.org/ontology/">'
)


def nodes(count: int) -> list[dict[str, str]]:
    return [
        {
            "s": f"http://example.org/resource/item/{i}",
            "name": f"Item number {i} \u2013 of many",
            "link": f"http://example.org/resource/item/{i * 7 % count}",
            "size": str(i),
        }
        for i in range(count)
    ]


def data(statements: int) -> dict[str, tuple[str, pyoxigraph.RdfFormat, bytes]]:
    """Make the same statements in each syntax: ten to an item, one of them of a blank node."""
    items = nodes(statements // 10)
    e = "http://example.org/ontology/"
    integer = "http://www.w3.org/2001/XMLSchema#integer"
    triples = [
        line
        for n, i in enumerate(items)
        for line in (
            f'<{i["s"]}> <{e}name> "{i["name"]}"@en',
            f"<{i['s']}> <{e}link> <{i['link']}>",
            f'<{i["s"]}> <{e}size> "{i["size"]}"^^<{integer}>',
            *(f"<{i['s']}> <{e}see{k}> <{i['link']}#part{k}>" for k in range(3)),
            f"<{i['s']}> <{RDF_TYPE}> <{e}Item>",
            f'<{i["s"]}> <{e}comment> "Some more words on item {n}, as people write them."',
            f"<{i['s']}> <{e}part> _:b{n}",
            f'_:b{n} <{e}note> "a \\"quoted\\" word"',
        )
    ]
    turtle = [
        f'<{i["s"]}> e:name "{i["name"]}"@en ; e:link <{i["link"]}> ; e:size {i["size"]} ;'
        ' e:part [ e:note "a \\"quoted\\" word" ] .'
        for n, i in enumerate(items)
    ]
    xml = [
        f'<rdf:Description rdf:about="{i["s"]}"><e:name xml:lang="en">{i["name"]}</e:name>'
        f'<e:link rdf:resource="{i["link"]}"/><e:size rdf:datatype="{integer}">{i["size"]}'
        "</e:size>"
        + "".join(f'<e:see{k} rdf:resource="{i["link"]}#part{k}"/>' for k in range(3))
        + f'<rdf:type rdf:resource="{e}Item"/>'
        f"<e:comment>Some more words on item {n}, as people write"
        ' them.</e:comment><e:part rdf:parseType="Resource">'
        '<e:note>a "quoted" word</e:note></e:part>'
        "</rdf:Description>"
        for n, i in enumerate(items)
    ]
    json_ld = [
        f'{{"@id": "{i["s"]}", "name": {{"@value": "{i["name"]}", "@language": "en"}}, "link":'
        f' {{"@id": "{i["link"]}"}}, "size": {i["size"]},'
        + "".join(f' "see{k}": {{"@id": "{i["link"]}#part{k}"}},' for k in range(3))
        + f' "@type": "Item", "comment": "Some more words on item {n}, as people write them.",'
        f' "part": {{"note": "a \\"quoted\\" word"}}}}'
        for n, i in enumerate(items)
    ]
    prefix = f"@prefix e: <{e}> .\n"
    return {
        "N-Triples": ("application/n-triples", Ox.N_TRIPLES, joined(triples, " .\n")),
        "N-Quads": (
            "application/n-quads", Ox.N_QUADS, joined(triples, " <http://example.org/graph> .\n")
        ),
        "Turtle": ("text/turtle", Ox.TURTLE, prefix.encode() + joined(turtle, "\n")),
        "TriG": (
            "application/trig", Ox.TRIG,
            prefix.encode() + b"<http://example.org/graph> {\n" + joined(turtle, "\n") + b"}\n",
        ),
        "RDF/XML": (
            "application/rdf+xml", Ox.RDF_XML, (XML + "\n".join(xml) + "</rdf:RDF>").encode()
        ),
        "JSON-LD": (
            "application/ld+json", Ox.JSON_LD,
            f'{{"@context": {{"@vocab": "{e}"}}, "@graph": [{",".join(json_ld)}]}}'.encode(),
        ),
    }  # fmt: skip


def joined(lines: list[str], end: str) -> bytes:
    return (end.join(lines) + end).encode()


def seconds(task: Callable[[], object]) -> float:
    """Return the processor time of one run: other programs' load does not count."""
    start = time.process_time()
    task()
    return time.process_time() - start


class Figures(NamedTuple):
    """Thousands of quads per second."""

    bare: float
    written: float
    ours: float
    rdflib: float
    rdflib_parse_only: float


def compare(
    media: str, syntax: pyoxigraph.RdfFormat, body: bytes, few: bytes, rounds: int
) -> Figures:
    """Measure one syntax."""
    quads = sum(1 for _ in pyoxigraph.parse(body, syntax, base_iri=URL))
    assert read(body, URL, media).quads == quads
    bare, same, ours = [], [], []
    for _ in range(rounds):  # in turns
        bare.append(seconds(lambda: deque(pyoxigraph.parse(body, syntax, base_iri=URL), 0)))
        same.append(
            seconds(
                lambda: pyoxigraph.serialize(
                    pyoxigraph.parse(body, syntax, base_iri=URL), format=Ox.N_QUADS
                )
            )
        )
        ours.append(seconds(lambda: read(body, URL, media)))
    parsed, written = [], []
    for _ in range(2):
        dataset = rdflib.Dataset(default_union=True)
        parsed.append(
            seconds(lambda: dataset.parse(data=few, format=RDFLIB[media], publicID=URL))  # noqa: B023
        )
        written.append(seconds(lambda: dataset.serialize(format="nquads")))  # noqa: B023
    return Figures(
        quads / min(bare) / 1e3,
        quads / min(same) / 1e3,
        quads / min(ours) / 1e3,
        quads / 10 / (min(parsed) + min(written)) / 1e3,
        quads / 10 / min(parsed) / 1e3,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    whole, tenth = data(arguments.statements), data(arguments.statements // 10)
    print(f"{'syntax':10} {'bare k/s':>9} {'written k/s':>11} {'ours k/s':>9} {'rdflib k/s':>10} "
          f"{'parse only':>10} {'time/bare':>9} {'time/written':>12} {'x rdflib':>9}")  # fmt: skip
    for name, (media, syntax, body) in whole.items():
        bare, same, ours, full, parsed = compare(
            media, syntax, body, tenth[name][2], arguments.rounds
        )
        print(f"{name:10} {bare:9.0f} {same:11.0f} {ours:9.0f} {full:10.1f} {parsed:10.1f} "
              f"{bare / ours:9.2f} {same / ours:12.2f} {ours / full:9.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
