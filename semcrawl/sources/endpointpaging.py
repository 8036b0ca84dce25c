"""The way through a SPARQL endpoint: which queries follow from an answer.

The endpoint counts each graph. One query fetches a small graph. The subjects of a large one are
listed in order with the number of their triples, and cut into ranges: as the range is part of the
query, pages neither overlap nor leave gaps, and need no order of their own. Since the endpoint has
said how many triples a page holds, a page that was cut by a limit of the server is seen, and asked
for again in smaller parts.

Triples with blank nodes come in one page of their own, so that each node stays one. Only where they
are too many for a page it counts whether the endpoint keeps its labels from answer to answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from semcrawl.sources.endpointsteps import PAGES, Ask, Step, is_name

#: least triples of a page, and times that one is made smaller
_LEAST_PAGE, _MOST_AGAIN = 100, 10
_ORDERED_PARTS = frozenset({Ask.SUBJECT, Ask.BLANKS})


@dataclass(frozen=True, slots=True)
class Row:
    """A row of counts: a graph or subject, its triples, and those of them with blank nodes."""

    name: str
    triples: int = 0
    blanks: int = 0


@dataclass(slots=True)
class Following:
    """The steps that follow from an answer."""

    steps: list[Step] = field(default_factory=list)
    #: messages, a line each
    notes: list[str] = field(default_factory=list)
    #: triples that are given up, as far as they were counted
    lost: int = 0
    #: the page comes again in parts: what the answer holds is not kept
    again: bool = False


def first_steps(endpoint: str, page: int, most: int) -> list[Step]:
    """Return the step that begins with an endpoint, and the one that comes next whatever it says.

    ``page``: triples of a page; ``most``: triples of the endpoint, 0 for any number.
    """
    description = Step(endpoint, Ask.DESCRIPTION, page=page, room=most or None)
    return [description, after_description(description, union=False)]


def after_description(step: Step, *, union: bool) -> Step:
    """Return what follows the description; ``union``: it says so of the default graph."""
    return replace(step, ask=Ask.GRAPHS, union=union)


def after_graphs(step: Step, rows: Sequence[Row], skipped: Collection[str]) -> Following:
    """Return what follows a list of graphs; ``skipped``: patterns of names that are left out.

    A list is over only when its next part is empty: a server may give fewer rows than are asked
    for.
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
            found.notes.append(f"graph {row.name[:200]!r} has a name that no query can have")
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
    """Return what follows from whether the default graph holds what no named graph holds."""
    return Following([replace(step, ask=Ask.COUNT)] if has_own else [])


def after_count(step: Step, row: Row) -> Following:
    """Return the pages of a graph that was counted."""
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
    """Cut subjects into ranges, and those that are too large for a page into parts."""
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
        found.notes.append(f"{step.name}: {left:,} triples less than were counted before")
    return found


def after_labels(step: Step, label: str) -> Following:
    """Return what follows from the label of a blank node: the first, the second, the first again.

    Labels stay if the two nodes have different ones, and the first has its own both times.
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
            f"{step.name}: blank nodes are not joined over pages, as the endpoint names them anew "
            "in each answer"
        )
    pages = replace(step, ask=Ask.BLANKS, last="parts", stable=stable, seen=())
    found.steps += _parts(pages, 0, step.size)
    return found


def after_page(step: Step, got: int, digest: str) -> Following:
    """Return what follows a page with so many statements, those that cannot be read included."""
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
        found.lost = step.size - got
        found.again = False
    return found


def after_failure(step: Step, reason: str) -> Following:
    """Return what to ask instead of a query that the endpoint could not answer."""
    if step.ask is Ask.DESCRIPTION:
        return Following([after_description(step, union=False)])
    if step.ask is Ask.GRAPHS:
        return Following([replace(step, ask=Ask.NAMES)], [f"{reason}: it cannot count its graphs"])
    if step.ask is Ask.NAMES and not step.first:
        default = replace(step, ask=Ask.COUNT)
        return Following([default], [f"{reason}: it cannot list its graphs"])
    if step.ask is Ask.COUNT or (step.ask is Ask.PLAN and not step.first):
        # (triples with blank nodes have a page of their own where they were counted)
        walk = replace(step, ask=Ask.WALK, first="x" if step.ask is Ask.PLAN else "", last="")
        size = min(step.page, step.room if step.room is not None else step.page)
        note = f"{reason}: {step.name} is read in no order"
        return Following([replace(walk, offset=0, size=size)] if size else [], [note])
    if step.ask is Ask.LABELS:
        return after_labels(replace(step, seen=("", "")), "")
    if step.ask is Ask.DEFAULT:
        return Following(notes=[f"{reason}: the default graph is taken for the others' union"])
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
    """Ask for a page in parts of ``page`` triples; none once they are as small as can be."""
    if step.again >= _MOST_AGAIN or step.size <= _LEAST_PAGE:
        return Following([], [reason], step.size)
    page = max(min(page, step.page), _LEAST_PAGE // 2)
    part = replace(step, page=page, again=step.again + 1)
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
    return Following(steps, [f"{reason}: smaller pages are asked for"], again=True)


def _after_walk(step: Step, got: int, digest: str) -> Following:
    """Return the next part of a walk: it ends with an empty one."""
    if not got:
        return Following()
    if step.seen == (digest,):
        return Following(notes=["the endpoint gives the same for each OFFSET"])
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
