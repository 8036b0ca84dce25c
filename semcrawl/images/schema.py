"""Defines and opens the tables of ``images.db`` (sources.md I, in the field's terms).

Times are seconds since the epoch (UTC), sizes bytes, widths and heights pixels. The ``id`` of what
has an address or a name is :func:`key_of` it: every writer uses the same, and repeated writing
changes nothing. Images are numbered in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Double,
    Engine,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    func,
    select,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semcrawl.errors import StoreError, UsageError
from semcrawl.images import IMAGES_DB
from semcrawl.images.neartexts import place_key
from semcrawl.images.outcomes import MAY_PASS
from semcrawl.metadata.database import Tables, connect, crawl_db_url, one_line, readable_db_url
from semcrawl.metadata.records import in_parts

#: folder of the thumbnails, beside the database
THUMBNAILS = "thumbnails"

#: SQLite finds rows by their own number only for INTEGER
_RowId = BigInteger().with_variant(Integer, "sqlite")


class Base(DeclarativeBase):
    """Base of all tables."""


class Domain(Base):
    """A pay-level domain (I's DOMAIN)."""

    __tablename__ = "domain"

    #: :func:`key_of` its name
    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(255))
    #: raised and lowered by the outcomes of its fetches
    score: Mapped[float] = mapped_column(Double, default=0.0)
    #: kind of place with the best texts (:func:`semcrawl.images.neartexts.place_key`); empty until
    #: it is learned
    best_place: Mapped[str] = mapped_column(String(64), default="")


class DomainScore(Base):
    """The worth of a domain for a query class (I's DOMAINRANK)."""

    __tablename__ = "domain_score"

    domain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    class_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    #: estimates before and after the last step of learning (I's preHypothesis, newHypothesis)
    previous: Mapped[float] = mapped_column(Double, default=0.0)
    estimate: Mapped[float] = mapped_column(Double, default=0.0)
    w0: Mapped[float] = mapped_column(Double, default=0.0)
    w1: Mapped[float] = mapped_column(Double, default=0.0)
    w2: Mapped[float] = mapped_column(Double, default=0.0)
    w3: Mapped[float] = mapped_column(Double, default=0.0)
    learning_rate: Mapped[float] = mapped_column(Double, default=0.0)


class PlaceScore(Base):
    """How good the texts of one kind of place are in a domain."""

    __tablename__ = "place_score"

    domain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    place: Mapped[str] = mapped_column(String(64), primary_key=True)
    #: from 0 to 1 (:mod:`semcrawl.images.placelearning`)
    score: Mapped[float] = mapped_column(Double)
    #: images that have a text there
    images: Mapped[int] = mapped_column(Integer)


class Page(Base):
    """A page that was fetched, or that a fetched page links to (I's PAGE)."""

    __tablename__ = "page"

    #: :func:`key_of` its address
    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=False)
    domain_id: Mapped[int] = mapped_column(BigInteger, index=True)
    url: Mapped[str] = mapped_column(Text)
    #: empty while it was not fetched
    title: Mapped[str] = mapped_column(Text, default="")
    #: I's vote: score by ``domain-score`` or a PageRank; 0 with other strategies
    score: Mapped[float] = mapped_column(Double, default=0.0)


class Visit(Base):
    """One fetch of a page (I's HISTORY)."""

    __tablename__ = "visit"

    #: name of the attempt (``fetch.attempt`` in ``crawl.db``); a repeated one replaces its row
    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=False)
    page_id: Mapped[int] = mapped_column(BigInteger, index=True)
    #: status of the response
    status: Mapped[int | None] = mapped_column(Integer)
    #: SHA-256 of the body, hexadecimal
    content_hash: Mapped[str] = mapped_column(String(64))
    #: images that the page shows, each once
    images_seen: Mapped[int] = mapped_column(Integer)
    #: those of them that are kept
    images_kept: Mapped[int] = mapped_column(Integer, default=0)
    #: references to pages, and their distinct normalised addresses
    links_seen: Mapped[int] = mapped_column(Integer)
    links_normalised: Mapped[int] = mapped_column(Integer)
    visited_at: Mapped[float] = mapped_column(Double)


class PageLink(Base):
    """A link from one page to another (I's RELATION)."""

    __tablename__ = "page_link"

    source_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    target_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)

    __table_args__ = (Index("ix_page_link_target", "target_id"), {"sqlite_with_rowid": False})


