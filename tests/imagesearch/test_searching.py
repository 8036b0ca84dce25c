"""Search of images by words and by likeness."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from PIL import Image as Picture
from PIL import ImageEnhance
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from semcrawl.errors import StoreError, UsageError
from semcrawl.images import IMAGES_DB
from semcrawl.images.outcomes import TextKind
from semcrawl.images.schema import (
    THUMBNAILS,
    Domain,
    Image,
    ImageClass,
    PlaceScore,
    Query,
    QueryClass,
    open_images,
    thumbnail_names,
)
from semcrawl.imagesearch import ImageSearch, SearchOptions
from semcrawl.imagesearch.imageindex import GRADES, INDEX_FILE
from semcrawl.imagesearch.search import Spelling, shown_images
from tests.imagesearch.made import Made, gallery, make_job

CAPTION, ALT, HEADING = TextKind.CAPTION, TextKind.ALT, TextKind.HEADING
GALLERY = gallery()
BOATS = (
    [(HEADING, "harbour"), (CAPTION, "boat")],
    [(CAPTION, "harbour"), (HEADING, "boat")],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    job = make_job(tmp_path_factory.mktemp("gallery") / "job", GALLERY)
    ImageSearch(job).close()
    return job


@pytest.fixture
def job(folder: Path, tmp_path: Path) -> Path:
    """A copy of the gallery, which may be changed."""
    return Path(shutil.copytree(folder, tmp_path / "job"))


def opened(folder: Path) -> ImageSearch:
    """A search that leaves no trace."""
    return ImageSearch(folder, SearchOptions(remember=False))


def shown(folder: Path, query: str, count: int = 10, **options) -> list[tuple[str, str]]:
    with opened(folder) as search:
        hits = search.search(query, count, **options).hits
    return [(GALLERY[hit.image - 1].colour, GALLERY[hit.image - 1].shape) for hit in hits]


def job_of(tmp_path: Path, *texts: list[tuple[TextKind, str]]) -> Path:
    return make_job(tmp_path / "job", [Made(each) for each in texts])


def found(folder: Path, query: str, **options) -> list[int]:
    with ImageSearch(folder) as search:
        return [hit.image for hit in search.search(query, **options).hits]


@pytest.mark.parametrize("query", ["red circle", "RED CIRCLES", "red circel", "circle, red!"])
def test_images_with_the_words_come_first(folder: Path, query: str) -> None:
    """In any form and order, misspelled words corrected."""
    right = sum(
        (made.colour, made.shape) == ("red", "circle") and made.texts[0][0] == CAPTION
        for made in GALLERY
    )
    assert right > 1
    assert shown(folder, query, right) == [("red", "circle")] * right


def test_a_corrected_query_says_so_and_can_be_asked_as_it_is(folder: Path) -> None:
    with opened(folder) as search:
        answer = search.search("purpel star")
        assert (answer.searched, answer.is_corrected) == ("purple star", True)
        exact = search.search("purpel star", exact=True)
        assert (exact.searched, exact.is_corrected) == ("purpel star", False)


def test_words_of_good_places_count_more(tmp_path: Path) -> None:
    job = job_of(tmp_path, *BOATS)
    assert found(job, "harbour") == [2, 1]
    assert found(job, "boat") == [1, 2]


def test_what_a_domain_has_shown_of_its_places_counts(tmp_path: Path) -> None:
    """Where headings tell what images show and captions do not, say."""
    job = job_of(tmp_path, *BOATS)
    engine = open_images(job)
    with Session(engine) as session:
        session.add(PlaceScore(domain_id=1, place="heading", score=1.0, images=9))
        session.add(PlaceScore(domain_id=1, place="caption", score=0.0, images=9))
        session.commit()
    engine.dispose()
    assert found(job, "harbour") == [1, 2]


def test_stems_and_scripts(tmp_path: Path) -> None:
    job = job_of(
        tmp_path,
        [(CAPTION, "Der Dialog zeigt die Ebenen eines Bildes und ihre Eigenschaften")],
        [(CAPTION, "The fishermen are repairing their nets in the old harbour of the town")],
        [(CAPTION, "漁業の歴史についての写真です。港で網を直しています")],
        [(CAPTION, "На фотографии показаны рыбаки в старом порту города")],
    )
    assert found(job, "Ebene")[0] == 1
    assert found(job, "repair net")[0] == 2
    assert found(job, "漁業")[0] == 3
    assert found(job, "фотографию рыбаков")[0] == 4


def test_a_word_in_the_middle_of_compounds_is_found(tmp_path: Path) -> None:
    job = job_of(tmp_path, [(CAPTION, "Ebenendialog")], [(CAPTION, "Pinselspitze")])
    assert found(job, "Dialog Ebenen")[0] == 1


def test_pictures_that_look_the_same_are_found_from_a_word_of_one(tmp_path: Path) -> None:
    """Smaller ones, poor JPEGs and paler ones, with other texts or none."""
    other = [(CAPTION, "a boat"), (CAPTION, "a net"), (CAPTION, "a buoy")]
    texts = [[(CAPTION, "lighthouse")], [], [other[0]], [], [], *([each] for each in other)]
    job = make_job(tmp_path / "job", [Made(each, colour="blue") for each in texts])
    first, *same = (path_of_picture(job, number) for number in range(1, 6))
    picture = Picture.open(first)
    for number, path in enumerate(same):
        side = 255 - 40 * number
        paler = ImageEnhance.Contrast(picture.resize((side, side))).enhance(1 - number / 50)
        paler.save(path, "JPEG", quality=90 - 8 * number)
    hits = found(job, "lighthouse")
    assert hits[0] == 1
    assert sorted(hits) == [1, 2, 3, 4, 5]


def path_of_picture(job: Path, number: int) -> Path:
    return job / THUMBNAILS / thumbnail_names(f"{number:064x}")[1]


def test_the_list_ends_where_scores_fall_off(tmp_path: Path) -> None:
    """A word of all titles finds nothing beside both words in a caption."""
    titled = [(TextKind.PAGE_TITLE, "The tools of the town are old, and some are made of wood")]
    both = Made([(CAPTION, "Harbour tools")], colour="blue", shape="star")
    one = Made([(CAPTION, "Harbour")])
    job = make_job(tmp_path / "job", [both, *([Made(titled)] * 29), one])
    assert found(job, "harbour tools") == [1, 31]
    assert len(found(job, "tools", limit=40)) == 30


def test_an_image_without_words_is_found_by_its_look(folder: Path) -> None:
    """Pictures of the query's class are among the first that lack the words."""
    silent = [n for n, made in enumerate(GALLERY, 1) if made.texts[0][0] != CAPTION]
    with opened(folder) as search:
        hits = search.search("yellow circle", 96).hits
    assert any(hit.image in silent for hit in hits)


