"""Made worlds of images.

Plans the generated web of pictures: sites with galleries, their pictures and links.
Each site is rich in a few subjects and poor in the others, and so are its galleries and pages
(S's site clusters and linkage locality). Some sites are hubs with lists of others. Pictures are
shown again on other pages, and copied by other sites, as they are or nearly so.

The generated web of pictures as a world; pages and pictures are made on request.
The study on it crawls it three times, each time after the pictures of one subject.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from random import Random
from urllib.parse import urlsplit, urlunsplit

from PIL import Image, ImageDraw, ImageEnhance

from semcrawl.errors import UsageError
from semcrawl.lab.worlds import HTML_TYPE, Answer
from semcrawl.web.vocabulary import Kind

__all__ = ["IMAGE_STRATEGIES", "ImagePlan", "ImageWeb", "ImageWebSize", "image_webs"]


SHAPES = ("circle", "triangle", "square", "star", "cross", "ring", "hexagon", "crescent")
COLOURS = {
    "red": (205, 40, 45),
    "blue": (45, 85, 200),
    "green": (45, 150, 70),
    "yellow": (235, 195, 40),
    "purple": (125, 55, 160),
}
TEXTURES = ("striped", "dotted", "checkered")
LOOKS = (*COLOURS, *TEXTURES)

_FRAMES = (
    "{a} {subject}",
    "{a} {subject} on {ground}",
    "{a} {subject} in {light}",
    "detail of {a} {subject}",
    "study of {a} {subject} on {ground}",
    "{subject}, no. {number}",
    "{a} {size} {subject}",
    "our {subject} in {light}",
    "{maker}: {a} {subject}",
)
#: what no search for the two words as a phrase finds
_OTHERWISE = ("{a} {shape} in {look}", "{number} {plural}", "{look}, {a_shape} {shape}")
_GROUNDS = "linen|a pale wall|paper|a wooden board|slate|a tiled floor|canvas|glass".split("|")
_LIGHTS = "the morning|dim light|full sun|the rain|the studio|the north room|winter".split("|")
_SIZES = "small large narrow wide tilted faded bold plain".split()
_MAKERS = "M. Arden|Okoye|the younger Brandt|L. Sato|an unknown hand|Ferreira".split("|")
#: texts near any picture
_GENERIC = (
    "image", "photo", "picture {number}", "click to enlarge", "untitled", "view {number}",
    "no description", "plate {number}", "from the collection",
)  # fmt: skip
_WHO = "The committee|A visitor|Our archive|The workshop|Nobody|The owner|Each guest".split("|")
_DOES = "prefers|describes|keeps|restores|remembers|has ordered|will show|cannot find".split("|")
_WHAT = (
    "older works|a quiet corner|the second floor|new frames|letters from the coast|opening hours|"
    "a catalogue of papers|the smell of paint|two chairs and a lamp|what the weather does"
).split("|")
_WHEN = "every spring|since the fire|by appointment|as before|this year|on most days".split("|")


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a picture: a shape and its look."""

    look: str
    shape: str

    @property
    def name(self) -> str:
        """The subject in two words."""
        return f"{self.look} {self.shape}"

    @property
    def plural(self) -> str:
        """The plural."""
        return f"{self.name}es" if self.name.endswith("s") else f"{self.name}s"


SUBJECTS: Sequence[Subject] = tuple(Subject(look, shape) for look in LOOKS for shape in SHAPES)


def caption(random: Random, subject: Subject) -> str:
    """Write a right text about a picture, sometimes in other words or misspelled."""
    frames = _OTHERWISE if random.random() < 0.06 else _FRAMES
    name = subject.name
    if random.random() < 0.04:
        name = misspelled(random, name)
    text = random.choice(frames).format(
        a=_article(name),
        a_shape=_article(subject.shape),
        subject=name,
        plural=subject.plural,
        look=subject.look,
        shape=subject.shape,
        ground=random.choice(_GROUNDS),
        light=random.choice(_LIGHTS),
        size=random.choice(_SIZES),
        maker=random.choice(_MAKERS),
        number=random.randint(2, 99),
    )
    return text[0].upper() + text[1:]


def generic(random: Random) -> str:
    """Write a text that says nothing about a picture."""
    return random.choice(_GENERIC).format(number=random.randint(1, 40))


