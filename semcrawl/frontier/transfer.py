"""Exports and imports a whole frontier as JSON Lines.

Each line has a ``kind``: ``frontier`` (the first line, with totals and the number of seen URLs),
``value`` (of a group), ``pace`` and ``yield`` (of a host), ``family`` (of links that look alike),
``link`` (its ``state``: waiting, leased, failed or withheld), ``seen`` (hexadecimal digests of
URLs, and their shard, if there are several), ``state`` (a strategy's blob, base64) and ``end`` (the
last line, with the number of those before it). An imported frontier, exported again, gives the same
lines, except for the crawl's name, and for leased and withheld links: they wait, and withheld ones
are withheld again when their turn comes.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from semcrawl.errors import UsageError
from semcrawl.frontier.contract import (
    TOTALS,
    Entry,
    Frontier,
    HostYield,
    Inspector,
    RowKind,
    ShardDigests,
    WaitingLink,
    table_of,
)

_BATCH = 500
#: format of the lines, independent of the backends' formats
_FORMAT = 2


async def export_lines(frontier: Frontier) -> AsyncIterator[str]:
    """Yield the frontier as JSON lines, leased links included. No worker should run meanwhile."""
    count = 0
    async for line in _exported(frontier):
        yield line
        count += 1
    yield _line("end", lines=count)


async def _exported(frontier: Frontier) -> AsyncIterator[str]:
    inspector = frontier.inspector
    totals = await table_of(inspector, "total")
    seen = (await frontier.counts([queue async for queue in inspector.rows("queue")], [])).seen
    yield _line("frontier", format=_FORMAT, prefix=frontier.name, totals=totals, seen=seen)
    for group, value in (await table_of(inspector, "value")).items():
        yield _line("value", group=group, value=value)
    for host, (delay, concurrency) in (await table_of(inspector, "pace")).items():
        yield _line("pace", host=host, delay=delay, concurrency=concurrency)
    for host, found in (await table_of(inspector, "yield")).items():
        yield _line("yield", host=host, **asdict(found))
    for name, fields in (await table_of(inspector, "family")).items():
        yield _line("family", name=name, fields=fields)
    states: Sequence[RowKind] = ("waiting", "leased", "failed", "withheld")
    for state in states:
        async for link in inspector.rows(state):
            yield _link_line(state, link)
    async for digests in inspector.rows("seen"):
        if digests:
            shard = {"shard": digests.shard} if isinstance(digests, ShardDigests) else {}
            yield _line("seen", digests=[digest.hex() for digest in digests], **shard)
    for name, blob in (await table_of(inspector, "state")).items():
        yield _line("state", name=name, data=b64encode(blob).decode())


def check_lines(lines: Iterable[str]) -> None:
    """Raise ``UsageError``, naming the wrong line, unless the lines are a complete export."""
    for _ in _rows(lines):
        pass


async def import_lines(frontier: Frontier, lines: Iterable[str]) -> int:
    """Fill an empty frontier from JSON lines; return the number of waiting links.

    Leased links wait again. Raises ``UsageError`` if the frontier is not empty, and as
    :func:`check_lines` does, after importing the lines before the wrong one.
    """
    inspector = frontier.inspector
    counts = await frontier.counts([queue async for queue in inspector.rows("queue")], [])
    if counts.seen or not counts.finished:
        raise UsageError(f"the frontier {frontier.name!r} is not empty")
    waiting, seen, digests = 0, 0, 0
    batch: dict[RowKind, list[WaitingLink]] = {"waiting": [], "failed": []}
    for kind, value in _rows(lines):
        if kind == "link":
            state, link = value
            batch[state].append(link)
            waiting += state == "waiting"
            if len(batch[state]) >= _BATCH:
                await inspector.load(state, batch[state])
                batch[state] = []
        else:
            # links must come before the digests of the seen set, which would refuse them
            await _flush(inspector, batch)
            if kind == "frontier":
                value, seen = value
            elif kind == "seen":
                digests += len(value)
            await _import_row(frontier, kind, value)
    # shards may each have all digests; those in a Bloom filter cannot be exported
    await inspector.load("total", [("seen", min(seen or digests, digests))])
    return waiting


def _rows(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield kind and content of each line; raise ``UsageError`` for wrong or missing fields."""
    number = 0
    kind = ""
    try:
        for number, line in enumerate(lines, 1):
            row = json.loads(line, object_hook=_from_json)
            if number == 1 and (row["kind"] != "frontier" or row["format"] != _FORMAT):
                raise UsageError(f"line 1: not an exported frontier of format {_FORMAT}")
            kind = row["kind"]
            if kind == "end" and row["lines"] != number - 1:
                raise UsageError(f"line {number}: {row['lines']} lines should be above it")
            yield kind, _content(kind, row)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"line {number} is none of an exported frontier: {reason}") from error
    if kind != "end":
        raise UsageError(
            f"the exported frontier is cut off after line {number}"
            if number
            else "nothing to import"
        )


