"""How the memory of a harvest grows in a web of ever new hosts.

    python benchmarks/memory_growth.py [--requests 100000] [--every 5000] [--folder DIR] [OPTION …]

A proxy serves hosts without end, each of its own domain, with a robots.txt, an index, three pages
and two Turtle documents; each index links to four hosts that nobody named before, and to one that
does not answer. ``semcrawl harvest`` runs with a pace of 0 and the given options, such as
``-s NAME=VALUE``, until it has sent that many requests. A line shows, after every so many requests
to the server, the resident memory of its process, that of its reading processes, and the pace.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from semcrawl.loopback import read_head

#: hosts that there are: so many that nearly each that is named is a new one
_HOSTS = 10**9
WORDS = "data set page list paper note record open linked term place person group field".split()


def answer(host: str, path: str) -> tuple[str, str, bytes]:
    """Return the status, the type and the body of a page of the made web."""
    number = int(host.removeprefix("made").partition(".")[0])
    if path == "/robots.txt":
        return "200 OK", "text/plain", b"User-agent: *\nDisallow: /private/\n"
    if path == "/":
        return "200 OK", "text/html", _index(number)
    if path.endswith(".html"):
        return "200 OK", "text/html", _page(number, path)
    if path.endswith(".ttl"):
        return "200 OK", "text/turtle", f'<#it> <#path> "{path}" ; <#of> "{host}" .\n'.encode()
    return "404 Not Found", "text/html", b""


def _index(number: int) -> bytes:
    words = random.Random(number)
    own = [f"/{words.choice(WORDS)}/{page}.html" for page in range(3)]
    own += [f"/{words.choice(WORDS)}/{document}.ttl" for document in range(2)]
    others = [f"http://made{words.randrange(_HOSTS)}.org/" for _ in range(4)]
    items = "".join(
        f'<li>{words.choice(WORDS)} <a href="{link}">the {words.choice(WORDS)}</a></li>'
        for link in [*own, *others, f"http://made{number}-gone.org/x.ttl"]
    )
    return f"<title>Host {number}</title><ul>{items}</ul>".encode()


def _page(number: int, path: str) -> bytes:
    words = random.Random(f"{number}{path}")
    return f"<title>{path}</title><p>{' '.join(words.choices(WORDS, k=60))}</p>".encode()


def serve(port: Synchronized[int], asked: Synchronized[int]) -> None:
    """Serve the web for ever as a proxy; count the requests."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await read_head(reader):
                asked.value += 1
                host, _, path = head[1].removeprefix("http://").partition("/")
                if "-gone" in host:
                    break
                status, kind, body = answer(host, "/" + path)
                writer.write(
                    f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n".encode()
                    + body
                )
        except (ConnectionError, ValueError):
            pass
        finally:
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        port.value = server.sockets[0].getsockname()[1]
        await server.serve_forever()

    asyncio.run(main())


def resident(pid: int) -> tuple[int, int]:
    """Return the resident bytes of a process, and of its children together."""
    children = [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    own, *others = (_kilobytes(each) * 1024 for each in (pid, *children))
    return own, sum(others)


def _kilobytes(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    line = next((line for line in status.splitlines() if line.startswith("VmRSS:")), "VmRSS: 0")
    return int(line.split()[1])


def main(arguments: list[str]) -> None:
    """Run the crawl and print the curve."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--every", type=int, default=5_000)
    parser.add_argument("--folder", type=Path)
    told, options = parser.parse_known_args(arguments)
    port, asked = multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)
    multiprocessing.Process(target=serve, args=(port, asked), daemon=True).start()
    while not port.value:
        time.sleep(0.01)
    with tempfile.TemporaryDirectory() as temporary:
        crawl = [sys.executable, "-m", "semcrawl", "harvest", "http://made0.org/"]
        crawl += ["--out", str(told.folder or Path(temporary) / "out"), "--scope", "any", *options]
        crawl += ["-s", "SEMCRAWL_CRAWL_DELAY=0", "-s", f"SEMCRAWL_PAGES={told.requests}"]
        environment = os.environ | {"http_proxy": f"http://127.0.0.1:{port.value}"}
        process = subprocess.Popen(
            crawl, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        print(f"{'requests':>10} {'resident':>10} {'readers':>10} {'a second':>9}", flush=True)
        due, before, then = told.every, 0, time.monotonic()
        while process.poll() is None:
            if asked.value >= due:
                now, count = time.monotonic(), asked.value
                own, others = resident(process.pid)
                pace = (count - before) / (now - then)
                print(
                    f"{count:>10,} {own / 1e6:>7.0f} MB {others / 1e6:>7.0f} MB {pace:>9.0f}",
                    flush=True,
                )
                due, before, then = due + told.every, count, now
            time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1:])
