"""Writes pages and images to ``images.db``, each once.

A page replaces its former version. Images and places are joined in whichever order they arrive: an
image finds the places that wait for its address, and a page finds the known images.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, delete, select
from sqlalchemy.dialects.sqlite import insert

from semcrawl.images._addresswriting import AddressWriting, ImageCounts
from semcrawl.images.imageitems import FetchedImage, ImageItem, ImagePage
from semcrawl.images.imageoptions import ImageOptions
from semcrawl.images.imagerows import (
    ADDRESS,
    DOMAIN,
    IMAGE,
    LINK,
    PAGE,
    PLACE,
    TEXT,
    VISIT,
)
from semcrawl.images.nearcopies import Look, LookIndex
from semcrawl.images.outcomes import WAITING, ImageOutcome
from semcrawl.images.schema import THUMBNAILS, Image, key_of, place_id, thumbnail_names
from semcrawl.metadata.rows import in_parts
from semcrawl.web.hosts import domain_of

_NEW_DOMAINS = insert(DOMAIN).on_conflict_do_nothing()
_NEW_PAGES = insert(PAGE).on_conflict_do_nothing()
_NEW_LINKS = insert(LINK).on_conflict_do_nothing()


class ImageStore:
    """One process's writer; several processes may write to the same folder in turns.

    It is not thread-safe.
    """

    def __init__(self, engine: Engine, folder: Path, options: ImageOptions | None = None) -> None:
        """Write to the open database of a job folder, and thumbnails into it."""
        self._engine = engine
        self._folder = folder / THUMBNAILS
        self._options = options or ImageOptions()
        self._connection: Connection | None = None
        self._last = 0
        self._index = LookIndex(self._options.near_bits, self._looks_of)

    def write(self, items: Iterable[ImageItem]) -> list[ImageOutcome | None]:
        """Write items in one transaction; return the outcome of each image, ``None`` for pages.

        Raises SQLAlchemy's errors, and ``OSError`` if a thumbnail cannot be written.
        """
        try:
            with self._engine.begin() as connection:
                self._connection = connection
                looks = self._looks(connection)
                writing = ImageWriting(connection, self._folder, self._options, looks)
                done = writing.do(items)
            self._last = max(self._last, writing.addresses.newest)
            self._remove_thumbnails(writing.addresses.forgotten)
            return done
        except BaseException:
            self._begin_again()  # the index may have images that were not written
            raise
        finally:
            self._connection = None

    def _remove_thumbnails(self, digests: set[str]) -> None:
        """Remove the thumbnails of forgotten images, unless an image has come back.

        Meanwhile the transaction keeps other processes from writing the same files.
        """
        if not digests:
            return
        with self._engine.begin() as connection:
            for part in in_parts(sorted(digests)):
                there = connection.execute(select(Image.sha256).where(Image.sha256.in_(part)))
                for digest in set(part).difference(there.scalars()):
                    for name in thumbnail_names(digest):
                        (self._folder / name).unlink(missing_ok=True)

    def recount(self) -> None:
        """Recount after rows were copied from other databases; drop new logos."""
        with self._engine.begin() as connection:
            ImageWriting(connection, self._folder, self._options, self._index).recount()

    def _begin_again(self) -> None:
        self._last = 0
        self._index = LookIndex(self._options.near_bits, self._looks_of)

    def _looks(self, connection: Connection) -> LookIndex:
        """Add images that other processes or former runs have written to the index."""
        columns = (Image.id, Image.perceptual_hash, Image.width, Image.height)
        new = select(*columns).where(Image.id > self._last).order_by(Image.id)
        for number, perceptual_hash, width, height in connection.execute(new):
            self._index.add(number, Look(perceptual_hash, b"", width, height))
            self._last = number
        return self._index

    def _looks_of(self, numbers: Sequence[int]) -> Mapping[int, Look]:
        if self._connection is None:
            return {}
        looks: dict[int, Look] = {}
        columns = (Image.id, Image.perceptual_hash, Image.miniature, Image.width, Image.height)
        for part in in_parts(numbers):
            wanted = select(*columns, Image.media_type, Image.sha256).where(Image.id.in_(part))
            for row in self._connection.execute(wanted):
                number, phash, miniature, width, height, media_type, digest = row
                grey = partial(self._grey, digest)
                looks[number] = Look(phash, miniature, width, height, media_type, grey)
        return looks

    def _grey(self, digest: str) -> bytes:
        """Return the grey thumbnail of an image; empty if it is gone."""
        try:
            return (self._folder / thumbnail_names(digest)[0]).read_bytes()
        except OSError:
            return b""


class ImageWriting:
    """One transaction: writes the rows of items, then the counts that they change."""

    def __init__(
        self, connection: Connection, folder: Path, options: ImageOptions, looks: LookIndex
    ) -> None:
        self._do = connection.execute
        self._counts = ImageCounts(connection, options.max_pages)
        self.addresses = AddressWriting(connection, folder, looks, self._counts)

    def do(self, items: Iterable[ImageItem]) -> list[ImageOutcome | None]:
        """Write items; return the outcome of each image, ``None`` for pages."""
        done: list[ImageOutcome | None] = []
        for item in items:
            if isinstance(item, ImagePage):
                self._put_page(item)
                done.append(None)
            elif isinstance(item, FetchedImage):
                done.append(self.addresses.put(item))
            else:
                done.append(self.addresses.put_redirect(item))
        self._counts.write()
        return done

    def recount(self) -> None:
        """Count the pages of all images, and the images of all pages."""
        self._counts.take_all()
        self._counts.write()

    def _put_page(self, page: ImagePage) -> None:
        number = self._note_page(page)
        self._note_links(number, page)
        old = select(PLACE.c.id).where(PLACE.c.page_id == number)
        shown_before = select(PLACE.c.image_id).where(PLACE.c.page_id == number)
        self._counts.images.update(i for (i,) in self._do(shown_before) if i is not None)
        self._do(delete(TEXT).where(TEXT.c.place_id.in_(old)))
        self._do(delete(PLACE).where(PLACE.c.page_id == number))
        keys = {shown.url: key_of(shown.url) for shown in page.shown}
        known = self._known(keys.values())
        places, texts = [], []
        for position, shown in enumerate(page.shown):
            image, is_wanted = known.get(keys[shown.url], (None, True))
            if not is_wanted:
                continue
            place = place_id(page.url, position)
            places.append(
                {
                    "id": place,
                    "page_id": number,
                    "position": position,
                    "image_url": shown.url,
                    "address_id": keys[shown.url],
                    "image_id": image,
                    "found_as": str(shown.found_as),
                    "has_caption": shown.has_caption,
                }
            )
            texts += [
                {
                    "place_id": place,
                    "text": near.text,
                    "kind": str(near.kind),
                    "tag": near.tag,
                    "distance": near.distance,
                    "level": near.level,
                }
                for near in shown.texts
            ]
            if image is not None:
                self._counts.images.add(image)
        self._insert(PLACE, places)
        self._insert(TEXT, texts)
        self._counts.pages.add(number)

    def _note_page(self, page: ImagePage) -> int:
        number = key_of(page.url)
        row = _page_row(page.url)
        self._do(_NEW_DOMAINS, [_domain_row(page.url)])
        upsert = insert(PAGE).on_conflict_do_update(["id"], set_={"title": page.title})
        self._do(upsert, [{**row, "title": page.title}])
        self._do(delete(VISIT).where(VISIT.c.id == page.attempt))
        visit = {
            "id": page.attempt,
            "page_id": number,
            "status": page.status,
            "content_hash": page.content_hash,
            "images_seen": len({shown.url for shown in page.shown}),
            "images_kept": 0,
            "links_seen": page.links_seen,
            "links_normalised": len(page.links),
            "visited_at": page.visited_at,
        }
        self._insert(VISIT, [visit])
        return number

    def _note_links(self, number: int, page: ImagePage) -> None:
        self._do(delete(LINK).where(LINK.c.source_id == number))
        if not page.links:
            return
        domains = {row["id"]: row for row in map(_domain_row, page.links)}
        self._do(_NEW_DOMAINS, list(domains.values()))
        rows = [_page_row(link) for link in page.links]
        self._do(_NEW_PAGES, rows)
        self._do(_NEW_LINKS, [{"source_id": number, "target_id": row["id"]} for row in rows])

    def _known(self, addresses: Iterable[int]) -> dict[int, tuple[int | None, bool]]:
        """Return the images of fetched addresses, and whether their places are kept."""
        found: dict[int, tuple[int | None, bool]] = {}
        columns = (ADDRESS.c.id, ADDRESS.c.image_id, IMAGE.c.dropped, ADDRESS.c.outcome)
        wanted = select(*columns).outerjoin_from(ADDRESS, IMAGE, ADDRESS.c.image_id == IMAGE.c.id)
        for part in in_parts(sorted(set(addresses))):
            for number, image, dropped, outcome in self._do(wanted.where(ADDRESS.c.id.in_(part))):
                is_wanted = outcome in WAITING if image is None else not dropped
                found[number] = (image, is_wanted)
        return found

    def _insert(self, table: Table, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._do(table.insert(), rows)


def _domain_row(url: str) -> dict[str, Any]:
    name = domain_of(url)
    return {"id": key_of(name), "name": name, "score": 0.0, "best_place": ""}


def _page_row(url: str) -> dict[str, Any]:
    domain = key_of(domain_of(url))
    return {"id": key_of(url), "domain_id": domain, "url": url, "title": "", "score": 0.0}
