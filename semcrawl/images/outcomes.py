"""Enumerations of images: how one was found, the places of its texts, its outcome."""

from __future__ import annotations

from enum import StrEnum


class FoundAs(StrEnum):
    """How a page or document refers to an image."""

    IMG = "img"  #: ``src`` of an ``img``
    SRCSET = "srcset"  #: the largest of a ``srcset``
    PICTURE = "picture"  #: a ``source`` of a ``picture``
    LAZY = "lazy"  #: an attribute from which scripts load the image later
    NOSCRIPT = "noscript"  #: an ``img`` for browsers without scripts
    LINKED = "linked"  #: the larger image that an image links to
    IMAGE_SRC = "image-src"  #: ``link rel=image_src``
    META = "meta"  #: ``og:image``, ``twitter:image``
    POSTER = "poster"  #: ``poster`` of a video
    OBJECT = "object"  #: ``object``, ``embed``, ``input type=image``, ``image`` in SVG
    BACKGROUND = "background"  #: ``background`` of an element, or of its style
    RDF = "rdf"  #: a property of RDF data, such as ``schema:image`` or ``foaf:depiction``
    IIIF = "iiif"  #: an image of a IIIF manifest, or of its image service


class TextKind(StrEnum):
    """The place of a text near an image."""

    ALT = "alt"  #: the image's own alternative text, ``aria-label`` included
    TITLE = "title"  #: its ``title``
    CAPTION = "caption"  #: ``figcaption``, ``caption`` of a table, or marked as a caption
    FILE_NAME = "file-name"  #: the words of its file name
    LINK = "link"  #: text and title of the link around it
    BEFORE = "before"  #: text before it, in some ancestor
    AFTER = "after"  #: text after it, in some ancestor
    HEADING = "heading"  #: the heading above it
    PAGE_TITLE = "page-title"  #: the title of the page
    DATA = "data"  #: a name, caption or description in RDF data


class ImageOutcome(StrEnum):
    """The outcome of an image's address."""

    KEPT = "kept"  #: an image, kept
    COPY = "copy"  #: the same bytes as a kept image
    NEAR_COPY = "near-copy"  #: looks the same as a kept image
    TOO_SMALL = "too-small"  #: narrower or lower than the settings allow
    TOO_FEW_BYTES = "too-few-bytes"  #: fewer bytes than the settings allow
    TOO_MANY_BYTES = "too-many-bytes"  #: more bytes than may be decoded
    TOO_MANY_PIXELS = "too-many-pixels"  #: more pixels than may be decoded
    OTHER_TYPE = "other-type"  #: a type that the settings exclude
    NO_RASTER = "no-raster"  #: SVG, PDF and other drawings: never rendered
    NO_IMAGE = "no-image"  #: not an image, whatever its type says
    BROKEN = "broken"  #: it cannot be decoded
    BLANK = "blank"  #: of one colour: a placeholder or a spacer
    ON_MANY_PAGES = "on-many-pages"  #: a logo or an advertisement
    REDIRECTED = "redirected"  #: leads to an address that has not answered with an image yet


#: outcomes that may be transient: a truncated body, an error page
MAY_PASS = (ImageOutcome.NO_IMAGE, ImageOutcome.BROKEN)
#: outcomes after which the places of an address wait for an image
WAITING = (*MAY_PASS, ImageOutcome.REDIRECTED)