def sentence(random: Random) -> str:
    """Write a sentence about something else."""
    words = (random.choice(words) for words in (_WHO, _DOES, _WHAT, _WHEN))
    return " ".join(words) + "."


def misspelled(random: Random, text: str) -> str:
    """Swap, drop or double a letter in one of the words."""
    words = text.split()
    place = random.randrange(len(words))
    word = words[place]
    at = random.randint(1, max(1, len(word) - 3))
    words[place] = random.choice(
        (
            word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :],
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
        )
    )
    return " ".join(words)


def _article(text: str) -> str:
    return "an" if text[0] in "aeiou" else "a"


_Point = tuple[float, float]
_Colour = tuple[int, int, int]


def draw(subject: Subject, seed: str, width: int, height: int) -> Image.Image:
    """Draw a subject somewhere on a pale background; each seed gives another picture."""
    random = Random(seed)
    image = _ground(random, width, height)
    mask = Image.new("L", (width, height), 0)
    radius = min(width, height) * random.uniform(0.26, 0.42)
    centre = (
        random.uniform(radius, width - radius),
        random.uniform(radius, height - radius),
    )
    _shape(ImageDraw.Draw(mask), subject.shape, centre, radius, random.uniform(-0.35, 0.35))
    image.paste(_surface(random, subject.look, width, height), (0, 0), mask)
    return image


def logo(name: str, width: int = 180, height: int = 60) -> Image.Image:
    """Draw a site's logo or a banner: bars and its name."""
    random = Random(f"logo {name}")
    image = Image.new("RGB", (width, height), _any_colour(random))
    pen = ImageDraw.Draw(image)
    for n in range(4):
        left = n * width / 4 + random.uniform(0, width / 8)
        pen.rectangle((left, 6, left + width / 12, height - 6), fill=_any_colour(random))
    pen.text((8, height / 3), name[:24], fill=(250, 250, 250))
    return image


def near_copy(image: Image.Image, seed: str) -> Image.Image:
    """Scale a picture and change its brightness a little, as copying sites do."""
    random = Random(f"near {seed}")
    scale = random.uniform(0.85, 1.15)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return ImageEnhance.Brightness(image.resize(size)).enhance(random.uniform(0.93, 1.06))


def encoded(image: Image.Image, extension: str) -> bytes:
    """Return a ``png`` or ``jpg`` file."""
    file = BytesIO()
    if extension == "png":
        image.save(file, "PNG", compress_level=1)
    else:
        image.save(file, "JPEG", quality=88)
    return file.getvalue()


def _any_colour(random: Random) -> _Colour:
    return random.randint(20, 200), random.randint(20, 200), random.randint(20, 200)


def _ground(random: Random, width: int, height: int) -> Image.Image:
    """Draw a pale background that is lighter at one side, with some faint lines."""
    first, second = (tuple(random.randint(205, 252) for _ in range(3)) for _ in range(2))
    mask = Image.linear_gradient("L").rotate(random.choice((0, 90, 180))).resize((width, height))
    image = Image.composite(
        Image.new("RGB", (width, height), first), Image.new("RGB", (width, height), second), mask
    )
    pen = ImageDraw.Draw(image)
    for _ in range(random.randint(2, 6)):
        ends = [(random.uniform(0, width), random.uniform(0, height)) for _ in range(2)]
        pen.line(ends, fill=tuple(random.randint(170, 215) for _ in range(3)), width=1)
    return image


