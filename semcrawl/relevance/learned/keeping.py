"""The part of a crawl's memory that is kept for later, and how it is taken over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from semcrawl.errors import UsageError
from semcrawl.relevance.learned.answering import AnsweringHosts
from semcrawl.relevance.learned.memory import CrawlMemory
from semcrawl.relevance.learned.table import TAKEN, LinkTable

_COUNTS = ("hosts", "clusters", "sections", "subsections")


def content_of(memory: CrawlMemory) -> dict[str, Any]:
    """Weights, counts, the tree, and the best of the waiting links."""
    content: dict[str, Any] = {"bits": memory.options.table_bits}
    content |= {"fetches": memory.fetches, "drought": memory.drought}
    for name, model in (("index", memory.models.index), ("kinds", memory.models.kinds)):
        content |= {f"{name}_{key}": array for key, array in model.state().items()}
    for name in _COUNTS:
        names, counts, fruitless = getattr(memory, name).state()
        content |= {f"{name}_names": names, f"{name}_counts": counts}
        content[f"{name}_fruitless"] = fruitless
    content["answering"], content["trust"] = memory.answering.state()
    return content | _worth_keeping(memory).state()


def take_over(
    memory: CrawlMemory, content: Mapping[str, Any], *, weights_only: bool = False
) -> None:
    """Go on with what :func:`content_of` gave; raise ``UsageError`` if it does not fit.

    ``weights_only``: it comes from another crawl, whose links and counts mean nothing here.
    """
    bits = content.get("bits")
    if bits != memory.options.table_bits:
        raise UsageError(f"the model has 2^{bits} rows, not 2^{memory.options.table_bits}")
    try:
        for name, model in (("index", memory.models.index), ("kinds", memory.models.kinds)):
            model.restore({key: content[f"{name}_{key}"] for key in model.state()})
        if weights_only:
            return
        memory.fetches = int(content["fetches"])
        memory.drought = int(content.get("drought", 0))
        for name in _COUNTS:
            counts = getattr(memory, name)
            known = content[f"{name}_names"], content[f"{name}_counts"]
            counts.restore(*known, content.get(f"{name}_fruitless"))
        table = LinkTable.restored(content)
        if "answering" in content:
            answering = AnsweringHosts.restored(content["answering"], content["trust"])
        else:  # an earlier version's
            answering = AnsweringHosts.of(table)
    except (KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise UsageError(f"the model cannot be read: {error}") from None
    memory.replace_table(table, answering)


def _worth_keeping(memory: CrawlMemory) -> LinkTable:
    table, most = memory.table, memory.options.saved_links
    if table.size <= most:
        return table
    kept = (table["children"] > 0) | (table["state"] == TAKEN)
    waiting = table.waiting()
    best = np.argsort(-table["told"][waiting], kind="stable")
    kept[waiting[best[:most]]] = True
    return table.select(kept)
