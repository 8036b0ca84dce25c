"""The database of images: images, places, texts, hosts.

Writes the addresses of images: their outcomes, and the images that they lead to.
A redirected image has rows for the address in pages, for those on the way and for the one that
answered. They change together, no matter which one is requested later.

Writes pages and images to ``images.db``, each once.
A page replaces its former version. Images and places are joined in whichever order they arrive: an
image finds the places that wait for its address, and a page finds the known images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from sqlalchemy import (
    Connection,
    Engine,
    Row,
    Table,
    bindparam,
    delete,
    distinct,
    func,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert

from semcrawl.images.imageitems import (
    FetchedImage,
    ImageItem,
    ImageOptions,
    ImagePage,
    RedirectedImage,
)
from semcrawl.images.nearcopies import Look, LookIndex
from semcrawl.images.outcomes import MAY_PASS, WAITING, ImageOutcome
from semcrawl.images.schema import (
    ADDRESS,
    DOMAIN,
    IMAGE,
    LINK,
    PAGE,
    PLACE,
    TEXT,
    THUMBNAILS,
    VISIT,
    Domain,
    DomainScore,
    Image,
    Page,
    key_of,
    place_id,
    thumbnail_names,
)
from semcrawl.metadata.records import in_parts
from semcrawl.relevance.contract import ScoredDomain
from semcrawl.web.hosts import domain_of
from semcrawl.wholefiles import whole_file

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
