"""The two studies on made webs: S's topical crawl and K's six queries."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from semcrawl.evaluation.topicweb.madeweb import TopicWeb
from semcrawl.evaluation.topicweb.siteplans import WebPlan, WebSize

#: S compares the first, second and fourth
TOPIC_STRATEGIES = (
    "breadth-first",
    "pagerank",
    "relevance-weighting",
    "ipagerank",
    "learned",
)
#: K's traditional crawler, and its focused one
KEYWORD_STRATEGIES = ("breadth-first", "keyword-focused")
#: S gives its figures at 500, 1000, … 4000 pages
_TOPIC_REQUESTS = 4000
#: sample texts that describe the topic
_SAMPLES = 20
#: K's six queries are of sorting algorithms; it does not name them
QUERIES = (
    "bubble sort", "insertion sort", "selection sort", "merge sort", "quick sort", "heap sort",
)  # fmt: skip
#: pages that K's crawls return per relevant page of theirs: recall / precision of its traditional
#: crawler, 84.5 / 75
_RETURNED = 84.5 / 75
_KEYWORD_SIZE = WebSize(topical=9, others=5, subjects=12, pages=40, cluster=0.9, seeds=1)


def topic_web(seed: int = 0) -> TopicWeb:
    """Make S's web: 20 topical sites, 60 others, more than 20,000 pages."""
    plan = WebPlan(seed)
    # (the folder lives as long as the web)
    folder = TemporaryDirectory(prefix="semcrawl-samples-")
    for number in range(_SAMPLES):
        Path(folder.name, f"{number}.txt").write_text(plan.sample(number), "utf-8")
    web = TopicWeb(plan, "topic", f"examples:{folder.name}", _TOPIC_REQUESTS, "samples")
    web.samples = folder
    return web


def keyword_webs(seed: int = 0) -> list[TopicWeb]:
    """Make a web for each of K's queries: some sites about it, others about the other five."""
    webs = []
    for number, query in enumerate(QUERIES):
        first = [query, *(other for other in QUERIES if other != query)]
        plan = WebPlan(10 * seed + number, _KEYWORD_SIZE, [(each, "sort") for each in first])
        requests = round(_RETURNED * plan.count_topical())
        webs.append(TopicWeb(plan, query, f"keywords:{query}", requests))
    return webs
