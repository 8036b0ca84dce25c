"""Trees that libxml2 makes of HTML pages."""

from __future__ import annotations

from typing import Any

from lxml import etree


def with_rest(root: Any) -> Any:
    """Put what stands behind ``</html>`` into the root of a page, and return the root.

    Browsers take it for a part of the page; libxml2 makes a second root of it, which a walk through
    the first does not reach. ``None`` (no element at all) stays ``None``.
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
    """Whether a parser only complains that there is no element in a page."""
    return isinstance(error, etree.XMLSyntaxError) and error.code in (
        etree.ErrorTypes.ERR_DOCUMENT_EMPTY,
        None,
    )
