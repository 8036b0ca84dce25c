"""One transaction of writing pages and images to ``images.db``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, Table, delete, distinct, func, select, update
from sqlalchemy.dialects.sqlite import insert

from semcrawl.images.imageitems import FetchedImage, ImagePage
from semcrawl.images.imageoptions import ImageOptions
from semcrawl.images.nearcopies import Look, LookIndex
from semcrawl.images.outcomes import ImageOutcome
from semcrawl.images.schema import (
    Domain,
    Image,
    ImageAddress,
    ImagePlace,
    NearText,
    Page,
    PageLink,
    Visit,
    key_of,
    place_id,
)
from semcrawl.machine.wholefiles import whole_file
from semcrawl.web.hosts import host_of, pay_level_domain

#: values in one question; SQLite takes at least 999
_AT_ONCE = 500
#: outcomes that may be a fault of the moment: a body that was cut off, an error page
_PASSING = (ImageOutcome.NO_IMAGE, ImageOutcome.BROKEN)


def _table(model: type[Any]) -> Table:
    return cast(Table, model.__table__)


_DOMAIN, _PAGE, _LINK, _VISIT = (_table(m) for m in (Domain, Page, PageLink, Visit))
_IMAGE, _ADDRESS, _PLACE, _TEXT = (_table(m) for m in (Image, ImageAddress, ImagePlace, NearText))
_NEW_DOMAINS = insert(_DOMAIN).on_conflict_do_nothing()
_NEW_PAGES = insert(_PAGE).on_conflict_do_nothing()
_NEW_LINKS = insert(_LINK).on_conflict_do_nothing()


class ImageWriting:
    """One transaction: makes the rows of items, then the counts that they change."""

    def __init__(
        self, connection: Connection, folder: Path, options: ImageOptions, looks: LookIndex
    ) -> None:
        self._do = connection.execute
        self._folder = folder
        self._options = options
        self._looks = looks
        #: the newest image that it makes
        self.newest = 0
        #: thumbnails of images that it forgets: files to remove once that is committed
        self.forgotten: set[str] = set()
        #: images and pages whose counts may have changed
        self._images: set[int] = set()
        self._pages: set[int] = set()

    def do(self, items: Iterable[ImagePage | FetchedImage]) -> list[ImageOutcome | None]:
        """Write items; return what became of each image, ``None`` for pages."""
        done: list[ImageOutcome | None] = []
        for item in items:
            if isinstance(item, ImagePage):
                self._put_page(item)
                done.append(None)
            else:
                done.append(self._put_image(item))
        self._count_pages()
        self._count_images()
        return done

    def recount(self) -> None:
        """Count the pages of all images, and the images of all pages."""
        self._images.update(self._do(select(_IMAGE.c.id)).scalars())
        self._pages.update(self._do(select(_VISIT.c.page_id).distinct()).scalars())
        self._count_pages()
        self._count_images()

    # -- pages
    def _put_page(self, page: ImagePage) -> None:
        number = self._note_page(page)
        self._note_links(number, page)
        old = select(_PLACE.c.id).where(_PLACE.c.page_id == number)
        shown_before = select(_PLACE.c.image_id).where(_PLACE.c.page_id == number)
        self._images.update(i for (i,) in self._do(shown_before) if i is not None)
        self._do(delete(_TEXT).where(_TEXT.c.place_id.in_(old)))
        self._do(delete(_PLACE).where(_PLACE.c.page_id == number))
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
                self._images.add(image)
        self._insert(_PLACE, places)
        self._insert(_TEXT, texts)
        self._pages.add(number)

    def _note_page(self, page: ImagePage) -> int:
        number = key_of(page.url)
        row = _page_row(page.url)
        self._do(_NEW_DOMAINS, [_domain_row(page.url)])
        upsert = insert(_PAGE).on_conflict_do_update(["id"], set_={"title": page.title})
        self._do(upsert, [{**row, "title": page.title}])
        self._do(delete(_VISIT).where(_VISIT.c.id == page.attempt))
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
        self._insert(_VISIT, [visit])
        return number

    def _note_links(self, number: int, page: ImagePage) -> None:
        self._do(delete(_LINK).where(_LINK.c.source_id == number))
        if not page.links:
            return
        domains = {row["id"]: row for row in map(_domain_row, page.links)}
        self._do(_NEW_DOMAINS, list(domains.values()))
        rows = [_page_row(link) for link in page.links]
        self._do(_NEW_PAGES, rows)
        self._do(_NEW_LINKS, [{"source_id": number, "target_id": row["id"]} for row in rows])

    def _known(self, addresses: Iterable[int]) -> dict[int, tuple[int | None, bool]]:
        """Return the images of addresses that were fetched, and whether their places count."""
        found: dict[int, tuple[int | None, bool]] = {}
        columns = (_ADDRESS.c.id, _ADDRESS.c.image_id, _IMAGE.c.dropped, _ADDRESS.c.outcome)
        wanted = select(*columns).outerjoin_from(
            _ADDRESS, _IMAGE, _ADDRESS.c.image_id == _IMAGE.c.id
        )
        for part in in_parts(sorted(set(addresses))):
            for number, image, dropped, outcome in self._do(wanted.where(_ADDRESS.c.id.in_(part))):
                is_wanted = outcome in _PASSING if image is None else not dropped
                found[number] = (image, is_wanted)
        return found

    # -- images
    def _put_image(self, item: FetchedImage) -> ImageOutcome:
        decoded = item.decoded
        address = key_of(item.url)
        columns = (_ADDRESS.c.image_id, _ADDRESS.c.sha256, _ADDRESS.c.outcome)
        before = self._do(select(*columns).where(_ADDRESS.c.id == address)).first()
        image: int | None = None
        outcome = decoded.outcome
        if before is not None and before.image_id and outcome in _PASSING:
            return outcome  # what was there stays, as when nothing answers
        if outcome is ImageOutcome.KEPT:
            image, outcome = self._image_of(item)
            if before is not None and before.sha256 == item.content_hash and before.image_id:
                outcome = ImageOutcome(before.outcome)  # it is written again
        row = {
            "id": address,
            "url": item.url,
            "final_url": item.final_url or item.url,
            "image_id": image,
            "outcome": str(outcome),
            "reason": decoded.reason,
            "sha256": item.content_hash,
            "width": decoded.width,
            "height": decoded.height,
            "fetched_at": item.fetched_at,
        }
        self._do(insert(_ADDRESS).on_conflict_do_update(["id"], set_=row), [row])
        here = _PLACE.c.address_id == address
        self._pages.update(page for (page,) in self._do(select(_PLACE.c.page_id).where(here)))
        if image is None and outcome in _PASSING:
            pass  # the places wait for a better copy
        elif image is None:
            places = select(_PLACE.c.id).where(here)
            self._do(delete(_TEXT).where(_TEXT.c.place_id.in_(places)))
            self._do(delete(_PLACE).where(here))
        else:
            self._do(update(_PLACE).where(here).values(image_id=image))
            self._images.add(image)
        if before is not None and before.image_id not in (None, image):
            self._leave(before.image_id)
        return outcome

    def _image_of(self, item: FetchedImage) -> tuple[int, ImageOutcome]:
        """Return the image that a body is or is a copy of; a new one if it is like none."""
        decoded = item.decoded
        same = select(_ADDRESS.c.image_id).where(
            _ADDRESS.c.sha256 == item.content_hash, _ADDRESS.c.image_id.is_not(None)
        )
        if (image := self._do(same.limit(1)).scalar()) is not None:
            return image, ImageOutcome.COPY
        look = Look(decoded.perceptual_hash, decoded.miniature, decoded.width, decoded.height)
        if (image := self._looks.nearest(look)) is not None:
            return image, ImageOutcome.NEAR_COPY
        row = {
            "sha256": item.content_hash,
            "perceptual_hash": decoded.perceptual_hash,
            "miniature": decoded.miniature,
            "width": decoded.width,
            "height": decoded.height,
            "bytes": item.bytes,
            "media_type": decoded.media_type,
            "frames": decoded.frames,
            "grey_thumbnail": self._keep(item.content_hash, "-grey", decoded.grey),
            "colour_thumbnail": self._keep(item.content_hash, "", decoded.colour),
            "pages": 0,
            "dropped": False,
            "first_seen_at": item.fetched_at,
        }
        number = int(self._do(insert(_IMAGE).values(row).returning(_IMAGE.c.id)).scalar_one())
        self._looks.add(number, look)
        self.newest = number
        return number, ImageOutcome.KEPT

    def _keep(self, digest: str, ending: str, body: bytes) -> str:
        """Write a thumbnail; return its name in the folder of thumbnails."""
        name = f"{digest[:2]}/{digest}{ending}.jpg"
        path = self._folder / name
        self.forgotten.discard(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(body)
        return name

    def _leave(self, image: int) -> None:
        """Forget an image that no address leads to any more: its content has changed."""
        addresses = select(func.count()).where(_ADDRESS.c.image_id == image)
        if not self._do(addresses).scalar():
            names = (_IMAGE.c.grey_thumbnail, _IMAGE.c.colour_thumbnail)
            gone = delete(_IMAGE).where(_IMAGE.c.id == image).returning(*names)
            for thumbnails in self._do(gone):
                self.forgotten.update(thumbnails)
            self._looks.remove(image)
        self._images.add(image)

    # -- counts
    def _count_pages(self) -> None:
        """Count the pages of images; drop those that are on too many."""
        pages = (
            select(func.count(distinct(_PLACE.c.page_id)))
            .where(_PLACE.c.image_id == _IMAGE.c.id)
            .scalar_subquery()
        )
        most = self._options.max_pages
        for part in in_parts(sorted(self._images)):
            ours = _IMAGE.c.id.in_(part) & _IMAGE.c.dropped.is_(False)
            self._do(update(_IMAGE).where(ours).values(pages=pages))
            many = _IMAGE.c.dropped | ((_IMAGE.c.pages > most) & (most > 0))
            for (image,) in self._do(select(_IMAGE.c.id).where(_IMAGE.c.id.in_(part), many)).all():
                self._drop(image)

    def _drop(self, image: int) -> None:
        """Keep of a logo that it is one, and where; its texts go."""
        self._do(update(_IMAGE).where(_IMAGE.c.id == image).values(dropped=True))
        outcome = str(ImageOutcome.ON_MANY_PAGES)
        self._do(update(_ADDRESS).where(_ADDRESS.c.image_id == image).values(outcome=outcome))
        places = select(_PLACE.c.id).where(_PLACE.c.image_id == image)
        self._do(delete(_TEXT).where(_TEXT.c.place_id.in_(places)))

    def _count_images(self) -> None:
        """Count the images of pages that are kept."""
        kept = (
            select(func.count(distinct(_PLACE.c.address_id)))
            .where(_PLACE.c.page_id == _VISIT.c.page_id, _PLACE.c.image_id.is_not(None))
            .scalar_subquery()
        )
        for part in in_parts(sorted(self._pages)):
            self._do(update(_VISIT).where(_VISIT.c.page_id.in_(part)).values(images_kept=kept))

    def _insert(self, table: Table, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._do(table.insert(), rows)


def _domain_of(url: str) -> str:
    return pay_level_domain(host_of(url))


def _domain_row(url: str) -> dict[str, Any]:
    name = _domain_of(url)
    return {"id": key_of(name), "name": name, "score": 0.0, "best_place": ""}


def _page_row(url: str) -> dict[str, Any]:
    domain = key_of(_domain_of(url))
    return {"id": key_of(url), "domain_id": domain, "url": url, "title": "", "score": 0.0}


def in_parts(values: Sequence[int]) -> Iterable[Sequence[int]]:
    """Yield values by as many as one question takes."""
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]
