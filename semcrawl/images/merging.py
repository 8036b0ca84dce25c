"""Merges the images of several job folders: each image once, with all its places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, Table, func, select, true, update
from sqlalchemy.dialects.sqlite import insert

from semcrawl.images import IMAGES_DB
from semcrawl.images.imagegraph import IMAGES_FILE, write_graph
from semcrawl.images.imageitems import Decoded, FetchedImage, ImageOptions, RedirectedImage
from semcrawl.images.outcomes import WAITING, ImageOutcome
from semcrawl.images.placelearning import learn_places
from semcrawl.images.schema import (
    ADDRESS,
    DOMAIN,
    IMAGE,
    LINK,
    PAGE,
    PLACE,
    QUERY,
    SCORE,
    TEXT,
    THUMBNAILS,
    VISIT,
    key_of,
    open_images,
)
from semcrawl.images.store import ImageStore

_Row = TypeVar("_Row")
#: rows, and images with thumbnails, that are in memory at a time
_ROWS, _IMAGES = 1000, 100
#: default for addresses that were not fetched or may still give an image
_UNKNOWN = 0


def merge_images(folders: Sequence[Path], out: Path, options: ImageOptions) -> int:
    """Merge the images of job folders into ``out``; return their number.

    Of an address or a page in several folders the latest version is kept, but an address with an
    image wins over one without. Copies and near copies become one image, as in a crawl. Raises
    ``StoreError``, ``OSError`` and SQLAlchemy's errors.
    """
    sources = [folder for folder in folders if (folder / IMAGES_DB).is_file()]
    if not sources:
        return 0
    with ExitStack() as stack:
        engine = open_images(out, make=True)
        stack.callback(engine.dispose)
        connections = []
        for folder in sources:
            source = open_images(folder)
            stack.callback(source.dispose)
            reading = source.execution_options(read_only=True)
            connections.append(stack.enter_context(reading.connect()))
        store = ImageStore(engine, out, options)
        is_kept = ADDRESS.c.image_id.is_not(None)
        seen = _latest(connections, select(ADDRESS.c.id, is_kept, ADDRESS.c.fetched_at))
        for number, (folder, connection) in enumerate(zip(sources, connections, strict=True)):
            for batch in _batches(_fetched(connection, folder, number, seen), _IMAGES):
                store.write(batch)
        last = select(VISIT.c.page_id, true(), func.max(VISIT.c.visited_at))
        read = _latest(connections, last.group_by(VISIT.c.page_id))
        with engine.begin() as target:
            for number, connection in enumerate(connections):
                _copy_pages(connection, target, number, read)
            address = select(ADDRESS.c.id, ADDRESS.c.image_id, ADDRESS.c.outcome)
            images = {
                row.id: row.image_id
                for row in target.execute(address)
                if row.image_id is not None or row.outcome not in WAITING
            }
            for number, connection in enumerate(connections):
                _copy_places(connection, target, number, read, images)
        store.recount()
        learn_places(engine)
        write_graph(engine, out / IMAGES_FILE)
        with engine.connect() as connection:
            kept = select(func.count()).select_from(IMAGE).where(IMAGE.c.dropped.is_(False))
            return connection.scalar(kept) or 0


def _latest(connections: Sequence[Connection], times: Select[Any]) -> dict[int, int]:
    """Return by key the database to copy from: one that has an image if any, and the latest."""
    best: dict[int, tuple[bool, float, int]] = {}
    for number, connection in enumerate(connections):
        for key, has, time in connection.execute(times):
            if key not in best or (has, time) > best[key][:2]:
                best[key] = (has, time, number)
    return {key: number for key, (_, _, number) in best.items()}


def _fetched(
    connection: Connection, folder: Path, number: int, seen: Mapping[int, int]
) -> Iterator[FetchedImage | RedirectedImage]:
    """Yield the addresses to copy from one folder, originals of images before their copies."""
    own = (
        *(IMAGE.c.media_type, IMAGE.c.frames, IMAGE.c.perceptual_hash, IMAGE.c.miniature),
        *(IMAGE.c.bytes, IMAGE.c.grey_thumbnail, IMAGE.c.colour_thumbnail),
    )
    query = (
        select(ADDRESS, *own)
        .outerjoin_from(ADDRESS, IMAGE, ADDRESS.c.image_id == IMAGE.c.id)
        .order_by(ADDRESS.c.sha256 != IMAGE.c.sha256, ADDRESS.c.fetched_at, ADDRESS.c.id)
        .execution_options(yield_per=_IMAGES)
    )
    for row in connection.execute(query):
        if seen[row.id] != number:
            continue
        elsewhere = seen.get(key_of(row.final_url), number) != number
        if elsewhere or row.outcome == ImageOutcome.REDIRECTED:
            yield RedirectedImage(row.url, row.final_url, fetched_at=row.fetched_at)
            continue
        decoded = Decoded(ImageOutcome(row.outcome), row.reason, "", row.width, row.height)
        if row.image_id is not None:
            grey, colour = (
                _thumbnail(folder / THUMBNAILS / name)
                for name in (row.grey_thumbnail, row.colour_thumbnail)
            )
            decoded = Decoded(
                ImageOutcome.KEPT, "", row.media_type, row.width, row.height, row.frames,
                row.perceptual_hash, row.miniature, grey, colour,
            )  # fmt: skip
        yield FetchedImage(
            row.url, decoded, row.final_url, row.bytes or 0, row.sha256, row.fetched_at
        )


def _copy_pages(
    source: Connection, target: Connection, number: int, read: Mapping[int, int]
) -> None:
    """Copy domains, scores, visits and queries, and pages and links whose source this is."""
    for table in (DOMAIN, SCORE, VISIT):
        _put(source, target, table)
    for batch in _batches(_rows(source, PAGE), _ROWS):
        ours = [row for row in batch if read.get(row["id"]) == number]
        linked = [row for row in batch if row["id"] not in read]
        if ours:
            put = insert(PAGE)
            new = {name: put.excluded[name] for name in ("title", "score")}
            target.execute(put.on_conflict_do_update(["id"], set_=new), ours)
        if linked:
            target.execute(insert(PAGE).on_conflict_do_nothing(), linked)
    links = (row for row in _rows(source, LINK) if read.get(row["source_id"]) == number)
    for batch in _batches(links, _ROWS):
        target.execute(insert(LINK).on_conflict_do_nothing(), batch)
    queries = ({**row, "class_id": None} for row in _rows(source, QUERY))
    for batch in _batches(queries, _ROWS):
        put = insert(QUERY)
        added = {
            "count": QUERY.c.count + put.excluded.count,
            "last_asked_at": func.max(QUERY.c.last_asked_at, put.excluded.last_asked_at),
        }
        target.execute(put.on_conflict_do_update(["id"], set_=added), batch)
    dropped = select(ADDRESS.c.id).join(IMAGE, ADDRESS.c.image_id == IMAGE.c.id)
    for rows in source.execute(dropped.where(IMAGE.c.dropped)).partitions(_ROWS // 2):
        same = select(ADDRESS.c.image_id).where(ADDRESS.c.id.in_([row.id for row in rows]))
        target.execute(update(IMAGE).where(IMAGE.c.id.in_(same)).values(dropped=True))


def _copy_places(
    source: Connection,
    target: Connection,
    number: int,
    read: Mapping[int, int],
    images: Mapping[int, int | None],
) -> None:
    """Copy the places and texts of the pages of which this is the source."""
    taken: set[int] = set()
    places = (
        row
        for row in _rows(source, PLACE)
        if read.get(row["page_id"]) == number
        # an address known to give no image has no places
        and images.get(row["address_id"], _UNKNOWN) is not None
    )
    for batch in _batches(places, _ROWS):
        for row in batch:
            row["image_id"] = images.get(row["address_id"])
        taken.update(row["id"] for row in batch)
        target.execute(PLACE.insert(), batch)
    texts = (row for row in _rows(source, TEXT) if row["place_id"] in taken)
    for batch in _batches(texts, _ROWS):
        target.execute(
            TEXT.insert(), [{name: row[name] for name in row if name != "id"} for row in batch]
        )


def _put(source: Connection, target: Connection, table: Table) -> None:
    for batch in _batches(_rows(source, table), _ROWS):
        target.execute(insert(table).on_conflict_do_nothing(), batch)


def _rows(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    query = select(table).execution_options(yield_per=_ROWS)
    for row in connection.execute(query).mappings():
        yield dict(row)


def _batches(rows: Iterator[_Row], size: int) -> Iterator[list[_Row]]:
    while batch := list(islice(rows, size)):
        yield batch


def _thumbnail(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""  # the image counts without its thumbnail
