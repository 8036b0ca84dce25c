"""Good hosts: each has an index and a few documents, and answers at once."""

from __future__ import annotations

from semcrawl.lab.demo.model import Handler, Request, Stream

HTML = [("Content-Type", "text/html; charset=utf-8")]
TURTLE = [("Content-Type", "text/turtle")]
TEXT = [("Content-Type", "text/plain")]

HOSTS = 12
DOCUMENTS = 10
#: of each document
QUADS = 3


def host(number: int) -> str:
    return f"good{number}.example"


def paths() -> list[str]:
    """Where a host's documents are."""
    return [f"/data/{number}.ttl" for number in range(DOCUMENTS)]


async def answer(request: Request, out: Stream) -> None:
    """Answer for any of the good hosts."""
    if request.path == "/":
        items = "".join(f'<li><a href="{path}">data {path}</a></li>' for path in paths())
        await out.whole(200, HTML, f"<title>Data</title><ul>{items}</ul>".encode())
    elif request.path in paths():
        await out.whole(200, TURTLE, turtle(request.path))
    else:
        await out.whole(404, HTML, b"")


def turtle(path: str) -> bytes:
    return f'<#it> a <#Thing> ; <#path> "{path}" ; <#note> "sound" .\n'.encode()


def handlers() -> dict[str, Handler]:
    return {host(number): answer for number in range(HOSTS)}
