"""Sites with RDF files here and there among much that has none."""

from __future__ import annotations

from .site import WORDS, MadeSite, slug


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
