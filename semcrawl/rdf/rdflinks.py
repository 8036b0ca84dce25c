"""Finds the IRIs of an RDF document that count as links.

It reads finished N-Quads, so all syntaxes and kinds of embedded data are treated alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from semcrawl.rdf.options import Position, ReadOptions
from semcrawl.rdf.patterns import re
from semcrawl.rdf.quadlines import skolem_iris

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

#: subject, object and graph name if they are IRIs, and the predicate
_QUAD = re.compile(
    rb"^(?:<([^>]*+)>|_:\S++|<<\(.*?\)>>) <([^>]*+)> "
    rb'(?:<([^>(<]*+)>|_:\S++|<<\(.*\)>>|"[^"\\]*+(?:\\.[^"\\]*+)*+"(?:@[\w-]++|\^\^<[^>]*+>)?+)'
    rb"(?: (?:<([^>]*+)>|_:\S++))? \.$",
    re.MULTILINE,
)
_FETCHABLE = (b"http://", b"https://")


@dataclass(frozen=True, slots=True)
class RdfLink:
    """An IRI without its fragment, with its statement's property and its position there."""

    iri: str
    predicate: str
    position: Position


def find_links(lines: Iterable[bytes], url: str, options: ReadOptions) -> Iterator[RdfLink]:
    """Yield the links of the document at ``url`` from pieces of whole N-Quads ``lines``.

    Links are http and https IRIs without their fragments, each once, at its first position. The
    document itself and our own Skolem IRIs are left out. Yields at most ``options.max_links``.
    """
    own = url.partition("#")[0].encode("utf-8", "replace")
    seen = {own}
    wanted = options.link_positions
    take_subject = Position.SUBJECT in wanted and not options.link_properties
    take_predicate = Position.PREDICATE in wanted
    take_graph = Position.GRAPH in wanted
    properties = {p.encode() for p in options.link_properties}
    rdf_type = RDF_TYPE.encode()
    left = options.max_links
    ours = skolem_iris(options.skolem_base) if options.skolem_base else None
    for piece in lines:
        for subject, predicate, object_, graph in _QUAD.findall(piece):
            candidates: list[tuple[bytes, Position]] = []
            if take_subject and subject:
                candidates.append((subject, Position.SUBJECT))
            if take_predicate:
                candidates.append((predicate, Position.PREDICATE))
            if object_:
                place = Position.TYPE if predicate == rdf_type else Position.OBJECT
                if place in wanted and (not properties or predicate in properties):
                    candidates.append((object_, place))
            if take_graph and graph:
                candidates.append((graph, Position.GRAPH))
            for iri, place in candidates:
                target = iri.partition(b"#")[0]
                if target in seen or not target.startswith(_FETCHABLE):
                    continue
                if ours is not None and ours.match(target):
                    continue
                if left <= 0:
                    return
                left -= 1
                seen.add(target)
                yield RdfLink(
                    target.decode("utf-8", "replace"), predicate.decode("utf-8", "replace"), place
                )