def test_texts_that_look_like_a_query_language_are_words(tmp_path: Path) -> None:
    job = job_of(tmp_path, [(CAPTION, 'say "AND" OR NOT near(x) col:umn * ^ -minus')], [])
    for query in ('"AND"', "NOT near", "near(x)", "col:umn", "minus*", '"', "'; DROP TABLE x"):
        if query == '"':
            with pytest.raises(UsageError, match="give a word"):
                found(job, query)
        else:
            assert set(found(job, query)) <= {1}


def test_pages_of_results_join_without_gap(folder: Path) -> None:
    with opened(folder) as search:
        whole = search.search("red", 30).hits
        parts = [hit for n in range(0, 30, 10) for hit in search.search("red", 10, n).hits]
    assert parts == whole


def test_similar_images_are_of_the_same_look(folder: Path) -> None:
    """A colour in four and a shape in three: by chance a quarter and a third would be the same."""
    colours = shapes = 0
    with opened(folder) as search:
        for number, made in enumerate(GALLERY, 1):
            like = [GALLERY[hit.image - 1] for hit in search.like(number, 5)]
            colours += sum(one.colour == made.colour for one in like)
            shapes += sum(one.shape == made.shape for one in like)
        assert search.like(9999) == []
    assert colours > 0.6 * 5 * len(GALLERY)
    assert shapes > 0.5 * 5 * len(GALLERY)


