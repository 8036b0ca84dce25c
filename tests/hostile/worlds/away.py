"""Hosts that go away and come back, and hosts that block us."""

from __future__ import annotations

import asyncio

from harvest.runs import Run

from hostile import good
from hostile.good import HTML, TEXT, host
from hostile.measures import wait
from hostile.run import World
from hostile.server import WebServer
from hostile.worlds.answers import at, document, fixed, page
from semcrawl.lab.demo.model import Handler, Request, Stream

_LATER = {"fetched-rdf", "fetched-html", "network-error", "host-down", "timeout"}
_DOCUMENTS = [f"/{number}.ttl" for number in range(80)]
#: requests that a host answers before it blocks us, and that it may get from then on
_UNTIL, _MOST_AFTER = 20, 20


async def some_hosts_away(server: WebServer) -> None:
    """Three good hosts refuse connections for 4 s."""
    hosts = [host(number) for number in range(3)]
    await asyncio.to_thread(_wait_until_begun, server)
    await server.go_away(*hosts)
    await asyncio.sleep(4)
    await server.come_back(*hosts)


async def network_away(server: WebServer) -> None:
    """Nothing can be reached for 4 s."""
    await asyncio.to_thread(_wait_until_begun, server)
    await server.go_away()
    await asyncio.sleep(4)
    await server.come_back()


def _wait_until_begun(server: WebServer) -> None:
    """Wait until the crawl is in full swing."""
    wait(lambda: len(server.log) >= 4 * good.HOSTS, 60)


def block() -> Handler:
    """A host that answers 403 to everything once it was asked so often."""
    answer = at(
        {"/robots.txt": fixed(b"User-agent: *\nCrawl-delay: 0.05\n", *TEXT), "/": page(_DOCUMENTS)},
        document,
    )
    asked = 0

    async def answer_or_refuse(request: Request, out: Stream) -> None:
        nonlocal asked
        # a crawl begins with it
        asked = 1 if request.path == "/robots.txt" else asked + 1
        await (answer if asked <= _UNTIL else fixed(b"<p>Go away.</p>", *HTML, status=403))(
            request, out
        )

    return answer_or_refuse


def _asked_after_block(run: Run, server: WebServer) -> list[str]:
    refused = [asked for asked in server.log if asked.status == 403]
    found = []
    if len(refused) > _MOST_AFTER:
        found.append(f"a host that blocks us was asked {len(refused)} times more")
    if "block.example" not in run.out + run.err:
        found.append("the summary does not name the host that blocks us")
    return found


# Hosts are away for 4 s, and as long again at most until a rest that grows with the outage is over.
WORLDS = (
    World(
        "hosts away",
        "three of the good hosts refuse connections for 4 s",
        {},
        [],
        {f"{host(number)}/*": _LATER for number in range(3)},
        direct=True,
        ends=True,
        away=4.0 + 4.0,
        during=some_hosts_away,
    ),
    World(
        "network away",
        "nothing can be reached for 4 s",
        {},
        [],
        {"good*.example/*": _LATER},
        direct=True,
        ends=True,
        away=4.0 + 4.0,
        during=network_away,
    ),
    World(
        "a block",
        "a host with 80 documents answers 403 to everything from the 20th request on",
        {"block.example": block()},
        [("block.example", "/")],
        {"block.example/*": {"fetched-rdf", "fetched-html", "http-error", "host-down"}},
        also=_asked_after_block,
    ),
)
