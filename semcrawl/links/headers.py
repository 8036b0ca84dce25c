"""Links out of HTTP ``Link:`` headers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from semcrawl.links.model import Link
from semcrawl.links.texts import fold
from semcrawl.urls import DEFAULT_NORMALISATION, Normalisation, resolve

#: what is read of one header (characters)
_MAX_HEADER = 20_000

_LINK = re.compile(r"<([^<>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:\"[^\"]*\"|[^\",;]*))?)*)")
_PARAMETER = re.compile(r";\s*([^\s=;,]+)\s*(?:=\s*(?:\"([^\"]*)\"|([^\",;]*)))?")


def header_text(value: bytes) -> str:
    """Return the text of a header: UTF-8, as browsers read addresses in them, else Latin-1."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def header_links(
    header: str, url: str, normalisation: Normalisation = DEFAULT_NORMALISATION
) -> Iterator[Link]:
    """Yield the links of one HTTP ``Link:`` header (RFC 8288); what is malformed is passed over."""
    for match in _LINK.finditer(header[:_MAX_HEADER]):
        target = resolve(url, match[1], normalisation)
        if target is None:
            continue
        parameters: dict[str, str] = {}
        for name, quoted, bare in _PARAMETER.findall(match[2]):
            parameters.setdefault(name.lower(), (quoted or bare).strip())
        yield Link(
            target,
            element="header",
            title=fold(parameters.get("title", "")),
            type=fold(parameters.get("type", "")).lower(),
            rel=fold(parameters.get("rel", "")).lower(),
        )
