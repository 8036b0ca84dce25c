"""Chooses the next queries to a SPARQL endpoint by its answers.

The endpoint counts each graph. One query fetches a small graph. Of a large graph the subjects are
listed in order with their numbers of triples, and cut into ranges. The range is part of the query,
so pages neither overlap nor leave gaps, and need no order. As the size of each page is known
beforehand, pages that the server truncates are noticed and requested again in smaller parts.

Triples with blank nodes come in one separate page, so that each node stays one node. If they exceed
a page, it matters whether the endpoint keeps its labels from answer to answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from semcrawl.sources.endpointsteps import PAGES, Ask, Step, is_name

#: fewest triples per page, and how often a page is made smaller
_LEAST_PAGE, _MOST_AGAIN = 100, 10
_ORDERED_PARTS = frozenset({Ask.SUBJECT, Ask.BLANKS})


@dataclass(frozen=True, slots=True)
class Row:
    """A row of counts: a graph or subject, its triples, and those with blank nodes."""

    name: str
    triples: int = 0
    blanks: int = 0


@dataclass(slots=True)
class Following:
    """What follows from an answer: steps, messages, losses."""

    steps: list[Step] = field(default_factory=list)
    #: messages, a line each
    notes: list[str] = field(default_factory=list)
    #: number of triples given up, if known
    lost: int = 0
    #: whether the page is requested again in parts, so this answer is dropped
    again: bool = False


def first_steps(endpoint: str, page: int, most: int) -> list[Step]:
    """Return the first step of an endpoint, and the next one, which does not depend on its answer.

    ``page`` is the number of triples per page, ``most`` that of the endpoint; 0: any number.
    """
    description = Step(endpoint, Ask.DESCRIPTION, page=page, room=most or None)
    return [description, after_description(description, union=False)]


def after_description(step: Step, *, union: bool) -> Step:
    """Return the step after the description, which states whether the default graph is a union."""
    return replace(step, ask=Ask.GRAPHS, union=union)


def after_graphs(step: Step, rows: Sequence[Row], skipped: Collection[str]) -> Following:
    """Return what follows a list of graphs, without those that match a pattern in ``skipped``.

    A list ends only with an empty part: a server may return fewer rows than requested.
    """
    found = Following()
    counted = step.ask is Ask.GRAPHS
    room = step.room
    if not step.first and not (step.union and rows):
        ask = Ask.DEFAULT if rows else Ask.COUNT
        found.steps.append(replace(step, ask=ask, first=""))
    for row in rows:
        if any(fnmatchcase(row.name, pattern) for pattern in skipped):
            continue
        if not is_name(row.name):
            found.notes.append(f"graph {row.name[:200]!r} has a name that no query can contain")
            continue
        graph = replace(step, graph=row.name, first="", room=room, seen=())
        if not counted:
            found.steps.append(replace(graph, ask=Ask.COUNT))
            continue
        _add(found, after_count(graph, row))
        if room is not None:
            room = max(0, room - row.triples)
    if rows and rows[-1].name != step.first:
        found.steps.append(replace(step, first=rows[-1].name, room=room))
    return found


def after_default(step: Step, *, has_own: bool) -> Following:
    """Return what follows if the default graph has own triples, or has none."""
    return Following([replace(step, ask=Ask.COUNT)] if has_own else [])


def after_count(step: Step, row: Row) -> Following:
    """Return the steps that fetch a counted graph."""
    found = Following()
    size, blanks, room = row.triples, min(row.blanks, row.triples), step.room
    if room is not None and size > room:
        found.notes.append(_over(step, size - room))
        found.lost = size - room
        if room == 0:
            return found
    if size == 0:
        return found
    if size <= step.page and (room is None or size <= room):
        found.steps.append(replace(step, ask=Ask.WHOLE, size=size))
        return found
    if blanks:
        if room is not None:
            blanks = min(blanks, room)
        if row.blanks <= min(step.page, blanks):
            found.steps.append(replace(step, ask=Ask.BLANKS, size=blanks, last=""))
        else:
            found.steps.append(replace(step, ask=Ask.LABELS, size=blanks, offset=0, seen=()))
    rest = size - row.blanks
    if room is not None:
        rest = min(rest, room - blanks)
    if rest > 0:
        found.steps.append(replace(step, ask=Ask.PLAN, first="", last="", size=rest))
    return found


def after_plan(step: Step, rows: Sequence[Row]) -> Following:
    """Group subjects into ranges; split those that exceed a page into parts."""
    found = Following()
    left = step.size
    first, last, held = "", "", 0
    base = replace(step, offset=0, with_first=False)

    def close() -> None:
        nonlocal first, held
        if held:
            found.steps.append(replace(base, ask=Ask.RANGE, first=first, last=last, size=held))
        first, held = "", 0

    for row in rows:
        if left <= 0:
            break
        count = min(row.triples, left)
        left -= count
        if row.triples > step.page or count < row.triples:
            close()
            subject = replace(base, ask=Ask.SUBJECT, first=row.name, last="")
            found.steps += _parts(subject, 0, count)
            continue
        if held + count > step.page:
            close()
        first, last, held = first or row.name, row.name, held + count
    close()
    if left > 0 and rows and rows[-1].name != step.first:
        found.steps.append(replace(base, first=rows[-1].name, size=left))
    elif left > 0:
        found.notes.append(f"{step.name}: {left:,} triples fewer than counted before")
    return found


def after_labels(step: Step, label: str) -> Following:
    """Return what follows from a blank node's label: the first, the second, the first again.

    Labels are stable if the two nodes differ, and the first has the same label both times.
    """
    seen = (*step.seen, label)
    if len(seen) < 3:
        offset = 1 if len(seen) == 1 else 0
        again = step.again + (len(seen) == 2)
        return Following([replace(step, offset=offset, seen=seen, again=again)])
    stable = bool(label) and seen[0] == seen[2] != seen[1]
    found = Following()
    if not stable:
        found.notes.append(
            f"{step.name}: blank nodes are not joined across pages, as the endpoint relabels them "
            "in each answer"
        )
    pages = replace(step, ask=Ask.BLANKS, last="parts", stable=stable, seen=())
    found.steps += _parts(pages, 0, step.size)
    return found


def after_page(step: Step, got: int, digest: str) -> Following:
    """Return what follows a page with ``got`` statements, unreadable ones included."""
    if step.ask is Ask.WALK:
        return _after_walk(step, got, digest)
    if got > step.size:
        return Following(
            notes=[f"it changed while it was read: {got:,} triples, not {step.size:,}"]
        )
    if got == step.size:
        return Following()
    found = smaller(step, max(got, 1), f"it gave {got:,} of {step.size:,} triples")
    if not found.steps:
        found.again = False
        if got and not step.graph:
            found.notes.append("it counted the triples of several graphs once for each")
            found.lost = 0
        else:
            found.lost = step.size - got
    return found


def after_failure(step: Step, reason: str) -> Following:
    """Return the steps that replace a query which the endpoint could not answer."""
    if step.ask is Ask.DESCRIPTION:
        return Following([after_description(step, union=False)])
    if step.ask is Ask.GRAPHS:
        return Following([replace(step, ask=Ask.NAMES)], [f"{reason}: it cannot count its graphs"])
    if step.ask is Ask.NAMES and not step.first:
        default = replace(step, ask=Ask.COUNT)
        return Following([default], [f"{reason}: it cannot list its graphs"])
    if step.ask is Ask.COUNT or (step.ask is Ask.PLAN and not step.first):
        # counted triples with blank nodes have a separate page
        walk = replace(step, ask=Ask.WALK, first="x" if step.ask is Ask.PLAN else "", last="")
        size = min(step.page, step.room if step.room is not None else step.page)
        note = f"{reason}: {step.name} is read without an order"
        return Following([replace(walk, offset=0, size=size)] if size else [], [note])
    if step.ask is Ask.LABELS:
        return after_labels(replace(step, seen=("", "")), "")
    if step.ask is Ask.DEFAULT:
        return Following(
            notes=[f"{reason}: the default graph is taken for the union of the others"]
        )
    if step.ask in _ORDERED_PARTS and (step.ask is Ask.SUBJECT or step.last) and not step.nested:
        return Following([replace(step, nested=True)], [reason], again=True)
    if step.ask in PAGES:
        return smaller(step, step.size // 2, reason)
    if step.ask is Ask.PLAN and step.again < _MOST_AGAIN:
        page = max(step.page // 2, _LEAST_PAGE)
        return Following([replace(step, page=page, again=step.again + 1)], [reason])
    lost = step.size if step.ask is Ask.PLAN else 0
    return Following([], [f"{reason}: what comes after {step.first!r} is not read"], lost)


def smaller(step: Step, page: int, reason: str) -> Following:
    """Request a page in parts of ``page`` triples; no parts once they are as small as allowed."""
    if step.again >= _MOST_AGAIN or step.size <= _LEAST_PAGE:
        return Following([], [reason], step.size)
    page = max(min(page, step.page), _LEAST_PAGE // 2)
    nested = step.nested or (not step.graph and step.ask in (Ask.WHOLE, Ask.RANGE))
    part = replace(step, page=page, again=step.again + 1, nested=nested)
    if step.ask is Ask.WHOLE:
        steps = [replace(part, ask=Ask.COUNT, size=0)]
    elif step.ask is Ask.RANGE:
        steps = [replace(part, ask=Ask.PLAN, with_first=True)]
    elif step.ask is Ask.WALK:
        steps = [replace(part, size=min(page, step.size))]
    elif step.ask is Ask.BLANKS and not step.last:
        steps = [replace(part, ask=Ask.LABELS, seen=(), offset=0)]
    else:
        steps = list(_parts(part, step.offset, step.offset + step.size))
    return Following(steps, [f"{reason}: smaller pages are requested"], again=True)


def _after_walk(step: Step, got: int, digest: str) -> Following:
    """Return the next part of a walk, which ends with an empty one."""
    if not got:
        return Following()
    if step.seen == (digest,):
        return Following(notes=["the endpoint gives the same answer for each OFFSET"])
    room = None if step.room is None else max(0, step.room - got)
    if room == 0:
        return Following(notes=[f"SEMCRAWL_ENDPOINT_TRIPLES: the rest of {step.name} is left out"])
    size = min(step.page, room or step.page)
    offset = step.offset + got
    return Following([replace(step, offset=offset, size=size, room=room, seen=(digest,))])


def _parts(step: Step, start: int, end: int) -> Iterator[Step]:
    for offset in range(start, end, step.page):
        yield replace(step, offset=offset, size=min(step.page, end - offset))


def _over(step: Step, count: int) -> str:
    return f"SEMCRAWL_ENDPOINT_TRIPLES: {count:,} triples of {step.name} are left out"


def _add(found: Following, more: Following) -> None:
    found.steps += more.steps
    found.notes += more.notes
    found.lost += more.lost
