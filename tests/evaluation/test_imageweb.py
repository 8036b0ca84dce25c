"""The made web of pictures."""

from __future__ import annotations

from collections import Counter
from io import BytesIO

import pytest
from PIL import Image

from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.imageworlds import (
    PLACES,
    SUBJECTS,
    ImagePlan,
    ImageWeb,
    ImageWebSize,
    caption,
    misspelled,
)
from semcrawl.lab.worlds import Labelled, World
from semcrawl.web.vocabulary import Kind

SMALL = ImageWebSize(sites=8, pages=8, hubs=2)


@pytest.fixture(scope="module")
def plan() -> ImagePlan:
    return ImagePlan(3, SMALL)


@pytest.fixture(scope="module")
def web(plan) -> ImageWeb:
    return ImageWeb(plan, plan.sites[0].themes[0], 100)


def address(web, picture):
    return f"http://{web.plan.sites[picture.site].host}{picture.path}"


def test_it_is_a_world_that_knows_the_truth(web):
    assert isinstance(web, World)
    assert isinstance(web, Labelled)
    assert web.targets == "images"


def test_the_same_seed_makes_the_same_web():
    one, same, other = (ImageWeb(ImagePlan(s, SMALL), SUBJECTS[0], 9) for s in (1, 1, 2))
    pages = [web.body(web.url_of(9)) for web in (one, same, other)]
    pictures = [web.body(address(web, web.plan.pictures[5])) for web in (one, same, other)]
    assert pages[0] == pages[1] != pages[2]
    assert pictures[0] == pictures[1] != pictures[2]


def test_the_whole_web_has_thirty_domains_and_every_habit():
    plan = ImagePlan()
    assert len({site.host for site in plan.sites}) == 30
    assert Counter(site.habit.place for site in plan.sites).keys() == set(PLACES)
    assert len(plan.pictures) > 3000
    assert sum(picture.original != picture.number for picture in plan.pictures) > 100


def test_every_page_is_reached_and_every_link_answers(web):
    """From the homes of the hubs, whatever the links' spelling."""
    graph, waiting, seen = LinkGraph(web), list(web.starts), set(web.starts)
    documents = set()
    while waiting:
        url = waiting.pop()
        node = graph.look(url)
        assert node.answer.status == 200, url
        documents.add(node.answer.document)
        new = {link.url for link in node.links} - seen
        seen |= new
        waiting += new
    assert {web.url_of(page.number) for page in web.plan.pages} <= documents


def test_pictures_are_what_their_types_say(web):
    for picture in web.plan.pictures[:20]:
        answer, body = web.fetch(address(web, picture)), web.body(address(web, picture))
        image = Image.open(BytesIO(body))
        assert (answer.kind, answer.content_type) == (Kind.OTHER, f"image/{image.format.lower()}")
        assert picture.nearly or image.size == (picture.width, picture.height)


def test_copies_are_one_document_with_the_bytes_of_the_original_or_nearly(web):
    kinds = set()
    for picture in web.plan.pictures:
        if picture.original == picture.number:
            continue
        original = web.plan.pictures[picture.original]
        urls = address(web, picture), address(web, original)
        assert len({web.fetch(url).document for url in urls}) == 1
        assert (web.body(urls[0]) == web.body(urls[1])) != picture.nearly
        kinds.add(picture.nearly)
    assert kinds == {True, False}


def test_small_versions_and_logos_are_no_pictures_of_the_subject(web):
    wanted = next(p for p in web.plan.pictures if p.subject == web.subject)
    url = address(web, wanted)
    assert web.topical(web.fetch(url).document)
    for other in (url.replace("/media/", "/small/media/"), web.starts[0] + "static/logo.png"):
        answer = web.fetch(other)
        assert answer.status == 200
        assert not web.topical(answer.document)
        assert Image.open(BytesIO(web.body(other))).width in (48, 180)


def test_a_page_shows_its_pictures_with_a_logo_and_a_banner(web):
    page = next(p for p in web.plan.pages if len(p.shown) > 2)
    html = web.body(web.url_of(page.number)).decode()
    for number, texts in page.shown:
        assert web.plan.pictures[number].path in html
        for place in ("alt", "caption", "before", "after", "heading"):
            assert texts.near.get(place, "") in html
    assert "/static/logo.png" in html
    assert "/static/banner" in html


def test_the_best_place_is_right_more_often_than_any_other():
    """By the plan of the whole web: in each site it names the subject of most pictures."""
    plan = ImagePlan()
    for site in plan.sites:
        right, told = Counter(), Counter()
        for number in site.pages:
            for picture, texts in plan.pages[number].shown:
                words = plan.pictures[picture].subject.name.split()
                for place, text in texts.near.items():
                    told[place] += 1
                    right[place] += all(word in text.lower() for word in words)
        shown = sum(len(plan.pages[number].shown) for number in site.pages)
        best = max(right, key=right.get)
        assert best == site.habit.place
        assert 0.7 < right[best] / shown < 0.98


def test_sites_are_rich_in_some_subjects():
    plan = ImagePlan()
    subject = plan.sites[0].themes[0]
    shares = {
        number: sum(p.subject == subject for p in plan.pictures if p.site == number)
        for number in range(len(plan.sites))
    }
    rich = plan.rich_in(subject)
    assert sum(shares[n] for n in rich) > 3 * sum(shares[n] for n in shares if n not in rich)


def test_what_is_not_there_answers_404(web):
    for url in ("http://elsewhere.example/", web.starts[0] + "nothing"):
        assert web.fetch(url).status == 404
        assert web.body(url) == b""


def test_captions_name_their_subject_and_misspellings_change_a_word():
    from random import Random

    random, subject = Random(1), SUBJECTS[9]
    captions = [caption(random, subject) for _ in range(300)]
    assert 0.8 < sum(subject.name in text.lower() for text in captions) / 300 < 1
    assert len(set(captions)) > 60
    for _ in range(50):
        assert (
            sum(
                a != b
                for a, b in zip(
                    misspelled(random, "red circle").split(), ["red", "circle"], strict=True
                )
            )
            <= 1
        )
