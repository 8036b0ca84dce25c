"""Several worlds as one, behind a page that links to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from semcrawl.lab.worlds import HTML_TYPE, Answer, World
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import Kind


class Portal:
    """Worlds of different hosts, with a portal whose only page names and links to each.

    ``title`` is what the page is called, ``names`` what it calls the worlds.
    """

    def __init__(
        self, name: str, worlds: Sequence[World], names: Sequence[str], title: str = "Portal"
    ) -> None:
        self.name = name
        self._worlds = {host: world for world in worlds for host in world.hosts}
        self._home = f"http://{name}.example/"
        items = "".join(
            f'<li><a href="{escape(start)}">{escape(text)}</a></li>\n'
            for world, text in zip(worlds, names, strict=True)
            for start in world.starts
        )
        title = escape(title)
        self._page = (
            f"<!DOCTYPE html>\n<html><head><title>{title}</title></head><body>\n"
            f"<h1>{title}</h1>\n<ul>\n{items}</ul>\n</body></html>\n"
        ).encode()

    @property
    def hosts(self) -> frozenset[str]:
        """Those of the worlds, and the portal's."""
        return frozenset({*self._worlds, netloc_of(self._home)})

    @property
    def starts(self) -> tuple[str, ...]:
        """The portal's page."""
        return (self._home,)

    def robots(self, host: str) -> str:
        """Return the robots.txt of the world that has the host."""
        world = self._worlds.get(host)
        return world.robots(host) if world is not None else ""

    def fetch(self, url: str) -> Answer:
        """Answer with the portal's page, or ask the world that has the host."""
        world = self._worlds.get(netloc_of(url))
        if world is not None:
            answer = world.fetch(url)
            # (a document is known by its path in the world)
            named = f"{netloc_of(url)} {answer.document}" if answer.document else ""
            return replace(answer, document=named)
        if url == self._home:
            return Answer(200, HTML_TYPE, Kind.HTML, document=url)
        return Answer(404, HTML_TYPE)

    def body(self, url: str) -> bytes:
        """Bytes of the portal's page, or of the world's."""
        world = self._worlds.get(netloc_of(url))
        if world is not None:
            return world.body(url)
        return self._page if url == self._home else b""
