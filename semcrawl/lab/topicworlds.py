"""Made worlds about topics.

Generates words of an invented language, and texts about its subjects.
Frequencies follow Zipf's law. Subjects share some of their words, texts about one quote others,
and most of a text is about nothing: as in real pages, a word says little and many say more.

Plans a generated web: sites with sections and pages, and the links between them.
Made to the traits that S (sources.md) names. *Site clusters*: most pages of a site, and nearly all
of a section, are about one subject. *Sibling and linkage locality*: pages link to others of their
section, and abroad to pages of their subject more often than chance has it. *Hubs*: directories
list pages of a subject. *Tunnels*: many sites about something else have a section about the topic
that no other site links to. Pages differ in how often they are linked to, as on the Web.

A generated web as a world; pages are rendered on request.
Two studies use such webs: S's topical crawl and K's six queries.

K's two crawlers to the letter: a list, first in first out, and a check of keywords.
K (sources.md) does not say when the content of a page matches the keywords. **Reading**: when it
has all of them. That any of them is enough is measured too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from lxml import html

from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.worlds import HTML_TYPE, Answer
from semcrawl.topics.texts import words_of
from semcrawl.web.vocabulary import Kind

__all__ = [
    "KEYWORD_STRATEGIES",
    "TOPIC_STRATEGIES",
    "TopicWeb",
    "WebPlan",
    "WebSize",
    "keyword_webs",
    "literal_figures",
    "topic_web",
]


_ONSETS = "b bl br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sc sh st t tr v w".split()
_VOWELS = "a e i o u ai ea ou ie".split()
_CODAS = ["", "", "", "n", "r", "l", "s", "t", "m", "nd", "rt", "st", "x"]
#: the commonest words of all texts are real ones
_FUNCTION = (
    "the of and to in a is that for it as was with be by on not he i this are or his from at which "
    "but have an had they you were their one all we can her has there been if more when will would"
).split()


@dataclass(frozen=True)
class Words:
    """Words with frequencies."""

    words: Sequence[str]
    #: cumulative frequencies
    sums: Sequence[float]

    @classmethod
    def zipf(cls, words: Sequence[str], offset: float = 2.7) -> Words:
        """Give words frequencies by rank after Zipf and Mandelbrot: 1 / (rank + offset)."""
        return cls(words, list(accumulate(1 / (n + offset) for n in range(len(words)))))

    def some(self, random: Random, count: int) -> list[str]:
        """Draw random words."""
        return random.choices(self.words, cum_weights=self.sums, k=count)


class Language:
    """General words, and the words of each subject."""

    def __init__(
        self,
        seed: int,
        subjects: int,
        first_words: Sequence[Sequence[str]] = (),
        words: int = 300,
        shared: float = 0.12,
    ) -> None:
        """Make ``subjects`` of so many words; ``first_words``: the commonest of the first ones."""
        random = Random(f"language {seed}")
        made: dict[str, None] = {}
        while len(made) < 3000 + subjects * words:
            made.setdefault(_word(random))
        made_words = list(made)
        self._function = Words.zipf(_FUNCTION)
        self._general = Words.zipf(made_words[:3000], 30)
        own = [made_words[3000 + n * words : 3000 + (n + 1) * words] for n in range(subjects)]
        self.subjects = []
        for number, mine in enumerate(own):
            first = first_words[number] if number < len(first_words) else ()
            # at regular ranks a word is shared with another subject, at the same frequency
            mixed = [
                word if random.random() >= shared else own[random.randrange(subjects)][rank]
                for rank, word in enumerate(mine)
            ]
            self.subjects.append(Words.zipf(list(dict.fromkeys((*first, *mixed)))))

    def text(
        self,
        random: Random,
        subject: int | None,
        strength: float,
        count: int,
        quoted: float = 0.06,
    ) -> list[str]:
        """Draw a text of which a share of ``strength`` is about a subject.

        ``quoted``: the share that is about another one.
        """
        about = 0 if subject is None else round(count * strength)
        others = round(count * quoted)
        other = self.subjects[random.randrange(len(self.subjects))]
        words = [] if subject is None else self.subjects[subject].some(random, about)
        words += other.some(random, others)
        rest = max(0, count - len(words))
        words += self._function.some(random, rest * 3 // 5)
        words += self._general.some(random, rest - rest * 3 // 5)
        random.shuffle(words)
        return words

    def title(self, random: Random, subject: int | None) -> list[str]:
        """Draw a title; one in eight does not name the page's subject."""
        if subject is None or random.random() < 0.12:
            return self._general.some(random, random.randint(1, 3))
        return [
            *self.subjects[subject].some(random, random.randint(1, 3)),
            *self._general.some(random, random.randint(0, 2)),
        ]

    def noise(self, random: Random) -> list[str]:
        """Draw words unrelated to the link's target."""
        words = self._general if random.random() < 0.7 else random.choice(self.subjects)
        return words.some(random, random.randint(1, 3))


