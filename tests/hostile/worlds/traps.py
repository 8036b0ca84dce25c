"""Places without end: calendars, session ids, deep paths, redirects."""

from __future__ import annotations

import zlib

from harvest.runs import Run
from rdflib import RDFS

from hostile.good import HTML, QUADS, TURTLE, turtle
from hostile.measures import gaps
from hostile.run import DEFAULT_DELAY, World
from hostile.server import WebServer
from hostile.worlds.answers import at, document, page
from semcrawl.lab.demo.model import Handler, Request, Stream
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


async def wild(request: Request, out: Stream) -> None:
    """A document on any host, which names ten new hosts of the same domain."""
    if request.path == "/robots.txt":
        await out.whole(404, [], b"")
        return
    # with the port, where there is one
    name, _, domain = request.headers["host"].partition(".")
    links = "".join(
        f"<#it> <{RDFS.seeAlso}> <http://{name}{n}.{domain}{path}> .\n"
        for n in range(10)
        for path in [request.path]
    )
    await out.whole(200, TURTLE, turtle(request.path) + links.encode())


def _domain_pace(run: Run, server: WebServer) -> list[str]:
    """The hosts of the domain together keep the delay of one."""
    times = [asked.time for asked in server.log if asked.host.endswith(".wild.example")]
    short = [gap for gap in gaps(times) if gap < DEFAULT_DELAY - 0.05]
    return [f"{len(short)} of {len(times)} requests to one domain came too soon"] if short else []


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
    World(
        "a wildcard domain",
        "each document links to ten new hosts of its domain, whose documents are sound",
        {"*.wild.example": wild},
        [("w.wild.example", "/x.ttl")],
        {"*.wild.example/*": {"fetched-rdf", "interrupted"}},
        delay=DEFAULT_DELAY,
        also=_domain_pace,
    ),
    World(
        "a wildcard domain, direct",
        "the same, all at one address that counts as public",
        {"*.wild.example": wild},
        [("w.wild.example", "/x.ttl")],
        {"*.wild.example/*": {"fetched-rdf", "interrupted"}},
        delay=DEFAULT_DELAY,
        also=_domain_pace,
        direct=True,
    ),
)
