"""Which addresses belong to a crawl: scope, patterns, and their normal form."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from semcrawl.errors import UsageError, os_errors_as
from semcrawl.links import Link
from semcrawl.settings.reader import fill, setting
from semcrawl.web.bodies import media_type
from semcrawl.web.charsets import text_of
from semcrawl.web.hosts import domain_of, host_of
from semcrawl.web.urls import Normalisation, normalise
from semcrawl.web.vocabulary import RDF_MEDIA_TYPES

#: hosts that redirect persistent identifiers to documents
DEFAULT_REDIRECTORS = ("w3id.org", "purl.org", "purl.oclc.org", "doi.org", "dx.doi.org", "n2t.net")

_MODES = ("site", "parent", "any")
#: most folders of an address that are looked at
_DEEPEST = 20


@dataclass(slots=True)
class Scope:
    """The scope of a crawl (``-a scope=…``).

    ``site``: the pay-level domains of the seeds and of their redirect targets, and the places where
    seeds have their own data; off them only redirectors and links labelled R.
    ``parent``: any link whose page is inside those domains (the thesis's rule, sources.md T.7).
    ``any``: everything. ``hosts``: only the listed hosts or parts of them (``host/folder/``).
    """

    mode: str = "site"
    #: hosts and path prefixes in mode ``hosts``
    hosts: tuple[tuple[str, str], ...] = ()
    redirectors: frozenset[str] = frozenset(DEFAULT_REDIRECTORS)
    #: pay-level domains and hosts of the seeds and of their redirect targets, and ``host/folder/``
    #: of their own data
    roots: set[str] = field(default_factory=set)
    #: those named by the user's own seeds, which may be private
    named: set[str] = field(default_factory=set)

    @classmethod
    def parse(cls, text: str, redirectors: Iterable[str] = DEFAULT_REDIRECTORS) -> Scope:
        """Read a scope from the command line. Raises ``UsageError``."""
        named = text.strip()
        if named in _MODES:
            return cls(named, redirectors=frozenset(redirectors))
        if close := get_close_matches(named.lower(), _MODES, n=1, cutoff=0.75):
            raise UsageError(f"there is no scope {named!r}; did you mean {close[0]}?")
        hosts = []
        for part in named.replace(" ", ",").split(","):
            if not part:
                continue
            place = _place(part)
            if place is None:
                raise UsageError(
                    f"scope must be site, parent, any or a list of hosts, not {text!r}"
                )
            hosts.append(place)
        if not hosts:
            raise UsageError("scope must be site, parent, any or a list of hosts; it is empty")
        return cls("hosts", tuple(hosts), frozenset(redirectors))

    @classmethod
    def roots_of(cls, url: str) -> set[str]:
        """Return what a seed adds to :attr:`roots`: its pay-level domain and its host."""
        return {domain_of(url), host_of(url)}

    def inside(self, url: str) -> bool:
        """Whether a URL is on the sites of the crawl."""
        if self.mode == "any":
            return True
        if self.mode != "hosts":
            return domain_of(url) in self.roots or not self.roots.isdisjoint(_places_above(url))
        parts = urlsplit(url)
        host = parts.hostname or ""
        if ":" in host:
            host = f"[{host}]"
        return any(
            known in (host, parts.netloc, "www." + host) or host == "www." + known
            for known, prefix in self.hosts
            if (parts.path or "/").startswith(prefix or "/")
        )

    def place_of_own_data(self, links: Sequence[Link]) -> str:
        """Return where a seed's page keeps its own data, as ``host/folder/``; empty if on its site.

        It is where RDF is of which the page says that it is another form or a description of it:
        the lowest folder above that RDF that has two and more, and at least half, of the page's
        links to that host. So the pages that a site links to by another name of its own are
        followed, and nothing else on that host; a whole host is never taken in.
        """
        if self.mode in ("any", "hosts"):
            return ""
        own = [link.url for link in links if _is_own_data(link) and not self.inside(link.url)]
        hosts = set(map(host_of, own))
        there = {link.url for link in links if host_of(link.url) in hosts}
        on_host = Counter(map(host_of, there))
        within = Counter(place for url in there for place in _places_above(url))
        for url in own:
            for place in _places_above(url):
                is_folder = place.count("/") > 1
                if is_folder and within[place] > 1 and 2 * within[place] >= on_host[host_of(url)]:
                    return place
        return ""

    def may_lead(self, url: str, *, page_inside: bool = True) -> bool:
        """Whether a link may be followed if it gets the right label."""
        if self.mode == "hosts":
            return self.inside(url)
        return self.mode in ("any", "site") or page_inside or self.inside(url)

    def lets_seed_go(self, url: str) -> bool:
        """Whether a seed may redirect to a URL: anywhere, unless the hosts are listed."""
        return self.mode != "hosts" or self.inside(url)

    def allows(self, url: str, *, label_r: bool, page_inside: bool = True) -> bool:
        """Whether to follow a link, by its label and by whether its page is inside."""
        if self.inside(url):
            return True
        if self.mode == "parent":
            return page_inside
        if self.mode != "site":
            return False
        return label_r or (urlsplit(url).hostname or "") in self.redirectors


def _is_own_data(link: Link) -> bool:
    """Whether a page says, in its head or headers, that a link leads to itself as RDF."""
    says = {"alternate", "describedby"} & set(link.rel.lower().split())
    is_rdf = media_type(link.type) in RDF_MEDIA_TYPES
    return bool(says) and is_rdf and link.element in ("link", "header")


def _places_above(url: str) -> Iterator[str]:
    """Yield the folders that an address is in, as ``host/folder/``, the lowest first."""
    place = url.partition("://")[2].partition("?")[0]
    for _ in range(_DEEPEST):
        place, slash, _ = place.rpartition("/")
        if not slash:
            return
        yield place + "/"


def _place(text: str) -> tuple[str, str] | None:
    """Return host and path prefix, spelled as in normalised addresses; ``None`` for other text."""
    scheme, mark, address = text.partition("://")
    if not mark:
        scheme, address = "http", text
    host, slash, _ = address.partition("/")
    if not host or not all(c.isalnum() or c in ".-:[]_" for c in host):
        return None
    if not mark and host.endswith(":443"):
        scheme = "https"
    url = normalise(f"{scheme}://{address}")
    if url is None:
        return None
    host, _, path = url.partition("://")[2].partition("/")
    return host, slash and "/" + path


#: prefix of a regular expression
_REGEX = "re:"


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """One pattern of addresses.

    ``/data/*`` is matched with path and query, ``*.example.org/x/*`` with host, path and query, a
    pattern with ``://`` with the whole address. ``*`` matches any characters. ``re:…`` is a regular
    expression that is searched in the whole address. ``host:…`` is matched with the host,
    ``type:…`` with the media type of the response.
    """

    text: str
    _expression: re.Pattern[str]
    #: part to match: ``url``, ``place`` (all but the scheme), ``path``, ``host`` or ``type``
    _part: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a pattern; raise ``UsageError`` for a wrong one."""
        text = text.strip()
        if text.startswith(_REGEX):
            try:
                return cls(text, re.compile(text.removeprefix(_REGEX)), "url")
            except re.error as error:
                raise UsageError(f"{text!r} is not a regular expression: {error}") from None
        for kind in ("host", "type"):
            if text.startswith(f"{kind}:"):
                glob = text.removeprefix(f"{kind}:").strip().lower()
                if not glob or "/" in glob.replace("/", "", kind == "type"):
                    raise UsageError(f"{text!r} names no {kind}")
                return cls(text, _compiled(glob), kind)
        if not text:
            raise UsageError("a pattern of addresses is empty")
        part = "path" if text.startswith("/") else "url" if "://" in text else "place"
        glob = text
        if part == "url" and "*" not in text:
            glob = normalise(text) or text
        if part != "path":  # hosts are lower-case in addresses
            scheme, mark, rest = glob.rpartition("://")
            host, slash, path = rest.partition("/")
            glob = scheme.lower() + mark + host.lower() + slash + path
        return cls(text, _compiled(glob), part)

    @property
    def fault(self) -> str:
        """Say why no address can match it; empty if some can. Expressions are not judged."""
        if self.text.startswith((_REGEX, "type:")):
            return ""
        if "#" in self.text:
            return "addresses are compared without their fragment (#…)"
        scheme, mark, rest = self.text.rpartition("://")
        if self._part == "url" and "*" not in scheme and scheme.lower() not in ("http", "https"):
            return f"no address begins with {scheme}{mark}"
        if self._part in ("url", "place") and "*" in self.text and "/" in rest:
            return ""
        if self._part == "place" and "/" not in rest and not rest.endswith("*"):
            name = rest.partition(":")[0]
            return f"an address has a path after its host; give host:{name} or {name}/*"
        return ""

    @property
    def is_type(self) -> bool:
        """Whether it matches media types, which only the response shows."""
        return self._part == "type"

    def holds_type(self, content_type: str) -> bool:
        """Whether it matches a ``Content-Type``."""
        return bool(self._expression.match(media_type(content_type)))

    def holds(self, url: str) -> bool:
        """Whether it matches a normalised address."""
        if self._part == "url":
            return bool(
                self._expression.search(url)
                if self.text.startswith(_REGEX)
                else self._expression.match(url)
            )
        place = url.partition("://")[2]
        if self._part == "host":
            host = place.partition("/")[0]
            return any(map(self._expression.match, (host, host.partition(":")[0])))
        if self._part == "path":
            place = "/" + place.partition("/")[2]
        return bool(self._expression.match(place))


@dataclass(frozen=True, slots=True)
class UrlPatterns:
    """Patterns of addresses to request, and of those not to request."""

    #: if there are any, one must match
    include: tuple[UrlPattern, ...] = ()
    #: none may match
    exclude: tuple[UrlPattern, ...] = ()

    @classmethod
    def parse(cls, include: Iterable[str], exclude: Iterable[str]) -> Self:
        """Read both lists; raise ``UsageError`` for a wrong pattern."""
        return cls(tuple(map(UrlPattern.parse, include)), tuple(map(UrlPattern.parse, exclude)))

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read them from Scrapy's settings; raise ``UsageError`` for wrong ones."""
        return cls.parse(listed(settings, "SEMCRAWL_INCLUDE"), listed(settings, "SEMCRAWL_EXCLUDE"))

    def __bool__(self) -> bool:
        """Whether there are any patterns."""
        return bool(self.include or self.exclude)

    def allow(self, url: str) -> bool:
        """Whether an address may be requested."""
        if not (self.include or self.exclude):  # true of most crawls
            return True
        include = [pattern for pattern in self.include if not pattern.is_type]
        if include and not any(pattern.holds(url) for pattern in include):
            return False
        return not self.exclude_it(url)

    def exclude_it(self, url: str) -> bool:
        """Whether a pattern excludes an address."""
        return any(pattern.holds(url) for pattern in self.exclude if not pattern.is_type)

    def allow_type(self, content_type: str) -> bool:
        """Whether a body of this type may be downloaded."""
        include = [pattern for pattern in self.include if pattern.is_type]
        if include and not any(pattern.holds_type(content_type) for pattern in include):
            return False
        return not any(p.holds_type(content_type) for p in self.exclude if p.is_type)


def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, glob.split("*"))) + r"\Z")


def _read_file(name: str) -> list[str]:
    """Return the patterns in a file, one per line; ``#`` begins a comment."""
    with os_errors_as(UsageError, f"cannot read the patterns in {name}"):
        lines = text_of(Path(name).read_bytes()).splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def listed(settings: Mapping[str, Any], name: str) -> list[str]:
    """Read a list of patterns, and those in its files (``@file``)."""
    found: list[str] = []
    for text in _written(settings, name):
        found += _read_file(text.strip()[1:]) if text.strip().startswith("@") else [text]
    return found


def _written(settings: Mapping[str, Any], name: str) -> list[str]:
    """Read a list of patterns: a list, JSON, or text separated by commas.

    Text that begins with a regular expression is one pattern, as it may contain commas.
    """
    value = settings.get(name) or []
    if not isinstance(value, str):
        return [str(each) for each in value]
    if value.startswith("["):
        try:
            found = json.loads(value)
        except ValueError:
            raise UsageError(f"{name} is not a JSON list: {value!r}") from None
        return [str(each) for each in found]
    if value.startswith(_REGEX):
        return [value]
    return [each for each in value.split(",") if each.strip()]


_RULES = ("https-to-http", "drop-www", "drop-query")


def _rules(given: Iterable[str]) -> frozenset[str]:
    """Return the names of rules; raise ``UsageError`` for unknown ones."""
    found = frozenset(map(str.lower, given))
    for name in sorted(found.difference(_RULES)):
        raise UsageError(f"SEMCRAWL_URL_RULES takes {', '.join(_RULES)}, not {name!r}")
    return found


def _names(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the names to request, by hosts in links; raise ``UsageError`` for wrong ones."""
    return {_host(address): _host(name) for address, name in given.items()}


def _host(host: object) -> str:
    """Return a host as in URLs, but an IPv6 address without brackets."""
    text = str(host).strip().lower().strip("[]")
    url = f"http://[{text}]/" if ":" in text else f"http://{text}/"
    if normalise(url) != url:
        raise UsageError(f"SEMCRAWL_URL_HOST_NAMES: {host!r} is not a host")
    return text


@dataclass(frozen=True, slots=True)
class UrlOptions:
    """The settings ``SEMCRAWL_URL_…``."""

    presentational: tuple[str, ...] = setting("SEMCRAWL_URL_DROP_PARAMETERS")
    rules: frozenset[str] = setting("SEMCRAWL_URL_RULES", _rules)
    names: Mapping[str, str] = setting("SEMCRAWL_URL_HOST_NAMES", _names)


def url_normalisation(settings: Mapping[str, Any]) -> Normalisation:
    """Read the settings ``SEMCRAWL_URL_…``; raise ``UsageError`` for wrong ones."""
    given = fill(UrlOptions, settings)
    return Normalisation(
        presentational=frozenset(map(str.lower, given.presentational)),
        https_to_http="https-to-http" in given.rules,
        drop_www="drop-www" in given.rules,
        drop_query="drop-query" in given.rules,
        names=given.names,
    )
