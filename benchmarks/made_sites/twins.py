# ruff: noqa: E501 - markup reads better on one line
"""Sites where every page of a thing has an RDF document of its own."""

from __future__ import annotations

from .site import WORDS, MadeSite, slug


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