def _word(random: Random) -> str:
    """Generate a word of two or three syllables."""
    return "".join(
        random.choice(_ONSETS) + random.choice(_VOWELS) + random.choice(_CODAS)
        for _ in range(random.choice((2, 2, 3)))
    )


#: the subject of crawls
TOPIC = 0
#: places of links on a page
NAV, TEXT, LIST, RELATED, FOOTER = range(5)
#: share of the links to other sites that are meant for a page of the same subject; the others lead
#: anywhere
LOCALITY = 0.8
#: share of the pages with a banner that leads to any site's home
BANNERS = 0.2
_GENERIC = (
    "more",
    "read more",
    "here",
    "click here",
    "details",
    "continue",
    "next",
    "link",
)
_SERVICES = ("contact", "imprint", "privacy", "about")


@dataclass(frozen=True)
class WebSize:
    """The size of a generated web."""

    topical: int = 20
    others: int = 60
    subjects: int = 16
    #: mean number of content pages per site
    pages: int = 265
    #: share of a site's sections about the site's subject
    cluster: float = 0.75
    #: number of search results for the topic, which are the crawl's seeds (S: 50)
    seeds: int = 50


@dataclass(slots=True)
class PagePlan:
    """One page."""

    site: int
    path: str
    #: its subject, if any
    subject: int | None
    title: str
    #: share of its text that is about its subject
    strength: float
    #: weight with which others link to it
    fitness: float
    #: (page, anchor, place, teaser's share that is about the page linked to)
    links: list[tuple[int, str, int]] = field(default_factory=list)


class _Choice:
    """Draws pages by their fitness."""

    def __init__(self, pages: Sequence[int], plans: Sequence[PagePlan]) -> None:
        self.pages = pages
        self._sums = list(accumulate(plans[n].fitness for n in pages))

    def __call__(self, random: Random) -> int:
        return self.pages[bisect_left(self._sums, random.random() * self._sums[-1])]


