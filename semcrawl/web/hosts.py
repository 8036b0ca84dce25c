"""Hosts of URLs and their pay-level domains."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import ada_url

if TYPE_CHECKING:
    from tldextract import ExtractResult

#: ranges of IANA's registry of special-purpose IPv4 addresses, multicast (RFC 5771) and reserved
#: addresses (RFC 1112). No website lives there, though some of them are globally reachable.
_SPECIAL_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
#: all IPv6 addresses that IANA allocates for public use (its registry of address space) …
_PUBLIC_6 = IPv6Network("2000::/3")
#: … and the special-purpose ones among them
_SPECIAL_6 = tuple(
    IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20")
)
#: IPv6 ranges whose addresses embed an IPv4 address, and how many bits follow it: IPv4-mapped
#: (RFC 4291), the well-known prefix of NAT64 (RFC 6052), 6to4 (RFC 3056)
_EMBEDS_4 = (
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
)
#: last labels of private names: RFC 6761, 6762, 8375, ICANN's resolution 2024.07.29.06
#: (``internal``), and those that RFC 6762, appendix G, found in use
_PRIVATE_NAMES = re.compile(
    r"(?:\A|\.)(?:localhost|localdomain|local|internal|home\.arpa|intranet|private|corp|home|lan)\Z"
)
#: names that belong to nobody, for documentation and tests (RFC 2606, RFC 6761)
_RESERVED_NAMES = re.compile(r"(?:\A|\.)(?:example\.(?:com|net|org)|test|invalid)\Z")
#: a host that ends like this is an address (https://url.spec.whatwg.org/#ends-in-a-number-checker)
_ENDS_IN_NUMBER = re.compile(r"(?:\A|\.)(?:[0-9]+|0x[0-9a-f]*)\Z")


@lru_cache(maxsize=4096)
def is_private_address(host: str) -> bool:
    """Whether the host of a URL is a private address, however spelled, or a private name.

    Names without a dot are private. Names are not resolved.
    """
    if "%" in host or not host.isascii():  # a proxy may still decode it
        host = unicodedata.normalize("NFKC", unquote(host))
    host = host.lower().rstrip(".")
    if ":" in host:
        return is_private_ip(host)
    if _ENDS_IN_NUMBER.search(host):
        address = _parse_ipv4(host)
        return address is None or _is_private_4(address)  # an invalid address is not public
    return "." not in host or _PRIVATE_NAMES.search(host) is not None


def is_reserved_name(host: str) -> bool:
    """Whether a host is reserved for examples or tests, so that nobody publishes anything there.

    ``.example`` is reserved as well, but no name below it exists, and our own demonstration uses
    it behind a proxy.

    >>> is_reserved_name("www.example.com"), is_reserved_name("an-example.com")
    (True, False)
    """
    return _RESERVED_NAMES.search(host.lower().rstrip(".")) is not None


@lru_cache(maxsize=4096)
def is_private_ip(address: str) -> bool:
    """Whether an IP address is outside the public internet; ``False`` for other texts."""
    try:
        found = ip_address(address.strip("[]"))
    except ValueError:
        return False
    return _is_private_4(found) if isinstance(found, IPv4Address) else _is_private_6(found)


def _is_private_4(address: IPv4Address) -> bool:
    return any(address in network for network in _SPECIAL_4)


def _is_private_6(address: IPv6Address) -> bool:
    for network, shift in _EMBEDS_4:
        if address in network:
            return _is_private_4(IPv4Address(int(address) >> shift & 0xFFFFFFFF))
    return address not in _PUBLIC_6 or any(address in network for network in _SPECIAL_6)


def _parse_ipv4(host: str) -> IPv4Address | None:
    """Parse an IPv4 address as browsers do (https://url.spec.whatwg.org/#concept-ipv4-parser).

    ``127.1``, ``0x7f.1``, ``0177.0.0.1`` and ``2130706433`` are all 127.0.0.1.
    """
    parts = host.split(".")
    try:
        numbers = [_parse_number(part) for part in parts]
    except ValueError:
        return None
    *first, last = numbers
    if len(parts) > 4 or any(number > 255 for number in first) or last >= 256 ** (5 - len(parts)):
        return None
    return IPv4Address(sum(n << 8 * (3 - place) for place, n in enumerate(first)) + last)


def _parse_number(text: str) -> int:
    """Parse a decimal, octal (``0177``) or hexadecimal (``0x7f``) number; raise ``ValueError``."""
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") and len(text) > 1 else 10)


@lru_cache(maxsize=1)
def _public_suffixes() -> Callable[[str], ExtractResult]:
    """Return the reader of the public suffix list, which loads an HTTP client that we never use."""
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


@lru_cache(maxsize=10_000)
def pay_level_domain(host: str) -> str:
    """Return the part of a host name that its owner registered; IP addresses unchanged.

    Names under private suffixes such as ``github.io`` count as registered. Where no rule of the
    public suffix list matches, the last label is the suffix, as the list's algorithm says.
    """
    host = host.lower().rstrip(".")
    if "." not in host:
        return host
    if _ENDS_IN_NUMBER.search(host):  # refusing a name as an address takes longer than this
        with suppress(ValueError):
            return str(IPv4Address(host))
    parts = _public_suffixes()(host)
    if not (parts.suffix or parts.ipv4 or parts.ipv6):
        return ".".join(host.split(".")[-2:])
    return parts.top_domain_under_public_suffix or host


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
    end = url.find("/", url.find("//") + 2)
    return url if end < 0 else url[:end]


def netloc_of(url: str) -> str:
    """Return host and port of a normalised URL."""
    parts = url.split("/", 3)
    return parts[2] if len(parts) > 2 else ""


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
    if ":" in host or _ENDS_IN_NUMBER.search(host):
        with suppress(ValueError):
            return address_block(host)
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


def join_url(base: str, reference: str) -> str:
    """Resolve a reference against an address; raise ``ValueError`` if that gives no URL."""
    return str(ada_url.join_url(base, reference))
