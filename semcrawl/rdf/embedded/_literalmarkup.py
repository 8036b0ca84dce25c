"""Writes the content of elements as markup: the values of XML and HTML literals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lxml import etree

from semcrawl.rdf.embedded.pagetree import PageTree

_XML = "http://www.w3.org/XML/1998/namespace"
#: elements without content or end tag, and those whose text is not escaped (HTML, section 13.3)
_VOID = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track"
    " wbr".split()
)
_RAW = frozenset("iframe noembed noframes plaintext script style xmp".split())
_XML_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"})
_HTML_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\xa0": "&nbsp;"})
_XML_VALUE = _XML_TEXT | str.maketrans({'"': "&quot;", "\t": "&#x9;", "\n": "&#xA;"})
_HTML_VALUE = _HTML_TEXT | str.maketrans({'"': "&quot;"})


def xml_content(tree: PageTree, element: etree._Element, context: Mapping[str, str]) -> str:
    """Return an element's content as XML.

    The outermost elements declare the namespaces of ``context``, by prefix, but for those that they
    declare themselves (RDFa Core 1.1, section 7.5, step 11).
    """
    return "".join(_Writer(tree, context, html=False).content(element))


def html_content(tree: PageTree, element: etree._Element) -> str:
    """Return an element's content as HTML, as browsers serialise it."""
    return "".join(_Writer(tree, {}, html=True).content(element))


class _Writer:
    def __init__(self, tree: PageTree, context: Mapping[str, str], *, html: bool) -> None:
        self._tree = tree
        self._context = context
        self._html = html
        self._text = _HTML_TEXT if html else _XML_TEXT
        self._value = _HTML_VALUE if html else _XML_VALUE

    def content(self, element: etree._Element) -> Iterator[str]:
        """Yield the pieces of an element's content. The nesting may be deep."""
        yield self._escaped(element.text, element)
        open_elements = [(element, iter(element))]
        while open_elements:
            parent, children = open_elements[-1]
            child = next(children, None)
            if child is None:
                open_elements.pop()
                if open_elements:
                    yield f"</{_name(parent)}>"
                    yield self._escaped(parent.tail, open_elements[-1][0])
            elif not isinstance(child.tag, str):
                yield _other(child)
                yield self._escaped(child.tail, parent)
            else:
                context = self._context if parent is element else {}
                empty = not len(child) and not child.text
                end = ">" if self._html or not empty else "/>"
                yield f"<{_name(child)}{''.join(self._attributes(child, context))}{end}"
                if empty and (not self._html or child.tag in _VOID):
                    yield self._escaped(child.tail, parent)
                else:
                    yield self._escaped(child.text, child)
                    open_elements.append((child, iter(child)))

    def _escaped(self, text: str | None, parent: etree._Element) -> str:
        if not text or (self._html and parent.tag in _RAW):
            return text or ""
        return text.translate(self._text)

    def _attributes(self, element: etree._Element, context: Mapping[str, str]) -> Iterator[str]:
        for name, value in element.attrib.items():
            if name != "xmlns" and not name.startswith("xmlns:"):
                yield f' {_attribute(element, name)}="{value.translate(self._value)}"'
        for prefix, iri in sorted({**context, **self._tree.namespaces(element)}.items()):
            name = f"xmlns:{prefix}" if prefix else "xmlns"
            yield f' {name}="{iri.translate(self._value)}"'


def _name(element: etree._Element) -> str:
    local = etree.QName(element).localname if element.tag.startswith("{") else element.tag
    return f"{element.prefix}:{local}" if element.prefix else str(local)


def _attribute(element: etree._Element, name: str) -> str:
    if not name.startswith("{"):
        return name
    namespace, _, local = name[1:].partition("}")
    if namespace == _XML:
        return f"xml:{local}"
    prefix = next((p for p, iri in element.nsmap.items() if p and iri == namespace), None)
    return f"{prefix}:{local}" if prefix else local


def _other(node: etree._Element) -> str:
    """Return a comment, an instruction or a reference."""
    if node.tag is etree.Comment:
        return f"<!--{node.text}-->"
    if node.tag is etree.ProcessingInstruction:
        return f"<?{node.target} {node.text}?>" if node.text else f"<?{node.target}?>"
    return str(node.text or "")
