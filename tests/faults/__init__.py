"""Faulty resources of the host ``faults.example``: the faults of the web, by name.

Nothing of the demonstration web links here; tests ask for ``http://faults.example/NAME``. The
start page links to every resource that :data:`LINKED` names, and to a few sound documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from semcrawl.lab.demo.model import Handler, Request, Stream
from tests.faults import content, transport, traps
from tests.faults.sound import FAULT_HOST, HTML, TURTLE, TURTLE_TYPE

__all__ = ["FAULTS", "FAULTY", "FAULT_HOST", "GOOD_DOCUMENTS", "LINKED", "TURTLE", "answer_fault"]

#: number of sound Turtle documents, ``/good/0.ttl`` …, of two statements each
GOOD_DOCUMENTS = 5


def _by_name(*handlers: Handler) -> Mapping[str, Handler]:
    return {handler.__name__.replace("_", "-"): handler for handler in handlers}


#: Faults that end a fetch at once or within the limits on size.
LINKED: Mapping[str, Handler] = _by_name(
    transport.cut_body,
    content.cut_turtle,
    content.cut_rdfxml,
    content.html_as_turtle,
    content.turtle_as_html,
    content.turtle_as_image,
    content.turtle_untyped,
    content.image_as_rdf,
    transport.length_too_small,
    transport.length_nonsense,
    content.binary_html,
    content.wrong_encoding,
    content.unknown_encoding,
    traps.redirect_loop,
    traps.redirect_forever,
    traps.redirect_nowhere,
    traps.redirect_oddly,
    transport.reset,
    transport.reset_in_body,
    content.gzip_nonsense,
    transport.status_nonsense,
    content.empty,
)

#: Every fault, by the first segment of its path.
FAULTS: Mapping[str, Handler] = {
    **LINKED,
    **_by_name(
        transport.slow_drip,
        transport.hang,
        transport.hang_in_body,
        transport.huge,
        transport.huge_unannounced,
        transport.huge_html,
        content.gzip_bomb,
        traps.calendar,
        traps.labyrinth,
        transport.busy,
        content.many_links,
    ),
}


async def answer_fault(request: Request, out: Stream) -> None:
    """Answer for ``faults.example``: a fault by its name, the start page, or a sound document."""
    path = urlsplit(request.path).path
    name = path.split("/")[1]
    if name in FAULTS:
        await FAULTS[name](request, out)
    elif path == "/":
        await out.whole(200, HTML, _start_page())
    elif path == "/robots.txt":
        rules = b"User-agent: *\nDisallow:\nCrawl-delay: 0\n"
        await out.whole(200, [("Content-Type", "text/plain")], rules)
    elif name == "good":
        subject = f"<http://{FAULT_HOST}{path}#it>"
        lines = (
            f'{subject} <http://www.w3.org/2000/01/rdf-schema#label> "{path}" .\n'
            f"{subject} a <http://{FAULT_HOST}/good/0.ttl#Thing> .\n"
        )
        await out.whole(200, TURTLE_TYPE, lines.encode())
    else:
        await out.whole(404, HTML, b"<p>No such fault.</p>")


def _start_page() -> bytes:
    links = [f'<li><a href="/{name}">{name}</a></li>' for name in LINKED]
    links += [f'<li><a href="/good/{n}.ttl">sound</a></li>' for n in range(GOOD_DOCUMENTS)]
    return ("<title>Faults</title><ul>\n" + "\n".join(links) + "</ul>").encode()


#: what ``serve`` takes so that the host is there
FAULTY: Mapping[str, Handler] = {FAULT_HOST: answer_fault}
