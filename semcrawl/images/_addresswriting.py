"""Writes the addresses of images: their outcomes, and the images that they lead to.

A redirected image has rows for the address in pages, for those on the way and for the one that
answered. They change together, no matter which one is requested later.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, delete, distinct, func, select, update
from sqlalchemy.dialects.sqlite import insert

from semcrawl.images.imageitems import FetchedImage, RedirectedImage
from semcrawl.images.imagerows import ADDRESS, IMAGE, PLACE, TEXT, VISIT
from semcrawl.images.nearcopies import Look, LookIndex
from semcrawl.images.outcomes import MAY_PASS, WAITING, ImageOutcome
from semcrawl.images.schema import key_of, thumbnail_names
from semcrawl.machine.wholefiles import whole_file
from semcrawl.metadata.rows import in_parts

#: columns that all addresses of an image share
_SHARED = ("final_url", "image_id", "reason", "sha256", "width", "height", "fetched_at")


class AddressWriting:
    """Makes rows of addresses and images, and thumbnails, in one transaction."""

    def __init__(
        self, connection: Connection, folder: Path, looks: LookIndex, counts: ImageCounts
    ) -> None:
        """Write thumbnails to ``folder``; ``looks`` indexes the known images."""
        self._do = connection.execute
        self._folder = folder
        self._looks = looks
        self._counts = counts
        #: number of the newest image
        self.newest = 0
        #: SHA-256 of forgotten images, whose thumbnails are removed after the commit
        self.forgotten: set[str] = set()

    def put(self, item: FetchedImage) -> ImageOutcome:
        """Write a fetched image; return its outcome."""
        decoded = item.decoded
        final = item.final_url or item.url
        named = dict.fromkeys((item.url, *item.via, final))
        before = self._led_by(named)
        outcome = decoded.outcome
        image: int | None = None
        if outcome is ImageOutcome.KEPT:
            image, outcome = self._image_of(item)
        values = {
            "final_url": final,
            "image_id": image,
            "reason": decoded.reason,
            "sha256": item.content_hash,
            "width": decoded.width,
            "height": decoded.height,
            "fetched_at": item.fetched_at,
        }
        return self._put(named, before, values, outcome)

    def put_redirect(self, item: RedirectedImage) -> ImageOutcome:
        """Write an address that redirects to one which is, or will be, requested separately."""
        named = [url for url in dict.fromkeys((item.url, *item.via)) if url != item.final_url]
        there = self._do(select(ADDRESS).where(ADDRESS.c.id == key_of(item.final_url))).first()
        before = self._led_by(named)
        if not named:
            return ImageOutcome.REDIRECTED
        if there is not None and there.outcome != ImageOutcome.REDIRECTED:
            values = {name: there._mapping[name] for name in _SHARED}
            outcome = ImageOutcome(there.outcome)
            outcome = ImageOutcome.COPY if outcome is ImageOutcome.KEPT else outcome
            return self._put(named, before, values, outcome)
        final = item.final_url if there is None else there.final_url
        rows = [
            {
                "id": key_of(url),
                "url": url,
                "final_url": final,
                "image_id": None,
                "outcome": str(ImageOutcome.REDIRECTED),
                "reason": "",
                "sha256": "",
                "fetched_at": item.fetched_at,
            }
            for url in named
        ]
        # an image that one of them led to stays until the target answers
        put = insert(ADDRESS)
        put = put.on_conflict_do_update(["id"], set_={"final_url": put.excluded.final_url})
        self._do(put, rows)
        for part in in_parts([row.id for row in before]):
            self._do(update(ADDRESS).where(ADDRESS.c.id.in_(part)).values(final_url=final))
        return ImageOutcome.REDIRECTED

    def _led_by(self, named: Iterable[str]) -> list[Row[Any]]:
        """Return the rows of addresses, and of those that redirect to one of them."""
        urls = list(named)
        mine = ADDRESS.c.id.in_([key_of(url) for url in urls]) | ADDRESS.c.final_url.in_(urls)
        columns = (ADDRESS.c.id, ADDRESS.c.url, ADDRESS.c.image_id, ADDRESS.c.sha256)
        found = select(*columns, ADDRESS.c.outcome).where(mine).order_by(ADDRESS.c.id)
        return list(self._do(found))

    def _put(
        self,
        named: Iterable[str],
        before: list[Row[Any]],
        values: dict[str, Any],
        outcome: ImageOutcome,
    ) -> ImageOutcome:
        """Write the same values for all addresses; return the outcome of the first."""
        image = values["image_id"]
        if outcome in MAY_PASS and any(row.image_id for row in before):
            return outcome  # the former image stays, as without an answer
        was = {row.url: row for row in before}
        first = next((row.url for row in before if row.outcome == ImageOutcome.KEPT), None)
        rows = []
        for url in dict.fromkeys((*named, *was)):
            first = first or url
            own = outcome
            if own is ImageOutcome.KEPT and url != first:
                own = ImageOutcome.COPY
            if (row := was.get(url)) and row.image_id and row.sha256 == values["sha256"]:
                own = ImageOutcome(row.outcome)  # unchanged
            rows.append({**values, "id": key_of(url), "url": url, "outcome": str(own)})
        put = insert(ADDRESS)
        new = {name: put.excluded[name] for name in ("outcome", *values)}
        self._do(put.on_conflict_do_update(["id"], set_=new), rows)
        for part in in_parts(sorted(row["id"] for row in rows)):
            self._fill_places(part, image, outcome)
        if image is not None:
            self._counts.images.add(image)
        for left in {row.image_id for row in before} - {None, image}:
            self._leave(left)
        return ImageOutcome(rows[0]["outcome"])

    def _fill_places(self, addresses: Iterable[int], image: int | None, outcome: str) -> None:
        """Set the image of the addresses' places, or remove the places if there is none."""
        here = PLACE.c.address_id.in_(addresses)
        pages = self._do(select(PLACE.c.page_id).where(here)).scalars()
        self._counts.pages.update(pages)
        if image is not None:
            self._do(update(PLACE).where(here).values(image_id=image))
        elif outcome not in WAITING:
            places = select(PLACE.c.id).where(here)
            self._do(delete(TEXT).where(TEXT.c.place_id.in_(places)))
            self._do(delete(PLACE).where(here))

    def _image_of(self, item: FetchedImage) -> tuple[int, ImageOutcome]:
        """Return the image of which a body is a copy, or a new one."""
        decoded = item.decoded
        same = select(ADDRESS.c.image_id).where(
            ADDRESS.c.sha256 == item.content_hash, ADDRESS.c.image_id.is_not(None)
        )
        if (image := self._do(same.limit(1)).scalar()) is not None:
            return image, ImageOutcome.COPY
        look = Look(
            decoded.perceptual_hash,
            decoded.miniature,
            decoded.width,
            decoded.height,
            decoded.media_type,
            lambda: decoded.grey,
        )
        if (image := self._looks.nearest(look)) is not None:
            return image, ImageOutcome.NEAR_COPY
        grey, colour = thumbnail_names(item.content_hash)
        row = {
            "sha256": item.content_hash,
            "perceptual_hash": decoded.perceptual_hash,
            "miniature": decoded.miniature,
            "width": decoded.width,
            "height": decoded.height,
            "bytes": item.bytes,
            "media_type": decoded.media_type,
            "frames": decoded.frames,
            "grey_thumbnail": grey,
            "colour_thumbnail": colour,
            "pages": 0,
            "dropped": False,
            "first_seen_at": item.fetched_at,
        }
        for name, body in ((grey, decoded.grey), (colour, decoded.colour)):
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                file.write(body)
        number = int(self._do(insert(IMAGE).values(row).returning(IMAGE.c.id)).scalar_one())
        self._looks.add(number, look)
        self.newest = number
        return number, ImageOutcome.KEPT

    def _leave(self, image: int) -> None:
        """Forget an image to which no address leads any more."""
        addresses = select(func.count()).where(ADDRESS.c.image_id == image)
        if not self._do(addresses).scalar():
            gone = delete(IMAGE).where(IMAGE.c.id == image).returning(IMAGE.c.sha256)
            self.forgotten.update(self._do(gone).scalars())
            self._looks.remove(image)
        self._counts.images.add(image)


