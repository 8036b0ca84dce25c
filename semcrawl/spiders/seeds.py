"""Reads seeds from the command line, a file or a seed list; reads and writes handed-over links."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy import FormRequest

from semcrawl.errors import UsageError, os_errors_as
from semcrawl.links import FoundBy, Link, Page
from semcrawl.sources.endpoints import SEED_PREFIX, endpoint_of_seed
from semcrawl.web.charsets import text_of
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation, dropped_index, normalise

_LINK_TEXTS = tuple(f.name for f in fields(Link) if f.name not in ("url", "position", "found_by"))
#: a host name with a dot, or ``localhost``, perhaps with a port
_HOST = re.compile(r"(?:(?:[^\s.:@/\\]+\.)+[^\W\d_][^\s.:@/\\]*|localhost)(?::\d+)?")
#: a number
_PRIORITY = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")
#: an address with a user, perhaps with a password
_USER = re.compile(r"[^/?#]*//[^/?#]*@")
_SEPARATOR = re.compile(r"[,\s]+(?=[A-Za-z][A-Za-z0-9+.-]*:)|\s+")


def read_seeds(text: str, options: Normalisation = DEFAULT_NORMALISATION) -> list[str]:
    """Read seeds as :func:`read_priorities` does; return only their URLs."""
    return list(read_priorities(text, options))


def read_priorities(text: str, options: Normalisation = DEFAULT_NORMALISATION) -> dict[str, float]:
    """Read ``URL,URL`` or ``@file`` (one URL a line, ``#`` comments); return normalised URLs.

    ``@-`` is standard input. A number after a URL is its priority; the largest comes first, and
    the default is 0.

    Raises ``UsageError`` for a file that is unreadable or empty, and for text that is no http(s)
    URL.
    """
    seeds: dict[str, float] = {}
    if text.startswith("@"):
        path = Path(text[1:])
        with os_errors_as(UsageError, f"cannot read the seed file {path}"):
            lines = _read_lines(path)
        for number, line in enumerate(map(str.strip, lines), 1):
            if line and not line.startswith("#"):
                url, _, rest = line.rpartition(" ")
                parts = [url.strip(), rest] if _PRIORITY.fullmatch(rest) and url else [line]
                try:
                    _take(parts, seeds, options)
                except UsageError as error:
                    raise UsageError(f"{path}, line {number}: {error}") from None
        if not seeds:
            raise UsageError(f"the seed file {path} holds no URL")
    else:
        _take([part for part in _SEPARATOR.split(text.strip()) if part] or [text], seeds, options)
    return seeds


def _take(parts: Sequence[str], seeds: dict[str, float], options: Normalisation) -> None:
    """Add URLs to ``seeds``, each perhaps followed by its priority."""
    last = ""
    for part in parts:
        if last and _PRIORITY.fullmatch(part):
            seeds[last], last = float(part), ""
        else:
            last = seed_url(part, options)
            seeds.setdefault(last, 0.0)


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a file, or of standard input for ``-``."""
    content = sys.stdin.buffer.read() if path == Path("-") else path.read_bytes()
    return text_of(content).splitlines()


def seed_list(pattern: str, spider: str) -> str:
    """Return the name of a spider's seed list, from the pattern ``REDIS_START_URLS_KEY``."""
    try:
        return pattern % {"name": spider}
    except (TypeError, ValueError, KeyError):
        return pattern


def seed_url(url: str, options: Normalisation = DEFAULT_NORMALISATION) -> str:
    """Normalise a seed; raise ``UsageError`` if it is no http(s) URL.

    The URL of a SPARQL endpoint (``sparql+https://…``) keeps its path and query.
    """
    if endpoint := endpoint_of_seed(url):
        seed = normalise(endpoint, replace(options, exact=True))
        seed = seed and SEED_PREFIX + seed
    else:
        seed = normalise(url, options)
    if seed is not None and _USER.match(url):
        raise UsageError(
            f"the user before the host is never sent: name the seed {seed} "
            "(HTTPAUTH_USER, HTTPAUTH_PASS and HTTPAUTH_DOMAIN send a user)"
        )
    if seed is None:
        raise UsageError(f"not an http or https URL: {url[:200]!r}{_meant(url)}")
    return seed


def _meant(text: str) -> str:
    """Suggest what the user may have meant: an existing file, or a host without a scheme."""
    with contextlib.suppress(OSError, ValueError):
        if Path(text).is_file():
            return (
                f"; it is a file: @{text} reads one with a URL a line, and `semcrawl seeds list"
                f" {text}` makes one of what RDF names"
            )
    host = re.split(r"[/?#]", text, maxsplit=1)[0]
    if not _HOST.fullmatch(host) or normalise(f"https://{text}") is None:
        return ""
    address = f"https://{text}" if re.search(r"[/?#]", text) else f"https://{text}/"
    return f"; did you mean {address}?"


@dataclass(frozen=True, slots=True)
class Planted:
    """An entry of a seed list: a seed, or a link that the other spider handed over."""

    link: Link
    #: page of the link; ``None`` for a seed
    page: Page | None = None
    #: roots of the crawl that handed the link over
    roots: tuple[str, ...] = ()
    barren: int = 0


def hand_over(
    page: Page, links: Iterable[Link], roots: Iterable[str], barren: int = 0
) -> list[str]:
    """Return entries for the other spider's list, as scrapy-redis writes them, with ``meta``."""
    known = sorted(roots)
    entries = []
    for link in links:
        texts = {
            name: value
            for name in _LINK_TEXTS
            if (value := getattr(link, name)) and not (name == "element" and value == "a")
        }
        meta: dict[str, Any] = {"parent": page.url, "depth": page.depth + 1}
        if page.rdf:
            meta["rdf"] = True
        if texts:
            meta["link"] = texts
        if link.found_by is not FoundBy.LINK:
            meta["found_by"] = str(link.found_by)
        if known:
            meta["roots"] = known
        if barren:
            meta["barren"] = barren
        entries.append(json.dumps({"url": link.url, "meta": meta}, ensure_ascii=False))
    return entries


def read_planted(raw: str, options: Normalisation = DEFAULT_NORMALISATION) -> Planted:
    """Read an entry of a seed list: a bare URL, or JSON ``{"url": …, "meta": {…}}``.

    Other texts of the JSON object go into the URL's query, as in scrapy-redis. Raises
    ``UsageError`` for anything else, for entries with another method than GET too.
    """
    text = raw.strip()
    if not text.startswith("{"):
        return Planted(Link(seed_url(text, options), element="seed", index=dropped_index(text)))
    try:
        data = json.loads(text)
        meta = data.get("meta") or {}
        written = str(data["url"])
        seed_url(written, options)  # its errors say what was meant
        if form := {name: each for name, each in data.items() if name not in ("url", "meta")}:
            method = form.pop("method", "GET").upper()
            if method != "GET":
                raise UsageError(f"a seed is fetched by GET, not {method}: {text[:200]!r}")
            written = FormRequest(written, method=method, formdata=form).url
        url, index = seed_url(written, options), dropped_index(written)
        parent = meta.get("parent")
        _ = urlsplit(str(parent or "")).port  # strategies split it: an error must show here
        texts = meta.get("link") or {}
        link_texts: dict[str, Any] = {
            name: str(texts[name])[:1000] for name in _LINK_TEXTS if name in texts
        }
        depth, barren = int(meta.get("depth", 0)), int(meta.get("barren", 0))
        roots = tuple(str(root) for root in meta.get("roots", ()))
        found_by = FoundBy.read(str(meta.get("found_by"))) or FoundBy.LINK
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise UsageError(f"not a seed: {text[:200]!r}") from None
    if parent is None:
        return Planted(Link(url, element="seed", index=index), None, roots)
    page = Page(str(parent), max(0, depth - 1), bool(meta.get("rdf")))
    return Planted(
        replace(Link(url, index=index, found_by=found_by), **link_texts), page, roots, barren
    )


def by_page(planted: Sequence[Planted]) -> dict[tuple[Page | None, int], list[Link]]:
    """Group entries by their page, in order."""
    pages: dict[tuple[Page | None, int], list[Link]] = {}
    for one in planted:
        pages.setdefault((one.page, one.barren), []).append(one.link)
    return pages
