"""Writes a strategy's scores of domains and pages to ``images.db`` (I's DOMAINRANK)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from sqlalchemy import Engine, Table, bindparam, select, update
from sqlalchemy.dialects.sqlite import insert

from semcrawl.images.schema import Domain, DomainScore, Page, key_of
from semcrawl.relevance.contract import ScoredDomain

#: class number of the crawl's topic
OWN_TOPIC = 0
_DOMAIN = cast(Table, Domain.__table__)
_SCORE = cast(Table, DomainScore.__table__)
_PAGE = cast(Table, Page.__table__)
#: pages that are scored together
_AT_ONCE = 5000


def write_domain_scores(engine: Engine, scored: Iterable[ScoredDomain]) -> int:
    """Write the scores of known domains; the former estimate becomes ``previous``.

    Returns the number of scores written.
    """
    rows = {key_of(domain.name): domain for domain in scored}
    count = 0
    with engine.begin() as connection:
        known = {number for (number,) in connection.execute(select(_DOMAIN.c.id))}
        former = select(_SCORE.c.domain_id, _SCORE.c.estimate)
        former = former.where(_SCORE.c.class_id == OWN_TOPIC)
        before = dict(connection.execute(former).tuples().all())
        for number, domain in rows.items():
            if number not in known:
                continue
            w0, w1, w2, w3 = domain.weights
            row = {
                **{"domain_id": number, "class_id": OWN_TOPIC},
                **{"previous": before.get(number, 0.0), "estimate": domain.estimate},
                **{"w0": w0, "w1": w1, "w2": w2, "w3": w3},
                "learning_rate": domain.learning_rate,
            }
            upsert = insert(_SCORE).on_conflict_do_update(["domain_id", "class_id"], set_=row)
            connection.execute(upsert, row)
            score = update(_DOMAIN).where(_DOMAIN.c.id == number).values(score=domain.estimate)
            connection.execute(score)
            count += 1
    return count


def write_page_scores(engine: Engine, score: Callable[[str], float]) -> int:
    """Write a strategy's score of each page that was fetched or linked.

    Returns the number of changed scores.
    """
    changed, last = 0, -1
    page = select(_PAGE.c.id, _PAGE.c.url, _PAGE.c.score).order_by(_PAGE.c.id).limit(_AT_ONCE)
    put = update(_PAGE).where(_PAGE.c.id == bindparam("number")).values(score=bindparam("new"))
    with engine.begin() as connection:
        while rows := connection.execute(page.where(_PAGE.c.id > last)).all():
            last = rows[-1].id
            scored = [(row.id, score(row.url), row.score) for row in rows]
            new = [{"number": n, "new": now} for n, now, before in scored if now != before]
            if new:
                connection.execute(put, new)
            changed += len(new)
    return changed
