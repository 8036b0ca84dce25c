"""Where good and bad documents are equally likely, and how well that filters pages (S)."""

from __future__ import annotations

import random
from collections import deque

import pytest

from semcrawl.lab.topicworlds import topic_web
from semcrawl.links import ExtractionOptions, read_page
from semcrawl.topics import Document, about
from semcrawl.topics.shapes import Heaps
from semcrawl.web.vocabulary import Kind

SAMPLES = [0.36, 0.38, 0.4, 0.42, 0.44]


def drawn(middle: float, spread: float, number: int) -> list[float]:
    chance = random.Random(number)
    return [chance.gauss(middle, spread) for _ in range(number)]


@pytest.mark.parametrize(("good", "bad"), [(460, 40), (250, 250), (40, 460), (500, 0), (0, 500)])
def test_the_border_lies_between_the_heaps_whatever_their_shares(good: int, bad: int) -> None:
    """Nearly all documents may be good, or none."""
    goods, bads = drawn(0.4, 0.04, good), drawn(0.1, 0.04, bad)
    heaps = Heaps.of(SAMPLES, [], [*goods, *bads], 0.1)
    assert sum(value >= heaps.border for value in goods) >= 0.97 * good
    assert sum(value >= heaps.border for value in bads) <= 0.01 * bad


def test_samples_alone_give_a_border() -> None:
    """Before the crawl has judged anything, with and without bad samples."""
    assert 0.1 < Heaps.of(SAMPLES, [], [], 0.1).border < 0.4
    assert 0.2 < Heaps.of(SAMPLES, [0.18, 0.2, 0.22], [], 0.1).border < 0.4


@pytest.mark.slow
@pytest.mark.parametrize("share", [None, 0.93, 0.5])
def test_the_page_filter_keeps_what_is_about_the_topic(share: float | None) -> None:
    """On S's world: recall of what was fetched ≥ 0.90 at precision ≥ 0.97, also if most is good."""
    web = topic_web(0)
    topic = about(web.about, {})
    assert topic is not None
    found, waiting, seen = [], deque(web.starts), set(web.starts)
    numbers = {web.url(number): number for number in range(len(web.plan.pages))}
    while waiting and len(found) < 1500:
        url = waiting.popleft()
        found.append(url)
        links = [web.url(to) for to, _, _ in web.plan.pages[numbers[url]].links]
        new = [link for link in dict.fromkeys(links) if link not in seen]
        seen.update(new)
        waiting.extend(new)
    if share is not None:
        chance = random.Random(0)
        chance.shuffle(found)
        heaps = [u for u in found if web.topical(u)], [u for u in found if not web.topical(u)]
        found = [heaps[chance.random() >= share].pop() for _ in range(600)]
    judged = []
    for url in found[:800]:
        read = read_page(web.body(url), url, "text/html", ExtractionOptions(text=20_000)).text
        document = Document(
            url, Kind.HTML, title=read.title, headings=read.headings, text=read.text, language="en"
        )
        judged.append((topic.judge(document).relevance >= 0.5, web.topical(url)))
    right = sum(kept and good for kept, good in judged)
    assert right >= 0.9 * sum(good for _, good in judged)
    assert right >= 0.97 * sum(kept for kept, _ in judged)
