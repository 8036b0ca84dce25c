"""Linksets (RFC 9264): links with their context, relation and type in a document of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semcrawl.links.texts import fold
from semcrawl.sources.listedlinks import DataList, LinkCollector
from semcrawl.web.vocabulary import FoundBy

#: media types of linksets
JSON_TYPE, TEXT_TYPE = "application/linkset+json", "application/linkset"
#: ``Link.element`` of a linkset's links
_ELEMENT = "linkset"
#: links of one context and relation that are looked at
_MOST_TARGETS = 100_000


def linkset_of_json(data: Mapping[str, Any], into: LinkCollector) -> DataList:
    """Read a linkset's JSON form. What is not as the standard says is passed over and counted."""
    odd = 0
    contexts = data.get("linkset")
    for context in contexts if isinstance(contexts, list) else ():
        if not isinstance(context, dict):
            odd += 1
            continue
        for relation, targets in context.items():
            if relation == "anchor":
                continue
            for target in targets[:_MOST_TARGETS] if isinstance(targets, list) else ():
                if not isinstance(target, dict):
                    odd += 1
                    continue
                title = target.get("title") or _first_value(target.get("title*"))
                rel = fold(relation).lower()
                into.add(
                    target.get("href"),
                    rel.rpartition("/")[2],
                    type=target.get("type"),
                    title=title,
                    rel=rel,
                    element=_ELEMENT,
                    found_by=FoundBy.HEADER,
                )
    if odd:
        into.found.faults.append(f"{odd:,} parts of the linkset are no links")
    return into.found


def _first_value(titles: object) -> object:
    """Return the text of an internationalised title."""
    if isinstance(titles, list) and titles and isinstance(titles[0], dict):
        return titles[0].get("value")
    return ""
