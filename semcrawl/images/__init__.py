"""Finds images in pages and the texts near them, decodes, compares and stores them.

The house of images. All but its declaration needs no Scrapy, frontier or HTTP client. Databases are
opened by SQLAlchemy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from semcrawl.config.jobdir import job_path
from semcrawl.config.targets import Targets
from semcrawl.houses import House, Report
from semcrawl.settings.reader import Values, fill

__all__ = ["HOUSE"]

#: file name in the job folder
IMAGES_DB = "images.db"


def _are_targets(settings: Any) -> bool:
    return Targets.parse(Values(settings)["SEMCRAWL_TARGETS"]).images


class _Images(House):
    """Images as targets, their database, and the search for them."""

    targets = ("images",)
    commands = {"images": "semcrawl.commands.images"}

    def pipelines(self, settings: Any) -> Mapping[str, int]:
        """Return the pipeline of images if they are targets."""
        name = "semcrawl.pipelines.images.ImagesPipeline"
        return {name: 330} if _are_targets(settings) else {}

    def check(self, settings: Any) -> None:
        """Read the settings, and open the database of earlier runs."""
        if self._options(settings) is not None and (job_path(settings) / IMAGES_DB).is_file():
            from semcrawl.images.schema import open_images

            open_images(job_path(settings)).dispose()

    def part(self, settings: Any, reader: Any, topic: Any, stats: Any) -> Any:
        """Return the reader of images if they are targets."""
        options = self._options(settings)
        if options is None:
            return None
        from semcrawl.images.imageitems import near_text_judge
        from semcrawl.pipelines.images import ImageReading

        judge = near_text_judge(topic) if topic is not None else None
        return ImageReading(reader, options, judge, stats)

    def due(self, folder: Path) -> Collection[str]:
        """Return the addresses of broken images."""
        from semcrawl.images.schema import broken_images

        return broken_images(folder)

    def databases(self) -> Mapping[str, Any]:
        """Return ``images.db``."""
        from semcrawl.images.schema import IMAGES

        return {IMAGES_DB: IMAGES}

    def merge(self, folders: Sequence[Path], out: Path, settings: Mapping[str, Any]) -> str:
        """Merge the images; copies and logos are those of the settings."""
        if not any((folder / IMAGES_DB).is_file() for folder in folders):
            return ""
        from semcrawl.images.imageitems import ImageOptions
        from semcrawl.images.merging import merge_images
        from semcrawl.terminal import amount

        options = fill(ImageOptions, settings)
        return amount(merge_images(folders, out, options), "image")

    def report(self, folder: Path) -> Report | None:
        """Return the numbers of kept images and of their places."""
        if not (folder / IMAGES_DB).is_file():
            return None
        from semcrawl.images.schema import count_images

        images, places = count_images(folder)
        if not images:
            return None
        line = f"Images kept: {images:,}, in {places:,} places, in {folder / IMAGES_DB}"
        return Report({"images": images, "image_places": places}, line)

    def _options(self, settings: Any) -> Any:
        if not _are_targets(settings):
            return None
        from semcrawl.images.imageitems import image_options

        return image_options(settings)


HOUSE = _Images()
