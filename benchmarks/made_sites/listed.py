"""A site whose sitemaps list 100,000 addresses, of which 200 are RDF; few pages link to any."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from semcrawl.lab.worlds import Answer
from semcrawl.web.vocabulary import Kind

from .site import WORDS

HOST = "listed.example"
#: addresses of one sitemap at most, as the protocol has it
_MOST = 50_000


@dataclass
class ListedSite:
    """Home page, index of sitemaps, sitemaps, and what these list."""

    seed: int = 0
    entries: int = 100_000
    targets: int = 200
    #: whether RDF is among the addresses; else it is a site of pages
    kinds: dict[str, Kind] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(f"listed {self.seed}")
        self._pages()
        self._documents()
        urls = list(self.kinds)
        self._random.shuffle(urls)
        urls.sort(key=lambda url: url.split("/")[3])
        sitemaps = [urls[at : at + _MOST] for at in range(0, len(urls), _MOST)]
        for number, part in enumerate(sitemaps):
            lines = "".join(f"<url><loc>{url}</loc>{self._date()}</url>" for url in part)
            self.files[f"http://{HOST}/sitemap-{number}.xml"] = f"<urlset>{lines}</urlset>".encode()
        index = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in self.files)
        self.files[f"http://{HOST}/sitemap.xml"] = f"<sitemapindex>{index}</sitemapindex>".encode()

    def _date(self) -> str:
        r = self._random
        return f"<lastmod>{r.randint(2015, 2025)}-{r.randint(1, 12):02}-01</lastmod>"

    def _word(self) -> str:
        return "-".join(self._random.choices(WORDS, k=3)) + f"-{self._random.randrange(10**6)}"

    def _add(self, share: float, make: Callable[[int], str], kind: Kind = Kind.HTML) -> None:
        for i in range(round(share)):
            self.kinds[f"http://{HOST}{make(i)}"] = kind

    def _pages(self) -> None:
        r, n, word = self._random, self.entries - self.targets, self._word
        self._add(
            n * 0.3, lambda i: f"/news/{r.randint(2000, 2025)}/{r.randint(1, 12):02}/{word()}"
        )
        self._add(n * 0.2, lambda i: f"/people/{word()}/")
        self._add(n * 0.1, lambda i: f"/products/{r.choice(WORDS)}/{i}.html")
        self._add(n * 0.1, lambda i: f"/products/{r.choice(WORDS)}/{i}/reviews")
        self._add(n * 0.1, lambda i: f"/tag/{word()}")
        self._add(n * 0.05, lambda i: f"/forum/thread.php?id={i}&page={r.randint(1, 9)}")
        self._add(n * 0.05, lambda i: f"/records/{i}/view")
        self._add(n * 0.05, lambda i: f"/docs/{r.choice(WORDS)}/{r.choice(WORDS)}/{word()}.html")
        self._add(self.entries - self.targets - len(self.kinds), lambda i: f"/{word()}")

    def _documents(self) -> None:
        """Some in places of their own, some among pages, no extension tells any."""
        n, word, choice = self.targets, self._word, self._random.choice
        self._add(n * 0.4, lambda i: f"/records/{i * 7}/export", Kind.RDF)
        self._add(n * 0.3, lambda i: f"/authority/{word()}", Kind.RDF)
        self._add(n * 0.2, lambda i: f"/products/{choice(WORDS)}/{i * 9}/facts", Kind.RDF)
        self._add(self.targets * 0.1, lambda i: f"/people/{word()}/card", Kind.RDF)

    # -- as a world
    name = property(lambda self: f"listed.{self.seed}")
    hosts = frozenset({HOST})
    starts = (f"http://{HOST}/",)

    def robots(self, host: str) -> str:
        """There is none."""
        return ""

    def body(self, url: str) -> bytes:
        """The body of a sitemap, a page or a document."""
        if url in self.files:
            return self.files[url]
        if self.kinds.get(url) is Kind.RDF:
            return b"@prefix x: <urn:x> . # " + url.encode()
        links = '<a href="/">home</a><a href="/about">about</a>' if url else ""
        return f"<html><body><h1>{url}</h1>{links}</body></html>".encode()

    def fetch(self, url: str) -> Answer:
        """Answer a URL."""
        if url in self.files:
            return Answer(200, "application/xml", Kind.OTHER, document=url)
        if url in self.kinds or url in (*self.starts, f"http://{HOST}/about"):
            kind = self.kinds.get(url, Kind.HTML)
            return Answer(
                200, "text/turtle" if kind is Kind.RDF else "text/html", kind, document=url
            )
        return Answer(404, "text/html")
