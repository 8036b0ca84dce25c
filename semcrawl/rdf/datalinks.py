"""Finds links in the data embedded in a page: distributions, parts, sources.

It reads finished N-Quads, so JSON-LD, RDFa and Microdata are treated alike. The property alone
makes a value a link, whether it is an IRI or a literal. A link carries the media type and the title
that the data give it.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Collection
from types import MappingProxyType

from semcrawl.links import Link
from semcrawl.links.model import fold
from semcrawl.rdf.documentreader import Reading
from semcrawl.rdf.options import CATALOGUE_LINKS
from semcrawl.rdf.patterns import re
from semcrawl.rdf.sink import iri_text
from semcrawl.web.urls import (
    DEFAULT_NORMALISATION,
    Normalisation,
    dropped_index,
    normalise,
    resolve,
)
from semcrawl.web.vocabulary import FoundBy, RdfFormat

_SCHEMA = (b"http://schema.org/", b"https://schema.org/")
_DCAT, _DCT = b"http://www.w3.org/ns/dcat#", b"http://purl.org/dc/terms/"
#: properties that give a file's media type
_TYPES = frozenset(
    (
        *(base + name for base in _SCHEMA for name in (b"encodingFormat", b"fileFormat")),
        _DCAT + b"mediaType",
        _DCT + b"format",
    )
)
_TITLES = frozenset(
    (
        *(base + b"name" for base in _SCHEMA),
        _DCT + b"title",
        b"http://www.w3.org/2000/01/rdf-schema#label",
    )
)
#: local names of properties whose subject is the file itself and whose value is its address
_OWN_ADDRESS = frozenset((b"contentUrl", b"downloadURL", b"downloadUrl", b"accessURL"))
#: subject, predicate, and the object: an IRI, a blank node or a literal
_STATEMENT = re.compile(
    rb"^(<[^>]*+>|_:\S++) <([^>]*+)> "
    rb'(?:<([^>]*+)>|(_:\S++)|"([^"\\]*+(?:\\.[^"\\]*+)*+)")',
    re.MULTILINE,
)
_FETCHABLE = (b"http://", b"https://")
_LOCAL = re.compile(rb"[^#/:]*\Z")
_NAMED = MappingProxyType(
    {extension: syntax.media_types[0] for syntax in RdfFormat for extension in syntax.extensions}
)


def data_links(
    nquads: bytes,
    url: str,
    properties: Collection[str],
    normalisation: Normalisation = DEFAULT_NORMALISATION,
    limit: int = 10_000,
    *,
    element: str = "embedded",
    found_by: FoundBy = FoundBy.EMBEDDED,
) -> list[Link]:
    """Return the links in a page's data: the values of ``properties``, each address once.

    The property becomes the link's ``predicate``. The page itself is left out.
    """
    wanted = {name.encode() for name in properties}
    values: list[tuple[bytes, bytes, bytes]] = []
    types: dict[bytes, bytes] = {}
    titles: dict[bytes, bytes] = {}
    for subject, predicate, iri, node, text in _STATEMENT.findall(nquads):
        if predicate in wanted:
            if (iri or text).startswith(_FETCHABLE):
                values.append((subject, predicate, iri or text))
        elif predicate in _TYPES and not node:
            types.setdefault(subject, iri or text)
        elif predicate in _TITLES and text:
            titles.setdefault(subject, text)
    links: dict[str, Link] = {}
    for subject, predicate, address in values:
        written = iri_text(address.partition(b"#")[0])
        target = resolve(url, written, normalisation)
        if target is None or target in links or target == url:
            continue
        if len(links) >= limit:
            break
        local = _local(predicate)
        about = b"<" + address + b">"
        if about not in types and about not in titles and local in _OWN_ADDRESS:
            about = subject
        links[target] = Link(
            target,
            element=element,
            title=fold(titles.get(about, b"").decode("utf-8", "replace")),
            type=named_media_type(types.get(about, b"").decode("utf-8", "replace")),
            predicate=iri_text(predicate),
            tag_path=f"{element}/{local.decode('utf-8', 'replace')}",
            position=len(links),
            index=dropped_index(written) if target[-1] == "/" else "",
            found_by=found_by,
        )
    return list(links.values())


def named_media_type(named: str) -> str:
    """Return the media type that ``named`` gives as such, as an IANA IRI or as an extension.

    >>> named_media_type("https://www.iana.org/assignments/media-types/text/turtle")
    'text/turtle'
    >>> named_media_type("http://publications.europa.eu/resource/authority/file-type/RDF_TURTLE")
    'text/turtle'
    >>> named_media_type("CSV")
    'text/csv'
    """
    text = fold(named).lower()
    if "/media-types/" in text:
        return text.partition("/media-types/")[2]
    if text.startswith(("http:", "https:")):
        text = text.rpartition("/")[2].rpartition("#")[2]
    if "/" in text:
        return text.partition(";")[0].strip()
    words = [text.strip(". "), *reversed(re.split(r"[^a-z0-9]+", text))]
    known = [word for word in words if word in _NAMED]
    # RDF_TURTLE is Turtle
    if known:
        return _NAMED[next((word for word in known if word != "rdf"), "rdf")]
    return mimetypes.types_map.get(f".{words[0]}", "")


def _local(predicate: bytes) -> bytes:
    found = _LOCAL.search(predicate)
    return found[0] if found else b""


#: namespaces that only catalogues use
_CATALOGUE = re.compile(
    rb"<http://www\.w3\.org/ns/(?:dcat|hydra/core|ldp)#|<http://rdfs\.org/ns/void#"
    rb"|<https://w3id\.org/(?:tree|fdp/fdp-o)#"
)


def document_links(
    reading: Reading, normalisation: Normalisation = DEFAULT_NORMALISATION
) -> list[Link]:
    """Return the links of an RDF document under their normalised URLs, each once.

    ``tag_path`` holds the position in the statement and the property: ``rdf/object/seeAlso``.
    """
    links: dict[str, Link] = {}
    for found in reading.links:
        url = normalise(found.iri, normalisation)
        if url is not None and url not in links:
            links[url] = Link(
                url,
                element="rdf",
                predicate=found.predicate,
                tag_path=f"rdf/{found.position}/{_local_name(found.predicate)}",
                position=len(links),
                index=dropped_index(found.iri) if url[-1] == "/" else "",
                found_by=FoundBy.RDF,
            )
    return list(links.values())


def catalogue_links(
    reading: Reading,
    url: str,
    properties: Collection[str] = (),
    normalisation: Normalisation = DEFAULT_NORMALISATION,
    limit: int = 10_000,
) -> list[Link]:
    """Return the links of a catalogue in RDF, including addresses written as literals.

    With ``properties``, only their values are links.
    """
    wanted = CATALOGUE_LINKS & frozenset(properties) if properties else CATALOGUE_LINKS
    if not wanted or reading.spool is not None or not _CATALOGUE.search(reading.nquads):
        return []
    return data_links(
        reading.nquads,
        url,
        wanted,
        normalisation,
        limit,
        element="rdf",
        found_by=FoundBy.CATALOGUE,
    )


def _local_name(iri: str) -> str:
    """Return the part of an IRI after its last ``#`` or ``/``."""
    return iri.rstrip("#/").rpartition("#")[2].rpartition("/")[2]
