"""The tables of ``images.db`` as SQLAlchemy's expressions take them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

from sqlalchemy import Table

from semcrawl.images.schema import (
    Domain,
    DomainScore,
    Image,
    ImageAddress,
    ImagePlace,
    NearText,
    Page,
    PageLink,
    Query,
    Visit,
)

T = TypeVar("T")

#: values in one question; SQLite takes at least 999
_AT_ONCE = 500


def _table(model: type[Any]) -> Table:
    return cast(Table, model.__table__)


DOMAIN, PAGE, LINK, VISIT = (_table(m) for m in (Domain, Page, PageLink, Visit))
IMAGE, ADDRESS, PLACE, TEXT = (_table(m) for m in (Image, ImageAddress, ImagePlace, NearText))
SCORE, QUERY = _table(DomainScore), _table(Query)


def in_parts(values: Sequence[T]) -> Iterable[Sequence[T]]:
    """Yield values by as many as one question takes."""
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]
