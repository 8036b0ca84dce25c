"""A generated web as a world; pages are rendered on request.

Two studies use such webs: S's topical crawl and K's six queries.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from semcrawl.evaluation.built import HTML_TYPE
from semcrawl.evaluation.topicweb.siteplans import (
    FOOTER,
    LIST,
    NAV,
    RELATED,
    TEXT,
    TOPIC,
    PagePlan,
    WebPlan,
    WebSize,
)
from semcrawl.evaluation.world import Answer
from semcrawl.web.vocabulary import Kind

#: S compares the first, second and fourth
TOPIC_STRATEGIES = (
    "breadth-first",
    "pagerank",
    "relevance-weighting",
    "ipagerank",
    "learned",
)
#: crawlers beside those of K (see ``literal.py``): with our check, and with orders of ours
KEYWORD_STRATEGIES = ("breadth-first", "keyword-focused", "learned")
#: S reports its figures at 500, 1000, … 4000 pages
_TOPIC_REQUESTS = 4000
#: sample texts that describe the topic
_SAMPLES = 20
#: the six queries of K
QUERIES: tuple[tuple[str, ...], ...] = (
    ("time", "bubble", "sort"),
    ("sort", "quick"),
    ("quick", "heap", "space"),
    ("shell", "sort", "time"),
    ("heap", "space", "sort"),
    ("data", "sort", "time", "shell"),
)
_KEYWORD_SIZE = WebSize(topical=9, others=5, subjects=12, pages=40, cluster=0.9, seeds=1)


class TopicWeb:
    """The pages of a :class:`WebPlan`, on as many hosts as it has sites."""

    def __init__(
        self, plan: WebPlan, name: str, about: str, requests: int, topic: str = ""
    ) -> None:
        self.name = name
        self.about = about
        self.topic = topic or about
        self.requests = requests
        #: the folder of sample texts, which must exist as long as the web
        self.samples: object = None
        self.plan = plan
        self._numbers = {self.url(n): n for n in range(len(plan.pages))}
        self._seeds = self._found_by_search()

    def url(self, number: int) -> str:
        """Return the address of a page."""
        page = self.plan.pages[number]
        return f"http://{self.plan.hosts[page.site]}{page.path}"

    @property
    def hosts(self) -> frozenset[str]:
        """One host per site."""
        return frozenset(self.plan.hosts)

    @property
    def starts(self) -> tuple[str, ...]:
        """The pages a search for the topic gives (S: "the first 50 results")."""
        return self._seeds

    def topical(self, url: str) -> bool:
        """Whether the page is about the topic. Crawls do not know this truth."""
        number = self._numbers.get(url)
        return number is not None and self.plan.pages[number].subject == TOPIC

    def robots(self, host: str) -> str:
        """Return an empty robots.txt."""
        return ""

    def fetch(self, url: str) -> Answer:
        """Answer with the page."""
        if url not in self._numbers:
            return Answer(404, HTML_TYPE)
        return Answer(200, HTML_TYPE, Kind.HTML, document=url)

    def body(self, url: str) -> bytes:
        """Render the page."""
        number = self._numbers.get(url)
        return b"" if number is None else self._render(number).encode()

    def _found_by_search(self) -> tuple[str, ...]:
        """Return pages with most of the topic's commonest words in the title, best known first."""
        words = set(self.plan.language.subjects[TOPIC].words[:12])
        scored = sorted(
            (-len(words & set(page.title.split())), -page.fitness, number)
            for number, page in enumerate(self.plan.pages)
        )
        return tuple(self.url(n) for _, _, n in scored[: self.plan.size.seeds])

    def _render(self, number: int) -> str:
        plan, page = self.plan, self.plan.pages[number]
        random = Random(f"page {plan.seed} {number}")
        places: list[list[str]] = [[] for _ in range(5)]
        for to, anchor, place in page.links:
            href = self._href(page, plan.pages[to])
            link = f'<a href="{href}">{escape(anchor)}</a>'
            places[place].append(self._around(random, page, plan.pages[to], link, place))
        words = plan.language.text(random, page.subject, page.strength, random.randint(40, 160))
        title = escape(page.title)
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><title>{title}</title></head><body>\n'
            f"<ul id=menu>{''.join(places[NAV])}</ul>\n<h1>{title}</h1>\n"
            f"<p>{' '.join(words)}</p>\n{''.join(places[TEXT])}"
            f"<ul class=list>{''.join(places[LIST])}</ul>\n"
            f"<div class=related>{''.join(places[RELATED])}</div>\n"
            f"<div id=footer>{''.join(places[FOOTER])}</div></body></html>\n"
        )

    def _href(self, page: PagePlan, to: PagePlan) -> str:
        return to.path if page.site == to.site else f"http://{self.plan.hosts[to.site]}{to.path}"

    def _around(self, random: Random, page: PagePlan, to: PagePlan, link: str, place: int) -> str:
        """Put a link into text: words of its page in a paragraph, a teaser in a list."""
        if place == TEXT:
            text = self.plan.language.text(random, page.subject, page.strength, 12)
            return f"<p>{' '.join(text[:6])} {link} {' '.join(text[6:])}</p>\n"
        if place == LIST and random.random() < 0.5:
            teaser = self.plan.language.text(random, to.subject, to.strength, 6)
            return f"<li>{link} {' '.join(teaser)}</li>"
        return f"<li>{link}</li>" if place in (NAV, LIST) else f"<span>{link}</span> "


def topic_web(seed: int = 0) -> TopicWeb:
    """Return the web of S: 20 topical sites and 60 others with more than 20,000 pages."""
    plan = WebPlan(seed)
    # the folder exists as long as the web
    folder = TemporaryDirectory(prefix="semcrawl-samples-")
    for number in range(_SAMPLES):
        Path(folder.name, f"{number}.txt").write_text(plan.sample(number), "utf-8")
    web = TopicWeb(plan, "topic", f"examples:{folder.name}", _TOPIC_REQUESTS, "samples")
    web.samples = folder
    return web


def keyword_webs(seed: int = 0) -> list[TopicWeb]:
    """Return a web per query of K: some sites about it, others about the other five.

    The words of a query are the commonest words of its subject. A crawl takes as many pages as are
    relevant; K does not give its number.
    """
    webs = []
    for number, query in enumerate(QUERIES):
        first = [query, *(other for other in QUERIES if other != query)]
        plan = WebPlan(10 * seed + number, _KEYWORD_SIZE, first)
        about = f"all({', '.join(f'keywords:{word}' for word in query)})"
        webs.append(TopicWeb(plan, ", ".join(query), about, plan.count_topical()))
    return webs
