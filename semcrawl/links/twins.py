"""Guesses the address of a document from that of its page, as others on the same host show.

A page ``/page/Fish`` that led to ``/data/Fish``, and another like it, suggest that ``/page/Bird``
has ``/data/Bird``. The document is then had without the page, or although the page does not link to
it. So few guesses are made at first, and more for each that was right: a quarter must be.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from semcrawl.links.model import GUESS, Link
from semcrawl.recent import Recent
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import path_of
from semcrawl.web.vocabulary import FoundBy

_DIGITS = re.compile(r"\d+")
#: least characters of a name that a page and its document share
_SHORTEST = 3
#: longest path that is compared
_LONGEST = 300
#: pages with a document of the same rule after which others are guessed
_EVIDENCE = 2
#: guesses before any was right, and further ones for each that was
_FIRST, _MORE = 2, 4
#: hosts of which something is known, and rules and addresses of a host that are remembered
_HOSTS, _RULES, _ADDRESSES = 100, 64, 2_000
#: addresses and guesses that are remembered
_KNOWN = 50_000


class Rule(NamedTuple):
    """What stands around the name that a page and its document share.

    The page is its path; so is the document, or its address if it is on another host.
    """

    #: the folder of the page, with digits folded
    place: str
    before: str
    after: str
    document_before: str
    document_after: str

    @classmethod
    def of(cls, page: str, document: str) -> Rule | None:
        """Return the rule of two paths; ``None`` if they share no name."""
        if max(len(page), len(document)) > _LONGEST or page == document:
            return None
        first, last = _name_of(page)
        best: Rule | None = None
        longest = _SHORTEST - 1
        for start in _starts(page):
            for end in _ends(page):
                name = page[start:end]
                if start > first or end < last or len(name) <= longest:
                    continue
                at = _find(document, name)
                if at >= 0:
                    before, after = document[:at], document[at + len(name) :]
                    best = cls(_place_of(page), page[:start], page[end:], before, after)
                    longest = len(name)
        if best is None or best[1:3] == best[3:]:
            return None
        return best

    def apply(self, page: str) -> str:
        """Return the path of a page's document; empty if the page is none of the rule's."""
        end = len(page) - len(self.after)
        name = page[len(self.before) : end]
        if (
            len(page) > _LONGEST
            or len(name) < _SHORTEST
            or not (page.startswith(self.before) and page.endswith(self.after))
            or name.endswith("/")
            or "." in name.rpartition("/")[2]
            or _place_of(page) != self.place
        ):
            return ""
        return f"{self.document_before}{name}{self.document_after}"


def _starts(path: str) -> list[int]:
    return [0, *(i + 1 for i, char in enumerate(path[:-1]) if char == "/")]


def _ends(path: str) -> list[int]:
    return [*(i for i, char in enumerate(path) if char in "./" and i), len(path)]


def _find(path: str, name: str) -> int:
    """Return where a name stands in a path as a whole; -1 if it does not."""
    at = path.find(name)
    while at >= 0:
        end = at + len(name)
        if (not at or path[at - 1] == "/") and (end == len(path) or path[end] in "./"):
            return at
        at = path.find(name, at + 1)
    return -1


def _name_of(path: str) -> tuple[int, int]:
    """Return where the name of a page begins and ends: that of the file, or of the folder."""
    end = len(path.removesuffix("/"))
    start = path.rfind("/", 0, end) + 1
    stem = path[start:end].partition(".")[0]
    if stem == "index" and start > 1:
        start = path.rfind("/", 0, start - 1) + 1
        return start, path.index("/", start)
    return start, start + len(stem)


def _place_of(path: str) -> str:
    return _DIGITS.sub("0", path[: _name_of(path)[0]])


@dataclass(slots=True)
class _Tried:
    """What became of the guesses of a rule."""

    rule: Rule
    evidence: int = 0
    asked: int = 0
    right: int = 0
    #: addresses of pages whose documents were not asked for yet
    waiting: deque[str] = field(default_factory=lambda: deque(maxlen=_ADDRESSES))


@dataclass(slots=True)
class _Host:
    rules: dict[Rule, _Tried] = field(default_factory=dict)
    #: addresses that rules are applied to once there are any
    addresses: Recent[str, None] = field(default_factory=lambda: Recent(_ADDRESSES))


class Twins:
    """What one process knows of pages and their documents. Not thread-safe."""

    def __init__(self) -> None:
        """Know nothing."""
        self._hosts: Recent[str, _Host] = Recent(_HOSTS, _Host)
        #: address that a redirect led to → the one that it came from
        self._asked: Recent[str, str] = Recent(_KNOWN)
        #: addresses that were links, targets or guesses
        self._known: Recent[str, None] = Recent(_KNOWN)
        #: pages that ask not to follow their links
        self._refused: Recent[str, None] = Recent(_KNOWN)
        #: guess that was asked → its rule
        self._guessed: Recent[str, _Tried] = Recent(_KNOWN)

    def redirected(self, url: str, target: str) -> None:
        """Note a redirect: what is a page's document is that of the address before it too."""
        if target:
            self._asked[target] = url

    def suggested_by(
        self, links: Iterable[Link], url: str, page: str, led_by: str = "", *, followed: bool = True
    ) -> list[Link]:
        """Return the guesses that a document suggests, found as ``url`` and read at ``page``.

        ``links`` are its own. ``led_by``: the page that led to it, if it is a whole RDF document.
        ``followed``: whether it allows following its links; if not, nothing is guessed of it.
        """
        if not followed:
            self._refused[url] = self._refused[page] = None
            return []
        right = self.found(url, led_by) if led_by else []
        return [*self.of_links(links), *right]

    def found(self, url: str, page: str) -> list[Link]:
        """Note that a document was found by a link on a page; return guesses of others."""
        self._known[url] = None
        if (tried := self._guessed.get(url)) is not None:
            tried.right += 1
            return self._release(tried)
        links: list[Link] = []
        for one in filter(None, (page, self._asked.get(page))):
            parts, document = urlsplit(one), urlsplit(url)
            if parts.query or document.query or not (parts.netloc and document.netloc):
                continue
            near = parts[:2] == document[:2]
            if rule := Rule.of(parts.path, document.path if near else url):
                links += self._confirm(self._hosts[netloc_of(one)], rule)
        return links

    def of_links(self, links: Iterable[Link]) -> list[Link]:
        """Return guesses for the links of a page."""
        found: list[Link] = []
        known = self._known
        for url in (link.url for link in links):
            if url in known or "?" in url:
                continue
            known[url] = None
            host = self._hosts[netloc_of(url)]
            host.addresses[url] = None
            for tried in host.rules.values():
                if tried.evidence >= _EVIDENCE and tried.rule.apply(path_of(url)):
                    tried.waiting.append(url)
                    found += self._release(tried)
        return found

    def _confirm(self, host: _Host, rule: Rule) -> list[Link]:
        """Note that a rule held once more."""
        tried = host.rules.get(rule)
        if tried is None:
            if len(host.rules) >= _RULES:  # the oldest, or the oldest of those that no other showed
                weak = (one for one, of in host.rules.items() if of.evidence < _EVIDENCE)
                del host.rules[next(weak, next(iter(host.rules)))]
            tried = host.rules[rule] = _Tried(rule)
        tried.evidence += 1
        if tried.evidence == _EVIDENCE:
            tried.waiting.extend(url for url in host.addresses if rule.apply(path_of(url)))
        return self._release(tried)

    def _release(self, tried: _Tried) -> list[Link]:
        """Return the guesses of a rule that may be asked now."""
        links: list[Link] = []
        while tried.waiting and tried.asked < _FIRST + _MORE * tried.right:
            url = tried.waiting.popleft()
            guess = urljoin(url, tried.rule.apply(path_of(url)))
            if guess not in self._known and url not in self._refused:
                tried.asked += 1
                self._known[guess], self._guessed[guess] = None, tried
                links.append(Link(guess, element=GUESS, tag_path=GUESS, found_by=FoundBy.TWIN))
        return links
