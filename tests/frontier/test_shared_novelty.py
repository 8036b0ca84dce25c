"""The topic ``new`` in several workers of one crawl."""

from __future__ import annotations

import pytest
from frontier_calls import OpenFrontier

from semcrawl.frontier.contract import Frontier
from semcrawl.links import PageText
from semcrawl.rdf import Detection, Reading
from semcrawl.relevance.focus import read_focus
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.web.vocabulary import Kind

RDF = Detection(Kind.RDF)
LINE = b'_:cod <http://fish.example/name> "Cod" .\n'
OTHER = b'_:herring <http://fish.example/name> "Herring" .\n'


def judge_of(frontier: Frontier, about: str) -> TopicJudge:
    judge = TopicJudge(read_focus({"SEMCRAWL_ABOUT": about}))
    judge.remember_in(frontier.shared)
    return judge


async def relevance(judge: TopicJudge, url: str, nquads: bytes) -> float | None:
    return (await judge.rdf(url, Reading(RDF, nquads), counts=True)).relevance


async def test_workers_share_what_is_new(open_frontier: OpenFrontier) -> None:
    """Inside a combination of topics, too; a document that is judged again keeps its own."""
    one = judge_of(await open_frontier("w1"), "new")
    other = judge_of(await open_frontier("w2"), "all(vocabulary:<http://fish.example/>, new)")
    assert await relevance(one, "http://a.example/1", LINE) == 1
    assert await relevance(other, "http://a.example/2", LINE) == 0
    assert await relevance(other, "http://a.example/3", LINE + OTHER) == 0.5
    assert await relevance(one, "http://a.example/1", LINE) == 1


async def test_a_crawl_that_goes_on_knows_what_was_said(open_frontier: OpenFrontier) -> None:
    first = await open_frontier("w1")
    assert await relevance(judge_of(first, "new"), "http://a.example/1", LINE) == 1
    await first.close()
    again = await open_frontier("w1")
    assert await relevance(judge_of(again, "new"), "http://a.example/2", LINE) == 0
    page = await judge_of(again, "new").page(
        "http://a.example/3", PageText(), Reading(RDF, OTHER), counts=True
    )
    assert page.relevance == 1


async def test_what_is_not_kept_is_not_remembered(open_frontier: OpenFrontier) -> None:
    """A document off the topic, and one that may not be kept, take no statement from later ones."""
    judge = judge_of(await open_frontier("w1"), "all(vocabulary:<http://fish.example/>, new)")
    cod, tuna = (
        b'<http://a.example/%s> <http://fish.example/name> "F" .\n' % n for n in (b"c", b"t")
    )
    car = cod.replace(b"fish.example", b"car.example")

    async def verdict(url: str, nquads: bytes, may_keep: bool = True) -> Verdict:
        return await judge.rdf(url, Reading(RDF, nquads), counts=True, may_keep=may_keep)

    assert not (await verdict("http://a.example/1", car)).kept
    assert (await verdict("http://a.example/2", cod, may_keep=False)).kept
    assert (await verdict("http://a.example/3", cod + car)).relevance == 1
    little = await verdict("http://a.example/4", cod + car + tuna)
    assert little.kept
    assert little.relevance == pytest.approx(1 / 3)
    assert not (await verdict("http://a.example/5", tuna)).kept
