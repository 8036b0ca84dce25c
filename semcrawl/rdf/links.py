"""Finds the IRIs of an RDF document that count as links.

It reads finished N-Quads, so all syntaxes and kinds of embedded data are treated alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from semcrawl.links import Reason
from semcrawl.rdf.options import Position, ReadOptions
from semcrawl.rdf.patterns import re
from semcrawl.rdf.sink import iri_text, skolem_iris

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

#: subject, object and graph name if they are IRIs, and the predicate
_QUAD = re.compile(
    rb"^(?:<([^>]*+)>|_:\S++|<<\(.*?\)>>) <([^>]*+)> "
    rb'(?:<([^>(<]*+)>|_:\S++|<<\(.*\)>>|"[^"\\]*+(?:\\.[^"\\]*+)*+"(?:@[\w-]++|\^\^<[^>]*+>)?+)'
    rb"(?: (?:<([^>]*+)>|_:\S++))? \.$",
    re.MULTILINE,
)
_FETCHABLE = (b"http://", b"https://")
#: positions that the properties to follow choose among
_PROPERTY_PLACES = (Position.SUBJECT, Position.OBJECT, Position.TYPE)


@dataclass(frozen=True, slots=True)
class RdfLink:
    """An IRI without its fragment, with its statement's property and its position there."""

    iri: str
    predicate: str
    position: Position
    #: why it is not followed; ``None`` if it is
    left_out: Reason | None = None


def find_links(lines: Iterable[bytes], url: str, options: ReadOptions) -> Iterator[RdfLink]:
    """Yield the links of the document at ``url`` from pieces of whole N-Quads ``lines``.

    Links are http and https IRIs without their fragments, each once, at its first position. The
    document itself and our own Skolem IRIs are left out. Yields at most ``options.max_links``, and
    as many that are not followed: values of other properties, and what comes after the most.
    """
    own = url.partition("#")[0].encode("utf-8", "replace")
    seen = {own}
    wanted = options.link_positions
    take_subject = Position.SUBJECT in wanted
    take_predicate = Position.PREDICATE in wanted
    take_graph = Position.GRAPH in wanted
    properties = {p.encode() for p in options.link_properties}
    rdf_type = RDF_TYPE.encode()
    left = spare = options.max_links
    others: dict[bytes, RdfLink] = {}
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
                if place in wanted:
                    candidates.append((object_, place))
            if take_graph and graph:
                candidates.append((graph, Position.GRAPH))
            for iri, place in candidates:
                target = iri.partition(b"#")[0]
                if target in seen or not target.startswith(_FETCHABLE):
                    continue
                if ours is not None and ours.match(target):
                    continue
                reason = None
                is_value = place is not Position.SUBJECT and predicate in properties
                if properties and place in _PROPERTY_PLACES and not is_value:
                    reason = Reason.OTHER_PROPERTY
                if reason is None and left <= 0:
                    reason = Reason.LINKS_PER_PAGE
                if reason is not None and (target in others or len(others) >= spare):
                    if left <= 0 and len(others) >= spare:
                        yield from others.values()
                        return
                    continue
                link = RdfLink(
                    iri_text(target),
                    iri_text(predicate),
                    place,
                    reason,
                )
                if reason is not None:
                    others[target] = link
                    continue
                left -= 1
                seen.add(target)
                others.pop(target, None)
                yield link
    yield from others.values()