class ImageCounts:
    """Recounts the images and pages of a transaction, and drops logos by their counts."""

    def __init__(self, connection: Connection, max_pages: int) -> None:
        """Drop images on more than ``max_pages`` pages; 0: none."""
        self._do = connection.execute
        self._max_pages = max_pages
        #: images and pages whose counts may have changed
        self.images: set[int] = set()
        self.pages: set[int] = set()

    def take_all(self) -> None:
        """Count everything."""
        self.images.update(self._do(select(IMAGE.c.id)).scalars())
        self.pages.update(self._do(select(VISIT.c.page_id).distinct()).scalars())

    def write(self) -> None:
        """Write the counts."""
        self._count_pages()
        self._count_images()

    def _count_pages(self) -> None:
        """Count the pages of images; drop those that are on too many."""
        pages = (
            select(func.count(distinct(PLACE.c.page_id)))
            .where(PLACE.c.image_id == IMAGE.c.id)
            .scalar_subquery()
        )
        most = self._max_pages
        for part in in_parts(sorted(self.images)):
            ours = IMAGE.c.id.in_(part) & IMAGE.c.dropped.is_(False)
            self._do(update(IMAGE).where(ours).values(pages=pages))
            many = IMAGE.c.dropped | ((IMAGE.c.pages > most) & (most > 0))
            for (image,) in self._do(select(IMAGE.c.id).where(IMAGE.c.id.in_(part), many)).all():
                self._drop(image)

    def _drop(self, image: int) -> None:
        """Mark an image as a logo; its places stay, its texts are removed."""
        self._do(update(IMAGE).where(IMAGE.c.id == image).values(dropped=True))
        outcome = str(ImageOutcome.ON_MANY_PAGES)
        self._do(update(ADDRESS).where(ADDRESS.c.image_id == image).values(outcome=outcome))
        places = select(PLACE.c.id).where(PLACE.c.image_id == image)
        self._do(delete(TEXT).where(TEXT.c.place_id.in_(places)))

    def _count_images(self) -> None:
        """Count the kept images of pages."""
        kept = (
            select(func.count(distinct(PLACE.c.address_id)))
            .where(PLACE.c.page_id == VISIT.c.page_id, PLACE.c.image_id.is_not(None))
            .scalar_subquery()
        )
        for part in in_parts(sorted(self.pages)):
            self._do(update(VISIT).where(VISIT.c.page_id.in_(part)).values(images_kept=kept))
