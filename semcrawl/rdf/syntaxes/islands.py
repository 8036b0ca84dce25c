"""Finds RDF/XML inside something else: the metadata of SVG, XHTML, a page with inline SVG."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from semcrawl.links.trees import tags, without_names

_NOT_ALONE = frozenset({b"svg", b"html"})


def is_alone(data: bytes) -> bool:
    """Whether a text is RDF/XML itself, and not a picture or a page that may contain some."""
    first = next((tag for tag in tags(data[: 1 << 16]) if not tag[1]), None)
    return first is None or first[2].rpartition(b":")[2].lower() not in _NOT_ALONE


def find(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each ``rdf:RDF`` element in markup, and its line.

    It gets the namespaces and the language of the elements around it, so it is a document.
    """
    around: list[tuple[bytes, bytes]] = []
    begins: tuple[bytes, int, int] | None = None
    for tag in tags(text):
        end, name, attributes = tag.groups()
        empty = attributes.endswith(b"/")
        if begins is not None:
            if end and name == begins[0]:
                start, after_name = begins[1:]
                element = text[start:after_name] + _scope(around) + text[after_name : tag.end()]
                yield text.count(b"\n", 0, start) + 1, without_names(element)
                begins = None
        elif end:
            place = next((n for n in range(len(around) - 1, -1, -1) if around[n][0] == name), -1)
            if place >= 0:
                del around[place:]
        elif name.rpartition(b":")[2] == b"RDF" and not empty:
            around.append((b"", attributes))
            begins = name, tag.start(), tag.end(2)
        elif not empty and b"xml" in attributes.lower() and len(around) < 256:
            around.append((name, attributes))


def _scope(around: list[tuple[bytes, bytes]]) -> bytes:
    """Return the declarations around an element that it does not make itself, as attributes."""
    found: dict[str, str] = {}
    _, own = around.pop()
    for _, attributes in around:
        found.update(_declared(attributes))
    for name in _declared(own):
        found.pop(name, None)
    return "".join(
        f' {name}="{value.replace("&", "&amp;").replace("<", "&lt;").replace(chr(34), "&quot;")}"'
        for name, value in found.items()
    ).encode()


def _declared(attributes: bytes) -> dict[str, str]:
    """Return the declarations of namespaces and the language among attributes."""
    tag = etree.fromstring(b"<html " + attributes + b">", etree.HTMLParser(encoding="utf-8"))
    return {
        name: value
        for name, value in tag.items()
        if name in ("xmlns", "xml:lang", "xml:base") or name.startswith("xmlns:")
    }
