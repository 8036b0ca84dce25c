"""The images of several job folders are those of the merged one, each once."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest
from images.pictures import drawn, packed

from semcrawl.images.decoding import decode
from semcrawl.images.imageitems import FetchedImage, ImagePage
from semcrawl.images.places import image_places
from semcrawl.images.schema import open_images
from semcrawl.images.store import ImageStore
from semcrawl.imagesearch import ImageSearch

SITE = "http://example.org/"
RED, BLUE, LOGO = (packed(drawn(colour)) for colour in ("red", "blue", "green"))
SMALL_RED = packed(drawn("red").resize((200, 150)), "JPEG", quality=70)


def page(name: str, html: str, at: float = 1.0) -> ImagePage:
    found = image_places(html.encode(), SITE + name)
    attempt = int.from_bytes(f"{name}{at:.0f}".encode()[:7])
    links = (found.links_seen, found.links)
    return ImagePage(SITE + name, found.title, found.shown, *links, 200, "", attempt, at)


def image(name: str, body: bytes, at: float = 2.0, final: str = "") -> FetchedImage:
    digest = sha256(body).hexdigest()
    return FetchedImage(SITE + name, decode(body), SITE + (final or name), len(body), digest, at)


def write(folder: Path, *items: ImagePage | FetchedImage) -> None:
    engine = open_images(folder, make=True)
    ImageStore(engine, folder).write(items)
    engine.dispose()


def rows(folder: Path, query: str) -> list[tuple]:
    with sqlite3.connect(folder / "images.db") as database:
        return sorted(database.execute(query).fetchall())


@pytest.fixture
def merged(job, tmp_path, semcrawl):
    other = tmp_path / "other"
    other.mkdir()
    for name in ("crawl.db", "quads.nq"):
        (other / name).write_bytes((job / name).read_bytes())
    logos = [page(f"{n}", "<img src=logo.png alt=logo>") for n in range(12)]
    write(
        job,
        page("a", "<title>A</title><img src=r.png alt=red><a href=/b>b</a>"),
        image("r.png", RED),
        *(image("logo.png", LOGO), *logos[:7]),
    )
    write(
        other,
        page("a", "<title>New</title><img src=r.png alt=crimson><img src=s.jpg>", at=5.0),
        page("b", "<img src=b.png alt=blue><img src=r2.png alt='the red one'>"),
        *(image("s.jpg", SMALL_RED), image("b.png", BLUE), image("r2.png", RED)),
        *(image("logo.png", LOGO), *logos[7:]),
    )
    done = semcrawl("merge", job, other, "--out", tmp_path / "all")
    assert done.code == 0, done.err
    assert "2 images" in done.out
    return tmp_path / "all"


def test_images_with_several_places_are_one_image(merged: Path) -> None:
    assert rows(merged, "SELECT sha256, pages FROM image WHERE NOT dropped") == sorted(
        [(sha256(RED).hexdigest(), 2), (sha256(BLUE).hexdigest(), 1)]
    )
    assert rows(
        merged,
        "SELECT replace(image_address.url, 'http://example.org/', ''), outcome FROM image_address",
    ) == [
        ("b.png", "kept"),
        ("logo.png", "on-many-pages"),
        ("r.png", "kept"),
        ("r2.png", "copy"),
        ("s.jpg", "near-copy"),
    ]
    assert rows(merged, "SELECT count(*) FROM image_place WHERE image_url NOT LIKE '%logo%'") == [
        (4,)
    ]
    files = [path for path in (merged / "thumbnails").rglob("*.jpg") if path.stat().st_size > 500]
    assert len(files) == 2 * 3  # the logo's as well


def test_a_page_is_as_it_was_seen_last_and_every_visit_is_there(merged: Path) -> None:
    assert rows(merged, "SELECT title FROM page WHERE url LIKE '%/a'") == [("New",)]
    texts = {text for (text,) in rows(merged, "SELECT text FROM near_text WHERE kind = 'alt'")}
    assert texts == {"crimson", "blue", "the red one"}
    assert rows(merged, "SELECT count(*) FROM visit") == [(15,)]
    assert rows(merged, "SELECT count(*) FROM page_link") == [(0,)]  # the new page has none


def test_a_logo_is_known_by_the_pages_of_all_folders(merged: Path) -> None:
    assert rows(merged, "SELECT pages, dropped FROM image WHERE dropped") == [(12, 1)]


def test_merged_images_are_searched_and_are_rdf(merged: Path) -> None:
    with ImageSearch(merged) as search:
        assert len(search) == 2
        assert search.search("blue").total == 1
    assert "the red one" in (merged / "images.nq").read_text()


@pytest.mark.slow
def test_what_one_folder_kept_counts_before_what_another_refused(job, tmp_path, semcrawl) -> None:
    """Later, for a passing reason or for good, and behind a redirect as well."""
    other = tmp_path / "other"
    other.mkdir()
    for name in ("crawl.db", "quads.nq"):
        (other / name).write_bytes((job / name).read_bytes())
    write(
        job,
        page("a", "<img src=r.png alt=red><img src=old.png alt=blue><img src=s.png alt=small>"),
        image("r.png", RED),
        image("old.png", BLUE, final="new.png"),
    )
    write(
        other,
        page("b", "<img src=r.png alt='red too'>"),
        image("r.png", RED[:-500], at=9.0),
        image("new.png", packed(drawn(size=(9, 9))), at=9.0),
        image("s.png", packed(drawn(size=(8, 8))), at=9.0),
    )
    assert semcrawl("merge", job, other, "--out", tmp_path / "all").code == 0
    places = "SELECT image_url, image_id IS NULL FROM image_place"
    assert rows(tmp_path / "all", places) == [
        (f"{SITE}old.png", 0),
        (f"{SITE}r.png", 0),
        (f"{SITE}r.png", 0),
    ]
    assert rows(tmp_path / "all", "SELECT pages FROM image") == [(1,), (2,)]


@pytest.mark.slow
def test_an_image_is_as_the_folder_has_it_that_saw_it_last(job, tmp_path, semcrawl) -> None:
    """Of a redirect it is asked for where it answered."""
    other = tmp_path / "other"
    other.mkdir()
    for name in ("crawl.db", "quads.nq"):
        (other / name).write_bytes((job / name).read_bytes())
    write(other, page("a", "<img src=old.png alt=it>"), image("old.png", RED, final="new.png"))
    write(job, image("new.png", BLUE, at=9.0))
    assert semcrawl("merge", job, other, "--out", tmp_path / "all").code == 0
    assert rows(tmp_path / "all", "SELECT sha256, pages FROM image") == [
        (sha256(BLUE).hexdigest(), 1)
    ]


def test_folders_without_images_are_merged_into_one_without(job, tmp_path, semcrawl) -> None:
    semcrawl("merge", job, "--out", tmp_path / "all")
    assert not (tmp_path / "all" / "images.db").exists()


def test_images_of_another_version_are_one_line_and_nothing_is_written(
    job, tmp_path, semcrawl
) -> None:
    write(job, image("r.png", RED))
    with sqlite3.connect(job / "images.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    done = semcrawl("merge", job, "--out", tmp_path / "all")
    assert done.code == 1
    assert "images.db has schema 9999" in done.complaint
    assert not (tmp_path / "all").exists()
