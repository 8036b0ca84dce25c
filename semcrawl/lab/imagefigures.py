"""Measures places, search and spellings of links on the generated web of pictures.

The web knows what its pictures show and where each site's right texts stand; nothing that is
measured is told so.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from semcrawl.images.imageitems import FetchedImage, ImageOptions, ImagePage
from semcrawl.images.places import PlaceOptions, image_places
from semcrawl.images.schema import image_addresses
from semcrawl.lab.imageworlds import SUBJECTS, ImageWeb, Subject, misspelled
from semcrawl.lab.worlds import World
from semcrawl.links import ExtractionOptions, extract_links
from semcrawl.web.urls import Normalisation

#: pages of each site that are read, and pages whose links are counted (I: 500 of 30 domains)
_PAGES, _LINKED = 20, 500
#: queries, of which every third is misspelled; images of an answer that are looked at
_QUERIES, _FIRST = 50, 10
#: all of I's rules for addresses, including the lossy ones
_ALL_RULES = Normalisation(https_to_http=True, drop_www=True, drop_query=True)


def image_figures(web: ImageWeb, report: Callable[[int], None] = lambda n: None) -> dict[str, Any]:
    """Return all figures as plain data."""
    pages = [web.url_of(number) for site in web.plan.sites for number in site.pages[:_PAGES]]
    with tempfile.TemporaryDirectory(prefix="semcrawl-images-") as name:
        folder = Path(name)
        best = _best_places(web, index_pages(web, pages, folder, report))
        pictures = _pictures(web, folder)
        return {
            "pages": len(pages),
            "pictures": len(set(pictures)),
            "places": _precision(web, pages),
            "related": _related(web, pages),
            "best_places": best,
            "search": _search(web, folder, pictures),
            "spellings": _spellings(web),
        }


def _precision(web: ImageWeb, pages: list[str]) -> dict[str, dict[str, Any]]:
    """Return how many of the first texts of each kind of place name what their picture shows."""
    right, told = Counter[str](), Counter[str]()
    for url in pages:
        for image in image_places(web.body(url), url, "text/html").shown:
            if (picture := web.picture_at(image.url)) is None:
                continue
            first = {str(text.kind): text.text for text in reversed(image.texts)}
            for kind, text in first.items():
                told[kind] += 1
                right[kind] += _names(text, picture.subject)
    return {
        kind: {"texts": count, "precision": right[kind] / count} for kind, count in told.items()
    }


def _related(web: ImageWeb, pages: list[str]) -> dict[str, float]:
    """Return how many texts near a picture name what it shows: mean, least and most of domains."""
    pictures, right = Counter[str](), Counter[str]()
    for url in pages:
        host = url.split("/")[2]
        for image in image_places(web.body(url), url, "text/html").shown:
            if (picture := web.picture_at(image.url)) is not None:
                pictures[host] += 1
                right[host] += sum(_names(text.text, picture.subject) for text in image.texts)
    shares = [right[host] / count for host, count in pictures.items()]
    if not shares:
        return {"mean": 0.0, "least": 0.0, "most": 0.0}
    return {"mean": fmean(shares), "least": min(shares), "most": max(shares)}


def _names(text: str, subject: Subject) -> bool:
    words = text.lower()
    return subject.look in words and subject.shape in words


def _best_places(web: ImageWeb, found: dict[str, str]) -> dict[str, Any]:
    """Return the learned and the true best kind of place of each site."""
    learned = {name: place.partition(":")[0] for name, place in found.items()}
    sites = {site.host: (site.habit.place, learned.get(site.host, "")) for site in web.plan.sites}
    right = sum(is_so == found for is_so, found in sites.values())
    return {"domains": len(sites), "right": right, "by_domain": sites}


def _pictures(web: ImageWeb, folder: Path) -> dict[int, Subject]:
    """Return the subject of each image of the database."""
    found = ((number, web.picture_at(url)) for number, url in image_addresses(folder))
    return {number: picture.subject for number, picture in found if picture is not None}


def queries(web: ImageWeb, pictures: dict[int, Subject]) -> list[tuple[str, Subject]]:
    """Return queries, some misspelled, for subjects with at least ten pictures."""
    random, counts = Random(f"searches {web.plan.seed}"), Counter(pictures.values())
    common = [subject for subject in SUBJECTS if counts[subject] >= _FIRST]
    chosen = [random.choice(common) for _ in range(_QUERIES)] if common else []
    if len(common) >= _QUERIES:
        chosen = random.sample(common, _QUERIES)
    return [
        (misspelled(random, subject.name) if number % 3 == 0 else subject.name, subject)
        for number, subject in enumerate(chosen)
    ]


def _search(web: ImageWeb, folder: Path, pictures: dict[int, Subject]) -> dict[str, Any]:
    """Return precision at 10 over all queries, and over the misspelled ones."""
    from semcrawl.imagesearch.search import ImageSearch

    shares: list[float] = []
    wrong_words: list[float] = []
    asked = queries(web, pictures)
    with ImageSearch(folder) as search:
        for text, subject in asked:
            hits = search.search(text, _FIRST, remember=False).hits
            share = sum(pictures.get(hit.image) == subject for hit in hits) / _FIRST
            shares.append(share)
            if text != subject.name:
                wrong_words.append(share)
    return {
        "queries": len(asked),
        "misspelled": len(wrong_words),
        "precision_at_10": sum(shares) / max(1, len(shares)),
        "precision_at_10_misspelled": sum(wrong_words) / max(1, len(wrong_words)),
    }


def _spellings(web: ImageWeb) -> dict[str, int]:
    """Return the number of distinct links as written, and after normalisation."""
    numbers = Random(f"links {web.plan.seed}").sample(
        range(len(web.plan.pages)), min(_LINKED, len(web.plan.pages))
    )
    counts = {"pages": len(numbers), "links": 0}
    written: set[str] = set()
    usual: set[str] = set()
    every: set[str] = set()
    for number in numbers:
        url = web.url_of(number)
        body = web.body(url)
        read = image_places(body, url, "text/html")
        counts["links"] += read.links_seen
        usual.update(link.url for link in extract_links(body, url))
        options = ExtractionOptions(normalisation=_ALL_RULES)
        every.update(link.url for link in extract_links(body, url, None, options))
        options = ExtractionOptions(normalisation=Normalisation(frozenset(), exact=True))
        written.update(link.url for link in extract_links(body, url, None, options))
    return counts | {"written": len(written), "normalised": len(usual), "all_rules": len(every)}


def index_pages(
    world: World, pages: Iterable[str], folder: Path, report: Callable[[int], None] = lambda n: None
) -> dict[str, str]:
    """Write the images that pages of a world show, each once; return the best places by domain.

    ``report`` is called with the number of pages that were read. Needs ``semcrawl[images]``.
    """
    from semcrawl.images.decoding import decode
    from semcrawl.images.placelearning import learn_places
    from semcrawl.images.schema import open_images
    from semcrawl.images.store import ImageStore

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