def _surface(random: Random, look: str, width: int, height: int) -> Image.Image:
    """Return a slightly varied colour, or a texture of a random dark colour."""
    if look in COLOURS:
        colour = tuple(min(255, max(0, part + random.randint(-18, 18))) for part in COLOURS[look])
        return Image.new("RGB", (width, height), colour)
    dark, step = _any_colour(random), random.randint(10, 16)
    image = Image.new("RGB", (width, height), (245, 245, 240))
    pen = ImageDraw.Draw(image)
    if look == "striped":
        for left in range(-height, width + height, step):
            pen.line((left, 0, left + height / 2, height), fill=dark, width=step // 2)
        return image
    for row, top in enumerate(range(0, height, step)):
        for column, left in enumerate(range(0, width, step)):
            box = (left, top, left + step - 1, top + step - 1)
            if look == "checkered" and (row + column) % 2:
                pen.rectangle(box, fill=dark)
            elif look == "dotted":
                pen.ellipse((box[0] + 2, box[1] + 2, box[2] - 2, box[3] - 2), fill=dark)
    return image


def _shape(pen: ImageDraw.ImageDraw, shape: str, at: _Point, radius: float, turn: float) -> None:
    """Draw a shape into a mask."""
    x, y = at
    box = (x - radius, y - radius, x + radius, y + radius)
    if shape in ("circle", "ring", "crescent"):
        pen.ellipse(box, fill=255)
    if shape == "ring":
        hole = radius * 0.55
        pen.ellipse((x - hole, y - hole, x + hole, y + hole), fill=0)
    elif shape == "crescent":
        away = radius * 0.5
        x, y = x + away * math.cos(turn), y + away * math.sin(turn)
        hole = radius * 0.85
        pen.ellipse((x - hole, y - hole, x + hole, y + hole), fill=0)
    elif shape == "star":
        pen.polygon(_corners(at, 10, (radius, radius * 0.42), turn), fill=255)
    elif shape == "cross":
        for angle in (turn, turn + math.pi / 2):
            pen.polygon(_bar(at, radius, radius * 0.3, angle), fill=255)
    elif shape in ("triangle", "square", "hexagon"):
        corners = {"triangle": 3, "square": 4, "hexagon": 6}[shape]
        pen.polygon(_corners(at, corners, (radius,), turn), fill=255)


def _corners(at: _Point, number: int, radii: tuple[float, ...], turn: float) -> list[_Point]:
    angles = [turn - math.pi / 2 + 2 * math.pi * n / number for n in range(number)]
    return [
        (
            at[0] + radii[n % len(radii)] * math.cos(angle),
            at[1] + radii[n % len(radii)] * math.sin(angle),
        )
        for n, angle in enumerate(angles)
    ]


def _bar(at: _Point, length: float, half: float, angle: float) -> list[_Point]:
    along = (math.cos(angle), math.sin(angle))
    corners = ((-length, -half), (length, -half), (length, half), (-length, half))
    return [
        (at[0] + a * along[0] - b * along[1], at[1] + a * along[1] + b * along[0])
        for a, b in corners
    ]


#: share of a site's links that its habits change
_TOUCHED = 0.6
#: share of links to an equivalent address that no normalisation can recognise
_OTHER_ADDRESS = 0.04

#: places of texts, by the names of :class:`semcrawl.images.outcomes.TextKind`
PLACES = (
    "alt", "title", "caption", "file-name", "before", "after", "heading", "page-title",
)  # fmt: skip
#: of a hundred pictures, the text in the best place is missing, stands far away, or is of another
_MISSING, _FAR, _WRONG = 0.05, 0.06, 0.06
#: chance that another place also has a right text, or has one about something else
_RIGHT_ELSEWHERE, _WRONG_ELSEWHERE = 0.12, 0.1
#: how a site builds its pages
LAYOUTS = ("figure", "card", "row", "item", "bare")
#: how a site loads its pictures
LOADING = ("plain", "lazy", "srcset", "picture")


@dataclass(frozen=True, slots=True)
class Habit:
    """The habits of one site."""

    #: place of the right text, one of :data:`PLACES`
    place: str
    layout: str
    loading: str
    #: other places that may hold a text, with the chance that they do
    others: Mapping[str, float]
    #: whether the addresses of pages name their subjects
    telling_paths: bool
    #: whether its lists show small versions of the pictures
    thumbnails: bool
    #: names in :data:`SPELLINGS` of the spellings of its links
    spelling: tuple[str, ...]

    @classmethod
    def made(cls, random: Random, place: str, spellings: tuple[str, ...]) -> Habit:
        """Generate a site's habits around its best place."""
        layouts = {"caption": ("figure",), "heading": ("card",)}.get(place, LAYOUTS)
        return cls(
            place,
            random.choice(layouts),
            random.choices(LOADING, (5, 3, 2, 1))[0],
            {each: random.choice((0.0, 0.5, 0.9)) for each in PLACES},
            random.random() < 0.4,
            random.random() < 0.4,
            tuple(random.sample(spellings, random.randint(1, 4))),
        )


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts around one picture on one page."""

    #: name of the place → text
    near: Mapping[str, str]
    #: the right text, if it is at the end of the page
    far: str = ""


def texts_of(random: Random, habit: Habit, subject: Subject) -> Texts:
    """Generate the texts around a picture."""
    near: dict[str, str] = {}
    for place in PLACES:
        if place != habit.place and (text := _elsewhere(random, habit, place, subject)):
            near[place] = text
    chance, right = random.random(), caption(random, subject)
    if chance < _MISSING:
        return Texts(near)
    if chance < _MISSING + _FAR:
        return Texts(near, right)
    if chance < _MISSING + _FAR + _WRONG:
        right = caption(random, random.choice(SUBJECTS))
    near[habit.place] = right
    return Texts(near)


def _elsewhere(random: Random, habit: Habit, place: str, subject: Subject) -> str:
    """Return the text of a place other than the site's best one; empty if it has none."""
    running = place in ("before", "after")
    if place in ("file-name", "page-title"):  # every picture has these
        return ""
    if random.random() >= max(habit.others[place], 0.7 if running else 0.0):
        return ""
    chance = random.random()
    if chance < _RIGHT_ELSEWHERE:
        return caption(random, subject)
    if chance < _RIGHT_ELSEWHERE + _WRONG_ELSEWHERE:
        return caption(random, random.choice(SUBJECTS))
    return sentence(random) if running or random.random() < 0.2 else generic(random)


#: name of a habit → function that spells a page's host and path
SPELLINGS: Mapping[str, Callable[[Random, str, str], str]] = {
    "index": lambda _, host, path: f"http://{host}{path}{'index.html' * path.endswith('/')}",
    "fragment": lambda random, host, path: (
        f"http://{host}{path}#" + random.choice(("top", "pictures", "more", "p2"))
    ),
    "capitals": lambda _, host, path: f"HTTP://{host.title()}{path}",
    "port": lambda _, host, path: f"http://{host}:80{path}",
    "sorted": lambda random, host, path: (
        f"http://{host}{path}?sort=" + random.choice(("name", "date", "size"))
    ),
    "empty": lambda random, host, path: f"http://{host}{path}" + random.choice(("?", "?from=")),
    "escaped": lambda _, host, path: f"http://{host}" + path.replace("-", "%2d", 1),
}


def spelled(random: Random, habits: tuple[str, ...], host: str, path: str, here: str) -> str:
    """Spell a link to a page from the site ``here``."""
    if random.random() < _OTHER_ADDRESS:
        return random.choice((f"http://www.{host}{path}", f"https://{host}{path}"))
    if random.random() < _TOUCHED:
        return SPELLINGS[random.choice(habits)](random, host, path)
    return path if host == here else f"http://{host}{path}"


def canonical(url: str) -> str:
    """Return the address of the page at a normalised URL."""
    parts = urlsplit(url)
    return urlunsplit(("http", parts.netloc.removeprefix("www."), parts.path or "/", "", ""))


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


LOGO, BANNER, SMALL = "/static/logo.png", "/static/banner{}.png", "/small"
#: banners that several sites show
BANNERS = 3
_BLANK = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="

#: I has the second and third
IMAGE_STRATEGIES = ("breadth-first", "weighted-pagerank", "domain-score", "learned")
#: number of crawls, and requests of each
_CRAWLS, _REQUESTS = 3, 600

_TYPES = {"png": "image/png", "jpg": "image/jpeg"}
#: width of a small version in pixels
_SMALL_WIDTH = 48


class ImageWeb:
    """The sites of an :class:`ImagePlan`, for a crawl for the pictures of a subject."""

    #: targets of its crawls
    targets = "images"

    def __init__(self, plan: ImagePlan, subject: Subject, requests: int) -> None:
        self.plan = plan
        self.subject = subject
        self.name = subject.name
        self.about = f"keywords:{subject.name}"
        self.topic = subject.name
        self.requests = requests
        hosts = [site.host for site in plan.sites]
        self._pages = {f"http://{hosts[page.site]}{page.path}": page for page in plan.pages}
        self._pictures = {f"http://{hosts[p.site]}{p.path}": p for p in plan.pictures}
        self._fixed = {
            f"http://{host}{path}": host if path == LOGO else path
            for host in hosts
            for path in (LOGO, *(BANNER.format(n) for n in range(BANNERS)))
        }
        self._wanted = {
            f"picture {each.original}" for each in plan.pictures if each.subject == subject
        }

    @property
    def hosts(self) -> frozenset[str]:
        """Two hosts per site: with and without ``www.``."""
        names = [site.host for site in self.plan.sites]
        return frozenset((*names, *(f"www.{name}" for name in names)))

    @property
    def starts(self) -> tuple[str, ...]:
        """The home pages of the hubs."""
        return tuple(self.url_of(site.home) for site in self.plan.sites[: self.plan.size.hubs])

    def url_of(self, page: int) -> str:
        """Return the address of a page."""
        return (
            f"http://{self.plan.sites[self.plan.pages[page].site].host}{self.plan.pages[page].path}"
        )

    def topical(self, document: str) -> bool:
        """Whether a document is a picture of the subject. Crawls do not know this truth."""
        return document in self._wanted

    def picture_at(self, url: str) -> Picture | None:
        """Return the picture at an address; ``None`` for pages, logos and small versions."""
        return self._pictures.get(canonical(url))

    def robots(self, host: str) -> str:
        """Return an empty robots.txt."""
        return ""

    def fetch(self, url: str) -> Answer:
        """Answer with the page or picture; copies of a picture are one document."""
        plain = canonical(url)
        if plain in self._pages:
            return Answer(200, HTML_TYPE, Kind.HTML, document=plain)
        if (picture := self._pictures.get(plain)) is not None:
            kind = _TYPES[picture.extension]
            return Answer(200, kind, Kind.OTHER, document=f"picture {picture.original}")
        if plain in self._fixed or self._small(plain) is not None:
            return Answer(200, _TYPES[plain.rpartition(".")[2]], Kind.OTHER, document=plain)
        return Answer(404, HTML_TYPE)

    def body(self, url: str) -> bytes:
        """Render the page, or draw the picture.

        Raises ``UsageError`` where Pillow is missing.
        """
        plain = canonical(url)
        if (page := self._pages.get(plain)) is not None:
            return self._rendered(page)
        picture, small = self._pictures.get(plain), self._small(plain)
        wanted = picture or small
        if wanted is None and plain not in self._fixed:
            return b""
        try:
            pass
        except ImportError as error:
            raise UsageError(
                "pictures are drawn by Pillow: pip install 'semcrawl[images]'"
            ) from error
        if wanted is None:
            return encoded(logo(self._fixed[plain]), "png")
        drawn = draw(
            wanted.subject, f"{self.plan.seed} {wanted.original}", wanted.width, wanted.height
        )
        if wanted.nearly:
            drawn = near_copy(drawn, f"{self.plan.seed} {wanted.number}")
        if picture is None:
            height = max(1, round(drawn.height * _SMALL_WIDTH / drawn.width))
            drawn = drawn.resize((_SMALL_WIDTH, height))
        return encoded(drawn, wanted.extension)

    def _rendered(self, page: ImagePage) -> bytes:
        return render(self.plan, page).encode()

    def _small(self, url: str) -> Picture | None:
        """Return the picture whose small version is at an address."""
        host, found, path = url.partition(f"{SMALL}/media/")
        return self._pictures.get(f"{host}/media/{path}") if found else None


def image_webs(
    seed: int = 0, size: ImageWebSize | None = None, requests: int = _REQUESTS
) -> Sequence[ImageWeb]:
    """Make one web, and a crawl of it for each of three subjects that several sites are rich in."""
    plan = ImagePlan(seed, size)
    several = [subject for subject in SUBJECTS if len(plan.rich_in(subject)) > 1]
    chosen = Random(f"image queries {seed}").sample(several, _CRAWLS)
    return [ImageWeb(plan, subject, requests) for subject in chosen]


def render(plan: ImagePlan, page: ImagePage) -> str:
    """Return a page's HTML."""
    random = Random(f"page {plan.seed} {page.number}")
    site = plan.sites[page.site]
    name = escape(plan.pages[site.home].title)
    title = escape(page.title)
    heading = name if site.habit.place == "page-title" else title
    shown = "".join(
        _shown(random, plan, site.habit, page, plan.pictures[number], texts)
        for number, texts in page.shown
    )
    far = [texts.far for _, texts in page.shown if texts.far]
    notes = "".join(f"<li>Fig. {n}: {escape(text)}</li>" for n, text in enumerate(far, 1))
    links = "".join(
        f"<li>{_link(random, plan, page, to, anchor)}</li>\n" for to, anchor in page.links
    )
    listed = "".join(_listed(random, plan, page, to, anchor) for to, anchor in page.listed)
    banner = BANNER.format(random.randrange(BANNERS))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><title>{title} – {name}</title></head><body>\n'
        f'<div id=top><a href="/"><img src="{LOGO}" alt="{name}"></a></div>\n'
        f"<h1>{heading}</h1>\n<p>{sentence(random)} {sentence(random)}</p>\n"
        f"<div class=works>\n{shown}</div>\n{f'<ol class=notes>{notes}</ol>' if notes else ''}"
        f"<div class=list>\n{listed}</div>\n<ul class=links>\n{links}</ul>\n"
        f'<div id=footer><img src="{banner}" alt=""><p>{name}</p></div></body></html>\n'
    )


