"""Items of a crawl for images: pages with their images, and decoded images."""

from __future__ import annotations

from dataclasses import dataclass, field

from semcrawl.images.imageplaces import ShownImage
from semcrawl.images.outcomes import ImageOutcome
from semcrawl.items import KeptElsewhere


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
