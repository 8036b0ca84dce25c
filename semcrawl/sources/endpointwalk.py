"""The way through endpoints, answer by answer: the same for a crawl and for the simulator."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from http import HTTPStatus

from semcrawl.sources.endpointpaging import (
    Following,
    Row,
    after_count,
    after_default,
    after_description,
    after_failure,
    after_graphs,
    after_labels,
    after_page,
    after_plan,
)
from semcrawl.sources.endpointsteps import LONGEST_QUERY_URL, Ask, Step

#: headers that Virtuoso sends with an answer that it cut off after some time
CUT_OFF = ("X-SQL-State", "X-SPARQL-Anytime")
#: statuses of an address where there is no endpoint, or none for us
_NO_ENDPOINT = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.GONE,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)


@dataclass(frozen=True, slots=True)
class Triples:
    """An answer of triples: how many it has, and what follows from them."""

    #: the address that gave it
    url: str
    #: its statements, those that cannot be read included
    count: int
    digest: str = ""
    #: label of its first subject, where that is a blank node
    label: str = ""
    #: whether it says that the default graph is the union of the named ones
    union: bool = False


class EndpointWalk:
    """Says what follows from the answers of endpoints; remembers how large their pages may be."""

    def __init__(self, skipped: Collection[str] = ()) -> None:
        """Leave out the graphs whose names match one of the patterns ``skipped``."""
        self._skipped = skipped
        #: triples of a page that each endpoint gives, where that are fewer than were asked for
        self._pages: dict[str, int] = {}

    def fitted(self, step: Step) -> Step:
        """Return a step whose pages are no larger than its endpoint gives."""
        return replace(step, page=min(step.page, self._pages.get(step.endpoint, step.page)))

    def after_rows(self, step: Step, answer: list[Row] | bool | None) -> Following:
        """Return what follows from rows, from yes or no, or from what is neither (``None``)."""
        if answer is None:
            return after_failure(step, "its answer is no whole list of results")
        if isinstance(answer, bool):
            return after_default(step, has_own=answer)
        if step.ask is Ask.PLAN:
            return after_plan(step, answer)
        if step.ask is Ask.COUNT and answer:
            return after_count(step, answer[0])
        return after_graphs(step, answer, self._skipped)

    def after_triples(self, step: Step, found: Triples) -> Following:
        """Return what follows from triples, or from a description that is none."""
        if step.ask is Ask.DESCRIPTION:
            # (it may have moved)
            moved = replace(step, endpoint=found.url)
            return Following([after_description(moved, union=found.union)])
        if step.ask is Ask.LABELS:
            return after_labels(step, found.label)
        return after_page(step, found.count, found.digest)

    def after_refusal(self, step: Step, reason: str, status: int | None = None) -> Following:
        """Return what is asked instead of a query that failed; nothing where no endpoint is."""
        if status in _NO_ENDPOINT and step.ask is not Ask.DESCRIPTION:
            return Following()
        return after_failure(step, reason)

    def settle(self, step: Step, following: Following) -> None:
        """Leave out queries that are too long, and collect the messages about pages."""
        if following.again:
            self._pages[step.endpoint] = min(one.page for one in following.steps)
        long = [one for one in following.steps if len(one.url) > LONGEST_QUERY_URL]
        if long:
            following.steps = [one for one in following.steps if one not in long]
            following.notes.append(f"{len(long)} queries are longer than a request may be")
            following.lost += sum(one.size for one in long)
        if following.lost:
            following.notes.append(f"{following.lost:,} triples of {step.name} were not fetched")


def brings_triples(step: Step, following: Following, quads: int) -> bool:
    """Whether an answer with so many quads is kept: it is no question, and comes not again."""
    return quads > 0 and not following.again and step.ask is not Ask.LABELS
