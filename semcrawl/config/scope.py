"""Decides by the scope which links a crawl may follow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from urllib.parse import urlsplit

from semcrawl.errors import UsageError
from semcrawl.web.hosts import domain_of, host_of
from semcrawl.web.urls import normalise

#: hosts that redirect persistent identifiers to documents
DEFAULT_REDIRECTORS = ("w3id.org", "purl.org", "purl.oclc.org", "doi.org", "dx.doi.org", "n2t.net")

_MODES = ("site", "parent", "any")


@dataclass(slots=True)
class Scope:
    """The scope of a crawl (``-a scope=…``).

    ``site``: the pay-level domains of the seeds and of their redirect targets; off them only
    redirectors and links labelled R.
    ``parent``: any link whose page is inside those domains (the thesis's rule, sources.md T.7).
    ``any``: everything. ``hosts``: only the listed hosts or parts of them (``host/folder/``).
    """

    mode: str = "site"
    #: hosts and path prefixes in mode ``hosts``
    hosts: tuple[tuple[str, str], ...] = ()
    redirectors: frozenset[str] = frozenset(DEFAULT_REDIRECTORS)
    #: pay-level domains and hosts of the seeds and of their redirect targets
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
            return domain_of(url) in self.roots
        parts = urlsplit(url)
        host = parts.hostname or ""
        if ":" in host:
            host = f"[{host}]"
        return any(
            known in (host, parts.netloc, "www." + host) or host == "www." + known
            for known, prefix in self.hosts
            if (parts.path or "/").startswith(prefix or "/")
        )

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