class WebPlan:
    """All pages of a generated web; equal seeds and sizes give equal plans."""

    def __init__(
        self,
        seed: int = 0,
        size: WebSize | None = None,
        first_words: Sequence[Sequence[str]] = (),
    ) -> None:
        self.size = size or WebSize()
        self.seed = seed
        self.language = Language(seed, self.size.subjects, first_words)
        self.pages: list[PagePlan] = []
        self.hosts: list[str] = []
        self._random = Random(f"web {seed}")
        #: site → its home, services, and sections, each with its list pages and content pages
        self._homes: list[int] = []
        self._services: list[list[int]] = []
        self._sections: list[list[tuple[list[int], list[int]]]] = []
        for number in range(self.size.topical + self.size.others):
            self._site(number)
        self._link()

    def sample(self, number: int) -> str:
        """Return a text about the topic that no page has."""
        random = Random(f"sample {self.seed} {number}")
        return " ".join(self.language.text(random, TOPIC, random.betavariate(3, 7), 200))

    def count_topical(self) -> int:
        """Return how many pages are about the topic."""
        return sum(page.subject == TOPIC for page in self.pages)

    # -- pages

    def _site(self, number: int) -> None:
        random = self._random
        topical = number < self.size.topical
        subject = TOPIC if topical else random.randrange(1, self.size.subjects)
        name = "".join(self.language.noise(random))[:14]
        self.hosts.append(f"{name}-{number}.example")
        self._homes.append(self._page(number, "/", subject, fitness=40.0))
        self._services.append(
            [self._page(number, f"/{name}", None, fitness=1.0) for name in _SERVICES]
        )
        subjects = self._section_subjects(subject, topical)
        pages = max(30, round(random.lognormvariate(0, 0.5) * self.size.pages * 0.88))
        shares = [random.random() + 0.3 for _ in subjects]
        sections = []
        for place, (about, share) in enumerate(zip(subjects, shares, strict=True)):
            count = max(5, round(pages * share / sum(shares)))
            if not topical and about == TOPIC:
                count = min(count, random.randint(5, 25))
            sections.append(self._section(number, place, about, count))
        self._sections.append(sections)

    def _section_subjects(self, subject: int, topical: bool) -> list[int]:
        """Return the subjects of a site's sections, mostly the site's own."""
        random = self._random
        subjects = [
            subject
            if random.random() < self.size.cluster
            else random.randrange(1, self.size.subjects)
            for _ in range(random.randint(4, 9))
        ]
        if not topical and random.random() < 0.5:
            subjects.append(TOPIC)
        return subjects

    def _section(
        self, site: int, place: int, subject: int, count: int
    ) -> tuple[list[int], list[int]]:
        random = self._random
        folder = f"/s{place}/"
        lists = [self._page(site, folder, subject, fitness=8.0)]
        lists += [
            self._page(site, f"{folder}list{n}", subject, fitness=1.0)
            for n in range(2, 2 + (count - 1) // 20)
        ]
        content = []
        for n in range(count):
            about: int | None = subject
            if random.random() < 0.1:
                about = random.randrange(self.size.subjects)
            content.append(self._page(site, f"{folder}p{n}.html", about))
        return lists, content

    def _page(self, site: int, path: str, subject: int | None, fitness: float = 0.0) -> int:
        random = self._random
        self.pages.append(
            PagePlan(
                site,
                path,
                subject,
                " ".join(self.language.title(random, subject)),
                random.betavariate(3, 7),
                fitness or random.paretovariate(1.3),
            )
        )
        return len(self.pages) - 1

    # -- links

    def _link(self) -> None:
        random, pages = self._random, self.pages
        everywhere = _Choice(range(len(pages)), pages)
        # pages known to others: not sections hidden on sites about something else
        known: list[list[int]] = [[] for _ in range(self.size.subjects)]
        for number, page in enumerate(pages):
            tucked = page.subject == TOPIC and page.site >= self.size.topical
            if page.subject is not None and not tucked:
                known[page.subject].append(number)
        abroad = [_Choice(some, pages) for some in known]
        # sites whose pages list pages of other sites
        directories = range(self.size.topical, len(self.hosts), 12)
        for site, sections in enumerate(self._sections):
            own = [n for lists, content in sections for n in (*lists, *content)]
            anywhere = _Choice(own, pages)
            home, services = self._homes[site], self._services[site]
            menu = [home, *(lists[0] for lists, _ in sections)]
            partners = [self._partner(site) for _ in range(2)]
            for lists, content in sections:
                siblings = _Choice(content, pages)
                for place, number in enumerate(lists):
                    for child in content[20 * place : 20 * place + 20]:
                        self._to(number, child, LIST)
                    for other in lists[place + 1 : place + 2]:
                        self._to(number, other, LIST, "next")
                for number in content:
                    self._to(number, lists[0], NAV)
                    for _ in range(random.randint(2, 5)):
                        self._to(number, siblings(random), RELATED)
                    for _ in range(random.randint(0, 2)):
                        self._to(number, anywhere(random), TEXT)
                    subject = pages[number].subject
                    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
                        near = subject is not None and random.random() < LOCALITY
                        choose = abroad[subject or 0] if near else everywhere
                        self._to(number, choose(random), TEXT)
            for child in (anywhere(random) for _ in range(8)):
                self._to(home, child, LIST)
            for number in (home, *services, *own):
                for other in menu:
                    self._to(number, other, NAV)
                for other in (*services, *partners):
                    self._to(number, other, FOOTER)
                if random.random() < BANNERS:
                    self._to(number, random.choice(self._homes), FOOTER)
            if site in directories:
                self._fill_directory(sections, abroad)

    def _partner(self, site: int) -> int:
        """Return the home of a site on the same subject, to which all pages of a site link."""
        subject = self.pages[self._homes[site]].subject
        return self._random.choice([n for n in self._homes if self.pages[n].subject == subject])

    def _fill_directory(
        self, sections: Sequence[tuple[list[int], list[int]]], abroad: Sequence[_Choice]
    ) -> None:
        for _, content in sections:
            for number in content[::3]:
                subject = self.pages[number].subject or TOPIC
                for _ in range(self._random.randint(10, 30)):
                    self._to(number, abroad[subject](self._random), LIST)

    def _to(self, page: int, to: int, place: int, anchor: str = "") -> None:
        if to != page:
            self.pages[page].links.append((to, anchor or self._anchor(to, place), place))

    def _anchor(self, to: int, place: int) -> str:
        """Return a link's text: its target's title or a part of it, useless words, or another's."""
        random, title = self._random, self.pages[to].title
        chance = random.random()
        if place == NAV or chance < 0.5:
            return title
        if chance < 0.65:
            return random.choice(title.split())
        if chance < 0.82:
            return random.choice(_GENERIC)
        return " ".join(self.language.noise(random))


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


def literal_figures(
    webs: Sequence[TopicWeb], report: Callable[[int], None] = lambda requests: None
) -> dict[str, dict[str, dict[str, float]]]:
    """Crawl the web of each query of K; return query → crawler → precision and recall."""
    figures = {}
    for web, query in zip(webs, QUERIES, strict=True):
        figures[web.name] = literal_crawl(web, query)
        report(web.requests)
    return figures


def literal_crawl(web: TopicWeb, keywords: Collection[str]) -> dict[str, dict[str, float]]:
    """Crawl for the web's number of pages; return precision and recall of what each returns.

    ``traditional``: all pages that it crawled; ``focused``: those in the list of matched pages, as
    they have all keywords; ``any``: as one keyword is enough.
    """
    graph = LinkGraph(web)
    wanted = [set(words_of(keyword)) for keyword in keywords]
    to_crawl = deque(web.starts)
    known = set(to_crawl)
    lists: dict[str, list[str]] = {"traditional": [], "focused": [], "any": []}
    while to_crawl and len(lists["traditional"]) < web.requests:
        url = to_crawl.popleft()
        lists["traditional"].append(url)
        content = set(words_of(html.fromstring(web.body(url)).text_content()))
        found = [words <= content for words in wanted]
        lists["focused"] += [url] * all(found)
        lists["any"] += [url] * any(found)
        for link in graph.look(url).links:
            if link.url not in known:
                known.add(link.url)
                to_crawl.append(link.url)
    relevant = max(1, web.plan.count_topical())
    return {
        name: {
            "precision": sum(map(web.topical, urls)) / max(1, len(urls)),
            "recall": sum(map(web.topical, urls)) / relevant,
        }
        for name, urls in lists.items()
    }
