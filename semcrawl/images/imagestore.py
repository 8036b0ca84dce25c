"""Writing pages and images to ``images.db``: each once, whatever is written again.

A page replaces what was written of it before. An image finds the places that wait for its address,
and a page the images that are there already, in whichever order they come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sqlalchemy import Connection, Engine, select

from semcrawl.images._imagewriting import ImageWriting
from semcrawl.images.imageitems import ImageItem
from semcrawl.images.imageoptions import ImageOptions
from semcrawl.images.imagerows import in_parts
from semcrawl.images.nearcopies import Look, LookIndex
from semcrawl.images.outcomes import ImageOutcome
from semcrawl.images.schema import THUMBNAILS, Image, thumbnail_names


class ImageStore:
    """One process's writer; several may write to the same folder, in turns.

    Not for several threads at a time.
    """

    def __init__(self, engine: Engine, folder: Path, options: ImageOptions | None = None) -> None:
        """Write to the open database of a job folder, and thumbnails into it."""
        self._engine = engine
        self._folder = folder / THUMBNAILS
        self._options = options or ImageOptions()
        self._connection: Connection | None = None
        self._last = 0
        self._index = LookIndex(self._options.near_bits, self._miniatures)

    def write(self, items: Iterable[ImageItem]) -> list[ImageOutcome | None]:
        """Write items in one transaction; return what became of each image, ``None`` for pages.

        Raises SQLAlchemy's errors, and ``OSError`` where no thumbnail can be written.
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
        """Remove files of images that are forgotten, unless one has come back.

        The transaction keeps other processes from writing the same files meanwhile.
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
        """Count anew what rows that were copied from elsewhere changed; drop what is a logo now."""
        with self._engine.begin() as connection:
            ImageWriting(connection, self._folder, self._options, self._index).recount()

    def _begin_again(self) -> None:
        self._last = 0
        self._index = LookIndex(self._options.near_bits, self._miniatures)

    def _looks(self, connection: Connection) -> LookIndex:
        """Take in images that are new in the database: of other processes, and of former runs."""
        columns = (Image.id, Image.perceptual_hash, Image.width, Image.height)
        new = select(*columns).where(Image.id > self._last).order_by(Image.id)
        for number, perceptual_hash, width, height in connection.execute(new):
            self._index.add(number, Look(perceptual_hash, b"", width, height))
            self._last = number
        return self._index

    def _miniatures(self, numbers: Sequence[int]) -> Mapping[int, bytes]:
        if self._connection is None:
            return {}
        rows: dict[int, bytes] = {}
        for part in in_parts(numbers):
            wanted = select(Image.id, Image.miniature).where(Image.id.in_(part))
            rows.update((row[0], row[1]) for row in self._connection.execute(wanted))
        return rows
