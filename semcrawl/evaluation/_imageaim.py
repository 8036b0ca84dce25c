"""Crawls after images in the simulator: the images of pages as links, judged by near texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcrawl.config.targets import Targets
from semcrawl.evaluation.nodes import PageImageLinks
from semcrawl.images.imagelinks import image_links, near_text_judge
from semcrawl.images.imageoptions import ImageOptions
from semcrawl.images.imageplaces import PlaceOptions, image_places
from semcrawl.links import Link
from semcrawl.topics import about


def page_image_links(settings: Mapping[str, Any]) -> PageImageLinks | None:
    """Return what finds the images of a page as a crawl does; ``None`` if it is not after any."""
    if not Targets.parse(settings.get("SEMCRAWL_TARGETS") or "rdf").images:
        return None
    topic = about(settings.get("SEMCRAWL_ABOUT") or "", settings)
    judge = near_text_judge(topic) if topic is not None else None
    usual = ImageOptions()
    options = PlaceOptions(min_width=usual.min_width, min_height=usual.min_height)

    def links(body: bytes, url: str, content_type: str) -> Sequence[Link]:
        return list(image_links(image_places(body, url, content_type, options).shown, judge))

    return links
