"""Resolves references as browsers do (the URL Standard of WHATWG)."""

from __future__ import annotations

import ada_url


def join_url(base: str, reference: str) -> str:
    """Resolve a reference against an address; raise ``ValueError`` if that gives no URL."""
    return str(ada_url.join_url(base, reference))
