"""Places of images in pages, with the candidates of `srcset`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from semcrawl.images.neartexts import Surroundings, TextNear
from semcrawl.images.outcomes import FoundAs, TextKind
from semcrawl.links.extraction import TagPaths, base_of
from semcrawl.links.pagetexts import joined, texts_in
from semcrawl.links.trees import LAZY, parse_html
from semcrawl.settings.reader import setting
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation, Resolver, extension_of, path_of

#: most characters and candidates that are read
_MAX_LENGTH = 50_000
_MAX_CANDIDATES = 100
_SPACES = " \t\n\r\f"
_WIDTH = re.compile(r"(\d{1,6})w\Z")
_DENSITY = re.compile(r"(\d{0,4}(?:\.\d{1,6})?)x\Z")


def largest(srcset: str) -> str:
    """Return the address of the widest or densest candidate; empty if none is usable.

    If an invalid attribute mixes widths and densities, widths win.

    >>> largest("small.png 320w, large.png 1280w")
    'large.png'
    >>> largest("one.png, two.png 2x")
    'two.png'
    """
    best, address = 0.0, ""
    for url, size in candidates(srcset):
        if size > best:
            best, address = size, url
    return address


def candidates(srcset: str) -> list[tuple[str, float]]:
    """Return addresses and sizes, without ``data:`` URLs and invalid candidates."""
    text = srcset[:_MAX_LENGTH]
    found: list[tuple[str, float]] = []
    place = 0
    while len(found) < _MAX_CANDIDATES:
        while place < len(text) and text[place] in _SPACES + ",":
            place += 1
        if place >= len(text):
            break
        end = place
        while end < len(text) and text[end] not in _SPACES:
            end += 1
        url = text[place:end]
        place = end
        descriptor = ""
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            place, descriptor = _descriptor(text, place)
        size = _size(descriptor)
        if url and size is not None and url[:5].lower() != "data:":
            found.append((url, size))
    return found


def _descriptor(text: str, place: int) -> tuple[int, str]:
    """Return the end of a candidate and its descriptor; commas in parentheses do not end it."""
    depth = 0
    for end in range(place, len(text)):
        sign = text[end]
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth = max(0, depth - 1)
        elif sign == "," and not depth:
            return end + 1, text[place:end].strip(_SPACES)
    return len(text), text[place:].strip(_SPACES)


def _size(descriptor: str) -> float | None:
    """Return a number to compare candidates; ``None`` for invalid descriptors."""
    if not descriptor:
        return 1.0
    width = height = density = None
    for part in descriptor.split():
        if match := _WIDTH.match(part):
            width = int(match[1])
        elif re.fullmatch(r"\d{1,6}h", part):
            height = part
        elif (match := _DENSITY.match(part)) and match[1] not in ("", "."):
            density = float(match[1])
        else:
            return None
    if width is not None:
        return 1000.0 + width if width and density is None else None
    return None if height is not None or not density else density


#: file extensions of images that can be decoded
IMAGE_EXTENSIONS = frozenset(
    "jpg jpeg jpe jfif png gif webp avif bmp tif tiff jp2 j2k pcx ppm pgm pbm tga".split()
)
#: file extensions of drawings, which are never rendered
DRAWINGS = frozenset({"svg", "svgz"})
#: elements whose content is not part of the page
_CLOSED = frozenset({"script", "style", "template", "textarea"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_META = frozenset(
    {"og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"}
)
#: other elements that show an image → attributes with its address
_OTHERS = {
    "image": ("href", "xlink:href", "{http://www.w3.org/1999/xlink}href"),
    "amp-img": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "input": ("src",),
}
_BACKGROUND = re.compile(r"background(?:-image)?\s*:[^;]*?url\(\s*['\"]?([^'\")]{1,2000})", re.I)
_PIXELS = re.compile(r"\s*(\d{1,5})(?:\.\d+)?(?:px)?\s*\Z")


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    """Options of the places of images."""

    normalisation: Normalisation = DEFAULT_NORMALISATION
    #: most places of one page
    max_places: int = 1000
    #: most links of one page
    max_links: int = setting("SEMCRAWL_MAX_LINKS_PER_PAGE")
    #: levels of ancestors whose texts are read, and most characters of one text
    levels: int = 5
    max_text: int = 300
    #: pixels; images that their page shows smaller are left out
    min_width: int = 0
    min_height: int = 0


@dataclass(frozen=True, slots=True)
class ShownImage:
    """One place where an image is shown or named."""

    #: normalised address
    url: str
    found_as: FoundAs
    texts: tuple[TextNear, ...] = ()
    #: element, and the tags from the root down to it
    element: str = "img"
    tag_path: str = ""

    @property
    def has_caption(self) -> bool:
        """Whether it has a caption."""
        return any(text.kind is TextKind.CAPTION for text in self.texts)

    def text(self, kind: TextKind) -> str:
        """Return its first text of a kind; empty if there is none."""
        return next((near.text for near in self.texts if near.kind is kind), "")


@dataclass(frozen=True, slots=True)
class PageImages:
    """The images and links of a page."""

    title: str = ""
    shown: tuple[ShownImage, ...] = ()
    #: number of references to pages, and their distinct normalised addresses
    links_seen: int = 0
    links: tuple[str, ...] = ()
    #: numbers of images inside the page (``data:`` URLs), drawings, and images shown too small
    data_urls: int = 0
    drawings: int = 0
    too_small: int = 0
    #: elements whose ``srcset`` names no image
    bad_srcset: int = 0


class _Candidate(NamedTuple):
    element: Any
    reference: str
    found_as: FoundAs
    heading: Any


def image_places(
    body: bytes,
    url: str,
    content_type: str | None = None,
    options: PlaceOptions | None = None,
) -> PageImages:
    """Return the images of an HTML page in document order, with the texts near them.

    The address of an image is the file that it links to, else the largest of its ``srcset``, else
    what scripts would load, else its ``src``. Never raises because of the content.
    """
    options = options or PlaceOptions()
    page = parse_html(body, content_type)
    if page.root is None:
        return PageImages()
    resolver = Resolver(base_of(page.root, url), options.normalisation, page.encoding)
    reader = _PageReader(page.root, resolver, options)
    reader.read()
    return reader.result(url)


class _PageReader:
    """Collects the images of a page in one pass, and then their texts."""

    def __init__(self, root: Any, resolver: Resolver, options: PlaceOptions) -> None:
        self._root = root
        self._resolver = resolver
        self._options = options
        self._found: list[_Candidate] = []
        self._holders: set[Any] = set()
        self._links: dict[str, None] = {}
        self._by_id: dict[str, Any] = {}
        self._title = ""
        self._counts = dict.fromkeys(
            ("links_seen", "data_urls", "drawings", "too_small", "bad_srcset"), 0
        )

    def read(self) -> None:
        """Collect candidates, headings and links in document order."""
        heading = None
        stack = [self._root]
        while stack:
            element = stack.pop()
            tag = element.tag
            if not isinstance(tag, str) or tag in _CLOSED:
                continue
            if tag == "a" or tag == "area":
                self._take_link(element.get("href"))
            elif tag in ("frame", "iframe"):
                self._take_link(element.get("src"))
            elif tag in _HEADINGS:
                heading = element
            elif tag == "title":
                if not self._title:
                    self._title = joined(texts_in(element), self._options.max_text)
                    self._title = self._title or " ".join((element.text or "").split())[:300]
                continue
            for reference, found_as in _references(element, tag):
                self._found.append(_Candidate(element, reference, found_as, heading))
            if tag == "img":
                self._hold(element)
            if (srcset := element.get("srcset")) and "data:" not in srcset and not largest(srcset):
                self._counts["bad_srcset"] += 1
            if identifier := element.get("id"):
                self._by_id.setdefault(identifier, element)
            stack.extend(reversed(list(element)))

    def result(self, url: str) -> PageImages:
        """Return the valid places with their texts."""
        options = self._options
        around = Surroundings(
            self._title, self._holders, options.levels, options.max_text, self._by_id
        )
        paths = TagPaths()
        shown: list[ShownImage] = []
        seen: set[str] = set()
        for element, reference, found_as, heading in self._found:
            if len(shown) >= options.max_places:
                break
            address = self._address(element, reference, found_as)
            # lazy images are often repeated for browsers without scripts
            if address is None or (address in seen and found_as not in _IN_THE_TEXT):
                continue
            seen.add(address)
            in_text = element.tag not in ("meta", "link")
            texts = around.texts(element, address, heading) if in_text else self._of_page(address)
            shown.append(
                ShownImage(
                    address,
                    found_as,
                    tuple(texts),
                    element.tag,
                    paths.path_of(element),
                )
            )
        links = tuple(link for link in self._links if link != url)
        return PageImages(self._title, tuple(shown), links=links, **self._counts)

    def _of_page(self, address: str) -> list[TextNear]:
        """Return the texts of the page's own image, which is in no place of the page."""
        texts = Surroundings(self._title, self._holders, 0, self._options.max_text)
        return texts.texts(self._root, address)

    def _take_link(self, reference: str | None) -> None:
        if not reference:
            return
        target = self._resolver.resolve(reference)
        if target is None or extension_of(path_of(target)) in IMAGE_EXTENSIONS | DRAWINGS:
            return
        self._counts["links_seen"] += 1
        if len(self._links) < self._options.max_links:
            self._links[target] = None

    def _hold(self, element: Any) -> None:
        """Record an image and its ancestors as holders."""
        node = element
        while node is not None and node not in self._holders:
            self._holders.add(node)
            node = node.getparent()

    def _address(self, element: Any, reference: str, found_as: FoundAs) -> str | None:
        """Resolve a reference; ``None`` if it is not an image to fetch."""
        if reference[:5].lower() == "data:":
            self._counts["data_urls"] += 1
            return None
        address = self._resolver.resolve(reference)
        if address is None:
            return None
        if extension_of(path_of(address)) in DRAWINGS:
            self._counts["drawings"] += 1
            return None
        if found_as is not FoundAs.LINKED and self._is_too_small(element):
            self._counts["too_small"] += 1
            return None
        return address

    def _is_too_small(self, element: Any) -> bool:
        width, height = _pixels(element.get("width")), _pixels(element.get("height"))
        if width is None or height is None:
            return False
        return width < self._options.min_width or height < self._options.min_height


