"""Links to images, their items and options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from semcrawl.config.extras import install_hint
from semcrawl.config.options import ReaderOptions
from semcrawl.errors import UsageError
from semcrawl.images.outcomes import ImageOutcome, TextKind
from semcrawl.images.places import PlaceOptions, ShownImage
from semcrawl.items import KeptElsewhere
from semcrawl.links import Link
from semcrawl.links.model import NEAR_TEXT, fold, fold_end
from semcrawl.settings.reader import fill, part, setting
from semcrawl.topics import TEXT, Document, Topic
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation
from semcrawl.web.vocabulary import FoundBy, Kind

#: returns the relevance of the texts near an image to the crawl's topic, 0 to 1
NearTextJudge = Callable[[ShownImage], float]


def near_text_judge(topic: Topic) -> NearTextJudge:
    """Return a judge of images by the texts near them, before they are fetched.

    The title of the page, which all its images share, is used only if there is nothing else. A
    topic that reads no text gives 0.
    """
    if TEXT not in topic.needs:
        return lambda image: 0.0

    def judge(image: ShownImage) -> float:
        near = [text.text for text in image.texts if text.kind is not TextKind.PAGE_TITLE]
        text = " · ".join(dict.fromkeys(near)) or image.text(TextKind.PAGE_TITLE)
        return topic.judge(Document(image.url, Kind.OTHER, text=text)).relevance

    return judge


def image_links(shown: Iterable[ShownImage], judge: NearTextJudge | None = None) -> Iterator[Link]:
    """Yield the links to images; a ``judge`` gives their :attr:`Link.near_text`."""
    for position, image in enumerate(shown):
        anchor = image.text(TextKind.CAPTION) or image.text(TextKind.ALT)
        yield Link(
            image.url,
            element=image.element,
            anchor=fold(anchor or image.text(TextKind.DATA)),
            title=fold(image.text(TextKind.TITLE) or image.text(TextKind.LINK)),
            type="image/*",
            before=fold_end(image.text(TextKind.BEFORE)),
            after=fold(image.text(TextKind.AFTER)),
            tag_path=image.tag_path,
            position=position,
            cues="" if judge is None else f"{NEAR_TEXT}{judge(image):.4f}",
            found_by=FoundBy.RDF if image.element == "rdf" else FoundBy.LINK,
        )


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded image. An unwanted one may lack most fields."""

    outcome: ImageOutcome
    #: one line on why it is unwanted
    reason: str = ""
    #: by its bytes
    media_type: str = ""
    width: int = 0
    height: int = 0
    frames: int = 1
    #: hexadecimal
    perceptual_hash: str = ""
    #: RGB pixels (:data:`semcrawl.images.decoding.MINIATURE` squared)
    miniature: bytes = field(default=b"", repr=False)
    #: JPEG files in grey and in colour (:data:`semcrawl.images.decoding.THUMBNAIL`)
    grey: bytes = field(default=b"", repr=False)
    colour: bytes = field(default=b"", repr=False)


@dataclass(slots=True)
class ImagePage(KeptElsewhere):
    """A page or an RDF document that was read for its images."""

    #: final URL
    url: str
    title: str = ""
    shown: tuple[ShownImage, ...] = ()
    #: number of references to pages, and their distinct normalised addresses
    links_seen: int = 0
    links: tuple[str, ...] = ()
    status: int | None = None
    content_hash: str = ""
    #: name of the attempt; a repeated attempt has the same name
    attempt: int = 0
    visited_at: float = 0.0


@dataclass(slots=True)
class FetchedImage(KeptElsewhere):
    """A fetched and decoded image, or what was taken for one."""

    #: address in links, before redirects
    url: str
    decoded: Decoded
    final_url: str = ""
    bytes: int = 0
    #: SHA-256 of the body, hexadecimal
    content_hash: str = ""
    fetched_at: float = 0.0
    #: redirects between the two addresses
    via: tuple[str, ...] = ()


@dataclass(slots=True)
class RedirectedImage(KeptElsewhere):
    """An image's address that redirects to a known one, which is requested separately."""

    url: str
    final_url: str
    via: tuple[str, ...] = ()
    fetched_at: float = 0.0


#: items that are written to ``images.db``
ImageItem = ImagePage | FetchedImage | RedirectedImage

_MEDIA_TYPE = re.compile(r"image/[a-z0-9!#$&^_.+*-]+")


def _types(names: Iterable[str]) -> tuple[str, ...]:
    """Return media types of images; raise ``UsageError`` for others."""
    found = tuple(dict.fromkeys(name.lower() for name in names))
    for name in found:
        if not _MEDIA_TYPE.fullmatch(name):
            raise UsageError(f"SEMCRAWL_IMAGES_TYPES takes only image/…, not {name!r}")
    return found or ("image/*",)


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """The settings ``SEMCRAWL_IMAGES_…``."""

    #: pixels
    min_width: int = setting("SEMCRAWL_IMAGES_MIN_WIDTH")
    min_height: int = setting("SEMCRAWL_IMAGES_MIN_HEIGHT")
    min_bytes: int = 0
    max_bytes: int = 1 << 25
    #: most pixels of an image that is decoded; each briefly takes up to four bytes of memory
    max_pixels: int = 50_000_000
    #: media types, ``image/*`` for all
    types: tuple[str, ...] = setting("SEMCRAWL_IMAGES_TYPES", _types)
    #: most pages of an image that is no logo or advertisement; 0: any number
    max_pages: int = setting("SEMCRAWL_IMAGES_MAX_PAGES")
    #: most bits in which the hashes of near copies differ; −1: only equal bytes are copies
    near_bits: int = 16
    #: options of places
    places: PlaceOptions = part(PlaceOptions)

    @classmethod
    def from_settings(
        cls, settings: Mapping[str, Any], normalisation: Normalisation = DEFAULT_NORMALISATION
    ) -> Self:
        """Read the settings; raise ``UsageError`` for wrong ones."""
        found = fill(cls, settings)
        places = replace(
            found.places,
            normalisation=normalisation,
            min_width=found.min_width,
            min_height=found.min_height,
        )
        return replace(found, places=places)


def image_options(settings: Mapping[str, Any]) -> ImageOptions | None:
    """Read the settings of images; ``None`` if images are no targets.

    Raises ``UsageError`` for wrong settings, and if the packages of the extra are missing.
    """
    if not fill(ReaderOptions, settings).targets.images:
        return None
    try:
        import imagehash  # noqa: F401
        import PIL  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"the targets images need {error.name}: {install_hint('images')}"
        ) from None
    return ImageOptions.from_settings(settings)