class Image(Base):
    """An image, with any number of copies and places (I's IMG)."""

    __tablename__ = "image"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    #: of the first copy's bytes, hexadecimal; ``image_address`` has those of other copies
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    #: hexadecimal (:mod:`semcrawl.images.nearcopies`)
    perceptual_hash: Mapped[str] = mapped_column(String(64))
    #: 16 × 16 pixels in red, green and blue
    miniature: Mapped[bytes] = mapped_column(LargeBinary)
    width: Mapped[int] = mapped_column(Integer)
    height: Mapped[int] = mapped_column(Integer)
    bytes: Mapped[int] = mapped_column(BigInteger)
    #: by its bytes
    media_type: Mapped[str] = mapped_column(String(64))
    #: number of frames; more than one: an animation
    frames: Mapped[int] = mapped_column(Integer, default=1)
    #: names of files in the folder of thumbnails, in grey and in colour
    grey_thumbnail: Mapped[str] = mapped_column(String(80))
    colour_thumbnail: Mapped[str] = mapped_column(String(80))
    #: distinct pages that show it
    pages: Mapped[int] = mapped_column(Integer, default=0)
    #: whether it is on too many pages: a logo or an advertisement
    dropped: Mapped[bool] = mapped_column(Boolean, default=False)
    first_seen_at: Mapped[float] = mapped_column(Double)

    # numbers of forgotten images are not reused
    __table_args__ = {"sqlite_autoincrement": True}


class ImageAddress(Base):
    """An address that was fetched as an image, and its outcome."""

    __tablename__ = "image_address"

    #: :func:`key_of` the address in places
    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=False)
    url: Mapped[str] = mapped_column(Text)
    #: address after redirects
    final_url: Mapped[str] = mapped_column(Text, index=True)
    #: its image, or the one of which it is a copy; NULL if none was kept
    image_id: Mapped[int | None] = mapped_column(Integer, index=True)
    #: an :class:`~semcrawl.images.outcomes.ImageOutcome`, and one line on the reason
    outcome: Mapped[str] = mapped_column(String(32), index=True)
    reason: Mapped[str] = mapped_column(Text, default="")
    sha256: Mapped[str] = mapped_column(String(64), index=True)
    width: Mapped[int] = mapped_column(Integer, default=0)
    height: Mapped[int] = mapped_column(Integer, default=0)
    fetched_at: Mapped[float] = mapped_column(Double)


class ImagePlace(Base):
    """A place in a page or a document where an image is shown or named."""

    __tablename__ = "image_place"

    #: :func:`place_id` of page and position
    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=False)
    page_id: Mapped[int] = mapped_column(BigInteger, index=True)
    #: index among the places of its page, from 0
    position: Mapped[int] = mapped_column(Integer)
    #: normalised address in the place
    image_url: Mapped[str] = mapped_column(Text)
    #: :func:`key_of` it
    address_id: Mapped[int] = mapped_column(BigInteger, index=True)
    #: NULL until the image is fetched
    image_id: Mapped[int | None] = mapped_column(Integer, index=True)
    #: a :class:`~semcrawl.images.outcomes.FoundAs`
    found_as: Mapped[str] = mapped_column(String(16))
    has_caption: Mapped[bool] = mapped_column(Boolean)


class NearText(Base):
    """A text near an image (I's TEXT)."""

    __tablename__ = "near_text"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    place_id: Mapped[int] = mapped_column(BigInteger, index=True)
    text: Mapped[str] = mapped_column(Text)
    #: a :class:`~semcrawl.images.outcomes.TextKind`
    kind: Mapped[str] = mapped_column(String(16))
    #: element around the text
    tag: Mapped[str] = mapped_column(String(32))
    #: steps in the tree from the image to that element
    distance: Mapped[int] = mapped_column(Integer)
    #: steps up to the common ancestor; 0 for texts of the image itself
    level: Mapped[int] = mapped_column(Integer)


class QueryClass(Base):
    """A group of near texts and queries with the same meaning."""

    __tablename__ = "query_class"

    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=True)
    #: the words that describe it best
    name: Mapped[str] = mapped_column(Text)
    made_at: Mapped[float] = mapped_column(Double)


class ImageClass(Base):
    """The probability that an image belongs to a query class."""

    __tablename__ = "image_class"

    image_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    class_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    #: by its texts, and by its picture; from 0 to 1
    by_text: Mapped[float] = mapped_column(Double)
    by_picture: Mapped[float] = mapped_column(Double)

    __table_args__ = (Index("ix_image_class_class", "class_id"), {"sqlite_with_rowid": False})


