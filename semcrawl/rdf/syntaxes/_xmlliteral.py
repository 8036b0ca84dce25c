"""Writes the canonical text of an XML literal.

RDF 1.1 XML Syntax, section 7.2.17, asks for Exclusive XML Canonicalization 1.0 with comments:
a namespace is declared where an element or an attribute first uses it.
"""

from __future__ import annotations

from semcrawl.rdf.scopes import Scoped

_XML = "http://www.w3.org/XML/1998/namespace"
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"})
_VALUE = str.maketrans(
    {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"}
)


class XmlLiteral:
    """Collects the content of a property element."""

    def __init__(self, namespaces: Scoped[str | None]) -> None:
        """Begin inside an element with these namespaces in scope, by prefix."""
        #: name, namespaces in scope, and namespaces written, of each open element
        self._open: list[tuple[str, Scoped[str | None], Scoped[str]]] = [
            ("", namespaces, Scoped({"": ""}))
        ]
        self._pieces: list[str] = []

    @property
    def size(self) -> int:
        """The number of characters so far."""
        self._pieces = ["".join(self._pieces)]
        return len(self._pieces[0])

    def forget(self) -> None:
        """Drop the text so far."""
        self._pieces.clear()

    @property
    def depth(self) -> int:
        """The number of open elements."""
        return len(self._open) - 1

    def text(self, text: str) -> None:
        """Add text."""
        self._pieces.append(text.translate(_TEXT))

    def comment(self, text: str) -> None:
        """Add a comment."""
        self._pieces.append(f"<!--{text}-->")

    def instruction(self, target: str, data: str) -> None:
        """Add a processing instruction."""
        self._pieces.append(f"<?{target} {data}?>" if data else f"<?{target}?>")

    def start(self, name: str, attributes: list[str | None]) -> str:
        """Begin an element; return what is wrong with it, or an empty string."""
        _, scope, written = self._open[-1]
        declared: dict[str, str | None] = {}
        plain: list[tuple[str, str, str, str]] = []
        fault = ""
        for key, value in zip(attributes[::2], attributes[1::2], strict=True):
            if not key or value is None:
                fault = "an attribute that cannot be read"
            elif key == "xmlns" or key.startswith("xmlns:"):
                declared[key[6:]] = value
            else:
                prefix, _, local = key.rpartition(":")
                plain.append((prefix, local, key, value))
        if declared:
            scope = scope.extended(declared)
        used = {name.partition(":")[0] if ":" in name else ""}
        used.update(prefix for prefix, *_ in plain if prefix)
        used.discard("xml")
        new: dict[str, str] = {}
        for prefix in sorted(used):
            iri = scope.get(prefix) or ""
            if prefix and not iri:
                fault = f"the prefix {prefix} is not declared"
            if written.get(prefix) != iri:
                new[prefix] = iri
        pieces = ["<", name]
        for prefix, iri in new.items():
            pieces.append(f' {"xmlns:" if prefix else "xmlns"}{prefix}="{iri.translate(_VALUE)}"')
        by_name = sorted(
            ((_XML if p == "xml" else scope.get(p) or "") if p else "", local, key, value)
            for p, local, key, value in plain
        )
        pieces += [f' {key}="{value.translate(_VALUE)}"' for _, _, key, value in by_name]
        pieces.append(">")
        self._pieces += pieces
        self._open.append((name, scope, written.extended(new) if new else written))
        return fault

    def end(self) -> None:
        """End the innermost element."""
        self._pieces.append(f"</{self._open.pop()[0]}>")

    def __str__(self) -> str:
        """Return the canonical text."""
        return "".join(self._pieces)
