# ruff: noqa: E501 - markup reads better on one line
"""A site under construction, and what its pages are made of."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

from semcrawl.lab.worlds import Answer
from semcrawl.web.vocabulary import Kind

WORDS = (
    "river house model data light stone paper garden music engine planet market table cloud bird "
    "forest signal letter winter copper harbour method theory family ladder window island castle "
    "report guide query store graph node index value report history people project event study "
    "north south green silver water metal ocean valley summer spring circle frame mirror record"
).split()
HOST = "site.example"
RDF_TYPES = {
    "rdf": "application/rdf+xml", "owl": "application/rdf+xml", "ttl": "text/turtle",
    "nt": "application/n-triples", "n3": "text/n3", "nq": "application/n-quads",
    "jsonld": "application/ld+json", "json": "application/json", "xml": "application/xml",
}  # fmt: skip


@dataclass
class MadeSite:
    """A site under construction, then a world."""

    kind: str
    seed: int
    base: str = "/"
    host: str = HOST
    pages: dict[str, str] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)
    other: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    endless: Callable[[str], str | None] | None = None
    nav: str = ""
    foot: str = ""

    def __post_init__(self) -> None:
        self.random = random.Random(f"{self.kind} {self.seed}")
        self.start = self.url("")

    def url(self, path: str) -> str:
        """Absolute URL of a path below the site's base."""
        return f"http://{self.host}{self.base}{path}"

    def page(self, path: str, title: str, body: str, head: str = "") -> None:
        """Add a page."""
        self.pages[self.url(path)] = self.html(title, body, head)

    def html(self, title: str, body: str, head: str = "") -> str:
        """Markup of a page with the site's frame around it."""
        return (
            f'<html><head><title>{escape(title)}</title><link rel="stylesheet" href="{self.base}s.css">'
            f'<link rel="icon" href="{self.base}i.png">{head}</head><body><div id="header"><ul class="nav">'
            f'{self.nav}</ul></div><div class="content"><h1>{escape(title)}</h1>{body}</div>'
            f'<div id="footer">{self.foot}</div></body></html>'
        )

    def rdf(self, path: str, kind: str = "") -> str:
        """Add an RDF document; return its path from the root."""
        self.data[self.url(path)] = kind or RDF_TYPES.get(path.rpartition(".")[2], "text/turtle")
        return self.base + path

    def words(self, low: int, high: int) -> str:
        """Some random words."""
        return " ".join(self.random.choices(WORDS, k=self.random.randint(low, high)))

    def menu(self, *items: tuple[str, str]) -> None:
        """Set the links that every page has on top."""
        self.nav = "".join(f"<li>{self.a(p, t)}</li>" for p, t in items)

    def a(self, path: str, text: str, **attributes: str) -> str:
        """Markup of a link."""
        more = "".join(f' {k.rstrip("_")}="{escape(v)}"' for k, v in attributes.items())
        href = path if "://" in path else self.base + path
        return f'<a href="{escape(href)}"{more}>{escape(text)}</a>'

    def prose(self, links: list[str], sentences: int = 6) -> str:
        """Paragraphs with links somewhere in them."""
        parts = [self.words(6, 16) for _ in range(sentences)]
        for link in links:
            i = self.random.randrange(len(parts))
            parts[i] += f" {link} {self.words(3, 8)}"
        return "".join(f"<p>{p}.</p>" for p in parts)

    # -- as a world
    @property
    def name(self) -> str:
        """Kind and seed."""
        return f"{self.kind}.{self.seed}"

    @property
    def hosts(self) -> frozenset[str]:
        """Its only host."""
        return frozenset({self.host})

    @property
    def starts(self) -> tuple[str, ...]:
        """The start page."""
        return (self.start,)

    def robots(self, host: str) -> str:
        """There is none."""
        return ""

    def body(self, url: str) -> bytes:
        """The body of a page or document."""
        if url in self.pages:
            return self.pages[url].encode()
        if url in self.data:
            return b"@prefix x: <urn:x> . # " + url.encode()
        made = self.endless(url) if self.endless and url not in self.other else None
        return (made or "").encode()

    def fetch(self, url: str) -> Answer:
        """Answer a URL."""
        if url in self.moved:
            return Answer(301, location=self.moved[url])
        if url in self.data:
            return Answer(200, self.data[url], Kind.RDF, document=url)
        if url in self.other:
            return Answer(200, self.other[url], Kind.OTHER, document=url)
        if url in self.pages or (self.endless and self.endless(url)):
            return Answer(200, "text/html", Kind.HTML, document=url)
        return Answer(404, "text/html")


def slug(s: MadeSite) -> str:
    """A name that no other page has, most likely."""
    return "-".join(s.random.choices(WORDS, k=2)) + f"-{s.random.randrange(9999)}"


def coin(name: str, kind: str) -> bool:
    """Whether a coin shows heads; the same for the same words, whatever the seed."""
    return random.Random(name + kind).random() < 0.5
