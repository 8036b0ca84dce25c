"""Hosts that are slow, silent or dead."""

from __future__ import annotations

import asyncio
import json

from hostile.good import QUADS
from hostile.run import DEFAULT_DELAY, World
from hostile.worlds.answers import at, document, drip, drip_text, fixed, missing, page, silence
from semcrawl.lab.demo.model import Handler, Request, Stream
from tests.faults import FAULTS

LATE = {"timeout", "network-error", "host-down", "interrupted", "too-slow"}
DRIPPING = [f"drip{number}.example" for number in range(20)]
CONTEXTS = [f"context{number}.example" for number in range(20)]
SILENT = [f"silent{number}.example" for number in range(20)]
TURNING = [f"turn{number}.example" for number in range(16)]
WAITING = [f"seed{number}.example" for number in range(500)]
EMPTY = [f"h{number}.empty.example" for number in range(2000)]
HANDSHAKES = [f"tls{number}.example" for number in range(10)]
RESETTING = [f"reset{number}.example" for number in range(10)]


async def no_handshake(request: Request, out: Stream) -> None:
    """Answer the beginning of a TLS connection with noise, or not at all."""
    await out.head(200, [])
    if int(request.host.removeprefix("tls").partition(".")[0]) % 2:
        await asyncio.Event().wait()
    await out.body(b"\x16\x03\x01 and so on")
    out.closing = True


#: the one world whose good hosts come late: nobody knows that they are better than those in front
SILENT_SEEDS = "500 silent seeds"


def turning(otherwise: Handler) -> Handler:
    """A host whose page and first documents are sound; then it turns bad."""
    links = page(f"/{number}.ttl" for number in range(30))
    return at({"/": links, **{f"/{number}.ttl": document for number in range(3)}}, otherwise)


def _with_context(number: int) -> bytes:
    document = {
        "@context": f"http://{CONTEXTS[number]}/context.jsonld",
        "@id": f"http://papers.example/{number}.jsonld#it",
        "http://purl.org/dc/terms/title": "A paper",
    }
    return json.dumps(document).encode()


#: hosts of a page's own, of 2,000 domains
_MANY = [[f"m{page}x{n}.d{n % 2000}.example" for n in range(10_000)] for page in range(10)]
_UNAVAILABLE = fixed(b"", status=503)
_FACULTY = [f"/{number}.ttl" for number in range(30)]
_JSON_LD = ("Content-Type", "application/ld+json")
_PAPERS = [f"/{number}.jsonld" for number in range(len(CONTEXTS))]

