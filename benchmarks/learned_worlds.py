# ruff: noqa: E501 - markup reads better on one line
"""Made-up sites of many kinds, to try the order of a crawl on sites nobody tuned for.

Every kind is a function of a random generator; the same seed gives the same site. Pages are
real HTML, so that link extraction is part of the trial.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

from semcrawl.evaluation.world import Answer
from semcrawl.urls import netloc_of
from semcrawl.vocabulary import Kind

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
    return "-".join(s.random.choices(WORDS, k=2)) + f"-{s.random.randrange(9999)}"


def catalogue(s: MadeSite) -> None:
    """Lists of items, each item with its RDF twin by rel=alternate."""
    items = [slug(s) for _ in range(s.random.randint(150, 500))]
    s.menu(
        ("", "Home"),
        ("items/", "Items"),
        ("about.html", "About"),
        ("news/", "News"),
        ("help.html", "Help"),
    )
    s.foot = (
        s.a("imprint.html", "Imprint") + s.a("privacy.html", "Privacy") + s.a("logo.png", "Logo")
    )
    pages = [items[i : i + 25] for i in range(0, len(items), 25)]
    for n, part in enumerate(pages):
        rows = "".join(
            f"<tr><td>{s.a(f'item/{i}.html', i.replace('-', ' '))}</td><td>{s.words(2, 5)}</td></tr>"
            for i in part
        )
        pager = "".join(
            s.a(f"items/?page={k}", str(k)) for k in range(max(0, n - 2), min(len(pages), n + 3))
        )
        s.page(
            f"items/?page={n}" if n else "items/",
            "Items",
            f"<table>{rows}</table><div class=pager>{pager}</div>",
        )
    for i in items:
        s.rdf(f"item/{i}.rdf")
        more = "".join(s.a(f"item/{k}.html", "related") for k in s.random.sample(items, 3))
        s.page(
            f"item/{i}.html",
            i,
            s.prose([more]),
            f'<link rel="alternate" type="application/rdf+xml" href="{s.base}item/{i}.rdf">',
        )
    news = [slug(s) for _ in range(80)]
    s.page("news/", "News", "".join(f"<li>{s.a(f'news/{n}.html', n)}</li>" for n in news))
    for n in news:
        s.page(
            f"news/{n}.html", n, s.prose([s.a(f"news/{s.random.choice(news)}.html", "see also")])
        )
    for p in ("about.html", "help.html", "imprint.html", "privacy.html"):
        s.page(p, p, s.prose([]))
    s.page("", "Welcome", s.prose([s.a(f"item/{i}.html", i) for i in items[:5]]))


def prose_docs(s: MadeSite) -> None:
    """Documentation of an RDF tool: the words are everywhere, the files on few pages."""
    sections = ["tutorials", "documentation", "download", "about", "query", "io", "api", "notes"]
    s.menu(*[(f"{x}/", x.title()) for x in sections])
    paths = [
        f"{x}/{'rdf-' if s.random.random() < 0.2 else ''}{slug(s)}.html"
        for x in sections
        for _ in range(s.random.randint(8, 40))
    ]
    chosen = set(s.random.sample(paths, 8))
    javadoc = [f"javadoc/org/{s.random.choice(WORDS)}/{slug(s)}.html" for _ in range(200)]
    for p in paths:
        folder = p.split("/")[0]
        near = [q for q in paths if q.startswith(folder)]
        found = [s.a(q, s.words(1, 3)) for q in s.random.sample(near, min(4, len(near)))]
        found += [s.a(q, "RDF " + s.words(1, 2)) for q in s.random.sample(paths, 2)]
        found += [s.a(s.random.choice(javadoc), "class")] * (s.random.random() < 0.5)
        found += [s.a(f"{folder}/gone-{slug(s)}.html", s.words(1, 2))] * (s.random.random() < 0.3)
        if p in chosen:
            for _ in range(s.random.randint(1, 4)):
                found.append(
                    s.a(
                        s.rdf(
                            f"{folder}/data/{slug(s)}.{s.random.choice(['ttl', 'rdf', 'nt'])}"
                        ).removeprefix(s.base),
                        s.random.choice(["this file", "data file", "example", "sample.ttl"]),
                    )
                )
        s.page(p, p, s.prose(found, 10))
    for x in sections:
        near = [q for q in paths if q.startswith(x + "/")]
        s.page(
            f"{x}/",
            x,
            "<ul>" + "".join(f"<li>{s.a(q, s.words(2, 4))}</li>" for q in near) + "</ul>",
        )
        s.moved[s.url(x)] = s.url(f"{x}/")
    for j in javadoc:
        s.page(j, j, s.prose([s.a(k, "method") for k in s.random.sample(javadoc, 5)]))
    s.page("", "RDF toolkit", s.prose([s.a(x, x) for x in sections]))


def handmade(s: MadeSite) -> None:
    """Old pages by hand: directories that list files, notes, code, broken links to elsewhere."""
    s.base = "/2001/05/kit/"
    s.start = s.url("Overview.html")
    folders = [f"{w}/" for w in s.random.sample(WORDS, 9)]
    for f in folders:
        files = []
        for _ in range(s.random.randint(0, 12)):
            p = f"{f}{slug(s)}.{s.random.choice(['n3', 'n3', 'rdf', 'py', 'txt', 'ps'])}"
            if p.endswith((".n3", ".rdf")) and s.random.random() < 0.85:
                s.rdf(p)
            files.append(p)
        notes = [f"{f}{slug(s)}" for _ in range(s.random.randint(1, 5))]
        for n in notes:
            body = s.prose(
                [s.a(s.random.choice(files), "in N3")] if files and s.random.random() < 0.4 else []
            )
            s.page(f"{n}.html", n, body)
            s.pages[s.url(n)] = s.pages[s.url(f"{n}.html")]
        s.page(
            f,
            f,
            "".join(f"<li>{s.a(p, p.split('/')[1])} {s.words(2, 6)}</li>" for p in files)
            + s.prose(
                [s.a(n, s.words(1, 2)) for n in notes]
                + [s.a(n + ".html", "doc") for n in notes[:2]]
            ),
        )
    out = [f"http://{s.host}/{w}/" for w in s.random.sample(WORDS, 25)] + [
        f"http://{s.host}/TR/rdf-{w}/" for w in WORDS[:6]
    ]
    s.page(
        "Overview.html",
        "Kit",
        s.prose([s.a(f, f) for f in folders] + [s.a(o, s.words(1, 3)) for o in out], 20),
    )


def needle(s: MadeSite) -> None:
    """A handful of data files in a large magazine."""
    posts = [
        f"{s.random.randint(2003, 2019)}/{s.random.randint(1, 12):02}/{slug(s)}/"
        for _ in range(2200)
    ]
    tags = [f"tag/{w}/" for w in WORDS]
    s.menu(
        ("", "Home"),
        ("archive/", "Archive"),
        ("about/", "About"),
        ("projects/", "Projects"),
        ("contact/", "Contact"),
    )
    for p in posts:
        s.page(
            p,
            p,
            s.prose(
                [s.a(q, s.words(2, 5)) for q in s.random.sample(posts, 4)]
                + [s.a(t, t) for t in s.random.sample(tags, 3)]
            ),
        )
    for t in tags:
        s.page(
            t, t, "".join(f"<li>{s.a(q, s.words(2, 5))}</li>" for q in s.random.sample(posts, 30))
        )
    s.page(
        "archive/",
        "Archive",
        "".join(s.a(t, t) for t in tags) + "".join(s.a(p, p) for p in posts[:100]),
    )
    s.page("about/", "About", s.prose([s.a(s.rdf("about/foaf.rdf").removeprefix(s.base), "foaf")]))
    projects = [f"projects/{w}/" for w in s.random.sample(WORDS, 8)]
    s.page("projects/", "Projects", "".join(f"<li>{s.a(p, p)}</li>" for p in projects))
    for p in projects[:3]:
        s.page(
            p,
            p,
            s.prose(
                [
                    s.a(s.rdf(f"{p}schema.owl").removeprefix(s.base), "schema"),
                    s.a(f"{p}data.zip", "archive"),
                ]
            ),
        )
    for p in projects[3:]:
        s.page(p, p, s.prose([]))
    s.page("contact/", "Contact", s.prose([]))
    s.page("", "Magazine", s.prose([s.a(p, s.words(2, 5)) for p in posts[:30]], 12))


def extensionless(s: MadeSite) -> None:
    """Linked data without file names: /page/x leads to /data/x; /resource/x moves to /page/x."""
    things = [
        s.words(1, 2).title().replace(" ", "_") + str(i) for i in range(s.random.randint(150, 400))
    ]
    s.menu(("", "Home"), ("directory/", "Directory"), ("sparql", "SPARQL"), ("snorql/", "Snorql"))
    for t in things:
        s.rdf(f"data/{t}", "text/turtle")
        s.moved[s.url(f"resource/{t}")] = s.url(f"page/{t}")
        rows = "".join(
            f"<tr><td>{s.words(1, 1)}</td><td>{s.a(f'resource/{k}', k)}</td></tr>"
            for k in s.random.sample(things, 6)
        )
        s.page(
            f"page/{t}",
            t,
            f"<table>{rows}</table><p>{s.a(f'data/{t}', 'As Turtle' if s.seed % 2 else 'raw')}</p>",
        )
    s.page("directory/", "All", "".join(s.a(f"directory/{w}", w) for w in WORDS[:12]))
    for w in WORDS[:12]:
        s.page(
            f"directory/{w}",
            w,
            "".join(f"<li>{s.a(f'resource/{t}', t)}</li>" for t in s.random.sample(things, 40)),
        )
    s.page("snorql/", "Snorql", s.prose([]))
    s.page("", "Things", s.prose([s.a(f"page/{t}", t) for t in things[:10]]))


def csv_pages(s: MadeSite) -> None:
    """Pages named like tables, each with JSON metadata that has a context."""
    names = [slug(s) for _ in range(s.random.randint(80, 250))]
    groups = [f"group-{w}" for w in WORDS[:10]]
    s.menu(("", "Home"), ("files.html", "Files"), ("config.json", "config"))
    for n in names:
        s.rdf(f"file/{n}.csv-metadata.json")
        s.page(
            f"file/{n}.csv",
            n,
            f"<p>{s.a(f'file/{n}.csv-metadata.json', 'metadata')} {s.a(f'raw/{n}.csv', 'download')}</p>"
            + s.prose([]),
        )
        s.other[s.url(f"raw/{n}.csv")] = "text/csv"
    for g in groups:
        s.page(
            f"{g}.html",
            g,
            "".join(f"<li>{s.a(f'file/{n}.csv', n)}</li>" for n in s.random.sample(names, 30)),
        )
    s.page(
        "files.html",
        "Files",
        "".join(s.a(f"{g}.html", g) for g in groups)
        + "".join(s.a(f"help/{w}.html", w) for w in WORDS[:30]),
    )
    for w in WORDS[:30]:
        s.page(f"help/{w}.html", w, s.prose([s.a(f"help/{v}.html", v) for v in WORDS[:5]]))
    s.page("", "Tables", s.prose([s.a(f"{g}.html", g) for g in groups[:3]]))


def wiki(s: MadeSite) -> None:
    """A semantic wiki: articles, talk, history, special pages; export as RDF by article."""
    names = [
        s.words(1, 2).title().replace(" ", "_") + f"_{i}" for i in range(s.random.randint(150, 350))
    ]
    s.menu(
        ("wiki/Main_Page", "Main page"),
        ("wiki/Special:RecentChanges", "Recent changes"),
        ("wiki/Special:AllPages", "All pages"),
        ("wiki/Special:Random", "Random"),
    )
    for n in names:
        tools = (
            s.a(f"wiki/Talk:{n}", "Discussion")
            + s.a(f"index.php?title={n}&action=edit", "Edit")
            + s.a(f"index.php?title={n}&action=history", "History")
            + s.a(f"wiki/Special:WhatLinksHere/{n}", "What links here")
            + s.a(f"wiki/Special:ExportRDF/{n}", "RDF feed")
        )
        s.rdf(f"wiki/Special:ExportRDF/{n}", "application/rdf+xml")
        s.page(
            f"wiki/{n}",
            n,
            s.prose([s.a(f"wiki/{k}", k) for k in s.random.sample(names, 6)])
            + f"<div id=tools>{tools}</div>",
        )
        for p in (
            f"index.php?title={n}&action=edit",
            f"index.php?title={n}&action=history",
            f"wiki/Special:WhatLinksHere/{n}",
        ):
            s.page(
                p,
                p,
                s.prose(
                    [
                        s.a(f"index.php?title={n}&oldid={s.random.randrange(9999)}", "old")
                        for _ in range(4)
                    ]
                ),
            )
        if s.random.random() < 0.3:
            s.page(
                f"wiki/Talk:{n}",
                n,
                s.prose([s.a(f"wiki/User:{w}", w) for w in s.random.sample(WORDS, 2)]),
            )
    s.page("wiki/Special:AllPages", "All", "".join(s.a(f"wiki/{n}", n) for n in names[:100]))
    s.page(
        "wiki/Special:RecentChanges",
        "Recent",
        "".join(s.a(f"index.php?title={n}&diff={i}", "diff") for i, n in enumerate(names[:50])),
    )
    s.page("wiki/Main_Page", "Main", s.prose([s.a(f"wiki/{n}", n) for n in names[:8]]))
    s.page("", "Wiki", s.prose([s.a("wiki/Main_Page", "Main Page")]))


def bibliography(s: MadeSite) -> None:
    """Publications by year and author; some entries have RDF beside BibTeX and PDF."""
    years = range(1995, 1995 + s.random.randint(8, 16))
    authors = s.random.sample(WORDS, 40)
    s.menu(("", "Home"), ("year/", "Years"), ("author/", "Authors"), ("search.php", "Search"))
    every = []
    for y in years:
        mine = [f"pub/{y}/{slug(s)}" for _ in range(s.random.randint(8, 40))]
        every += mine
        s.page(
            f"year/{y}.html",
            str(y),
            "".join(
                f"<li>{s.a(p + '.html', s.words(3, 7))} [{s.a(p + '.bib', 'BibTeX')}] [{s.a(p + '.pdf', 'PDF')}]</li>"
                for p in mine
            ),
        )
    for p in every:
        rdf = s.random.random() < 0.5
        links = [s.a(p + ".bib", "bib"), s.a(f"author/{s.random.choice(authors)}.html", "author")]
        if rdf:
            links.append(s.a(s.rdf(p + ".rdf").removeprefix(s.base), "RDF"))
        s.other[s.url(p + ".bib")] = "text/plain"
        s.page(p + ".html", p, s.prose(links))
    s.page("year/", "Years", "".join(s.a(f"year/{y}.html", str(y)) for y in years))
    s.page("author/", "Authors", "".join(s.a(f"author/{x}.html", x) for x in authors))
    for x in authors:
        s.page(
            f"author/{x}.html",
            x,
            "".join(
                f"<li>{s.a(p + '.html', s.words(3, 6))}</li>" for p in s.random.sample(every, 12)
            ),
        )
    s.page("", "Library", s.prose([s.a("year/", "by year"), s.a("author/", "by author")]))


def ontologies(s: MadeSite) -> None:
    """Vocabularies under /ns/ with versions, serialisations and a page for every term."""
    s.menu(("", "Home"), ("ns/", "Vocabularies"), ("blog/", "Blog"), ("team/", "Team"))
    names = s.random.sample(WORDS, 14)
    for n in names:
        terms = [s.words(1, 1).title() + str(i) for i in range(s.random.randint(5, 40))]
        versions = [f"{v}.{k}" for v in (1, 2) for k in range(s.random.randint(1, 4))]
        for v in ["", *(f"{v}/" for v in versions)]:
            files = [
                s.rdf(f"ns/{n}/{v}{n}.{e}")
                for e in s.random.sample(["owl", "ttl", "nt", "jsonld", "rdf"], 3)
            ]
            body = "".join(
                f'<dd><a href="{f}">{f.rpartition(".")[2].upper()}</a></dd>' for f in files
            )
            body += "".join(s.a(f"ns/{n}/{k}/", k) for k in versions)
            body += "".join(s.a(f"ns/{n}/{t}", t) for t in terms) if not v else ""
            s.page(f"ns/{n}/{v}", f"{n} {v}", body + s.prose([]))
            s.moved[s.url(f"ns/{n}/{v}".rstrip("/"))] = s.url(f"ns/{n}/{v}")
        for t in terms:
            s.page(
                f"ns/{n}/{t}",
                t,
                s.prose(
                    [s.a(f"ns/{n}/{k}", k) for k in s.random.sample(terms, 3)] + [s.a(f"ns/{n}", n)]
                ),
            )
    s.page("ns/", "Vocabularies", "".join(s.a(f"ns/{n}", n) for n in names))
    posts = [slug(s) for _ in range(150)]
    s.page("blog/", "Blog", "".join(s.a(f"blog/{p}", p) for p in posts))
    for p in posts:
        s.page(f"blog/{p}", p, s.prose([s.a(f"blog/{s.random.choice(posts)}", "ontology news")]))
    s.page("team/", "Team", s.prose([]))
    s.page("", "Vocabularies", s.prose([s.a("ns/", "our vocabularies")]))


def deep_pages(s: MadeSite) -> None:
    """A portal whose lists go on by 'next' only; every tenth entry has data."""
    total = 900
    s.menu(("", "Home"), ("list?p=1", "Entries"), ("faq", "Questions"), ("login", "Log in"))
    for n in range(total // 15):
        ids = range(n * 15, n * 15 + 15)
        rows = "".join(
            f"<div class=row>{s.a(f'entry/{i}', s.words(2, 4))}<span>{'dataset' if i % 10 == 3 else 'article'}</span></div>"
            for i in ids
        )
        s.page(
            f"list?p={n + 1}",
            "List",
            rows + s.a(f"list?p={n + 2}", "next") + s.a("list?p=1", "first"),
        )
        for i in ids:
            body = (
                s.a(s.rdf(f"download/{i}.nt").removeprefix(s.base), "download")
                if i % 10 == 3
                else s.a(f"print/{i}", "print")
            )
            s.page(
                f"entry/{i}", "entry", s.prose([body, s.a(f"entry/{(i * 7) % total}", "similar")])
            )
            s.page(f"print/{i}", "entry", s.prose([]))
    s.page("faq", "Questions", s.prose([]))
    s.page("", "Portal", s.prose([s.a("list?p=1", "all entries")]))


def json_context(s: MadeSite) -> None:
    """Items with a JSON twin that has a context, beside JSON that has none."""
    n = s.random.randint(100, 300)
    s.menu(
        ("", "Home"), ("browse/", "Browse"), ("assets/config.json", "config"), ("api.html", "API")
    )
    for i in range(n):
        s.rdf(f"item/{i}.json")
        s.page(
            f"item/{i}/",
            f"Item {i}",
            s.prose(
                [
                    s.a(f"item/{i}.json", "JSON"),
                    s.a(f"assets/map-{i}.json", "map"),
                    s.a(f"item/{(i * 3) % n}/", "near"),
                ]
            ),
        )
        s.other[s.url(f"assets/map-{i}.json")] = "application/json"
    for k in range(0, n, 20):
        s.page(
            f"browse/{k}/" if k else "browse/",
            "Browse",
            "".join(s.a(f"item/{i}/", f"item {i}") for i in range(k, min(n, k + 20)))
            + s.a(f"browse/{k + 20}/", "more"),
        )
    s.page("api.html", "API", s.prose([]))
    s.page("", "Items", s.prose([s.a("browse/", "browse")]))


def portal(s: MadeSite) -> None:
    """A data portal in two languages: distributions in many formats, some of them RDF."""
    names = [slug(s) for _ in range(s.random.randint(100, 250))]
    s.menu(("en/", "English"), ("de/", "Deutsch"), ("en/showcase/", "Showcase"))
    for lang in ("en", "de"):
        for n in names:
            links = [
                s.a(f"files/{n}.{e}", e.upper(), class_="resource")
                for e in ("csv", "xlsx", "zip")
                if hash_bit(n, e)
            ]
            if hash_bit(n, "rdf"):
                links.append(
                    s.a(s.rdf(f"files/{n}.ttl").removeprefix(s.base), "TTL", class_="resource")
                )
            s.page(
                f"{lang}/dataset/{n}",
                n,
                s.prose([*links, s.a(f"{lang}/organisation/{WORDS[len(n)]}", "publisher")]),
            )
        for k, w in enumerate(WORDS[:20]):
            s.page(
                f"{lang}/group/{w}",
                w,
                "".join(f"<h3>{s.a(f'{lang}/dataset/{n}', n)}</h3>" for n in names[k::20]),
            )
            s.page(f"{lang}/showcase/{w}", w, s.prose([]))
        for w in WORDS:
            s.page(f"{lang}/organisation/{w}", w, s.prose([]))
        s.page(f"{lang}/", lang, "".join(s.a(f"{lang}/group/{w}", w) for w in WORDS[:20]))
        s.page(
            f"{lang}/showcase/", lang, "".join(s.a(f"{lang}/showcase/{w}", w) for w in WORDS[:20])
        )
    s.page("", "Portal", s.a("en/", "English") + s.a("de/", "Deutsch"))


def hash_bit(name: str, kind: str) -> bool:
    return random.Random(name + kind).random() < 0.5


def thesaurus(s: MadeSite) -> None:
    """Concepts with broader and narrower ones; bare paths as anchors; a twin per concept."""
    n = s.random.randint(120, 400)
    s.menu(("", "start"), ("az", "A-Z"), ("contact", "contact"))
    for i in range(n):
        s.rdf(f"c/{i}.ttl")
        near = [k for k in (i * 2 + 1, i * 2 + 2, (i - 1) // 2) if 0 <= k < n]
        s.page(
            f"c/{i}",
            str(i),
            "".join(f"<li>{s.a(f'c/{k}', f'/c/{k}')}</li>" for k in near)
            + s.a(f"c/{i}.ttl", f"/c/{i}.ttl")
            + s.a(f"c/{i}.svg", "graph")
            + s.a(f"c/{i}/comments", "comments"),
        )
        s.page(f"c/{i}/comments", "comments", s.prose([]))
    s.page("az", "A-Z", "".join(s.a(f"az/{c}", c) for c in "abcdefghij"))
    for k, c in enumerate("abcdefghij"):
        s.page(f"az/{c}", c, "".join(s.a(f"c/{i}", f"/c/{i}") for i in range(k, n, 10)))
    s.page("contact", "contact", s.prose([]))
    s.page("", "start", s.a("c/0", "top concept"))


def traps(s: MadeSite) -> None:
    """An endless calendar, session ids and a faceted shop beside people with FOAF files."""
    people = [slug(s) for _ in range(120)]
    s.menu(
        ("", "Home"),
        ("people/", "People"),
        ("calendar/2012/5", "Calendar"),
        ("shop?sort=name", "Shop"),
        ("forum/?sid=0a1b2c", "Forum"),
    )
    for p in people:
        body = (
            [s.a(s.rdf(f"people/{p}/foaf.rdf").removeprefix(s.base), "FOAF")]
            if hash_bit(p, "foaf")
            else []
        )
        s.page(
            f"people/{p}/",
            p,
            s.prose([*body, s.a(f"people/{s.random.choice(people)}/", "colleague")]),
        )
    s.page("people/", "People", "".join(f"<li>{s.a(f'people/{p}/', p)}</li>" for p in people))
    s.page("", "Institute", s.prose([]))

    def endless(url: str) -> str | None:
        path = url.removeprefix(s.url(""))
        if path == url:
            return None
        if path.startswith("calendar/"):
            try:
                y, m = (int(x) for x in path.split("/")[1:3])
            except ValueError:
                return None
            links = "".join(s.a(f"calendar/{y}/{m}/{d}", str(d)) for d in range(1, 29))
            return s.html(
                "Calendar",
                links
                + s.a(f"calendar/{y + m // 12}/{m % 12 + 1}", "next")
                + s.a(f"calendar/{y - 1}/{m}", "last year"),
            )
        if path.startswith("shop?"):
            r = random.Random(path)
            have = path.split("?")[1].split("&")
            links = "".join(
                s.a(
                    "shop?" + "&".join([*have[-4:], f"{r.choice(WORDS)}={r.choice(WORDS)}"]),
                    "filter",
                )
                for _ in range(15)
            )
            return s.html("Shop", links + s.a(f"shop/product-{r.randrange(9**5)}", "product"))
        if path.startswith("shop/product-"):
            return s.html("Product", s.a(f"shop?sort={path[-2:]}", "more"))
        if path.startswith("forum/"):
            r = random.Random(path)
            links = "".join(
                s.a(
                    f"forum/{r.choice(['topic', 'user'])}{r.randrange(50)}?sid={r.randbytes(8).hex()}",
                    "topic",
                )
                for _ in range(12)
            )
            return s.html("Forum", links)
        return None

    s.endless = endless


KINDS: dict[str, Callable[[MadeSite], None]] = {
    f.__name__: f
    for f in (
        catalogue, prose_docs, handmade, needle, extensionless, csv_pages, wiki, bibliography,
        ontologies, deep_pages, json_context, portal, thesaurus, traps,
    )
}  # fmt: skip


def make(kind: str, seed: int = 0, host: str = HOST) -> MadeSite:
    """A site of one of :data:`KINDS`; every third seed lies below a folder of its host."""
    site = MadeSite(kind, seed, "/project/" if seed % 3 == 2 else "/", host)
    KINDS[kind](site)
    return site


class MixedWorld:
    """Several sites, each on its own host and with its own seed."""

    def __init__(self, name: str, sites: Sequence[MadeSite]) -> None:
        self.name = name
        self._sites = {site.host: site for site in sites}

    @property
    def hosts(self) -> frozenset[str]:
        """All their hosts."""
        return frozenset(self._sites)

    @property
    def starts(self) -> tuple[str, ...]:
        """All their start pages."""
        return tuple(site.start for site in self._sites.values())

    def robots(self, host: str) -> str:
        """There is none."""
        return ""

    def body(self, url: str) -> bytes:
        """The body of a page or document."""
        return self._sites[netloc_of(url)].body(url)

    def fetch(self, url: str) -> Answer:
        """Answer a URL."""
        return self._sites[netloc_of(url)].fetch(url)
