"""Counts in ``images.db`` that follow from its places: pages of images, images of pages."""

from __future__ import annotations

from sqlalchemy import Connection, delete, distinct, func, select, update

from semcrawl.images.imagerows import ADDRESS, IMAGE, PLACE, TEXT, VISIT, in_parts
from semcrawl.images.outcomes import ImageOutcome


class ImageCounts:
    """The images that a transaction has to count again; logos are known by their counts."""

    def __init__(self, connection: Connection, max_pages: int) -> None:
        """Drop images that are on more than ``max_pages`` pages; 0: none."""
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
        """Keep of a logo that it is one, and where; its texts go."""
        self._do(update(IMAGE).where(IMAGE.c.id == image).values(dropped=True))
        outcome = str(ImageOutcome.ON_MANY_PAGES)
        self._do(update(ADDRESS).where(ADDRESS.c.image_id == image).values(outcome=outcome))
        places = select(PLACE.c.id).where(PLACE.c.image_id == image)
        self._do(delete(TEXT).where(TEXT.c.place_id.in_(places)))

    def _count_images(self) -> None:
        """Count the images of pages that are kept."""
        kept = (
            select(func.count(distinct(PLACE.c.address_id)))
            .where(PLACE.c.page_id == VISIT.c.page_id, PLACE.c.image_id.is_not(None))
            .scalar_subquery()
        )
        for part in in_parts(sorted(self.pages)):
            self._do(update(VISIT).where(VISIT.c.page_id.in_(part)).values(images_kept=kept))
