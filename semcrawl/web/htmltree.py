"""Corrects the trees that libxml2 builds of HTML pages, and parses untrusted XML safely."""

from __future__ import annotations

from typing import Any

from lxml import etree


def with_rest(root: Any) -> Any:
    """Move content behind ``</html>`` into the root of a page, and return the root.

    Browsers treat it as part of the page. libxml2 puts it into a second root, which a walk through
    the first does not reach. ``None``, for a page without an element, stays ``None``.
    """
    if root is not None:
        for later in list(root.itersiblings(etree.Element)):
            if len(root):
                root[-1].tail = (root[-1].tail or "") + (later.text or "")
            else:
                root.text = (root.text or "") + (later.text or "")
            root.extend(list(later))
    return root


def is_empty(error: Exception) -> bool:
    """Whether a parser's error only means that a page has no element."""
    return isinstance(error, etree.XMLSyntaxError) and error.code in (
        etree.ErrorTypes.ERR_DOCUMENT_EMPTY,
        None,
    )


def xml_tree(body: bytes, *, recover: bool = False) -> etree._Element:
    """Parse XML without resolving entities or reading DTDs.

    Raises ``ValueError`` for anything else, and for XML that declares a document type.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=recover
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ValueError(f"it is not XML: {str(error)[:200]}") from None
    if root is None:
        raise ValueError("it is not XML")
    if root.getroottree().docinfo.doctype:
        raise ValueError("it declares a document type (DOCTYPE) and is not read")
    return root
