"""Finds images in RDF data: by properties, by types of resources, and in IIIF manifests.

It reads finished N-Quads, so embedded data and documents are treated alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from semcrawl.images.neartexts import TextNear, file_name_words
from semcrawl.images.outcomes import FoundAs, TextKind
from semcrawl.images.places import DRAWINGS, IMAGE_EXTENSIONS, PlaceOptions, ShownImage
from semcrawl.rdf.patterns import re
from semcrawl.rdf.terms import RDF
from semcrawl.web.urls import extension_of, path_of, resolve

_SCHEMA = ("http://schema.org/", "https://schema.org/")
_FOAF = "http://xmlns.com/foaf/0.1/"
_EDM = "http://www.europeana.eu/schemas/edm/"
_OG = ("http://ogp.me/ns#", "https://ogp.me/ns#")
_DBO = "http://dbpedia.org/ontology/"
_DCT, _DC = "http://purl.org/dc/terms/", "http://purl.org/dc/elements/1.1/"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
#: properties that give the service of a IIIF image
_SERVICES = frozenset(
    {
        "http://rdfs.org/sioc/services#has_service",
        "https://iiif.io/api/presentation/3#service",
        "http://iiif.io/api/presentation/3#service",
    }
)
_IIIF = re.compile(rb"//iiif\.io/api/")
#: properties whose value is an image of the subject
_SHOWS = frozenset(
    {
        *(base + "image" for base in _SCHEMA),
        *(base + "image" for base in _OG),
        *(_FOAF + name for name in ("depiction", "img")),
        *(_EDM + name for name in ("isShownBy", "object", "hasView")),
        _DBO + "thumbnail",
        "http://www.wikidata.org/prop/direct/P18",
    }
)
#: properties that give the file of a described image
_FILES = frozenset(base + name for base in _SCHEMA for name in ("contentUrl", "contentURL"))
#: types of resources that are images themselves, or their descriptions
_IMAGE_TYPES = frozenset(
    {
        *(base + name for base in _SCHEMA for name in ("ImageObject", "Photograph")),
        _FOAF + "Image",
        "http://purl.org/dc/dcmitype/Image",
        "http://purl.org/dc/dcmitype/StillImage",
        "https://www.w3.org/ns/activitystreams#Image",
    }
)
#: properties that name or describe, the best first
_TEXTS = (
    *(base + name for base in _SCHEMA for name in ("caption", "name", "headline")),
    *(base + name for base in (_DCT, _DC) for name in ("title",)),
    _RDFS + "label",
    _SKOS + "prefLabel",
    _FOAF + "name",
    *(base + "description" for base in (*_SCHEMA, _DCT, _DC)),
    _RDFS + "comment",
    *(base + "title" for base in _OG),
)
#: most steps from an image to a subject whose texts are used
_STEPS = 3
#: most statements to read
_MAX_STATEMENTS = 200_000
_STATEMENT = re.compile(
    rb"^(<[^>]*+>|_:\S++) <([^>]*+)> "
    rb'(?:(<[^>]*+>|_:\S++)|"([^"\\]*+(?:\\.[^"\\]*+)*+)")',
    re.MULTILINE,
)
_ESCAPE = re.compile(rb'\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(["\\nrtbf\']))')
_SIGNS = {b"n": "\n", b"r": "\n", b"t": "\t", b"b": "", b"f": ""}
#: pattern that a document must contain to be searched
_MAY_NAME = re.compile(
    rb"[iI]mage|[dD]epiction|foaf/0\.1/img|isShownBy|contentU|thumbnail|direct/P18|edm/(?:object|hasV)"
)
_LOCAL = re.compile(r"[^#/:]*\Z")


def rdf_places(nquads: bytes, url: str, options: PlaceOptions | None = None) -> list[ShownImage]:
    """Return the images in the data of the document ``url``, each once, with their texts.

    The ``distance`` of a text is the number of statements between image and text.
    """
    if not _MAY_NAME.search(nquads):
        return []
    data = _Data(nquads, url, options or PlaceOptions())
    return list(data.images())


class _Data:
    """The statements of a document that may concern images."""

    def __init__(self, nquads: bytes, url: str, options: PlaceOptions) -> None:
        self._url = url
        self._options = options
        self._iiif = _IIIF.search(nquads) is not None
        self._shown: list[tuple[str, str, str]] = []
        self._typed: dict[str, None] = {}
        self._services: dict[str, str] = {}
        self._texts: defaultdict[str, dict[str, str]] = defaultdict(dict)
        #: resource → subjects of statements about it
        self._subjects: defaultdict[str, list[str]] = defaultdict(list)
        self._read(nquads)

    def _read(self, nquads: bytes) -> None:
        texts = frozenset(_TEXTS)
        for number, match in enumerate(_STATEMENT.finditer(nquads)):
            if number >= _MAX_STATEMENTS:
                break
            subject, predicate = _text(match[1]), _text(match[2])
            if match[3] is None:
                if predicate in texts:
                    self._texts[subject].setdefault(predicate, _literal(match[4]))
                elif predicate in _FILES or predicate in _SHOWS:
                    address = _literal(match[4])
                    self._shown.append((subject, predicate, address))
                    self._subjects[address].append(subject)
                continue
            thing = _text(match[3])
            if predicate == RDF + "type":
                if thing[1:-1] in _IMAGE_TYPES:
                    self._typed[subject] = None
            elif predicate in _SERVICES:
                self._services.setdefault(subject, thing)
            else:
                if len(self._subjects[thing]) < 4:
                    self._subjects[thing].append(subject)
                if predicate in _FILES or predicate in _SHOWS:
                    self._shown.append((subject, predicate, thing))

    def images(self) -> Iterator[ShownImage]:
        """Yield the images: files of descriptions, values of properties, resources of a type."""
        described = {subject for subject, predicate, _ in self._shown if predicate in _FILES}
        seen: set[str] = set()
        named = [
            *((v, p, s if p in _FILES and s in self._typed else v) for s, p, v in self._shown),
            *((node, RDF + "type", node) for node in self._typed if node not in described),
        ]
        for value, predicate, node in named:
            if predicate in _FILES and node == value and not _has_extension(value):
                continue  # the file is not an image
            if value in described or len(seen) >= self._options.max_places:
                continue  # its file is named too
            address = self._address(value)
            if address is None or address in seen or address == self._url:
                continue
            seen.add(address)
            iiif = self._iiif and predicate == RDF + "type"
            yield ShownImage(
                address,
                FoundAs.IIIF if iiif else FoundAs.RDF,
                tuple(self._near(node, value, predicate, address)),
                "rdf",
                f"rdf/object/{_local(predicate)}",
            )

    def _address(self, value: str) -> str | None:
        """Return the address of an image, or of its IIIF service if it has none."""
        written = value[1:-1] if value.startswith("<") else value
        if not value.startswith(("<", "_:", "http://", "https://")):
            return None
        if value.startswith("_:"):
            service = self._services.get(value, "")
            if not service.startswith("<http"):
                return None
            written = service[1:-1].rstrip("/") + "/full/full/0/default.jpg"
        address = resolve(self._url, written, self._options.normalisation)
        if address is None or extension_of(path_of(address)) in DRAWINGS:
            return None
        return address

    def _near(self, node: str, value: str, predicate: str, address: str) -> Iterator[TextNear]:
        """Yield the texts of an image, then those of what it shows."""
        limit = self._options.max_text
        seen = {node, value}
        level = list(dict.fromkeys((node, value)))
        for steps in range(_STEPS + 1):
            for one in level:
                texts = self._texts.get(one, {})
                for name in _TEXTS:
                    if text := " ".join(texts.get(name, "")[: 4 * limit].split())[:limit]:
                        tag = _local(name)[:32]
                        yield TextNear(text, TextKind.DATA, tag, steps + 1, steps)
            level = [s for one in level for s in self._subjects.get(one, ()) if s not in seen]
            level = list(dict.fromkeys(level))[:8]
            seen.update(level)
        if text := file_name_words(address):
            yield TextNear(text[:limit], TextKind.FILE_NAME, _local(predicate)[:32])


def _has_extension(value: str) -> bool:
    return extension_of(path_of(value.strip("<>"))) in IMAGE_EXTENSIONS


def _text(term: bytes) -> str:
    return term.decode("utf-8", "replace")


def _literal(text: bytes) -> str:
    """Undo the escapes of a literal."""
    if b"\\" not in text:
        return _text(text)

    def plain(match: re.Match[bytes]) -> bytes:
        if number := match[1] or match[2]:
            value = int(number, 16)
            return (chr(value) if value < 0x110000 else "\ufffd").encode("utf-8", "replace")
        return _SIGNS.get(match[3], _text(match[3])).encode()

    return _text(_ESCAPE.sub(plain, text))


def _local(iri: str) -> str:
    found = _LOCAL.search(iri)
    return found[0] if found else ""