def _content(kind: str, row: dict[str, Any]) -> Any:
    """Convert the content of a line to that of a row."""
    match kind:
        case "frontier":
            totals = {name: float(row.get("totals", {}).get(name, 0)) for name in TOTALS}
            return [(name, n) for name, n in totals.items() if n], int(row.get("seen", 0))
        case "link":
            return "failed" if row["state"] == "failed" else "waiting", _link(row)
        case "value":
            return {str(row["group"]): float(row["value"])}
        case "pace":
            return str(row["host"]), float(row["delay"]), int(row["concurrency"])
        case "yield":
            fetches, targets, barren = (int(row[name]) for name in ("fetches", "targets", "barren"))
            return str(row["host"]), HostYield(fetches, targets, barren, float(row["turn"]))
        case "family":
            fields = {str(name): str(value) for name, value in row["fields"].items()}
            return str(row["name"]), fields
        case "seen":
            digests = [bytes.fromhex(digest) for digest in row["digests"]]
            return ShardDigests(digests, str(row["shard"])) if "shard" in row else digests
        case "state":
            return str(row["name"]), b64decode(row["data"], validate=True)
        case "end":
            return None
        case other:
            raise UsageError(f"an unknown kind of line: {other!r}")


async def _flush(inspector: Inspector, batch: dict[RowKind, list[WaitingLink]]) -> None:
    for state, links in batch.items():
        if links:
            await inspector.load(state, links)
            batch[state] = []


async def _import_row(frontier: Frontier, kind: str, value: Any) -> None:
    match kind:
        case "frontier":
            await frontier.inspector.load("total", value)
        case "value":
            await frontier.set_values(value)
        case "pace":
            host, delay, concurrency = value
            await frontier.pace.set(host, delay=delay, concurrency=concurrency)
        case "yield" | "family" | "seen":
            await frontier.inspector.load(kind, [value])
        case "state":
            await frontier.shared.save_state(*value)


def _line(kind: str, **fields: object) -> str:
    return json.dumps({"kind": kind, **fields}, default=_to_json) + "\n"


def _link_line(state: str, link: WaitingLink) -> str:
    entry = asdict(link.entry)
    return _line("link", state=state, sequence=link.sequence, tries=link.tries, **entry)


def _link(row: dict[str, Any]) -> WaitingLink:
    entry = Entry(
        url=str(row["url"]),
        host=str(row["host"]),
        queue=str(row["queue"]),
        group=str(row["group"]),
        key=float(row["key"]),
        payload=dict(row["payload"]),
        label=str(row["label"]),
        barren=int(row["barren"]),
    )
    return WaitingLink(entry, int(row["sequence"]), int(row["tries"]))


def _to_json(value: object) -> object:
    if isinstance(value, bytes):
        return {"$bytes": b64encode(value).decode()}
    raise TypeError(f"no JSON for {type(value).__name__}")


def _from_json(value: dict[str, Any]) -> Any:
    return b64decode(value["$bytes"]) if value.keys() == {"$bytes"} else value
