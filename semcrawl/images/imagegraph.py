"""Writes the images of a job as N-Quads: ``schema:ImageObject``, ``foaf:depicts`` and PROV.

Facts about an image's addresses are in the default graph. The statements of a page are in a graph
named by the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, select
from sqlalchemy.orm import aliased

from semcrawl.images.outcomes import ImageOutcome
from semcrawl.images.placelearning import best_text
from semcrawl.images.schema import Domain, Image, ImageAddress, ImagePlace, Page, texts_of_places
from semcrawl.rdf.terms import RDF, XSD, iri_term, literal_term
from semcrawl.wholefiles import whole_file

#: file name in the job folder
IMAGES_FILE = "images.nq"

_SCHEMA, _FOAF = "http://schema.org/", "http://xmlns.com/foaf/0.1/"
_PROV, _RDFS = "http://www.w3.org/ns/prov#", "http://www.w3.org/2000/01/rdf-schema#"
#: rows in memory at a time
_AT_ONCE = 1000


def write_graph(engine: Engine, path: Path) -> int:
    """Write the images to a file atomically; return the number of quads.

    Raises ``OSError`` and SQLAlchemy's errors.
    """
    count = 0
    with (
        engine.execution_options(read_only=True).connect() as connection,
        whole_file(path) as file,
    ):
        for line in image_quads(connection):
            file.write(line.encode("utf-8", "replace"))
            count += 1
    return count


def image_quads(connection: Connection) -> Iterator[str]:
    """Yield the N-Quads lines of all images except logos."""
    yield from _images(connection)
    yield from _places(connection)


def _images(connection: Connection) -> Iterator[str]:
    original = aliased(ImageAddress)
    found = (
        select(
            ImageAddress.url,
            ImageAddress.final_url,
            ImageAddress.width,
            ImageAddress.height,
            ImageAddress.sha256,
            ImageAddress.fetched_at,
            Image.media_type,
            original.url.label("original"),
        )
        .join(Image, ImageAddress.image_id == Image.id)
        .outerjoin(
            original,
            (original.image_id == Image.id) & (original.outcome == str(ImageOutcome.KEPT)),
        )
        .where(Image.dropped.is_(False))
        .order_by(ImageAddress.id)
        .execution_options(yield_per=_AT_ONCE)
    )
    for row in connection.execute(found):
        here = iri_term(row.url)
        terms = [
            (RDF + "type", iri_term(_SCHEMA + "ImageObject")),
            (RDF + "type", iri_term(_PROV + "Entity")),
            (_SCHEMA + "contentUrl", iri_term(row.final_url)),
            (_SCHEMA + "width", _number(row.width)),
            (_SCHEMA + "height", _number(row.height)),
            (_SCHEMA + "sha256", literal_term(row.sha256)),
            (_PROV + "generatedAtTime", _time(row.fetched_at)),
        ]
        if row.original in (None, row.url):
            terms.append((_SCHEMA + "encodingFormat", literal_term(row.media_type)))
        else:
            terms.append((_PROV + "alternateOf", iri_term(row.original)))
        for name, term in terms:
            yield f"{here} {iri_term(name)} {term} .\n"


def _places(connection: Connection) -> Iterator[str]:
    shown = (
        select(ImagePlace.id, ImagePlace.image_url, Page.url, Domain.best_place)
        .join_from(ImagePlace, Image, ImagePlace.image_id == Image.id)
        .join(Page, ImagePlace.page_id == Page.id)
        .join(Domain, Page.domain_id == Domain.id)
        .where(Image.dropped.is_(False))
        .order_by(Page.id, ImagePlace.position)
    )
    for rows in connection.execute(shown).partitions(_AT_ONCE):
        texts = texts_of_places(connection, [row.id for row in rows])
        for place, image_url, page_url, best in rows:
            image, page, thing = iri_term(image_url), iri_term(page_url), f"_:shown{place}"
            terms = [
                f"{page} {iri_term(_SCHEMA + 'image')} {image}",
                f"{image} {iri_term(_PROV + 'hadPrimarySource')} {page}",
            ]
            if text := best_text(texts.get(place, {}), best):
                terms += [
                    f"{image} {iri_term(_SCHEMA + 'caption')} {literal_term(text)}",
                    f"{image} {iri_term(_FOAF + 'depicts')} {thing}",
                    f"{thing} {iri_term(_RDFS + 'label')} {literal_term(text)}",
                ]
            for term in terms:
                yield f"{term} {page} .\n"


def _number(value: int) -> str:
    return literal_term(str(value), datatype=XSD + "integer")


def _time(seconds: float) -> str:
    written = datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
    return literal_term(written, datatype=XSD + "dateTime")
