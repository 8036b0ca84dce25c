"""Converts Microdata by "Microdata to RDF – Second Edition" (W3C Note), sections 4 to 6."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lxml import etree

from semcrawl.rdf.embedded.triples import (
    WHITE_SPACE,
    PageTree,
    Triple,
    TripleList,
    address,
    literal,
    text_of,
    words,
)
from semcrawl.rdf.limits import LimitReached
from semcrawl.rdf.terms import RDF, XSD, date_datatype

_ITEMS = etree.XPath("descendant-or-self::*[@itemscope]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_URL_ATTRIBUTE = {
    "a": "href", "area": "href", "link": "href", "audio": "src", "embed": "src", "iframe": "src",
    "img": "src", "source": "src", "track": "src", "video": "src", "object": "data",
}  # fmt: skip
#: elements whose value is never their text
_OF_ATTRIBUTES = frozenset({*_URL_ATTRIBUTE, "data", "meta", "meter"})
_INTEGER = re.compile(r"-?\d+\Z")
_FLOAT = re.compile(r"-?\d+\.\d+(?:[eE][+-]?\d+)?\Z|-?\d+[eE][+-]?\d+\Z")
_TYPE = f"<{RDF}type>"
#: the note's registry: types that begin so share their properties' namespace (section 4.3)
_REGISTRY = ("http://schema.org/", "http://microformats.org/profile/hcard")


class MicrodataProcessor:
    """Reads the items of one tree."""

    def __init__(
        self,
        tree: PageTree,
        limit: int = 200_000,
        expansions: Iterable[tuple[str, str]] = (),
        size: int = 64 * 2**20,
    ) -> None:
        """Prepare to read a page.

        ``expansions`` pairs properties with those they imply (section 4.5, vocabulary expansion).
        """
        self._tree, self._root = tree, tree.root
        self._implied: dict[str, list[str]] = {}
        for property_, other in expansions:
            self._implied.setdefault(address(property_), []).append(address(other))
        self._subjects: dict[etree._Element, str] = {}
        self._ids: dict[str, etree._Element] | None = None
        self._triples = TripleList(limit, size)

    def triples(self) -> Iterator[Triple]:
        """Yield the triples; raise :class:`LimitReached` after the last that the limit allows."""
        reached: LimitReached | None = None
        try:
            self._read()
        except LimitReached as limit:
            reached = limit
        yield from self._triples
        if reached is not None:
            raise reached

    def _read(self) -> None:
        """Read the items, those last that are no item's property though they say so."""
        items = _ITEMS(self._root)
        top = [item for item in items if not _is_property(item)]
        waiting: list[tuple[etree._Element, str]] = [(item, "") for item in reversed(items)]
        waiting.extend((item, "") for item in reversed(top))
        done: set[etree._Element] = set()
        while waiting:
            item, inherited = waiting.pop()
            if item in done:
                continue
            done.add(item)
            waiting.extend(reversed(self._item(item, inherited)))

    def _subject(self, item: etree._Element) -> str:
        known = self._subjects.get(item)
        if known is None:
            identity = item.get("itemid")
            known = f"_:m{len(self._subjects)}" if identity is None else address(identity)
            self._subjects[item] = known
        return known

    def _item(self, item: etree._Element, inherited: str) -> list[tuple[etree._Element, str]]:
        """Add the triples of one item; return the items among its values, and its type."""
        subject, line = self._subject(item), item.sourceline or 0
        types = [t for t in words(item.get("itemtype") or "") if _SCHEME.match(t)]
        for kind in types:
            self._triples.add(Triple(subject, _TYPE, address(kind), line))
        current_type = types[0] if types else inherited
        vocabulary = _vocabulary(current_type)
        inner: list[tuple[etree._Element, str]] = []
        for element in self._properties(item):
            line = element.sourceline or 0
            value: str | None = None
            for attribute in ("itemprop", "itemprop-reverse"):
                for name in dict.fromkeys(words(element.get(attribute) or "")):
                    predicate = _predicate(name, vocabulary)
                    if value is None:
                        if element.get("itemscope") is not None:
                            value = self._subject(element)
                            inner.append((element, current_type))
                        else:
                            value = self._value(element)
                    one, other = subject, value
                    if attribute == "itemprop-reverse":
                        one, other = value, subject
                    if not one.startswith('"'):
                        for said in (predicate, *self._implied.get(predicate, ())):
                            self._triples.add(Triple(one, said, other, line))
        return inner

    def _properties(self, item: etree._Element) -> list[etree._Element]:
        """Return the elements that hold an item's properties, those of ``itemref`` included."""
        found: dict[etree._Element, None] = {}
        roots = [item]
        for identity in dict.fromkeys(words(item.get("itemref") or "")):
            self._triples.step()
            target = self._by_id().get(identity)
            if target is not None and target is not item:
                roots.append(target)
        for root in roots:
            for element in self._within(root, item):
                found.setdefault(element)
        return list(found)

    def _within(self, root: etree._Element, item: etree._Element) -> Iterator[etree._Element]:
        """Yield the property elements of ``root`` outside of inner items."""
        if root is not item and _is_property(root):
            yield root
        if root is not item and root.get("itemscope") is not None:
            return
        stack = [child for child in reversed(root) if isinstance(child.tag, str)]
        while stack:
            element = stack.pop()
            self._triples.step()
            if _is_property(element):
                yield element
            if element.get("itemscope") is None:
                stack.extend(child for child in reversed(element) if isinstance(child.tag, str))

    def _by_id(self) -> dict[str, etree._Element]:
        if self._ids is None:
            self._ids = {}
            for element in self._root.iter(etree.Element):
                if identity := element.get("id"):
                    self._ids.setdefault(identity, element)
        return self._ids

    def _value(self, element: etree._Element) -> str:
        tag, language = element.tag, self._tree.language
        attribute = _URL_ATTRIBUTE.get(tag)
        if attribute is not None and (url := element.get(attribute)) is not None:
            return address(url)
        value = element.get("value") if tag in ("data", "meter") else None
        if value is not None:
            if _INTEGER.match(value):
                return literal(value, datatype=XSD + "integer")
            if _FLOAT.match(value):
                return literal(value, datatype=XSD + "double")
            return literal(value, language(element))
        moment = element.get("datetime") if tag == "time" else None
        # HTML knows it for ``meta`` alone, HTML Microdata (W3C, section 5.4) for all elements
        content = element.get("content", "" if tag in _OF_ATTRIBUTES else None)
        if content is not None and moment is None:
            return literal(content, language(element))
        text = text_of(element) if moment is None else moment
        if tag == "time" and (kind := date_datatype(text.strip(WHITE_SPACE))):
            return literal(text.strip(WHITE_SPACE), datatype=kind)
        return literal(text, language(element))


def _is_property(element: etree._Element) -> bool:
    return element.get("itemprop") is not None or element.get("itemprop-reverse") is not None


def _vocabulary(itemtype: str) -> str:
    """Return what a type's IRI has in common with those of its properties (section 4.3)."""
    for prefix in _REGISTRY:
        if itemtype.startswith(prefix):
            return prefix if prefix.endswith("/") else prefix + "#"
    if "#" in itemtype:
        return itemtype.partition("#")[0] + "#"
    if not itemtype:
        return ""
    path = itemtype.partition("?")[0]
    start = path.find("//") + 2 if "//" in path else 0
    return path[: path.rfind("/", start)] + "/" if "/" in path[start:] else path + "/"


def _predicate(name: str, vocabulary: str) -> str:
    return address(name if _SCHEME.match(name) else (vocabulary or "#") + name)
