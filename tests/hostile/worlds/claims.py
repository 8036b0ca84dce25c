"""Pages that name what is not theirs: private addresses, graphs of others, ever more names."""

from __future__ import annotations

import json
from pathlib import Path

import pyoxigraph as ox
from harvest.runs import Run

from hostile.good import HTML, QUADS
from hostile.measures import gaps
from hostile.run import World
from hostile.server import WebServer
from hostile.worlds.answers import at, document, fixed, missing, page

PRIVATE = [
    *("127.0.0.1", "localhost", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254"),
    *("0.0.0.0", "100.64.0.1", "224.0.0.1", "[::1]", "[fd00::1]", "[fe80::1]", "[ff02::1]"),
    *("[::ffff:127.0.0.1]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]"),
    *("[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "2130706433", "0x7f.1", "127.1", "0177.0.0.1"),
    *("0x7f000001", "printer.local", "db.internal", "router.home.arpa"),
]
UNTOUCHED = ox.Quad(
    ox.NamedNode("urn:a"), ox.NamedNode("urn:b"), ox.Literal("c"), ox.NamedNode("urn:untouched")
)
_EMBEDDED = json.dumps(
    {"@id": "urn:untouched", "@graph": [{"@id": "urn:x", "http://p.example/p": "taken over"}]}
)
_TRIG = b'<urn:untouched> { <urn:x> <http://p.example/p> "taken over" . }\n'
_NQUADS = b'<urn:x> <http://p.example/p> "taken over" <urn:untouched> .\n'
#: names on one address, and the most requests that it may get in any second
NAMES, MOST_A_SECOND = 60, 12


def fill_store(folder: Path, server: WebServer) -> None:
    """Put somebody else's graph into the store of the crawl."""
    place = folder / "out" / "store"
    place.mkdir(parents=True)
    store = ox.Store(str(place))
    store.add(UNTOUCHED)
    store.flush()


def _store_untouched(run: Run, server: WebServer) -> list[str]:
    store = ox.Store.read_only(str(run.folder / "store"))
    found = list(store.quads_for_pattern(None, None, None, ox.NamedNode("urn:untouched")))
    return [] if found == [UNTOUCHED] else [f"a page changed somebody else's graph: {found}"]


def _private_unasked(run: Run, server: WebServer) -> list[str]:
    own = {host.strip("[]") for host in PRIVATE} | {"127.0.0.1"}
    asked = {entry.host for entry in server.log} - server.handlers.keys()
    found = sorted(host for host in asked if host in own or not host.endswith(".example"))
    return [f"private addresses were asked for: {found}"] if found else []


def _address_spared(run: Run, server: WebServer) -> list[str]:
    times = sorted(entry.time for entry in server.log if entry.host.startswith("name"))
    most = max(sum(start <= t < start + 1 for t in times) for start in times)
    least = min(gaps(times))
    if most > MOST_A_SECOND:
        return [f"one address got {most} requests in a second (least gap {least * 1000:.1f} ms)"]
    return []


NAMED = [f"name{number}.example" for number in range(NAMES)]

WORLDS = (
    World(
        "foreign graphs",
        "a page, TriG and N-Quads that name a graph of somebody else's in the triple store",
        {
            "claims.example": at(
                {
                    "/": fixed(
                        f'<script type="application/ld+json">{_EMBEDDED}</script>'
                        '<a href="/x.trig">x</a><a href="/x.nq">y</a>'.encode(),
                        *HTML,
                    ),
                    "/x.trig": fixed(_TRIG, ("Content-Type", "application/trig")),
                    "/x.nq": fixed(_NQUADS, ("Content-Type", "application/n-quads")),
                }
            )
        },
        [("claims.example", "/")],
        {"claims.example/": {"fetched-html"}, "claims.example/*": {"fetched-rdf"}},
        options=("-s", "SEMCRAWL_STORE_URL=embedded"),
        ends=True,
        prepare=fill_store,
        also=_store_untouched,
    ),
    World(
        "private addresses",
        f"a page that links to data and pages on {len(PRIVATE)} private addresses and names",
        {
            "door.example": at(
                {
                    "/": page(
                        f"http://{host}{path}" for host in PRIVATE for path in ("/", "/x.ttl")
                    ),
                    "/moved": fixed(b"", ("Location", "http://169.254.169.254/x.ttl"), status=302),
                },
            )
        },
        [("door.example", "/"), ("door.example", "/moved")],
        {
            "door.example/": {"fetched-html"},
            "door.example/moved": {"redirected", "out-of-scope", "address-refused"},
            "[!dgr]*": {"address-refused"},
        },
        options=("--scope", "any"),
        ends=True,
        also=_private_unasked,
    ),
    World(
        "60 names, one address",
        "60 names that lead to one address, a document each",
        dict.fromkeys(NAMED, at({"/x.ttl": document}, missing)),
        [(host, "/x.ttl") for host in NAMED],
        {"name*.example/x.ttl": {"fetched-rdf"}},
        sound={f"{host}/x.ttl": QUADS for host in NAMED},
        direct=True,
        addresses=dict.fromkeys(NAMED, "127.78.0.1"),
        options=("-s", "SEMCRAWL_PACE_PRIVATE_ADDRESSES=True"),
        ends=True,
        also=_address_spared,
    ),
)
