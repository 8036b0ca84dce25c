"""Pings: addresses that others submit, by XML-RPC (``weblogUpdates``) or a plain POST.

The methods are those of Weblogs.com, which Sindice took over (sources.md T.8).
"""

from __future__ import annotations

import xmlrpc.client
from urllib.parse import parse_qs

from lxml import etree

#: methods, with the place of their first address
_METHODS = {"weblogUpdates.ping": 1, "weblogUpdates.extendedPing": 1}


def is_xml(content_type: str, body: bytes) -> bool:
    """Whether a ping is a call of XML-RPC."""
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type in ("text/xml", "application/xml") or body.lstrip().startswith(b"<?xml")


def read_call(body: bytes) -> list[str]:
    """Return the addresses of a call: of an extended ping the page, and what is to be looked at.

    Raises ``ValueError`` for what is no such call. No entity is resolved, and no DTD read.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ValueError(f"it is no XML: {str(error)[:200]}") from None
    if root is None or root.tag != "methodCall" or root.getroottree().docinfo.doctype:
        raise ValueError("it is no call of XML-RPC")
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
    # (the third one of a plain ping says where changes are listed)
    return list(dict.fromkeys(found if method.endswith("extendedPing") else found[:1]))


def read_plain(content_type: str, body: bytes) -> list[str]:
    """Return the addresses of a plain POST: a line each, or the fields ``url`` of a form."""
    text = body.decode("utf-8", "replace")
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == "application/x-www-form-urlencoded":
        lines = parse_qs(text, max_num_fields=1000).get("url", [])
    else:
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return list(dict.fromkeys(filter(None, map(str.strip, lines))))


def answer_call(message: str, *, failed: bool) -> bytes:
    """Return the answer to a call: whether it failed, and why."""
    answer = {"flerror": failed, "message": message}
    return xmlrpc.client.dumps((answer,), methodresponse=True, encoding="utf-8").encode()
