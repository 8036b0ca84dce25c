"""Images of a world put into ``images.db`` without a crawl, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

from semcrawl.evaluation.world import World
from semcrawl.images.imageitems import FetchedImage, ImagePage
from semcrawl.images.imageoptions import ImageOptions
from semcrawl.images.imageplaces import PlaceOptions, image_places


def index_pages(
    world: World, pages: Iterable[str], folder: Path, report: Callable[[int], None] = lambda n: None
) -> dict[str, str]:
    """Write the images that pages of a world show, each once; return the best places by domain.

    ``report`` is called with the number of pages that were read. Needs ``semcrawl[images]``.
    """
    from semcrawl.images.decoding import decode
    from semcrawl.images.imagestore import ImageStore
    from semcrawl.images.placelearning import learn_places
    from semcrawl.images.schema import open_images

    options = ImageOptions()
    places = PlaceOptions(min_width=options.min_width, min_height=options.min_height)
    had: set[str] = set()
    engine = open_images(folder, make=True)
    try:
        store = ImageStore(engine, folder, options)
        for number, url in enumerate(pages, 1):
            body, answer = world.body(url), world.fetch(url)
            read = image_places(body, url, answer.content_type, places)
            items: list[ImagePage | FetchedImage] = [
                ImagePage(
                    url, read.title, read.shown, read.links_seen, read.links, answer.status,
                    sha256(body).hexdigest(), number,
                )
            ]  # fmt: skip
            for image in read.shown:
                if image.url in had or world.fetch(image.url).status != 200:
                    continue
                had.add(image.url)
                picture = world.body(image.url)
                digest = sha256(picture).hexdigest()
                decoded = decode(picture, options)
                items.append(
                    FetchedImage(image.url, decoded, image.url, len(picture), digest, float(number))
                )
            store.write(items)
            report(number)
        return learn_places(engine)
    finally:
        engine.dispose()
