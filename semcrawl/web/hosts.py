"""Hosts of URLs and their pay-level domains."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

import tldextract

from semcrawl.web.privatehosts import is_private_address as is_private_address

_public_suffixes = tldextract.TLDExtract(
    suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
)


@lru_cache(maxsize=10_000)
def pay_level_domain(host: str) -> str:
    """Return the part of a host name that its owner registered; IP addresses unchanged.

    Names under private suffixes such as ``github.io`` count as registered. Where no rule of the
    public suffix list matches, the last label is the suffix, as the list's algorithm says.
    """
    host = host.lower().rstrip(".")
    parts = _public_suffixes(host)
    if not (parts.suffix or parts.ipv4 or parts.ipv6):
        return ".".join(host.split(".")[-2:])
    return parts.top_domain_under_public_suffix or host


@lru_cache(maxsize=4096)
def host_of(url: str) -> str:
    """Return the lower-case host name of a URL, without port; ``""`` if there is none."""
    return _host_in(start_of(url))


def domain_of(url: str) -> str:
    """Return the pay-level domain of a URL."""
    return pay_level_domain(host_of(url))


@lru_cache(maxsize=4096)
def _host_in(start: str) -> str:
    """Return the host name in the part before a URL's path."""
    try:
        return (urlsplit(start).hostname or "").lower()
    except ValueError:
        return ""


@lru_cache(maxsize=4096)
def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL."""
    return _origin_in(start_of(url))


@lru_cache(maxsize=4096)
def _origin_in(start: str) -> str:
    """Return the origin in the part before a URL's path."""
    parts = urlsplit(start)
    return f"{parts.scheme}://{parts.netloc}"


def start_of(url: str) -> str:
    """Return the part before a URL's path, which many URLs share."""
    return "/".join(url.split("/", 3)[:3])


@lru_cache(maxsize=4096)
def netloc_of(url: str) -> str:
    """Return host and port of a normalised URL."""
    return url.split("/", 3)[2] if url.count("/") >= 2 else ""


def name_of(host: str) -> str:
    """Return a host without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def domain_key(url: str) -> str:
    """Return the unit that costs whoever owns a URL's host money: its pay-level domain.

    For an IP address it is :func:`address_block`. Private hosts, which nobody buys to have more
    requests, stand for themselves.
    """
    netloc = netloc_of(url)
    return _domain_keys(netloc) if netloc else ""


@lru_cache(maxsize=10_000)
def _domain_keys(netloc: str) -> str:
    host = name_of(netloc).strip("[]")
    if is_private_address(host):
        return netloc
    try:
        return address_block(host)
    except ValueError:
        return pay_level_domain(host)


def address_block(address: str) -> str:
    """Return the unit that counts as one IP address; for IPv6 the /48 network, which one site has.

    Raises ``ValueError`` for what is no address.
    """
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(IPv6Network((int(parsed) >> 80 << 80, 48)))
    return str(parsed)


def public_address(server: object) -> str:
    """Return the address of a server, or of several, without what may be a secret, for messages.

    That is all between ``://`` and the last ``@``, as passwords may hold any character.

    >>> public_address("redis://:a/b?c#d@r.example:6379/0")
    'redis://r.example:6379/0'
    """
    return re.sub(r"//.*@", "//", str(server), flags=re.DOTALL)
