"""Pages and images are written once, in whatever order and however often they come."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image as Pictures
from sqlalchemy import event, func, select
from sqlalchemy.orm import Session

from images.pictures import claimed, drawn, packed
from semcrawl.images.decoding import decode
from semcrawl.images.imageitems import FetchedImage, ImageOptions, ImagePage, RedirectedImage
from semcrawl.images.outcomes import ImageOutcome as Outcome
from semcrawl.images.places import image_places
from semcrawl.images.schema import (
    THUMBNAILS,
    Domain,
    Image,
    ImageAddress,
    ImagePlace,
    NearText,
    Page,
    PageLink,
    Visit,
    open_images,
)
from semcrawl.images.store import ImageStore, write_page_scores

SITE = "http://example.org/"
RED, BLUE = packed(drawn("red")), packed(drawn("blue"))
CUT = claimed(300, 300)
SMALL_RED = packed(drawn("red").resize((200, 150)), "JPEG", quality=70)


def page(name: str, html: str) -> ImagePage:
    found = image_places(html.encode(), SITE + name)
    attempt = int.from_bytes(name.encode()[:7])
    return ImagePage(
        SITE + name, found.title, found.shown, found.links_seen, found.links, 200, "", attempt, 1.0
    )


DECODED = {body: decode(body) for body in (RED, BLUE, SMALL_RED, CUT, claimed(9, 9))}


def image(name: str, body: bytes, *led: str) -> FetchedImage:
    """Redirects ``led`` to the last of these addresses, if any."""
    digest = sha256(body).hexdigest()
    *via, final = (SITE + each for each in (led or (name,)))
    return FetchedImage(SITE + name, DECODED[body], final, len(body), digest, 2.0, tuple(via))


def redirected(name: str, to: str) -> RedirectedImage:
    return RedirectedImage(SITE + name, SITE + to, fetched_at=2.0)


class Store:
    def __init__(self, folder: Path, **options) -> None:
        self.folder = folder
        self.engine = open_images(folder, make=True)
        self.options = ImageOptions(**options)
        self.store = ImageStore(self.engine, folder, self.options)

    def write(self, *items) -> list:
        return self.store.write(items)

    def rows(self, *columns) -> list[tuple]:
        with Session(self.engine) as session:
            return [tuple(row) for row in session.execute(select(*columns).order_by(*columns))]

    def count(self, table) -> int:
        with Session(self.engine) as session:
            return session.scalar(select(func.count()).select_from(table))


@pytest.fixture
def store(tmp_path: Path):
    made = Store(tmp_path)
    yield made
    made.engine.dispose()


PAGE = page("a", "<title>A</title><p>one</p><img src=r.png alt=red><a href=/b>b</a><a href=/b#x>")


@pytest.mark.parametrize("page_first", [True, False])
def test_a_page_and_its_image_find_each_other_in_either_order(store, page_first: bool) -> None:
    items = [PAGE, image("r.png", RED)]
    for item in items if page_first else items[::-1]:
        store.write(item)
    ((number, pages),) = store.rows(Image.id, Image.pages)
    assert pages == 1
    assert store.rows(ImagePlace.image_id, ImagePlace.image_url) == [(number, SITE + "r.png")]
    assert ("red", "alt", 0) in store.rows(NearText.text, NearText.kind, NearText.distance)
    assert store.rows(Visit.images_seen, Visit.images_kept, Visit.links_seen) == [(1, 1, 2)]
    assert store.rows(Visit.links_normalised) == [(1,)]
    assert store.rows(Domain.name) == [("example.org",)]
    assert store.rows(Page.url, Page.title) == [(SITE + "a", "A"), (SITE + "b", "")]
    assert store.count(PageLink) == 1


def test_thumbnails_are_files_by_hash(store) -> None:
    store.write(image("r.png", RED))
    ((grey, colour),) = store.rows(Image.grey_thumbnail, Image.colour_thumbnail)
    digest = sha256(RED).hexdigest()
    assert digest in grey
    assert digest in colour
    shown = [Pictures.open(store.folder / THUMBNAILS / name) for name in (grey, colour)]
    assert [(each.mode, each.format) for each in shown] == [("L", "JPEG"), ("RGB", "JPEG")]


def test_copies_are_one_image_with_many_places(store) -> None:
    outcomes = store.write(
        page("a", "<img src=r.png>"),
        image("r.png", RED),
        page("b", "<img src=same.png><img src=near.jpg><img src=b.png>"),
        image("same.png", RED),
        image("near.jpg", SMALL_RED),
        image("b.png", BLUE),
    )
    assert outcomes == [None, Outcome.KEPT, None, Outcome.COPY, Outcome.NEAR_COPY, Outcome.KEPT]
    assert store.rows(Image.pages, Image.sha256) == sorted(
        [(2, sha256(RED).hexdigest()), (1, sha256(BLUE).hexdigest())]
    )
    assert store.count(ImagePlace) == 4


def test_a_refused_image_leaves_its_reason_and_no_place(store) -> None:
    shown = page("a", "<img src=s.png alt=small>")
    assert store.write(shown, image("s.png", claimed(9, 9))) == [None, Outcome.TOO_SMALL]
    assert store.count(ImagePlace) == store.count(NearText) == store.count(Image) == 0
    ((outcome, reason),) = store.rows(ImageAddress.outcome, ImageAddress.reason)
    assert (outcome, "9 × 9" in reason) == ("too-small", True)
    assert store.rows(Visit.images_seen, Visit.images_kept) == [(1, 0)]
    store.write(shown)
    assert store.count(ImagePlace) == 0


def test_an_image_on_many_pages_is_dropped_as_a_logo(tmp_path: Path) -> None:
    store = Store(tmp_path, max_pages=3)
    store.write(image("logo.png", RED), image("b.png", BLUE))
    for name in "abcd":
        store.write(page(name, "<img src=logo.png alt=logo>"))
    store.write(page("e", "<img src=logo.png alt=logo><img src=b.png alt=blue>"))
    store.write(page("f", "<img src=copy.png alt=logo>"), image("copy.png", RED))
    dropped = store.rows(Image.dropped, Image.pages)
    assert dropped[0] == (False, 1)
    assert dropped[1][0]
    assert store.rows(ImageAddress.outcome) == [("kept",), ("on-many-pages",), ("on-many-pages",)]
    assert [text for (text,) in store.rows(NearText.text) if text == "logo"] == []
    store.engine.dispose()


def test_the_same_image_several_times_on_one_page_is_on_one(tmp_path: Path) -> None:
    store = Store(tmp_path, max_pages=3)
    store.write(image("r.png", RED), page("a", "<p>x<img src=r.png></p>" * 20))
    assert store.rows(Image.pages, Image.dropped) == [(1, False)]
    store.engine.dispose()


def test_a_page_read_again_replaces_what_it_was(store) -> None:
    store.write(PAGE, image("r.png", RED), image("b.png", BLUE))
    store.write(page("a", "<title>New</title><img src=b.png alt=blue>"))
    assert store.rows(ImagePlace.image_url) == [(SITE + "b.png",)]
    assert sorted(store.rows(Image.sha256, Image.pages)) == sorted(
        [(sha256(RED).hexdigest(), 0), (sha256(BLUE).hexdigest(), 1)]
    )
    assert "red" not in {text for (text,) in store.rows(NearText.text)}
    assert store.rows(Page.title)[-1] == ("New",)


def test_an_address_whose_content_changed_leads_to_the_new_image(store) -> None:
    store.write(PAGE, image("r.png", RED))
    store.write(image("r.png", BLUE))
    assert store.rows(Image.sha256, Image.pages) == [(sha256(BLUE).hexdigest(), 1)]
    files = {path.name for path in (store.folder / THUMBNAILS).rglob("*.jpg")}
    assert {name[:64] for name in files} == {sha256(BLUE).hexdigest()}
    assert store.write(image("again.png", RED)) == [Outcome.KEPT]


def test_a_fault_of_the_moment_takes_no_image_and_no_place_away(store) -> None:
    """A body that was cut off, when the image is asked for again, or for the first time."""
    store.write(PAGE, image("r.png", RED))
    before = contents(store)
    assert store.write(image("r.png", CUT)) == [Outcome.BROKEN]
    assert contents(store) == before
    store.write(page("n", "<img src=new.png alt=blue>"), image("new.png", CUT))
    assert store.rows(ImageAddress.outcome) == [("broken",), ("kept",)]
    store.write(image("new.png", BLUE))
    assert store.rows(Image.pages) == [(1,), (1,)]
    assert ("blue", "alt") in store.rows(NearText.text, NearText.kind)


def test_an_image_that_was_redirected_is_one_whichever_address_answers(store) -> None:
    """Asked for again it is asked for where it answered, and pages name it as they did."""
    store.write(PAGE, image("r.png", RED, "on/the/way.png", "there.png"))
    assert store.rows(ImageAddress.url, ImageAddress.outcome) == [
        (f"{SITE}on/the/way.png", "copy"),
        (f"{SITE}r.png", "kept"),
        (f"{SITE}there.png", "copy"),
    ]
    before = contents(store)
    assert store.write(image("there.png", RED)) == [Outcome.COPY]
    assert contents(store) == before
    store.write(image("there.png", BLUE))
    assert store.rows(Image.sha256, Image.pages) == [(sha256(BLUE).hexdigest(), 1)]
    assert set(store.rows(ImagePlace.image_id)) == set(store.rows(ImageAddress.image_id))
    store.write(image("there.png", claimed(9, 9)))
    assert store.count(Image) == store.count(ImagePlace) == 0


def test_an_image_by_another_address_is_the_one_that_is_there_or_comes(store) -> None:
    """A redirect to an image that was asked for before, or will be."""
    store.write(page("a", "<img src=r.png>"), image("r.png", RED))
    old, older = page("b", "<img src=old.png alt=red>"), page("c", "<img src=older.png>")
    assert store.write(old, redirected("old.png", "r.png")) == [None, Outcome.COPY]
    assert store.write(redirected("older.png", "old.png"), older) == [Outcome.COPY, None]
    assert store.rows(Image.pages) == [(3,)]
    assert store.rows(ImageAddress.url, ImageAddress.final_url, ImageAddress.outcome) == [
        (f"{SITE}old.png", f"{SITE}r.png", "copy"),
        (f"{SITE}older.png", f"{SITE}r.png", "copy"),
        (f"{SITE}r.png", f"{SITE}r.png", "kept"),
    ]
    assert store.write(redirected("1.png", "2.png")) == [Outcome.REDIRECTED]
    assert store.write(redirected("2.png", "b.png")) == [Outcome.REDIRECTED]
    store.write(page("d", "<img src=1.png alt=blue>"))
    assert store.rows(Image.pages) == [(3,)]
    store.write(image("b.png", BLUE))
    assert sorted(store.rows(Image.sha256, Image.pages)) == sorted(
        [(sha256(RED).hexdigest(), 3), (sha256(BLUE).hexdigest(), 1)]
    )


def test_an_image_that_leads_elsewhere_now_is_there_until_that_answers(store) -> None:
    store.write(PAGE, image("r.png", RED))
    assert store.write(redirected("r.png", "new.png")) == [Outcome.REDIRECTED]
    assert store.rows(Image.sha256, Image.pages) == [(sha256(RED).hexdigest(), 1)]
    assert store.write(image("r.png", CUT, "new.png")) == [Outcome.BROKEN]
    assert store.rows(Image.sha256, Image.pages) == [(sha256(RED).hexdigest(), 1)]
    store.write(image("r.png", BLUE, "new.png"))
    assert store.rows(Image.sha256, Image.pages) == [(sha256(BLUE).hexdigest(), 1)]
    assert store.write(redirected("new.png", "r.png"), redirected("x.png", "x.png"))
    assert store.rows(Image.sha256, Image.pages) == [(sha256(BLUE).hexdigest(), 1)]


def test_an_image_that_comes_back_keeps_its_thumbnails(store) -> None:
    """Another process writes it just when this one has forgotten it."""
    other = Store(store.folder)
    store.write(image("r.png", RED))

    def come_back(*_: object) -> None:
        other.write(image("again.png", RED))

    event.listen(store.engine, "checkin", come_back, once=True)
    store.write(image("r.png", BLUE))
    names = [*store.rows(Image.grey_thumbnail), *store.rows(Image.colour_thumbnail)]
    assert len(names) == 4
    assert all((store.folder / THUMBNAILS / name).is_file() for (name,) in names)
    other.engine.dispose()


def test_the_number_of_a_forgotten_image_is_given_to_no_other(store) -> None:
    store.write(image("r.png", RED), image("b.png", BLUE))
    store.write(image("b.png", RED))
    store.write(image("c.png", BLUE))
    assert store.rows(Image.id) == [(1,), (3,)]


def test_another_process_and_a_later_run_see_the_images_of_the_first(store) -> None:
    store.write(image("r.png", RED))
    other = ImageStore(store.engine, store.folder)
    assert other.write([image("near.jpg", SMALL_RED)]) == [Outcome.NEAR_COPY]
    assert other.write([image("b.png", BLUE)]) == [Outcome.KEPT]
    assert store.write(image("b2.png", BLUE)) == [Outcome.COPY]


def test_what_cannot_be_written_is_not_half_written(store) -> None:
    (store.folder / THUMBNAILS).write_bytes(b"a file where the folder should be")
    with pytest.raises(OSError, match="thumbnails"):
        store.write(PAGE, image("r.png", RED))
    assert store.count(Page) == store.count(Image) == 0
    (store.folder / THUMBNAILS).unlink()
    assert store.write(image("r.png", RED)) == [Outcome.KEPT]


def test_pages_have_the_scores_of_a_strategy(store) -> None:
    """Those that were fetched, and those that are linked to."""
    store.write(PAGE)
    scores = {f"{SITE}a": 0.5, f"{SITE}b": 0.25}
    assert write_page_scores(store.engine, scores.__getitem__) == 2
    assert store.rows(Page.url, Page.score) == sorted(scores.items())
    assert write_page_scores(store.engine, scores.__getitem__) == 0


ITEMS = [
    PAGE,
    page("b", "<img src=same.png><img src=b.png><img src=s.png>"),
    page("c", "<img src=near.jpg>"),
    image("r.png", RED),
    image("same.png", RED),
    image("b.png", BLUE),
    image("s.png", claimed(9, 9)),
    image("near.jpg", SMALL_RED),
]


def contents(store: Store) -> tuple:
    """What is known, whatever the order in which it came."""
    images = dict(store.rows(Image.id, Image.pages))
    places = store.rows(ImagePlace.image_url, ImagePlace.image_id)
    return (
        sorted(images.values()),
        [(url, images.get(number)) for url, number in places],
        store.rows(NearText.text, NearText.kind, NearText.place_id),
        store.rows(Visit.id, Visit.images_seen, Visit.images_kept),
        [(url, number is not None) for url, number in
         store.rows(ImageAddress.url, ImageAddress.image_id)],
        store.rows(PageLink.source_id, PageLink.target_id),
    )  # fmt: skip


@pytest.mark.slow
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=st.permutations(ITEMS), again=st.lists(st.sampled_from(ITEMS), max_size=6))
def test_order_and_repetition_change_nothing(tmp_path_factory, order, again) -> None:
    """As after a crash: what was written and not yet said to be comes again."""
    found = []
    for items in (ITEMS, [*order, *again]):
        store = Store(tmp_path_factory.mktemp("job"))
        for item in items:
            store.write(item)
        found.append(contents(store))
        store.engine.dispose()
    assert found[0] == found[1]
