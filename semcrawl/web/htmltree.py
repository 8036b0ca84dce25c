"""Corrects the trees that libxml2 builds of HTML pages."""

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