def test_queries_are_remembered_with_their_class_and_offered_again(job: Path) -> None:
    with ImageSearch(job) as search:
        for query in ("red circle", "blue star", "red circel", "unheard-of"):
            search.search(query)
        answer = search.search("blue circle", remember=False)
        assert answer.popular == ["red circle", "blue star"]
        assert "blue star" in answer.similar
        with Session(search.engine) as session:
            rows = session.scalars(select(Query).order_by(Query.count.desc())).all()
            assert [(row.text, row.count) for row in rows] == [("red circle", 2), ("blue star", 1)]
            names = dict(
                tuple(row) for row in session.execute(select(QueryClass.id, QueryClass.name))
            )
            assert "circle" in names[rows[0].class_id]


def test_a_query_far_from_all_classes_makes_a_new_one(tmp_path: Path) -> None:
    job = job_of(tmp_path, [(CAPTION, "red circle of paint"), (HEADING, "Zanzibar")])
    with ImageSearch(job) as search:
        search.search("zanzibar")
        with Session(search.engine) as session:
            assert "zanzibar" in session.scalars(select(QueryClass.name)).all()
    found(job, "red circle")  # which is indexed again, or is not
    with ImageSearch(job) as search, Session(search.engine) as session:
        assert session.scalars(select(QueryClass.name)).all().count("zanzibar") == 1


def test_no_query_is_remembered_where_that_is_not_wanted(job: Path) -> None:
    with ImageSearch(job, SearchOptions(remember=False)) as search:
        search.search("red circle")
        assert search.queries.popular(5) == []


def test_each_image_has_its_most_probable_classes(folder: Path) -> None:
    engine = open_images(folder)
    with Session(engine) as session:
        rows = session.scalars(select(ImageClass)).all()
    engine.dispose()
    assert {row.image_id for row in rows} > set(range(1, 7))
    assert all(0 <= part <= 1.001 for row in rows for part in (row.by_text, row.by_picture))
    assert any(row.by_picture > 0.2 for row in rows)


def test_images_that_came_since_are_found(job: Path) -> None:
    told: list[int] = []
    ImageSearch(job, starting=told.append).close()
    assert told == []  # nothing has changed
    engine = open_images(job)
    with Session(engine) as session:
        session.execute(update(Image).where(Image.id == 1).values(dropped=True))
        session.commit()
    engine.dispose()
    with ImageSearch(job, starting=told.append) as search:
        assert not search.has(1)
    assert told == [len(GALLERY) - 1]


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", b"not a database", None])
def test_an_index_that_cannot_be_used_is_made_again(job: Path, damage: bytes | None) -> None:
    index = job / INDEX_FILE
    if damage is None:
        with sqlite3.connect(index) as database:
            database.execute("UPDATE fact SET value = '0' WHERE name = 'format'")
        database.close()
    else:
        index.write_bytes(damage)
    assert shown(job, "red circle", 1) == [("red", "circle")]
    with sqlite3.connect(index) as database:
        assert database.execute("SELECT count(*) FROM fact").fetchone()[0] > 3
    database.close()


@pytest.mark.skipif(os.name == "nt", reason="folders that may not be written")
def test_a_folder_that_may_not_be_written_is_searched_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(tmp_path, [(CAPTION, "red circle")])
    (job / f".{INDEX_FILE}.part").mkdir()  # which root cannot write either
    assert found(job, "red circle") == [1]
    assert not (job / INDEX_FILE).exists()


