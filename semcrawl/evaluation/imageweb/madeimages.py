"""The made web of pictures as a world: pages are rendered, and pictures drawn, when asked for."""

from __future__ import annotations

from semcrawl.errors import UsageError
from semcrawl.evaluation.built import HTML_TYPE
from semcrawl.evaluation.imageweb._imagepages import BANNER, BANNERS, LOGO, SMALL, render
from semcrawl.evaluation.imageweb.imageplans import ImagePage, ImagePlan, Picture
from semcrawl.evaluation.imageweb.spelling import canonical
from semcrawl.evaluation.imageweb.subjects import Subject
from semcrawl.evaluation.world import Answer
from semcrawl.web.vocabulary import Kind

_TYPES = {"png": "image/png", "jpg": "image/jpeg"}
#: width of a picture's small version in pixels
_SMALL_WIDTH = 48


class ImageWeb:
    """The sites of an :class:`ImagePlan`, for a crawl that is after the pictures of a subject."""

    #: what a crawl of it is after
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
        self._wanted = {f"picture {number}" for number in plan.originals(subject)}

    @property
    def hosts(self) -> frozenset[str]:
        """Two per site: each answers with ``www.`` as well."""
        names = [site.host for site in self.plan.sites]
        return frozenset((*names, *(f"www.{name}" for name in names)))

    @property
    def starts(self) -> tuple[str, ...]:
        """The homes of the hubs."""
        return tuple(self.url_of(site.home) for site in self.plan.sites[: self.plan.size.hubs])

    def url_of(self, page: int) -> str:
        """Return the address of a page."""
        return (
            f"http://{self.plan.sites[self.plan.pages[page].site].host}{self.plan.pages[page].path}"
        )

    def topical(self, document: str) -> bool:
        """Whether a document is a picture of the subject: the truth, which no crawl knows."""
        return document in self._wanted

    def picture_at(self, url: str) -> Picture | None:
        """Return the picture at an address; ``None`` for pages, logos and small versions."""
        return self._pictures.get(canonical(url))

    def robots(self, host: str) -> str:
        """There is none."""
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
        """Return the picture that an address has the small version of."""
        host, found, path = url.partition(f"{SMALL}/media/")
        return self._pictures.get(f"{host}/media/{path}") if found else None