def _link(random: Random, plan: ImagePlan, page: ImagePage, to: int, inside: str) -> str:
    here, there = plan.sites[page.site], plan.sites[plan.pages[to].site]
    href = spelled(random, here.habit.spelling, there.host, plan.pages[to].path, here.host)
    return f'<a href="{escape(href)}">{inside if inside[:1] == "<" else escape(inside)}</a>'


def _listed(random: Random, plan: ImagePlan, page: ImagePage, to: int, anchor: str) -> str:
    """Return a link to a page with pictures, with a small version if the site has them."""
    small = ""
    if plan.sites[page.site].habit.thumbnails and plan.pages[to].shown:
        picture = plan.pictures[plan.pages[to].shown[0][0]]
        image = f'<img src="{SMALL}{picture.path}" width=48 height=40 alt="">'
        small = _link(random, plan, page, to, image)
    return f"<p>{small} {_link(random, plan, page, to, anchor)}</p>\n"


def _shown(
    random: Random, plan: ImagePlan, habit: Habit, page: ImagePage, picture: Picture, texts: Texts
) -> str:
    """Return a picture with its texts, in the layout of the site."""
    near = {place: escape(text) for place, text in texts.near.items()}
    host = plan.sites[picture.site].host
    source = picture.path if picture.site == page.site else f"http://{host}{picture.path}"
    image = _image(habit, source, picture, near)
    heading = f"<h3>{near['heading']}</h3>" if "heading" in near else ""
    below = near.get("caption", "")
    before, after = near.get("before", ""), near.get("after", "")
    paragraphs = [f"<p>{text}</p>" if text else "" for text in (before, after)]
    if habit.layout == "figure":
        caption = f"<figcaption>{below}</figcaption>" if below else ""
        return f"{heading}{paragraphs[0]}<figure>{image}{caption}</figure>{paragraphs[1]}\n"
    if below:
        below = f'<div class="caption">{below}</div>'
    if habit.layout == "row":
        return (
            f"{heading}<table><tr><td>{before}</td><td>{image}{below}</td><td>{after}</td></tr>"
            "</table>\n"
        )
    parts = f"{heading}{paragraphs[0]}{image}{below}{paragraphs[1]}"
    if habit.layout == "bare":
        return f"{parts}<hr>\n"
    tag = "div" if habit.layout == "card" else "section"
    return f"<{tag} class=work>{parts}</{tag}>\n"


def _image(habit: Habit, source: str, picture: Picture, near: dict[str, str]) -> str:
    words = f' alt="{near.get("alt", "")}"'
    if "title" in near:
        words += f' title="{near["title"]}"'
    size = f" width={picture.width} height={picture.height}"
    if habit.loading == "lazy":
        return f'<img class=lazy src="{_BLANK}" data-src="{source}"{words}{size}>'
    if habit.loading == "srcset" and picture.path in source[: len(picture.path)]:
        return f'<img src="{SMALL}{source}" srcset="{SMALL}{source} 48w, {source} 200w"{words}>'
    if habit.loading == "picture":
        return f'<picture><source srcset="{source}"><img src="{source}"{words}{size}></picture>'
    return f'<img src="{source}"{words}{size}>'
