"""Places without end: calendars, session ids, deep paths, redirects."""

from __future__ import annotations

import zlib

from hostile.good import HTML, QUADS
from hostile.run import World
from hostile.worlds.answers import at, document, page
from semcrawl.demo.stream import Handler, Request, Stream
from tests.faults import FAULTS, answer_fault


async def deep(request: Request, out: Stream) -> None:
    """Send a page whose relative links go deeper and deeper."""
    links = "".join(f'<a href="{name}/">{name}</a> ' for name in ("a", "b", "c"))
    path = request.path.rstrip("/")
    await out.whole(200, HTML, f"<title>{path}</title>{links}".encode())


async def filters(request: Request, out: Stream) -> None:
    """Send the same list in ever more orders and with ever more filters."""
    number = zlib.crc32(request.path.encode())
    base = request.path + ("&" if "?" in request.path else "?")
    links = "".join(f'<a href="{base}f{number + n}={n}">filter</a> ' for n in range(8))
    await out.whole(200, HTML, f"<title>List</title>{links}".encode())


async def bounce(request: Request, out: Stream) -> None:
    """Redirect to the next host and the next number, without end."""
    host = int(request.host.removeprefix("bounce").partition(".")[0])
    number = int(request.path.strip("/") or 0)
    target = f"http://bounce{(host + 1) % 3}.example/{number + 1}"
    await out.whole(302, [("Location", target)], b"")


def _beside_a_document(path: str, trap: Handler) -> Handler:
    return at({"/": page([path, "/x.ttl"]), "/x.ttl": document}, trap)


_TARPITS = ("calendar", "labyrinth", "deep", "filters")
_LOOPS = ("redirect-loop", "redirect-forever", "redirect-nowhere", "redirect-oddly")

WORLDS = (
    World(
        "tarpits",
        "an endless calendar, session ids, deep paths, filters; a sound document beside each",
        {
            "calendar.example": _beside_a_document("/calendar/24000", FAULTS["calendar"]),
            "labyrinth.example": _beside_a_document("/labyrinth/1", FAULTS["labyrinth"]),
            "deep.example": _beside_a_document("/a/", deep),
            "filters.example": _beside_a_document("/list", filters),
        },
        [(f"{name}.example", "/") for name in _TARPITS],
        {
            "*/x.ttl": {"fetched-rdf"},
            **{f"{name}.example/*": {"fetched-html"} for name in _TARPITS},
        },
        sound={f"{name}.example/x.ttl": QUADS for name in _TARPITS},
    ),
    World(
        "redirects",
        "loops, chains without end on one host and over three, targets of no use",
        {
            "loops.example": answer_fault,
            **{f"bounce{number}.example": at({}, bounce) for number in range(3)},
        },
        [*(("loops.example", f"/{name}") for name in _LOOPS), ("bounce0.example", "/0")],
        {
            "loops.example/*": {"redirected", "http-error", "out-of-scope"},
            "bounce*.example/*": {"redirected", "out-of-scope", "http-error"},
        },
        ends=True,
    ),
)
