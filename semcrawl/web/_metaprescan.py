"""Finds the encoding that a page's ``meta`` elements declare, before the page is parsed.

This is the prescan of the HTML Standard ("prescan a byte stream to determine its encoding"). It
looks at the first kilobyte, and as browsers do at the rest of the head.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: bytes in which a declaration counts wherever it is; beyond, in the head only
_SURELY_READ = 1024
#: most bytes read
_MOST_READ = 65_536
_SPACE = rb"\t\n\f\r "
_META = re.compile(rb"<meta[/" + _SPACE + rb"]", re.I)
_TAG = re.compile(rb"</?([a-z][^>/" + _SPACE + rb"]*)", re.I)
_ATTRIBUTE = re.compile(
    rb"[/" + _SPACE + rb"]*([^>/" + _SPACE + rb"][^=>/" + _SPACE + rb"]*)"
    rb"(?:[" + _SPACE + rb"]*=[" + _SPACE + rb"]*"
    rb"""(?:"([^"]*)"|'([^']*)'|([^>"'""" + _SPACE + rb"][^>" + _SPACE + rb"]*)?))?"
)  # fmt: skip
#: ``charset=`` in the ``content`` of a pragma
_CHARSET = re.compile(
    rb"charset[" + _SPACE + rb"]*=[" + _SPACE + rb"]*"
    rb"""(?:"([^"]*)"|'([^']*)'|([^;"'""" + _SPACE + rb"][^;" + _SPACE + rb"]*))",
    re.I,
)  # fmt: skip


def declared_charsets(page: bytes) -> Iterator[str]:
    """Yield the labels that the ``meta`` elements of a page declare, in order.

    The first one that names an encoding is the page's. Comments and the attributes of other
    elements declare nothing.

    >>> list(declared_charsets(b"<!-- <meta charset=a> --><meta content='x' charset=big5>"))
    ['big5']
    """
    if b"charset" not in (page := page[:_MOST_READ]).lower():
        return
    at = 0
    while (at := page.find(b"<", at)) >= 0:
        if page.startswith(b"<!--", at):
            # the marks may share their dashes: <!-->
            at = _after(page, b"-->", at + 2)
        elif _META.match(page, at):
            attributes, at = _attributes(page, at + 5)
            if label := _label_of(attributes):
                yield label
        elif tag := _TAG.match(page, at):
            name = tag[1].lower()
            if at > _SURELY_READ and (name == b"body" or page.startswith(b"</head", at)):
                return
            _, at = _attributes(page, tag.end())
        elif page[at + 1 : at + 2] in (b"!", b"/", b"?"):
            at = _after(page, b">", at)
        else:
            at += 1


def _after(page: bytes, mark: bytes, at: int) -> int:
    """Return the place behind a mark; the page's end if it does not come."""
    found = page.find(mark, at)
    return len(page) if found < 0 else found + len(mark)


def _attributes(page: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """Return the attributes of a tag, the first of each name, and the place behind the tag."""
    attributes: dict[bytes, bytes] = {}
    while found := _ATTRIBUTE.match(page, at):
        at = found.end()
        attributes.setdefault(found[1].lower(), found[2] or found[3] or found[4] or b"")
    return attributes, _after(page, b">", at)


def _label_of(attributes: dict[bytes, bytes]) -> str:
    """Return the label that a ``meta`` element declares; ``""`` if none."""
    if (charset := attributes.get(b"charset")) is not None:
        return charset.decode("latin-1").strip()
    if attributes.get(b"http-equiv", b"").strip().lower() != b"content-type":
        return ""
    found = _CHARSET.search(attributes.get(b"content", b""))
    return (found[1] or found[2] or found[3] or b"").decode("latin-1").strip() if found else ""