WORLDS = (
    World(
        "dripping robots.txt",
        "one host sends its robots.txt a byte each half second; 5 seeds there",
        {"drip.example": at({"/robots.txt": drip_text}, missing)},
        [("drip.example", f"/{number}") for number in range(5)],
        {"drip.example/*": {*LATE, "robots-denied"}},
    ),
    World(
        "20 dripping hosts",
        "each sends its pages a byte each half second; 3 seeds on each",
        dict.fromkeys(DRIPPING, at({}, drip)),
        [(host, f"/{number}") for number in range(3) for host in DRIPPING],
        {"drip*.example/*": LATE},
    ),
    World(
        "20 silent hosts",
        "each takes requests and never answers; 3 seeds on each",
        dict.fromkeys(SILENT, at({}, silence)),
        [(host, f"/{number}") for number in range(3) for host in SILENT],
        {"silent*.example/*": LATE},
    ),
    World(
        "16 hosts that turn to dripping",
        "each gives a page and three documents, and then sends a byte each half second",
        dict.fromkeys(TURNING, turning(drip)),
        [(host, "/") for host in TURNING],
        {"turn*.example/*": {"fetched-html", "fetched-rdf", *LATE}},
    ),
    World(
        "16 hosts that turn silent",
        "each gives a page and three documents, and then answers nothing",
        dict.fromkeys(TURNING, turning(silence)),
        [(host, "/") for host in TURNING],
        {"turn*.example/*": {"fetched-html", "fetched-rdf", *LATE}},
    ),
    World(
        SILENT_SEEDS,
        "500 hosts that never answer stand in front of the good ones",
        dict.fromkeys(WAITING, at({}, silence)),
        [(host, "/x.ttl") for host in WAITING],
        {"seed*.example/*": LATE},
    ),
    World(
        "20 slow contexts",
        "20 JSON-LD documents whose contexts are on dripping hosts",
        {
            "papers.example": at(
                {path: fixed(_with_context(n), _JSON_LD) for n, path in enumerate(_PAPERS)}
                | {"/": page(_PAPERS)}
            ),
            **dict.fromkeys(CONTEXTS, at({}, drip)),
        },
        [("papers.example", "/"), *(("papers.example", path) for path in _PAPERS)],
        {
            "papers.example/": {"fetched-html"},
            "papers.example/*": {"fetched-rdf", "parse-error"},
            "context*.example/*": LATE,
        },
        ends=True,
    ),
    World(
        "1,000 dead names",
        "a page that links to documents on 1,000 hosts that do not exist (0.05 s each)",
        {"list.example": at({"/": page(f"http://dead{n}.example/{n}.ttl" for n in range(1000))})},
        [("list.example", "/")],
        {"dead*.example/*": {"network-error", "host-down"}},
        direct=True,
        delay=DEFAULT_DELAY,
    ),
    World(
        "2,000 hosts without the data",
        "a page that links to documents on 2,000 hosts, each of its own domain, that answer 404",
        {"list.example": at({"/": page(f"http://bare{n}.example/x.ttl" for n in range(2000))})},
        [("list.example", "/")],
        {"bare*.example/*": {"http-error"}},
        delay=DEFAULT_DELAY,
    ),
    World(
        "2,000 hosts of one domain",
        "a page that links to 2,000 hosts of one domain, whose pages have nothing",
        {
            "list.example": at({"/": page(f"http://{host}/x.ttl" for host in EMPTY)}),
            **dict.fromkeys(EMPTY, at({}, page([], "Nothing here."))),
        },
        [("list.example", "/")],
        {"*.empty.example/*": {"fetched-html"}},
        delay=DEFAULT_DELAY,
    ),
    World(
        "1,000 hosts without robots.txt",
        "a page that links to documents on 1,000 hosts whose robots.txt is answered with 503",
        {
            "list.example": at({"/": page(f"http://closed{n}.example/x.ttl" for n in range(1000))}),
            **{f"closed{n}.example": _UNAVAILABLE for n in range(1000)},
        },
        [("list.example", "/")],
        {"closed*.example/*": {"robots-denied"}},
        delay=DEFAULT_DELAY,
    ),
    World(
        "pages of 10,000 hosts",
        "a host with ten pages, each with links to 10,000 hosts of their own, that answer 404",
        {
            "list.example": at(
                {
                    "/": page(f"/{number}.html" for number in range(len(_MANY))),
                    **{
                        f"/{number}.html": page(f"http://{host}/x.ttl" for host in hosts)
                        for number, hosts in enumerate(_MANY)
                    },
                }
            )
        },
        [("list.example", "/")],
        {"list.example/*": {"fetched-html", "interrupted"}, "m*.example/*": {"http-error"}},
        delay=DEFAULT_DELAY,
    ),
    World(
        "a silent host of a good domain",
        "a domain with 30 documents on one host, and links to 30 on another that keeps silent",
        {
            "www.uni.example": at(
                {"/": page([*_FACULTY, *(f"http://old.uni.example{path}" for path in _FACULTY)])}
                | dict.fromkeys(_FACULTY, document)
            ),
            "old.uni.example": at({}, silence),
        },
        [("www.uni.example", "/")],
        {"old.uni.example/*": LATE},
        sound={f"www.uni.example{path}": QUADS for path in _FACULTY},
    ),
    World(
        "60 unanswered names",
        "a page that links to hosts whose name servers keep silent (10 s each)",
        {"list.example": at({"/": page(f"http://x{n}.silent.example/x.ttl" for n in range(60))})},
        [("list.example", "/")],
        {"*.silent.example/*": {*LATE}},
        direct=True,
        silent={".silent.example": 10.0},
    ),
    World(
        "resets",
        "10 hosts that reset the connection before the answer or in it, or stop in the middle",
        dict.fromkeys(
            RESETTING,
            at({f"/{n}": FAULTS[n] for n in ("reset", "reset-in-body", "hang-in-body")}),
        ),
        [(h, f"/{n}") for n in ("reset", "reset-in-body", "hang-in-body") for h in RESETTING],
        {"reset*.example/*": LATE},
    ),
    World(
        "broken TLS",
        "10 hosts that answer the handshake with noise, or keep silent in it",
        dict.fromkeys(HANDSHAKES, no_handshake),
        [(f"https://{host}", "/") for host in HANDSHAKES],
        {"tls*.example/*": LATE},
    ),
)
