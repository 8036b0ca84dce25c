# ruff: noqa: E501 - markup reads better on one line
"""Sites of long lists, of whose entries only some have RDF."""

from __future__ import annotations

from .site import WORDS, MadeSite, coin, slug


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


def portal(s: MadeSite) -> None:
    """A data portal in two languages: distributions in many formats, some of them RDF."""
    names = [slug(s) for _ in range(s.random.randint(100, 250))]
    s.menu(("en/", "English"), ("de/", "Deutsch"), ("en/showcase/", "Showcase"))
    for lang in ("en", "de"):
        for n in names:
            links = [
                s.a(f"files/{n}.{e}", e.upper(), class_="resource")
                for e in ("csv", "xlsx", "zip")
                if coin(n, e)
            ]
            if coin(n, "rdf"):
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
