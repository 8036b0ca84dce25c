# ruff: noqa: E501 - markup reads better on one line
"""A site without end."""

from __future__ import annotations

import random

from .site import WORDS, MadeSite, coin, slug


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
            if coin(p, "foaf")
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
