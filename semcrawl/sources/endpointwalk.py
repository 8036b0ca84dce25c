"""Reads endpoints answer by answer, for the crawl and the simulator alike."""

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

#: headers of Virtuoso's answers that a time limit truncated
CUT_OFF = ("X-SQL-State", "X-SPARQL-Anytime")
#: statuses of addresses without an endpoint for us
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
    """The facts about an answer of triples that decide what follows."""

    #: the address that answered
    url: str
    #: number of statements, unreadable ones included
    count: int
    digest: str = ""
    #: label of the first subject if it is a blank node
    label: str = ""
    #: whether it declares that the default graph is the union of the named ones
    union: bool = False


class EndpointWalk:
    """Decides what follows from endpoints' answers, and remembers their largest pages."""

    def __init__(self, skipped: Collection[str] = ()) -> None:
        """Leave out the graphs whose names match a pattern in ``skipped``."""
        self._skipped = skipped
        #: largest page of each endpoint that truncated or failed a larger one
        self._pages: dict[str, int] = {}

    def fitted(self, step: Step) -> Step:
        """Return the step with a page size that its endpoint can serve."""
        return replace(step, page=min(step.page, self._pages.get(step.endpoint, step.page)))

    def after_rows(self, step: Step, answer: list[Row] | bool | None) -> Following:
        """Return what follows from rows, yes or no, or an unreadable answer (``None``)."""
        if answer is None:
            return after_failure(step, "its answer is not a whole list of results")
        if step.ask is Ask.DEFAULT and answer == []:
            answer = False  # an empty table
        if isinstance(answer, bool) != (step.ask is Ask.DEFAULT) or (
            step.ask is Ask.COUNT and answer == []
        ):
            return after_failure(step, "its answer is none to the question")
        if isinstance(answer, bool):
            return after_default(step, has_own=answer)
        if step.ask is Ask.PLAN:
            return after_plan(step, answer)
        if step.ask is Ask.COUNT:
            return after_count(step, answer[0])
        return after_graphs(step, answer, self._skipped)

    def after_triples(self, step: Step, found: Triples) -> Following:
        """Return what follows from triples, or from a description."""
        if step.ask is Ask.DESCRIPTION:
            # the endpoint may have moved
            moved = replace(step, endpoint=found.url)
            return Following([after_description(moved, union=found.union)])
        if step.ask is Ask.LABELS:
            return after_labels(step, found.label)
        return after_page(step, found.count, found.digest)

    def after_refusal(self, step: Step, reason: str, status: int | None = None) -> Following:
        """Return what replaces a failed query; nothing if there is no endpoint for us."""
        if status in _NO_ENDPOINT and step.ask is not Ask.DESCRIPTION:
            return Following()
        return after_failure(step, reason)

    def settle(self, step: Step, following: Following) -> None:
        """Drop queries that are too long, note lost triples, and remember smaller pages."""
        if following.again:
            self._pages[step.endpoint] = min(one.page for one in following.steps)
        long = [one for one in following.steps if len(one.url) > LONGEST_QUERY_URL]
        if long:
            following.steps = [one for one in following.steps if one not in long]
            following.notes.append(f"{len(long)} queries are too long for a request")
            following.lost += sum(one.size for one in long)
        if following.lost:
            following.notes.append(f"{following.lost:,} triples of {step.name} were not fetched")


def brings_triples(step: Step, following: Following, quads: int) -> bool:
    """Whether an answer's quads are kept: it is no probe, and is not requested again."""
    return quads > 0 and not following.again and step.ask is not Ask.LABELS
