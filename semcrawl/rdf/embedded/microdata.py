"""Converts Microdata by "Microdata to RDF – Second Edition" (W3C Note), sections 4 to 6."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lxml import etree

from semcrawl.rdf.embedded.triples import Triple, TripleList
from semcrawl.rdf.limits import LimitReached
from semcrawl.rdf.terms import RDF, XSD, date_datatype, iri_of, iri_term, literal_term

_TOP = etree.XPath("descendant-or-self::*[@itemscope and not(@itemprop)]")
_TEXT = etree.XPath("string()")
_LANGUAGE = etree.XPath("ancestor-or-self::*[@lang or @xml:lang][1]")
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_URL_ATTRIBUTE = {
    "a": "href", "area": "href", "link": "href", "audio": "src", "embed": "src", "iframe": "src",
    "img": "src", "source": "src", "track": "src", "video": "src", "object": "data",
}  # fmt: skip
_INTEGER = re.compile(r"-?\d+\Z")
_FLOAT = re.compile(r"-?\d+\.\d+(?:[eE][+-]?\d+)?\Z|-?\d+[eE][+-]?\d+\Z")
_TYPE = f"<{RDF}type>"


class MicrodataProcessor:
    """Reads the items of one tree."""

    def __init__(
        self,
        root: etree._Element,
        limit: int = 200_000,
        expansions: Iterable[tuple[str, str]] = (),
        size: int = 64 * 2**20,
    ) -> None:
        """Prepare to read the document whose root element is ``root``.

        ``expansions`` pairs properties with those they imply (section 4.5, vocabulary expansion).
        """
        self._root = root
        self._implied: dict[str, list[str]] = {}
        for property_, other in expansions:
            self._implied.setdefault(iri_term(property_), []).append(iri_term(other))
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
        waiting: list[tuple[etree._Element, str]] = [(item, "") for item in _TOP(self._root)]
        waiting.reverse()
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
            known = iri_term(identity) if identity else f"_:m{len(self._subjects)}"
            self._subjects[item] = known
        return known

    def _item(self, item: etree._Element, inherited: str) -> list[tuple[etree._Element, str]]:
        """Add the triples of one item; return the items among its values, and its type."""
        subject, line = self._subject(item), item.sourceline or 0
        types = [t for t in (item.get("itemtype") or "").split() if _SCHEME.match(t)]
        for kind in types:
            self._triples.add(Triple(subject, _TYPE, iri_term(kind), line))
        current_type = types[0] if types else inherited
        vocabulary = _vocabulary(current_type)
        inner: list[tuple[etree._Element, str]] = []
        for element in self._properties(item):
            line = element.sourceline or 0
            value: str | None = None
            for attribute in ("itemprop", "itemprop-reverse"):
                for name in dict.fromkeys((element.get(attribute) or "").split()):
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
        for identity in dict.fromkeys((item.get("itemref") or "").split()):
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

    @staticmethod
    def _value(element: etree._Element) -> str:
        tag = element.tag
        content = element.get("content")
        if tag == "meta":
            return literal_term(content or "", _language(element))
        attribute = _URL_ATTRIBUTE.get(tag)
        if attribute is not None:
            address = element.get(attribute)
            return literal_term("") if address is None else iri_term(address)
        if tag in ("data", "meter"):
            value = element.get("value") or ""
            if _INTEGER.match(value):
                return literal_term(value, datatype=XSD + "integer")
            if _FLOAT.match(value):
                return literal_term(value, datatype=XSD + "double")
            return literal_term(value, _language(element))
        if tag == "time":
            moment = element.get("datetime")
            if moment is None:
                moment = str(_TEXT(element))
            if kind := date_datatype(moment.strip()):
                return literal_term(moment.strip(), datatype=kind)
            return literal_term(moment, _language(element))
        # not in the standard, but usual for prices and dates
        if content is not None:
            return literal_term(content, _language(element))
        return literal_term(_TEXT(element), _language(element))


def _is_property(element: etree._Element) -> bool:
    return element.get("itemprop") is not None or element.get("itemprop-reverse") is not None


def _vocabulary(itemtype: str) -> str:
    """Return the part of a type's IRI that its properties share."""
    if "#" in itemtype:
        return itemtype.rpartition("#")[0] + "#"
    return itemtype.rpartition("/")[0] + "/" if itemtype else ""


def _predicate(name: str, vocabulary: str) -> str:
    if _SCHEME.match(name):
        return iri_term(name)
    return iri_term((vocabulary or "#") + iri_of(name))


def _language(element: etree._Element) -> str:
    found = _LANGUAGE(element)
    if not found:
        return ""
    return str(found[0].get(_XML_LANG) or found[0].get("lang") or "")
