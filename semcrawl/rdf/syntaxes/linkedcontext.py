"""Puts the JSON-LD context that a ``Link`` header names into the JSON document."""

from __future__ import annotations

import json
from typing import Any

_CONTEXT = "@context"


def with_context(data: bytes, url: str) -> bytes:
    """Return JSON in UTF-8 that begins with the context at ``url`` (JSON-LD 1.1, section 6.1).

    The document's own contexts come after it. Line numbers stay the same, but for arrays and
    documents with a context. Of broken JSON the beginning is changed only.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, list) or (isinstance(value, dict) and _CONTEXT in value):
        nodes = value if isinstance(value, list) else [value]
        changed = [_with(node, url) if isinstance(node, dict) else node for node in nodes]
        written = changed if isinstance(value, list) else changed[0]
        return json.dumps(written).encode()
    start = data.find(b"{")
    if start < 0 or data[:start].strip():
        return data
    comma = b"," if value != {} else b""
    member = f'"{_CONTEXT}":{json.dumps(url)}'.encode()
    return data[: start + 1] + member + comma + data[start + 1 :]


def _with(node: dict[str, Any], url: str) -> dict[str, Any]:
    own = node.get(_CONTEXT, [])
    contexts = [url, *(own if isinstance(own, list) else [own])]
    return {_CONTEXT: contexts, **{key: value for key, value in node.items() if key != _CONTEXT}}
