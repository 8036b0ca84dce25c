"""Lists of many megabytes: bounded in memory, and recorded in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harvest.runs import asked, start_harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream

D = "http://d.example"
SIZE = 50 * 2**20
#: bytes of memory of a crawl that reads one: without any, it takes some 180 MB
MOST = 700 * 2**20

pytestmark = pytest.mark.slow


def json_linkset(size: int) -> bytes:
    items = (f'{{"href": "{D}/i/{n:07}", "type": "text/turtle"}}' for n in range(size // 57))
    return f'{{"linkset": [{{"item": [{", ".join(items)}]}}]}}'.encode()


def text_linkset(size: int) -> bytes:
    links = (f'<{D}/i/{n:07}>; rel="item"; type="text/turtle"' for n in range(size // 62))
    return ",\n".join(links).encode()


def sitemap(size: int) -> bytes:
    pages = (f"<url><loc>{D}/i/{n:07}</loc></url>\n" for n in range(size // 53))
    start = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return f"{start}{''.join(pages)}</urlset>".encode()


def memory(pid: int) -> int:
    """Resident bytes of a process and of its children now."""
    found = 0
    for folder in (Path(f"/proc/{pid}"), *children(pid)):
        try:
            text = (folder / "status").read_text()
        except OSError:
            continue
        found += int(text.partition("VmRSS:")[2].split()[0]) * 1024 if "VmRSS:" in text else 0
    return found


def children(pid: int) -> list[Path]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [Path(f"/proc/{child}") for child in text.split()]


@pytest.mark.parametrize(
    ("make", "size", "media_type", "outcome", "words"),
    [
        (json_linkset, SIZE, "application/linkset+json", "fetched-list", "is not read"),
        (text_linkset, SIZE, "application/linkset", "fetched-list", "is not read"),
        (json_linkset, SIZE // 4, "application/linkset+json", "fetched-list", "only the first"),
        (sitemap, SIZE, "application/xml", "fetched-sitemap", "the rest is not read"),
    ],
)
def test_a_list_of_many_megabytes_is_bounded_and_told_of(
    tmp_path: Path,
    make: Callable[[int], bytes],
    size: int,
    media_type: str,
    outcome: str,
    words: str,
) -> None:
    body = make(size)

    async def site(request: Request, out: Stream) -> None:
        if request.path == "/robots.txt":
            named = f"Sitemap: {D}/big\n" if make is sitemap else "#"
            await out.whole(200, [("Content-Type", "text/plain")], named.encode())
        elif request.path == "/":
            signpost = ("Link", '</big>; rel="linkset"')
            await out.whole(200, [("Content-Type", "text/html"), signpost], b"<p>x")
        elif request.path == "/big":
            await out.whole(200, [("Content-Type", media_type)], body)
        else:
            await out.whole(404, [("Content-Type", "text/plain")], b"nothing\n")

    with serve(DemoWeb(), handlers={"d.example": site}) as server:
        run = start_harvest(
            *(f"{D}/", "--fast", "-q", "--pages", "6"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
            guesses=True,
        )
        most = 0
        while run.process.poll() is None:
            most = max(most, memory(run.process.pid))
        done = run.wait()
    done.is_calm()
    (record,) = [record for record in done.records if record["url"] == f"{D}/big"]
    assert record["outcome"] == outcome
    assert words in record["errors"]
    assert 0 < most < MOST


def test_indexes_that_name_each_other_are_read_once_each(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def site(request: Request, out: Stream) -> None:
        named = {"/sitemap.xml": ["/a.xml", "/sitemap.xml"], "/a.xml": ["/b.xml", "/sitemap.xml"]}
        named["/b.xml"] = ["/a.xml", "/b.xml", "/sitemap.xml"]
        if found := named.get(request.path):
            parts = "".join(f"<sitemap><loc>{D}{name}</loc></sitemap>" for name in found)
            body = f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{parts}'
            kind, text = "application/xml", body + "</sitemapindex>"
        else:
            kind, text = "text/html", "<p>x"
        await out.whole(200, [("Content-Type", kind)], text.encode())

    with serve(DemoWeb(), log=log, handlers={"d.example": site}) as server:
        start_harvest(
            *(f"{D}/", "--fast", "-q"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
            guesses=True,
        ).wait().is_calm()
    sent = asked(log)
    assert {path: n for path, n in sent.items() if path.endswith(".xml")} == {
        f"d.example/{name}": 1 for name in ("sitemap.xml", "a.xml", "b.xml")
    }
