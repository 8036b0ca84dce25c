"""Plans the generated web of pictures: sites with galleries, their pictures and links.

Each site is rich in a few subjects and poor in the others, and so are its galleries and pages
(S's site clusters and linkage locality). Some sites are hubs with lists of others. Pictures are
shown again on other pages, and copied by other sites, as they are or nearly so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from semcrawl.evaluation.imageweb.habits import PLACES, SPELLINGS, Habit, Texts, texts_of
from semcrawl.evaluation.imageweb.subjects import SUBJECTS, Subject

#: chances of what a picture on a page is about: its page's subject, one of its site's; else any
_OF_PAGE, _OF_SITE = 0.7, 0.2
#: chance that a page's subject is one of its site's subjects
_IN_THEME = 0.85
#: chances that a picture was shown before on its site, is a copy of another site's, or nearly one
_AGAIN, _COPY, _NEAR_COPY = 0.07, 0.04, 0.04
#: chance that a page links to another site, and that it is to a page about the same
_ABROAD, _LOCALITY = 0.35, 0.6
#: pictures' pages on one page of a gallery
_LISTED = 10
_NAMES = (
    "harbour mill anvil meadow lantern orchard quarry cellar tower garden bridge copper willow "
    "falcon river saddle pepper barrel juniper marble cobalt thistle canyon velvet amber walnut "
    "summit ivory clover ember"
).split()
_KINDS = "prints gallery archive museum studio shop works pictures house collection".split()


@dataclass(frozen=True)
class ImageWebSize:
    """The size of a generated web of pictures."""

    sites: int = 30
    #: mean number of pages with pictures per site
    pages: int = 28
    #: sites with lists of other sites
    hubs: int = 4


@dataclass(slots=True)
class Picture:
    """A picture file."""

    number: int
    site: int
    path: str
    subject: Subject
    width: int
    height: int
    #: the picture that it copies, or its own number
    original: int
    #: whether it is a copy with other bytes
    nearly: bool = False

    @property
    def extension(self) -> str:
        """``png`` or ``jpg``."""
        return self.path.rpartition(".")[2]


@dataclass(slots=True)
class ImagePage:
    """A page of the web."""

    number: int
    site: int
    path: str
    title: str
    #: the subject of most of its pictures, if any
    subject: Subject | None
    #: pictures with the texts around them
    shown: list[tuple[int, Texts]] = field(default_factory=list)
    #: (page, anchor) of its links in the text, and of those in lists with a picture's small version
    links: list[tuple[int, str]] = field(default_factory=list)
    listed: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Site:
    """A site, with a domain of its own."""

    host: str
    habit: Habit
    #: subjects it is rich in, the richest first
    themes: list[Subject]
    home: int = -1
    #: pages with pictures
    pages: list[int] = field(default_factory=list)


class ImagePlan:
    """All sites, pages and pictures; equal seeds and sizes give equal plans."""

    def __init__(self, seed: int = 0, size: ImageWebSize | None = None) -> None:
        self.seed = seed
        self.size = size or ImageWebSize()
        self.sites: list[Site] = []
        self.pages: list[ImagePage] = []
        self.pictures: list[Picture] = []
        self._random = Random(f"image web {seed}")
        #: pictures of a site by subject, and of all sites
        self._drawn: dict[tuple[int, Subject], list[int]] = {}
        self._of_subject: dict[Subject, list[int]] = {}
        self._about: dict[Subject, list[int]] = {}
        places = [PLACES[n % len(PLACES)] for n in range(self.size.sites)]
        self._random.shuffle(places)
        for number, place in enumerate(places):
            self._site(number, place)
        for number in range(self.size.sites):
            self._link(number)

    def rich_in(self, subject: Subject) -> list[int]:
        """Return the sites that are rich in a subject."""
        return [number for number, site in enumerate(self.sites) if subject in site.themes]

    # -- pages and pictures

    def _site(self, number: int, place: str) -> None:
        random = self._random
        name, kind = _NAMES[number % len(_NAMES)], random.choice(_KINDS)
        more = "" if number < len(_NAMES) else str(number)
        habit = Habit.made(random, place, tuple(SPELLINGS))
        site = Site(f"{name}-{kind}{more}.example", habit, random.sample(SUBJECTS, 5))
        self.sites.append(site)
        site.home = self._page(number, "/", f"{name} {kind}".title(), None)
        pages = max(8, round(random.lognormvariate(0, 0.35) * self.size.pages))
        if place == "page-title":  # one picture per page
            pages *= 3
        weights = [0.45, 0.25, 0.15, 0.1, 0.05]
        for _ in range(pages):
            subject = random.choice(SUBJECTS)
            if random.random() < _IN_THEME:
                subject = random.choices(site.themes, weights)[0]
            self._picture_page(number, subject)

    def _page(self, site: int, path: str, title: str, subject: Subject | None) -> int:
        page = ImagePage(len(self.pages), site, path, title, subject)
        self.pages.append(page)
        return page.number

    def _picture_page(self, site: int, subject: Subject) -> None:
        random, habit = self._random, self.sites[site].habit
        number = len(self.pages)
        path = f"/works/{number}"
        if habit.telling_paths:
            path = f"/{subject.shape}/{subject.look}-{number}.html"
        self._page(site, path, f"Works {number % 100}", subject)
        page = self.pages[number]
        for _ in range(1 if habit.place == "page-title" else random.randint(3, 7)):
            shown = subject
            if (chance := random.random()) >= _OF_PAGE:
                themes = self.sites[site].themes
                shown = random.choice(themes if chance < _OF_PAGE + _OF_SITE else SUBJECTS)
            texts = texts_of(random, habit, shown)
            picture = self._picture(site, shown, texts)
            if all(known != picture for known, _ in page.shown):
                page.shown.append((picture, texts))
            if habit.place == "page-title":
                page.title = texts.near.get("page-title", page.title)
        self.sites[site].pages.append(number)
        self._about.setdefault(subject, []).append(number)

    def _picture(self, site: int, subject: Subject, texts: Texts) -> int:
        """Return a picture of a subject: a new one, or one shown before."""
        random, number, chance = self._random, len(self.pictures), self._random.random()
        known = self._drawn.setdefault((site, subject), [])
        everywhere = self._of_subject.setdefault(subject, [])
        if known and chance < _AGAIN:
            return random.choice(known)
        extension = random.choice(("png", "png", "jpg"))
        width, height = random.randint(130, 220), random.randint(120, 200)
        picture = Picture(number, site, "", subject, width, height, number)
        if everywhere and _AGAIN <= chance < _AGAIN + _COPY + _NEAR_COPY:
            of = self.pictures[random.choice(everywhere)]
            picture.original, picture.nearly = of.original, chance >= _AGAIN + _COPY
            picture.width, picture.height = of.width, of.height
            extension = "jpg" if picture.nearly else of.extension
        else:
            everywhere.append(number)
        name = _file_name(random, number, texts.near.get("file-name", ""))
        picture.path = f"/media/{name}.{extension}"
        self.pictures.append(picture)
        known.append(number)
        return number

    # -- links

    def _link(self, number: int) -> None:
        """Add a site's galleries, and link its pages."""
        random, site = self._random, self.sites[number]
        home = self.pages[site.home]
        galleries: dict[Subject, list[int]] = {}
        for page in site.pages:
            subject = self.pages[page].subject
            if subject is not None:
                galleries.setdefault(subject, []).append(page)
        single = [page for pages in galleries.values() if len(pages) < 3 for page in pages]
        several = {subject: pages for subject, pages in galleries.items() if len(pages) > 2}
        for subject, pages in several.items():
            anchor = subject.plural.title() if random.random() < 0.7 else "Room"
            self._gallery(number, home, pages, subject, anchor)
        if single:
            self._gallery(number, home, single, None, "More works")
        about = self._page(number, "/about", f"About {home.title}", None)
        home.links.append((about, "About us"))
        if number < self.size.hubs:
            self._hub(number, home)
        for page in site.pages:
            self._link_page(number, self.pages[page], galleries)

    def _gallery(
        self, number: int, home: ImagePage, pages: list[int], subject: Subject | None, anchor: str
    ) -> None:
        """List pages with pictures, some at a time."""
        before = home
        for start in range(0, len(pages), _LISTED):
            path = f"/gallery/{len(self.pages)}/"
            gallery = self.pages[self._page(number, path, anchor, subject)]
            before.links.append((gallery.number, anchor if before is home else "Next"))
            for page in pages[start : start + _LISTED]:
                gallery.listed.append((page, self._anchor(page)))
            before = gallery

    def _anchor(self, page: int) -> str:
        """Return the text of a link to a page with pictures; six in ten name its subject."""
        subject = self.pages[page].subject
        if subject is not None and self._random.random() < 0.6:
            name = self._random.choice((subject.name, subject.plural, f"{subject.plural} and more"))
            return name.capitalize()
        return self._random.choice(("More", "Details", "View", f"Works {page % 100}"))

    def _hub(self, number: int, home: ImagePage) -> None:
        """List other sites with what they are rich in."""
        links = self.pages[self._page(number, "/links/", "Links", None)]
        home.links.append((links.number, "Links"))
        others = [n for n in range(self.size.sites) if n != number]
        share = range(number, len(others), self.size.hubs)
        for other in [*(others[n] for n in share), *self._random.sample(others, len(others) // 4)]:
            site = self.sites[other]
            says = ""
            if self._random.random() < 0.6:
                says = f": {site.themes[0].plural}, {site.themes[1].plural}"
            links.links.append((site.home, self.pages[site.home].title + says))

    def _link_page(self, number: int, page: ImagePage, galleries: dict[Subject, list[int]]) -> None:
        random, site = self._random, self.sites[number]
        page.links.append((site.home, "Home"))
        beside = galleries.get(page.subject, site.pages) if page.subject else site.pages
        for pages in (beside, site.pages):
            other = random.choice(pages)
            if other != page.number:
                page.links.append((other, self._anchor(other)))
        if random.random() < _ABROAD:
            about = self._about.get(page.subject, []) if page.subject else []
            abroad = [n for n in about if self.pages[n].site != number]
            if abroad and random.random() < _LOCALITY:
                other = random.choice(abroad)
                page.links.append((other, self._anchor(other)))
            else:
                other = self.sites[random.randrange(self.size.sites)].home
                page.links.append((other, self.pages[other].title))


def _file_name(random: Random, number: int, says: str) -> str:
    """Name a file by what it shows, as a camera does, or by a hash."""
    if says:
        words = "".join(letter if letter.isalnum() else " " for letter in says.lower()).split()
        return random.choice("-_").join([*words, str(number)])
    if random.random() < 0.5:
        return random.choice(("IMG_{:04}", "DSC{:05}", "scan{:03}")).format(number)
    return f"{random.getrandbits(40):010x}{number}"