class Query(Base):
    """A query of a user (I's QUERY)."""

    __tablename__ = "query"

    #: :func:`key_of` its text
    id: Mapped[int] = mapped_column(_RowId, primary_key=True, autoincrement=False)
    text: Mapped[str] = mapped_column(Text)
    class_id: Mapped[int | None] = mapped_column(Integer, index=True)
    count: Mapped[int] = mapped_column(Integer, default=1)
    last_asked_at: Mapped[float] = mapped_column(Double)


#: the tables, made from the models. A second version needs a folder ``migrations`` like that of
#: ``semcrawl.metadata``, whose first step does nothing
IMAGES = Tables(Base.metadata, "semcrawl.images", ("0001",))


def open_images(folder: Path, *, make: bool = False) -> Engine:
    """Open the images of a job folder; ``make`` creates a missing database.

    Raises ``UsageError`` if there is none, and ``StoreError`` if it is unreadable or of another
    version.
    """
    if make:
        return connect(crawl_db_url(folder, IMAGES_DB), IMAGES)
    if not (folder / IMAGES_DB).is_file():
        raise UsageError(f"{folder} keeps no images: harvest with --targets images")
    return connect(readable_db_url(folder, IMAGES_DB), IMAGES)


def count_images(folder: Path) -> tuple[int, int]:
    """Return the numbers of kept images in a job folder and of their places.

    Raises ``StoreError`` like :func:`open_images`.
    """
    if not (folder / IMAGES_DB).is_file():
        return 0, 0
    engine = open_images(folder)
    try:
        with engine.execution_options(read_only=True).connect() as connection:
            kept = select(func.count()).select_from(Image).where(Image.dropped.is_(False))
            shown = select(func.count()).select_from(ImagePlace)
            shown = shown.join(Image, ImagePlace.image_id == Image.id)
            places = connection.scalar(shown.where(Image.dropped.is_(False)))
            return connection.scalar(kept) or 0, places or 0
    except SQLAlchemyError as error:
        raise StoreError(f"cannot read {folder / IMAGES_DB}: {one_line(error)}") from None
    finally:
        engine.dispose()


def key_of(text: str) -> int:
    """Return the number of an address or a name: 63 bits of its SHA-256."""
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) >> 1


def place_id(page_url: str, position: int) -> int:
    """Return the number of a place in a page."""
    return key_of(f"{position} {page_url}")


def thumbnail_names(hexadecimal: str) -> tuple[str, str]:
    """Return the names of an image's thumbnails in their folder, in grey and in colour."""
    return f"{hexadecimal[:2]}/{hexadecimal}-grey.jpg", f"{hexadecimal[:2]}/{hexadecimal}.jpg"


def _table(model: type[Any]) -> Table:
    return cast(Table, model.__table__)


DOMAIN, PAGE, LINK, VISIT = (_table(m) for m in (Domain, Page, PageLink, Visit))
IMAGE, ADDRESS, PLACE, TEXT = (_table(m) for m in (Image, ImageAddress, ImagePlace, NearText))
SCORE, QUERY = _table(DomainScore), _table(Query)


def texts_of_places(connection: Connection, places: Sequence[int]) -> dict[int, dict[str, str]]:
    """Return the texts of places by kind of place, as :func:`.place_key` names it."""
    found: dict[int, dict[str, str]] = {}
    columns = (NearText.place_id, NearText.kind, NearText.tag, NearText.level, NearText.text)
    for part in in_parts(places):
        wanted = select(*columns).where(NearText.place_id.in_(part)).order_by(NearText.id)
        for place, kind, tag, level, text in connection.execute(wanted):
            found.setdefault(place, {}).setdefault(place_key(kind, tag, level)[:64], text)
    return found


def image_addresses(folder: Path) -> list[tuple[int, str]]:
    """Return pairs of an image's number and an address of it; raises as ``open_images``."""
    rows = _rows(folder, ImageAddress.image_id.is_not(None))
    return [(row.image_id, row.url) for row in rows if row.image_id is not None]


def broken_images(folder: Path) -> set[str]:
    """Return the addresses that gave no image, perhaps transiently; none without a database.

    Raises ``StoreError`` as ``open_images``.
    """
    if not (folder / IMAGES_DB).is_file():
        return set()
    return {row.final_url for row in _rows(folder, ImageAddress.outcome.in_(MAY_PASS))}


def _rows(folder: Path, condition: ColumnElement[bool]) -> Sequence[ImageAddress]:
    engine = open_images(folder)
    try:
        with Session(engine.execution_options(read_only=True)) as session:
            return session.scalars(select(ImageAddress).where(condition)).all()
    finally:
        engine.dispose()
