"""Parses pings: addresses that others submit by XML-RPC (``weblogUpdates``) or a plain POST.

Weblogs.com defined the methods, and Sindice adopted them (sources.md T.8).
"""

from __future__ import annotations

import xmlrpc.client
from urllib.parse import parse_qs

from semcrawl.web.charsets import to_utf8
from semcrawl.web.htmltree import xml_tree
from semcrawl.web.mediatypes import media_type

#: method → index of its first address
_METHODS = {"weblogUpdates.ping": 1, "weblogUpdates.extendedPing": 1}


def is_xml(content_type: str, body: bytes) -> bool:
    """Whether a ping is an XML-RPC call."""
    media = media_type(content_type)
    return media in ("text/xml", "application/xml") or body.lstrip().startswith(b"<?xml")


def read_call(body: bytes) -> list[str]:
    """Return the addresses in a call: of an extended ping all, of a plain one the page's.

    Raises ``ValueError`` for anything else. Resolves no entities and reads no DTD.
    """
    try:
        root = xml_tree(body)
    except ValueError as error:
        raise ValueError(f"it is not an XML-RPC call: {error}") from None
    if root.tag != "methodCall":
        raise ValueError("it is not an XML-RPC call")
    method = (root.findtext("methodName") or "").strip()
    if method not in _METHODS:
        raise ValueError(f"there is no method {method[:80]!r}; there are {', '.join(_METHODS)}")
    values = []
    for value in root.iterfind("params/param/value"):
        text = value.findtext("string")
        values.append((text if text is not None else value.text or "").strip())
    found = [text for text in values[_METHODS[method] :] if "://" in text]
    if not found:
        raise ValueError(f"{method} names no address")
    # a plain ping's further address is a list of changes
    return list(dict.fromkeys(found if method.endswith("extendedPing") else found[:1]))


def read_plain(content_type: str, body: bytes) -> list[str]:
    """Return the addresses in a plain POST: one per line, or the ``url`` fields of a form."""
    text = to_utf8(body, content_type).data.decode("utf-8", "replace")
    media = media_type(content_type)
    if media == "application/x-www-form-urlencoded":
        lines = parse_qs(text, max_num_fields=1000).get("url", [])
    else:
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return list(dict.fromkeys(filter(None, map(str.strip, lines))))


def answer_call(message: str, *, failed: bool) -> bytes:
    """Return the XML-RPC answer: whether the call failed, and a message."""
    answer = {"flerror": failed, "message": message}
    return xmlrpc.client.dumps((answer,), methodresponse=True, encoding="utf-8").encode()
