"""The generated web of pictures as a world; pages and pictures are made on request.

The study on it crawls it three times, each time after the pictures of one subject.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from random import Random

from semcrawl.errors import UsageError
from semcrawl.evaluation.built import HTML_TYPE
from semcrawl.evaluation.imageweb.habits import Habit, Texts, canonical, spelled
from semcrawl.evaluation.imageweb.imageplans import ImagePage, ImagePlan, ImageWebSize, Picture
from semcrawl.evaluation.imageweb.subjects import SUBJECTS, Subject, sentence
from semcrawl.evaluation.world import Answer
from semcrawl.web.vocabulary import Kind

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
            from semcrawl.evaluation.imageweb import _drawing as drawing
        except ImportError as error:
            raise UsageError(
                "pictures are drawn by Pillow: pip install 'semcrawl[images]'"
            ) from error
        if wanted is None:
            return drawing.encoded(drawing.logo(self._fixed[plain]), "png")
        drawn = drawing.draw(
            wanted.subject, f"{self.plan.seed} {wanted.original}", wanted.width, wanted.height
        )
        if wanted.nearly:
            drawn = drawing.near_copy(drawn, f"{self.plan.seed} {wanted.number}")
        if picture is None:
            height = max(1, round(drawn.height * _SMALL_WIDTH / drawn.width))
            drawn = drawn.resize((_SMALL_WIDTH, height))
        return drawing.encoded(drawn, wanted.extension)

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
