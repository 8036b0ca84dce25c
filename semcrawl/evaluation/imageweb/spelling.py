"""Spellings of links, as sites have them: one page under many addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from urllib.parse import urlsplit, urlunsplit

#: share of a site's links that its habits touch
_TOUCHED = 0.6
#: share of the links with an address that answers as well, but cannot be known to be the same
_OTHER_ADDRESS = 0.04


def _index(random: Random, host: str, path: str) -> str:
    return f"http://{host}{path}" + ("index.html" if path.endswith("/") else "")


def _fragment(random: Random, host: str, path: str) -> str:
    return f"http://{host}{path}#" + random.choice(("top", "pictures", "more", "p2"))


def _capitals(random: Random, host: str, path: str) -> str:
    return f"HTTP://{host.title()}{path}"


def _port(random: Random, host: str, path: str) -> str:
    return f"http://{host}:80{path}"


def _sorted(random: Random, host: str, path: str) -> str:
    return f"http://{host}{path}?sort=" + random.choice(("name", "date", "size"))


def _empty(random: Random, host: str, path: str) -> str:
    return f"http://{host}{path}" + random.choice(("?", "?from="))


def _escaped(random: Random, host: str, path: str) -> str:
    return f"http://{host}" + path.replace("-", "%2d", 1)


#: name of a habit → what it makes of a page's host and path
SPELLINGS: Mapping[str, Callable[[Random, str, str], str]] = {
    "index": _index,
    "fragment": _fragment,
    "capitals": _capitals,
    "port": _port,
    "sorted": _sorted,
    "empty": _empty,
    "escaped": _escaped,
}


def spelled(random: Random, habits: tuple[str, ...], host: str, path: str, here: str) -> str:
    """Spell a link to a page from the site ``here``."""
    if random.random() < _OTHER_ADDRESS:
        return random.choice((f"http://www.{host}{path}", f"https://{host}{path}"))
    if random.random() < _TOUCHED:
        return SPELLINGS[random.choice(habits)](random, host, path)
    return path if host == here else f"http://{host}{path}"


def canonical(url: str) -> str:
    """Return the address of the page that a normalised URL leads to."""
    parts = urlsplit(url)
    return urlunsplit(("http", parts.netloc.removeprefix("www."), parts.path or "/", "", ""))