#: kinds of places that may repeat an address in a page, each with its own texts
_IN_THE_TEXT = frozenset({FoundAs.IMG, FoundAs.SRCSET, FoundAs.PICTURE, FoundAs.LAZY})
_IN_THE_TEXT |= {FoundAs.LINKED}


def _references(element: Any, tag: str) -> Iterator[tuple[str, FoundAs]]:
    """Yield the references to images in an element."""
    if tag == "img":
        if found := _of_img(element):
            yield found
        return
    if tag == "meta":
        name = (element.get("property") or element.get("name") or "").lower()
        if name in _META and (reference := (element.get("content") or "").strip()):
            yield reference, FoundAs.META
    elif tag == "link":
        if "image_src" in (element.get("rel") or "").lower().split():
            yield element.get("href") or "", FoundAs.IMAGE_SRC
    elif tag == "video":
        if reference := element.get("poster"):
            yield reference, FoundAs.POSTER
    elif names := _OTHERS.get(tag):
        reference = next((value for name in names if (value := element.get(name))), "")
        if reference and (tag in ("image", "amp-img") or _is_image(element, reference)):
            yield reference, FoundAs.OBJECT
    elif tag == "source":
        return
    for name in ("background", "data-bg", "data-background-image"):
        if reference := (element.get(name) or "").strip():
            yield reference, FoundAs.BACKGROUND
    style = element.get("style")
    if style and (match := _BACKGROUND.search(style[:5000])):
        yield match[1].strip(), FoundAs.BACKGROUND


