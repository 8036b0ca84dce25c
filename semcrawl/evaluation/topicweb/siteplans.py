"""Plans a generated web: sites with sections and pages, and the links between them.

Made to the traits that S (sources.md) names. *Site clusters*: most pages of a site, and nearly all
of a section, are about one subject. *Sibling and linkage locality*: pages link to others of their
section, and abroad to pages of their subject more often than chance has it. *Hubs*: directories
list pages of a subject. *Tunnels*: many sites about something else have a section about the topic
that no other site links to. Pages differ in how often they are linked to, as on the Web.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random

from semcrawl.evaluation.topicweb._madelanguage import Language

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
