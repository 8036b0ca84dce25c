"""The targets of a crawl: RDF documents, pages, embedded data, images, given media types."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterable
from dataclasses import dataclass
from email.message import Message
from fnmatch import fnmatchcase
from typing import Self
from urllib.parse import urlsplit

from semcrawl.errors import UsageError
from semcrawl.houses import houses
from semcrawl.web.bodies import media_type
from semcrawl.web.vocabulary import VAGUE_MEDIA_TYPES, Kind

#: Python's table of extensions, and data formats that it may lack
_TYPES = mimetypes.MimeTypes()
for _type, _extension in (
    ("application/geo+json", ".geojson"),
    ("application/vnd.apache.parquet", ".parquet"),
    ("application/vnd.oasis.opendocument.spreadsheet", ".ods"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"),
):
    _TYPES.add_type(_type, _extension)

#: kinds of targets, in the order of the fields of :class:`Targets`
_KINDS = ("rdf", "embedded", "html")
_IMAGES = "images"
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+*-]+")


@dataclass(frozen=True, slots=True)
class Targets:
    """Which fetched documents are targets, and so relevant (sources.md T.1)."""

    rdf: bool = True
    #: pages with embedded data
    embedded: bool = False
    #: all pages
    html: bool = False
    #: media types of bodies that are kept as files; ``text/*`` matches several
    media_types: tuple[str, ...] = ()
    #: images that are kept (:class:`semcrawl.images.imageitems.ImageOptions`)
    images: bool = False

    @classmethod
    def parse(cls, names: str | Iterable[str]) -> Self:
        """Read ``rdf``, ``embedded``, ``html``, ``images`` and media types.

        ``names`` is a list, or text with commas. Raises ``UsageError`` for anything else.
        """
        given = names.split(",") if isinstance(names, str) else names
        wanted = list(dict.fromkeys(name.strip().lower() for name in given if name.strip()))
        if not wanted:
            raise UsageError("no targets given: rdf, embedded, html, images or media types")
        types = [name for name in wanted if name not in (*_KINDS, _IMAGES)]
        for name in types:
            if not _MEDIA_TYPE.fullmatch(name):
                raise UsageError(
                    f"targets: {name!r} is neither rdf, embedded, html, images nor a media type"
                )
        if _IMAGES in wanted and not any(_IMAGES in house.targets for house in houses()):
            raise UsageError("the targets images need semcrawl.images, which is missing")
        rdf, embedded, html = (kind in wanted for kind in _KINDS)
        return cls(rdf, embedded, html, tuple(types), _IMAGES in wanted)

    @property
    def types(self) -> tuple[str, ...]:
        """Media types of bodies that may be targets, with ``image/*`` if images are targets."""
        return (*self.media_types, "image/*") if self.images else self.media_types

    def may_have_type(self, content_type: str, url: str = "", name: str = "") -> bool:
        """Whether bodies with this Content-Type header may be targets."""
        return _is_of(self.types, content_type, url, name)

    @property
    def names(self) -> str:
        """The targets as text for :meth:`parse`."""
        kinds = [name for name in _KINDS if getattr(self, name)]
        images = [_IMAGES] if self.images else []
        return ",".join((*kinds, *images, *self.media_types))

    def has_type(self, content_type: str, url: str = "", name: str = "") -> bool:
        """Whether bodies with this Content-Type header are targets because of it.

        If the header is missing or vague (``application/octet-stream``), the extension of the
        download's ``name`` or of the URL gives the type.
        """
        return _is_of(self.media_types, content_type, url, name)

    def include(
        self,
        kind: Kind,
        content_type: str,
        embedded_quads: int = 0,
        *,
        url: str = "",
        name: str = "",
    ) -> bool:
        """Whether a body is a target."""
        if kind is Kind.RDF and self.rdf:
            return True
        if kind is Kind.HTML and (self.html or (self.embedded and embedded_quads > 0)):
            return True
        return self.has_type(content_type, url, name)

    @property
    def extensions(self) -> frozenset[str]:
        """File extensions of the media types, without the dot."""
        return frozenset(
            extension[1:] for name in self.types for extension in extensions_of_type(name)
        )

    @property
    def elements(self) -> frozenset[str]:
        """HTML elements that embed media targets, so that their addresses are links."""
        shown = ("image/", "audio/", "video/")
        wanted = any(name.startswith(shown) or name.startswith("*") for name in self.media_types)
        return frozenset(("img", "audio", "video", "source", "embed")) if wanted else frozenset()


def _is_of(wanted_types: tuple[str, ...], content_type: str, url: str, name: str) -> bool:
    """Whether a body's type, by header, name or address, is one of ``wanted_types``."""
    if not wanted_types:
        return False
    media = media_type(content_type)
    types = {media}
    if not media or media in VAGUE_MEDIA_TYPES:
        types.add(_type_of(name) or _type_of(urlsplit(url).path))
    return any(fnmatchcase(one, wanted) for one in types for wanted in wanted_types)


def types_like(wanted: str) -> set[str]:
    """Return the known media types that a pattern with ``*`` matches, else the type itself."""
    if "*" not in wanted:
        return {wanted}
    known = {each for names in _TYPES.types_map for each in names.values()}
    return {each for each in known if fnmatchcase(each, wanted)}


def extensions_of_type(wanted: str) -> set[str]:
    """Return the file extensions of a media type, dots included; ``*`` matches several."""
    return {
        extension
        for name in types_like(wanted)
        for extension in _TYPES.guess_all_extensions(name, strict=False)
    }


def saved_name(disposition: str) -> str:
    """Return the file name in a Content-Disposition header, or an empty string."""
    message = Message()
    message["Content-Disposition"] = disposition
    return message.get_filename() or ""


def _type_of(name: str) -> str:
    """Return the media type of a file name's extension; empty if unknown."""
    # as a path, so that nothing in it is taken for a scheme
    named, packing = _TYPES.guess_type("/" + name.lower(), strict=False)
    return "" if packing else named or ""
