"""The kind of place that tells of a domain's images is chosen without knowing what they show."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from semcrawl.images.imagegraph import image_quads
from semcrawl.images.placelearning import (
    LEAST_IMAGES,
    PlacedImage,
    best_place,
    best_text,
    learn_places,
    place_worths,
)
from semcrawl.images.schema import (
    Domain,
    Image,
    ImageAddress,
    ImagePlace,
    NearText,
    Page,
    PlaceScore,
    open_images,
)

COLOURS = "red green blue yellow purple orange".split()
SHAPES = "circle square star ring cross moon".split()
FILLER = (
    "the house opens every second spring since its owner left for a coast with two lamps".split()
)
PLACES = ("alt", "title", "caption", "before:p:1", "after:p:1", "after:td:2")


def domain(best: str, seed: int, pages: int = 20, *, looks: bool = False) -> list[PlacedImage]:
    """A site whose right texts stand in one place; elsewhere is filler, and some truth."""
    made = random.Random(f"{best} {seed}")
    images = []
    for number in range(pages):
        theme = made.choice(SHAPES)
        for at in range(3):
            shape = theme if made.random() < 0.7 else made.choice(SHAPES)
            colour = made.choice(COLOURS)
            texts = {"page-title": f"Works {number}", "heading": "Our works"}
            for place in PLACES:
                right = made.random() < (0.85 if place == best else 0.15)
                if right:
                    texts[place] = f"a {colour} {shape} no {made.randrange(99)}"
                elif made.random() < 0.7:
                    texts[place] = (
                        " ".join(made.sample(FILLER, 6)) if ":" in place else f"image {number}"
                    )
            look = bytes([40 * COLOURS.index(colour), 40 * SHAPES.index(shape)]) * 8
            images.append(PlacedImage(f"http://x/{number}", f"{number}-{at}", look * looks, texts))
    return images


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize("best", PLACES)
def test_the_right_place_is_chosen_whichever_it_is(best: str, looks: bool) -> None:
    for seed in range(2):
        assert best_place(place_worths(domain(best, seed, looks=looks))) == best


def test_filler_that_is_never_twice_the_same_is_worth_less_than_the_truth() -> None:
    worths = place_worths(domain("alt", 1))
    assert worths["before:p:1"].distinctness > 0.9
    assert worths["alt"].worth > 2 * worths["before:p:1"].worth


def test_places_that_copy_each_other_are_no_evidence_for_each_other() -> None:
    """A title that repeats a meaningless alt does not make it right."""
    copied = [
        PlacedImage(i.page, i.image, i.miniature, {**i.texts, "alt": n, "title": n})
        for number, i in enumerate(domain("caption", 2))
        for n in (f"{FILLER[number % 16]} {FILLER[number % 7]} {FILLER[number % 5]}",)
    ]
    assert best_place(place_worths(copied)) == "caption"


def test_few_images_and_texts_without_words_have_no_best_place() -> None:
    assert place_worths(domain("alt", 0)[: LEAST_IMAGES - 1]) == {}
    numbers = [PlacedImage(f"http://x/{n}", str(n), b"", {"alt": f"{n}"}) for n in range(30)]
    assert best_place(place_worths(numbers)) == ""
    assert best_place({}) == ""


def test_without_a_text_in_the_best_place_the_most_trusted_one_counts() -> None:
    texts = {"page-title": "Works", "alt": "a red ring"}
    assert best_text(texts, "after:p:1") == "a red ring"
    assert best_text({**texts, "after:p:1": "A kite"}, "after:p:1") == "A kite"
    assert best_text({}) == ""


def test_what_is_learned_is_kept_and_the_graph_goes_by_it(tmp_path: Path) -> None:
    engine = open_images(tmp_path, make=True)
    with Session(engine) as session, session.begin():
        session.add(Domain(id=1, name="x.example", score=0.0, best_place=""))
        session.add(Domain(id=2, name="empty.example", score=0.0, best_place=""))
        for number, image in enumerate(domain("after:p:1", 3), 1):
            page = hash(image.page) % 1000 + 1
            session.merge(Page(id=page, domain_id=1, url=image.page, title="", score=0.0))
            session.add(
                Image(
                    id=number, sha256=f"{number:064}", perceptual_hash="0" * 16, miniature=b"",
                    width=200, height=100, bytes=9, media_type="image/png", grey_thumbnail="g",
                    colour_thumbnail="c", pages=1, first_seen_at=0.0,
                )
            )  # fmt: skip
            url = f"http://x/{image.image}.png"
            session.add(
                ImageAddress(
                    id=number, url=url, final_url=url, image_id=number, outcome="kept",
                    sha256=f"{number:064}", width=200, height=100, fetched_at=0.0,
                )
            )  # fmt: skip
            session.add(
                ImagePlace(
                    id=number, page_id=page, position=number, image_url=url, address_id=number,
                    image_id=number, found_as="img", has_caption=False,
                )
            )  # fmt: skip
            for place, text in image.texts.items():
                kind, _, rest = place.partition(":")
                tag, _, level = rest.partition(":")
                session.add(
                    NearText(
                        place_id=number, text=text, kind=kind, tag=tag or kind, distance=1,
                        level=int(level or 0),
                    )
                )  # fmt: skip
    assert learn_places(engine) == learn_places(engine) == {"x.example": "after:p:1"}
    with Session(engine) as session:
        assert session.get(Domain, 1).best_place == "after:p:1"
        scores = {row.place: row.score for row in session.query(PlaceScore)}
        assert max(scores, key=scores.__getitem__) == "after:p:1"
        right = session.query(NearText.text).filter_by(place_id=1, kind="after", level=1).scalar()
    with engine.connect() as connection:
        lines = list(image_quads(connection))
    assert any(f'caption> "{right}"' in line for line in lines)
    assert len(lines) == len(set(lines))
    engine.dispose()
