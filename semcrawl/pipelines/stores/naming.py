"""Names that a document may give to graphs in a triple store.

A document on the web may state any graph name, even that of a graph of the store's user or of
another document. In a store it may write the graph of its own address, and graphs below that
address or on its own host. Any other graph gets a name below the document's address, with the
stated name percent-encoded::

    <http://example.org/doc#graph=urn%3Auntouched>

So names of two documents, or of two graphs, are never the same. Documents of sites that the user
trusts keep the names that they state.
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

#: property that gives the name which the document states for a graph
STATED_NAME = "https://github.com/semcrawl/semcrawl/ns#statedName"
#: most characters of a percent-encoded name; a longer one is replaced by its SHA-256
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
        """Trust sites, each a host, or a pay-level domain with all its hosts.

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
        """Yield names for the graph that the document at ``url`` calls ``stated``, best first.

        All are as N-Quads writes them. The first may be the stated name itself; an endless series
        of names below the document's address follows.
        """
        if self.may_keep(url, stated):
            yield stated
        for number in count(1):
            yield scoped_name(url, stated, number)

    def allows(self, url: str, stated: str, name: str) -> bool:
        """Whether ``name`` is among the candidates."""
        if name == stated:
            return self.may_keep(url, stated)
        return name.startswith(f"<{_base(url)}#graph")

    def may_keep(self, url: str, stated: str) -> bool:
        """Whether the document at ``url`` may write a graph under the name that it states."""
        text = stated[1:-1]
        # a name with an escape stands for another name; ``is_iri`` is false for it
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
    """Return a name below the document's address for a graph that it calls ``stated``.

    ``number`` counts the names tried.
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
    """Whether a text is an absolute IRI that a store accepts."""
    try:
        pyoxigraph.NamedNode(text)
    except ValueError:
        return False
    return True


def _base(url: str) -> str:
    """Return the prefix of a document's names: its address, or a URN if that is no IRI."""
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
    """Return host and port of a URL; the port is empty if it is the scheme's default."""
    return _site_of("/".join(url.split("/", 3)[:3]))