def _of_img(element: Any) -> tuple[str, FoundAs] | None:
    """Return the best reference of an ``img``, and its kind."""
    parent = element.getparent()
    above = parent
    for _ in range(3):
        if above is None or above.tag == "a":
            break
        above = above.getparent()
    if above is not None and above.tag == "a":
        reference = (above.get("href") or "").strip()
        path = path_of(reference.partition("?")[0].partition("#")[0])
        # in wikis File:Example.jpg is a page about a file
        if ":" not in path.rpartition("/")[2] and extension_of(path) in IMAGE_EXTENSIONS:
            return reference, FoundAs.LINKED
    for name in ("srcset", "data-srcset", "data-lazy-srcset"):
        if (value := element.get(name)) and (reference := largest(value)):
            return reference, FoundAs.SRCSET
    for source in _sources(parent):
        value = source.get("srcset") or source.get("data-srcset")
        if value and (reference := largest(value)):
            return reference, FoundAs.PICTURE
    plain = (element.get("src") or "").strip()
    for name in LAZY:
        reference = (element.get(name) or "").strip()
        if reference and reference != plain and reference[0] not in "{[":
            return reference, FoundAs.LAZY
    if not plain:
        return None
    while parent is not None and parent.tag != "noscript":
        parent = parent.getparent() if parent.tag in ("a", "picture", "figure", "p") else None
    return plain, FoundAs.IMG if parent is None else FoundAs.NOSCRIPT


def _sources(parent: Any) -> Iterator[Any]:
    """Yield the sources of the picture around an image, except drawings.

    libxml2 nests what follows a ``source`` inside it.
    """
    while parent is not None and parent.tag == "source":
        parent = parent.getparent()
    if parent is not None and parent.tag == "picture":
        for source in parent.iter("source"):
            if "svg" not in (source.get("type") or "").lower():
                yield source


def _is_image(element: Any, reference: str) -> bool:
    """Whether an ``object``, ``embed`` or ``input`` is an image."""
    kind = (element.get("type") or "").strip().lower()
    if kind.startswith("image/") or kind == "image":
        return True
    return not kind and extension_of(path_of(reference)) in IMAGE_EXTENSIONS


def _pixels(value: str | None) -> int | None:
    match = _PIXELS.match(value or "")
    return int(match[1]) if match else None