def test_thumbnails_that_are_gone_cost_no_image(job: Path) -> None:
    shutil.rmtree(job / "thumbnails")
    (job / INDEX_FILE).unlink()
    assert shown(job, "red circle", 1) == [("red", "circle")]


def test_one_image_without_a_text_is_an_index(tmp_path: Path) -> None:
    job = job_of(tmp_path, [])
    with ImageSearch(job) as search:
        assert search.search("red circle").hits == []
        assert len(search) == 1


@pytest.mark.parametrize("query", ["", "  \n ", "!?", "word " * 100])
def test_queries_that_cannot_be_meant(folder: Path, query: str) -> None:
    with opened(folder) as search, pytest.raises(UsageError) as told:
        search.search(query)
    assert "\n" not in str(told.value)


def test_folders_without_images(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UsageError, match=str(place)):
            ImageSearch(place)
    job = make_job(tmp_path / "job", [])
    with pytest.raises(UsageError, match="no images yet"):
        ImageSearch(job)


def test_a_database_of_another_version_is_told(tmp_path: Path) -> None:
    job = job_of(tmp_path, [(CAPTION, "red circle")])
    with sqlite3.connect(job / IMAGES_DB) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    with pytest.raises(StoreError, match="9999"):
        ImageSearch(job)


def test_an_image_is_shown_with_all_its_places(tmp_path: Path) -> None:
    more = ["http://other.example/a", "http://other.example/b"]
    job = make_job(tmp_path / "job", [Made([(ALT, "alt"), (CAPTION, "best")], extra_pages=more)])
    engine = open_images(job)
    (image,) = shown_images(engine, [1, 77])
    engine.dispose()
    assert image.text == "best"
    assert image.url == "http://pictures.example/1.png"
    assert {place.page for place in image.places} > set(more)
    assert image.places[0].texts == [("alt", "alt"), ("caption", "best")]


@pytest.mark.slow
def test_more_images_are_shown_than_one_question_of_the_database_takes(tmp_path: Path) -> None:
    job = make_job(tmp_path / "job", [Made([(ALT, f"number {n}")]) for n in range(130)])
    engine = open_images(job)
    numbers = [*range(130, 0, -1), *range(1000, 40_000)]
    assert [image.id for image in shown_images(engine, numbers)] == numbers[:130]
    engine.dispose()


def test_an_image_is_told_of_by_the_text_of_its_domains_best_place(tmp_path: Path) -> None:
    images = [Made([(CAPTION, "our shop"), (ALT, "a kite")]), Made([(CAPTION, "boat")])]
    engine = open_images(make_job(tmp_path / "job", images))
    with Session(engine) as session:
        session.add(Domain(id=1, name="pictures.example", score=0, best_place="alt"))
        session.commit()
    shown = shown_images(engine, [1, 2])
    engine.dispose()
    assert [image.text for image in shown] == ["a kite", "boat"]


WORDS = {"circle": 40, "purple": 30, "layers": 9, "layer": 300, "screen": 8, "shot": 7, "dog": 5}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("circel", "circle"), ("cirle", "circle"), ("purrple", "purple"), ("pruple", "purple"),
        ("screenshot", "screen shot"), ("dgo", "dog"), ("x1circle", ""), ("zebra", ""),
    ],
)  # fmt: skip
def test_misspelled_words_become_words_of_the_crawl(typed: str, meant: str) -> None:
    assert Spelling(WORDS).corrected(typed) == meant


def test_a_rare_word_beside_a_common_one_is_doubted() -> None:
    spelling = Spelling(WORDS)
    assert spelling.doubted("layers") == ("layer", True)
    assert spelling.doubted("circle") == ("", False)
    assert Spelling({"star": 60, "sar": 9, "stair": 7}).doubted("stair") == ("star", False)


def test_grades_of_texts_go_down_to_none() -> None:
    leasts = [least for least, _ in GRADES]
    assert leasts == sorted(leasts, reverse=True)
    assert leasts[-1] == 0
