"""Kinds of pages and of links (sources.md S), as evidence of a site's cluster of topics.

A page is a *hub*, which lists other sites, an *index*, which lists pages of its own, *content*, or
something else. A link leads *up*, *down* or *across* on its host, *out* to another host of the same
domain, or to a *foreign* domain. Links inside a page are none, as fragments are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from semcrawl.links.model import MAX_TEXT, Link
from semcrawl.links.pagetexts import joined, texts_in
from semcrawl.web.hosts import host_of, pay_level_domain
from semcrawl.web.urls import Resolver

#: beginnings of the cues with the kind of a link's page, and of the link
PAGE, LINK = "page:", "link:"
#: least links of a list, and least characters of content besides them
_LIST, _CONTENT = 10, 600
#: characters of a page's text, and links, that are counted
_MOST_TEXT, _MOST_LINKS = 20_000, 500


class PageKind(StrEnum):
    """What a page is for."""

    HUB = "hub"  #: most of ten links or more lead to other domains
    INDEX = "index"  #: ten links or more, which have most of its text
    CONTENT = "content"  #: 600 characters or more beside its links
    OTHER = "other"


class LinkKind(StrEnum):
    """Where a link leads, seen from its page."""

    UP = "up"  #: to a folder above the page's
    DOWN = "down"  #: to the page's folder or below
    ACROSS = "across"  #: elsewhere on the host
    OUT = "out"  #: to another host of the domain
    FOREIGN = "foreign"


def link_kind(page: str, target: str) -> LinkKind:
    """Return the kind of a link.

    >>> link_kind("http://a.example/x/y", "http://a.example/z")
    <LinkKind.UP: 'up'>
    """
    here, there = urlsplit(page), urlsplit(target)
    if here.netloc != there.netloc:
        same = pay_level_domain(host_of(page)) == pay_level_domain(host_of(target))
        return LinkKind.OUT if same else LinkKind.FOREIGN
    folder, to = (parts.path.rpartition("/")[0] + "/" for parts in (here, there))
    if to.startswith(folder):
        return LinkKind.DOWN
    return LinkKind.UP if folder.startswith(to) else LinkKind.ACROSS


def page_kind(root: Any, url: str, resolver: Resolver) -> PageKind:
    """Return the kind of a parsed page."""
    targets: set[str] = set()
    linked = 0
    for element in root.iter("a"):
        target = resolver.resolve(element.get("href") or "")
        linked += len(joined(texts_in(element), MAX_TEXT))
        if target is not None and target != url:
            targets.add(target)
            if len(targets) >= _MOST_LINKS:
                break
    if len(targets) >= _LIST:
        foreign = sum(link_kind(url, target) is LinkKind.FOREIGN for target in targets)
        if 2 * foreign > len(targets):
            return PageKind.HUB
    besides = len(joined(texts_in(root), _MOST_TEXT)) - linked
    if len(targets) >= _LIST and besides < linked:
        return PageKind.INDEX
    return PageKind.CONTENT if besides >= _CONTENT else PageKind.OTHER


def with_kinds(links: Sequence[Link], page: str, kind: PageKind) -> list[Link]:
    """Return links with cues for their own kind and that of their page."""
    return [
        replace(link, cues=f"{PAGE}{kind} {LINK}{link_kind(page, link.url)} {link.cues}".strip())
        for link in links
    ]
