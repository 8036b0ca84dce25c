"""Names that a document may give to graphs in a triple store.

A web page may state any name, also that of a graph which the store's user made or which another
document has. In a store a document speaks of itself: in the graph of its own address, and in graphs
below it or on its own host. Any other graph gets a name below the document's address::

    <http://example.org/doc#graph=urn%3Auntouched>

which is made of the stated name, percent-encoded, so that no two documents and no two names ever
meet. Documents of sites that the user trusts keep the names that they state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import count
from urllib.parse import quote

import pyoxigraph

from semcrawl.errors import UsageError
from semcrawl.rdf.quadlines import iri
from semcrawl.web.hosts import host_of, pay_level_domain

#: says of a graph which name the document states for it
STATED_NAME = "https://github.com/semcrawl/semcrawl/ns#statedName"
#: longest percent-encoded name that is written out (characters); others are given by their SHA-256
MAX_WRITTEN_OUT = 512

_HTTP_SITE = re.compile(r"(https?)://([^/?#\\@<>]+)(?=[/?#]|\Z)", re.IGNORECASE)
_HOST = re.compile(r"[^\s/:@?#]+")


@dataclass(frozen=True, slots=True)
class GraphNaming:
    """Which names the graphs of a document may have in a store."""

    #: hosts and pay-level domains whose documents keep the names that they state
    trusted_sites: frozenset[str] = frozenset()

    @classmethod
    def trusting(cls, sites: Iterable[str]) -> GraphNaming:
        """Trust sites: a host is that host, a pay-level domain all hosts in it.

        Raises ``UsageError`` for other texts.
        """
        hosts = set()
        for site in sites:
            host = (host_of(site) if "://" in site else site.strip()).lower().rstrip(".")
            if not _HOST.fullmatch(host):
                raise UsageError(f"SEMCRAWL_TRUSTED_SITES: {site!r} is no host and no domain")
            hosts.add(host)
        return cls(frozenset(hosts))

    def candidates(self, url: str, stated: str) -> Iterator[str]:
        """Yield names for the graph that the document at ``url`` calls ``stated``, the best first.

        All are as N-Quads writes them. The first may be the stated name itself, and without end
        follow names of the document.
        """
        if self.may_keep(url, stated):
            yield stated
        for number in count(1):
            yield scoped_name(url, stated, number)

    def allows(self, url: str, stated: str, name: str) -> bool:
        """Say whether ``name`` is among the candidates."""
        if name == stated:
            return self.may_keep(url, stated)
        return name.startswith(f"<{_base(url)}#graph")

    def may_keep(self, url: str, stated: str) -> bool:
        """Say whether the document at ``url`` may write a graph under the name that it states."""
        text = stated[1:-1]
        # (an escape spells another name than it shows, and no IRI may hold one)
        if not (stated.startswith("<") and is_iri(text)):
            return False
        if stated == iri(url):
            return True
        return _is_below(url, text) or _same_site(url, text) or self._is_trusted(url)

    def _is_trusted(self, url: str) -> bool:
        if not self.trusted_sites:
            return False
        host = host_of(url).rstrip(".")
        return bool({host, pay_level_domain(host)} & self.trusted_sites)


def scoped_name(url: str, stated: str, number: int = 1) -> str:
    """Return the name of the document at ``url`` for a graph that it calls ``stated``.

    ``number`` counts the names that were taken already.
    """
    text = stated[1:-1] if stated.startswith("<") else stated
    written = quote(text, safe="", errors="replace")
    if len(written) > MAX_WRITTEN_OUT:
        written = f"sha256-{sha256(text.encode('utf-8', 'replace')).hexdigest()}"
    again = f"-{number}" if number > 1 else ""
    return f"<{_base(url)}#graph{again}={written}>"


def statement_about(name: str, stated: str) -> bytes:
    """Return the line of N-Triples that gives the stated name of a graph."""
    return f"{name} <{STATED_NAME}> {stated} .\n".encode("utf-8", "replace")


def is_iri(text: str) -> bool:
    """Say whether a text is an absolute IRI that a store can be asked for."""
    try:
        pyoxigraph.NamedNode(text)
    except ValueError:
        return False
    return True


def _base(url: str) -> str:
    """Return the prefix of a document's names: its address, where that is an IRI."""
    base = url.partition("#")[0]
    return base if is_iri(base) else f"urn:semcrawl:document:{quote(base, safe='')}"


def _is_below(url: str, name: str) -> bool:
    base = url.partition("#")[0]
    rest = name[len(base) :] if name.startswith(base) else ""
    is_path_end = base.endswith("/")
    return bool(rest) and (is_path_end or rest[0] in "#?/") and "/.." not in f"/{rest}"


def _same_site(url: str, name: str) -> bool:
    site = _site(url)
    return site is not None and site == _site(name)


@lru_cache(maxsize=4096)
def _site_of(start: str) -> tuple[str, str] | None:
    match = _HTTP_SITE.match(start)
    if match is None:
        return None
    host, _, port = match[2].lower().partition(":")
    usual = {"http": "80", "https": "443"}[match[1].lower()]
    return host, "" if port in ("", usual) else port


def _site(url: str) -> tuple[str, str] | None:
    """Return host and port of a URL; the same for ``http`` and ``https`` on their own ports."""
    return _site_of("/".join(url.split("/", 3)[:3]))
