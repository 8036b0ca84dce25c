"""A site with images of all kinds, and what a crawl for them left in its database."""

from __future__ import annotations

import random
import sqlite3

from harvest.runs import Run

from images.pictures import claimed, drawn, packed
from semcrawl.lab.demo.model import Request, Stream

D = "http://i.example"
HTML, PNG, TURTLE = "text/html", "image/png", "text/turtle"
PAGES = 16
OPTIONS = ("--targets", "images", "--fast")
LOGO = packed(drawn("green", "square", (150, 120)))
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
ODD = {
    "/bomb.png": (PNG, claimed(50_000, 50_000)),
    "/huge.png": (PNG, claimed(10_000, 10_000)),
    "/cut.jpg": ("image/jpeg", packed(drawn("navy"), "JPEG")[:-2000]),
    "/page.jpg": ("image/jpeg", b"<!DOCTYPE html><html><body><p>no image at all</p></body></html>"),
    "/noise.png": (PNG, bytes(range(256)) * 9),
    "/drawing": ("image/svg+xml", SVG),
    "/small.png": (PNG, packed(drawn(size=(20, 20)))),
    "/liar.png": (PNG, packed(drawn("teal"), "WEBP")),
    "/moves.gif": ("image/gif", packed(drawn("maroon"), "GIF", save_all=True,
                                       append_images=[drawn("olive")])),
    "/untyped": ("application/octet-stream", packed(drawn("gold", "square"))),
}  # fmt: skip
OUTCOMES = {
    "/bomb.png": "too-many-pixels",
    "/huge.png": "too-many-pixels",
    "/cut.jpg": "broken",
    "/noise.png": "no-image",
    "/drawing": "no-raster",
    "/small.png": "too-small",
    "/liar.png": "kept",
    "/moves.gif": "kept",
    "/untyped": "kept",
}


def picture(number: int, at: int) -> bytes:
    """Of each page's three, the second is a copy of the first one of the page before."""
    if at == 1:
        number, at = number - 1, 0
    made = random.Random(f"{number} {at}")
    colours = [f"#{made.randrange(1 << 24):06x}" for _ in range(2)]
    size = (made.randrange(120, 300), made.randrange(120, 300))
    return packed(drawn(colours[0], made.choice(["circle", "square"]), size, colours[1]))


def shown(number: int) -> str:
    blocks = "".join(
        f"<div><img src=/i/{number}-{at}.png alt='alt {number} {at}'>"
        f"<p>what {number} shows at {at}</p></div>"
        for at in range(3)
    )
    return f"<title>Page {number}</title><img src=/logo.png alt=logo>{blocks}<a href=/>home</a>"


async def site(request: Request, out: Stream) -> None:
    path = request.path
    status, kind, body = 200, HTML, b""
    if path == "/":
        links = [f"<a href=/p/{n}>{n}</a>" for n in range(PAGES)]
        body = " ".join([*links, "<a href=/odd>odd</a> <a href=/data.ttl>data</a>"]).encode()
    elif path.startswith("/p/") and path[3:].isdecimal():
        body = shown(int(path[3:])).encode()
    elif path == "/odd":
        body = "".join(f"<p>about {name}<img src={name}></p>" for name in ODD).encode()
        body += b"<img srcset='nonsense nonsense, , 3 x'><img src='data:image/png;base64,AAAA'>"
    elif path == "/data.ttl":
        kind = TURTLE
        body = (
            b"@prefix foaf: <http://xmlns.com/foaf/0.1/> . "
            b"<#it> foaf:name 'The thing' ; foaf:depiction </thing> ."
        )
    elif path == "/thing":
        kind, body = PNG, packed(drawn("indigo", "square", (333, 222)))
    elif path == "/logo.png":
        kind, body = PNG, LOGO
    elif path in ODD:
        kind, body = ODD[path]
    elif path.startswith("/i/"):
        number, at = path[3:-4].split("-")
        kind, body = PNG, picture(int(number), int(at))
    else:
        status, kind, body = 404, "text/plain", b"nothing here\n"
    await out.whole(status, [("Content-Type", kind)], body)


def rows(run: Run, query: str) -> list[tuple]:
    with sqlite3.connect(run.folder / "images.db") as database:
        return sorted(database.execute(query).fetchall())


def contents(run: Run) -> dict[str, list[tuple]]:
    """All that does not depend on the order in which things came."""
    return {
        "addresses": rows(run, "SELECT url, sha256, image_id IS NULL FROM image_address"),
        # (the pages of a logo are counted until it is known as one)
        "images": rows(run, "SELECT CASE WHEN dropped THEN 0 ELSE pages END, dropped FROM image"),
        "places": rows(
            run,
            "SELECT url, image_url, image_id IS NULL FROM image_place JOIN page"
            " ON page.id = page_id WHERE image_url NOT LIKE '%logo%'",
        ),
        "texts": rows(
            run,
            "SELECT place_id, text, kind, tag, distance, level FROM near_text WHERE text <> 'logo'",
        ),
        "visits": rows(run, "SELECT page_id, images_seen, links_seen, links_normalised FROM visit"),
        "links": rows(run, "SELECT source_id, target_id FROM page_link"),
    }
