"""Normalises, resolves and takes apart URLs.

Normalisation follows sources.md I: lossless changes are always made, lossy ones are options
(:class:`Normalisation`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_letters, digits
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from w3lib.url import safe_url_string

from semcrawl.web.charsets import charset_named
from semcrawl.web.hosts import join_url

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
#: encodings of pages whose queries are in UTF-8
_UNICODE = re.compile(r"utf|ucs", re.I)


def encode_query(reference: str, encoding: str) -> str:
    """Percent-encode the non-ASCII characters of a query in the encoding of its page.

    Characters that the encoding lacks become numeric character references. Unless the encoding is
    a Unicode one, the fragment is dropped.
    """
    charset = None if _UNICODE.match(encoding) else charset_named(encoding)
    if charset is None:
        return reference
    address, mark, query = reference.partition("#")[0].partition("?")
    escaped = _NOT_ASCII.sub(lambda signs: quote(charset.encode(signs[0]), ""), query)
    return address + mark + escaped


#: links longer than this are not followed (characters)
MAX_URL_LENGTH = 4096

_DIRECTORY_INDEX = re.compile(r"/(?:index\.x?html?|default\.(?:aspx?|htm))$")
_NAMED_INDEX = re.compile(r"(?:^|/)(index\.x?html?|default\.(?:aspx?|htm))\s*(?:#.*)?\Z")
#: characters whose escapes mean the same as they do
_UNRESERVED = frozenset(ascii_letters + digits + "-_~")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
#: URLs that are normal but for their path and query
_NORMAL = re.compile(
    r"https?://([a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63})*(?::(?!(?:80|443)/)(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}))?)"
    r"(/[A-Za-z0-9\-._~:/@!$&'()*+,;=]*)"
    r"(?:\?([A-Za-z0-9\-._~:/?@!$&'()*+,;=]*))?\Z"
)
#: references that resolve by appending them to the base's host or folder
_BELOW_HOST = re.compile(
    r"/(?![/.])[A-Za-z0-9\-_~/%=&]*(?:\.[A-Za-z0-9]+)*(?:\?[^#?\s]*)?(?:#.*)?\Z"
)
_BELOW_FOLDER = re.compile(
    r"[A-Za-z0-9\-_~%]+(?:/[A-Za-z0-9\-_~%]+)*/?(?:\.[A-Za-z0-9]+)*(?:\?[^#?\s]*)?(?:#.*)?\Z"
)
#: references whose URL is normal for any base, unless they name a directory index
_NORMAL_BELOW_HOST = re.compile(
    r"/(?:[A-Za-z0-9\-_~]+/)*(?:[A-Za-z0-9\-_~]+(?:\.[A-Za-z0-9]+)*)?\Z"
)
_BASE = re.compile(
    r"(https?://[A-Za-z0-9.:-]+)((?:/[^/?#;.][^/?#;]*)*/)"
    r"(?!(?:\.|%2[eE]){1,2}(?:[?#]|\Z))[^/?#]*(?:[?#].*)?\Z"  # ".." at the end names a folder
)
#: valid host names: no white space, no escapes, no empty label
_HOST = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\Z")
_DOT_SEGMENT = re.compile(r"/\.\.?(?=/|\Z)")
#: characters that need no escaping; anything else goes through safe_url_string
_CLEAN = re.compile(r"[A-Za-z0-9\-._~:/?#@!$&'()*+,;=%]*\Z")
_BAD_PERCENT = re.compile(r"%(?![0-9a-fA-F]{2})")
#: white space that is ignored inside a reference
_LINE_ENDS = {ord(sign): None for sign in "\n\r\t"}
#: white space and control characters that are ignored around a reference
_ENDS = "".join(map(chr, range(0x21)))
_LISTING_ORDER = re.compile(r"C=[NMSD](?:[;&]O=[AD])?\Z")
_PORTS = {"http": 80, "https": 443}
_COMPRESSED = frozenset({"gz", "bz2", "xz", "zst", "br", "zip", "tar"})
_EXTENSION = re.compile(r"[a-z0-9][a-z0-9_+-]{0,11}\Z")


@dataclass(frozen=True, slots=True)
class Normalisation:
    """The lossy rules; by default only presentational query variables are dropped.

    ``exact`` is for URLs whose path and query every rule could break.
    """

    #: query variables that only change the presentation (lower case)
    presentational: frozenset[str] = frozenset({"sort", "sortby", "sort_by", "orderby", "order_by"})
    https_to_http: bool = False
    drop_www: bool = False
    drop_query: bool = False
    #: host names by the IP address that links use instead (``192.0.2.7``)
    names: Mapping[str, str] = field(default_factory=dict, hash=False)
    #: leave path and query as they are, directory index and presentational variables included
    exact: bool = False


DEFAULT_NORMALISATION = Normalisation()


def normalise(url: str, options: Normalisation = DEFAULT_NORMALISATION) -> str | None:
    """Return the canonical spelling of an absolute http(s) URL, under which it is fetched.

    Lower-case scheme and host, no default port, no fragment, ``/`` for an empty path, no
    directory index, upper-case percent escapes and only where needed (RFC 3986, 6.2.2.2), no
    presentational query variables and no bare ``?`` (sources.md I). ``None`` when it is no
    http(s) URL, has no valid host, or is too long.
    """
    if len(url) > MAX_URL_LENGTH:
        return None
    match = _NORMAL.match(url.partition("#")[0])
    if match and not _changes_hosts(options) and not options.exact and len(match[1]) <= 253:
        return _normal(match, options)
    try:
        if not _CLEAN.match(url) or _BAD_PERCENT.search(url):
            url = safe_url_string(url)
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), parts.hostname, parts.port
    except (ValueError, UnicodeError):
        return None
    if scheme not in _PORTS or not host or len(host) > 253:
        return None
    host = options.names.get(host, host)
    if ":" in host:
        host = f"[{host}]"
    else:
        host = host.rstrip(".")
        if not _HOST.match(host):
            return None
    if options.https_to_http and scheme == "https" and port in (None, 443):
        scheme, port = "http", None
    if options.drop_www and host.startswith("www."):
        host = host[4:]
    netloc = host if port is None or port == _PORTS[scheme] else f"{host}:{port}"
    path, query = parts.path, parts.query
    if "%" in path or "%" in query:
        escape = str.upper if options.exact else _needed_escape
        path = _PERCENT.sub(lambda m: escape(m[0]), path)
        query = _PERCENT.sub(lambda m: escape(m[0]), query)
    path = _clean_path(path)
    if not options.exact:
        query = "" if options.drop_query else _clean_query(query, options.presentational)
        if not query and (index := _DIRECTORY_INDEX.search(path)):
            path = path[: index.start() + 1]
    return urlunsplit(SplitResult(scheme, netloc, path, query, ""))


def _normal(match: re.Match[str], options: Normalisation) -> str:
    """Normalise the path and query of a URL that :data:`_NORMAL` matched."""
    path, query = match[2], match[3] or ""
    if query:
        query = "" if options.drop_query else _clean_query(query, options.presentational)
    if "/." in path:
        path = _clean_path(path)
    if not query and (index := _DIRECTORY_INDEX.search(path)):
        path = path[: index.start() + 1]
    front = match.string[: match.start(2)]
    return f"{front}{path}?{query}" if query else front + path


def _needed_escape(escape: str) -> str:
    """Decode an escape (``%7e``) of a letter, a digit or one of ``-_~``; upper-case any other.

    A dot stays as it is: it might become a dot segment.
    """
    sign = chr(int(escape[1:], 16))
    return sign if sign in _UNRESERVED else escape.upper()


def _clean_path(path: str) -> str:
    """Remove dot segments (RFC 3986, section 5.2.4); ``/`` for an empty path."""
    if "/." not in path or not _DOT_SEGMENT.search(path):
        return path or "/"
    kept: list[str] = []
    *folders, name = path.split("/")[1:]
    for part in folders:
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    if name == "..":
        del kept[-1:]
    return "/" + "".join(part + "/" for part in kept) + (name if name not in (".", "..") else "")


def _clean_query(query: str, presentational: frozenset[str]) -> str:
    """Drop presentational variables, and the sort orders of directory listings.

    All else stays as it is: an empty variable (``?rdf=``) may choose a form of the document.
    """
    if not query or _LISTING_ORDER.match(query):
        return ""
    if "=" not in query:
        return query
    pairs = query.split("&")
    return "&".join(p for p in pairs if p.partition("=")[0].lower() not in presentational)


def dropped_index(reference: str) -> str:
    """Return the directory index that normalisation drops from a URL or reference, if any."""
    match = _NAMED_INDEX.search(reference)
    return match[1] if match else ""


def resolve(
    base: str, reference: str, options: Normalisation = DEFAULT_NORMALISATION
) -> str | None:
    """Resolve a reference against ``base`` and normalise it; ``None`` if it is no link.

    References with other schemes (``mailto:``, ``javascript:`` …) and bare fragments (``#part``)
    are no links.
    """
    return Resolver(base, options).resolve(reference)


#: longest reference to cache; its URL stays far below the greatest length
_SHORT = 300
#: most references to cache, of all hosts together
_MOST_CACHED = 16_384


class _Cache:
    """URLs of references that only need a host before them, by host and reference.

    Most links of a page recur on other pages of its site.
    """

    def __init__(self) -> None:
        self._size = 0
        self._hosts: dict[str, dict[str, str]] = {}

    def of(self, host: str) -> dict[str, str]:
        """Return the URLs of a host by reference."""
        return self._hosts.setdefault(host, {})

    def add(self, host: str, reference: str, url: str) -> None:
        """Add a reference; a full cache is emptied before."""
        if self._size >= _MOST_CACHED:
            self._hosts.clear()
            self._size = 0
        self.of(host)[reference] = url
        self._size += 1


_CACHE = _Cache()


class Resolver:
    """Resolves the references of one page."""

    def __init__(
        self, base: str, options: Normalisation = DEFAULT_NORMALISATION, encoding: str = "utf-8"
    ) -> None:
        """Resolve against ``base``; ``encoding`` is the page's, and that of its queries."""
        self._base = base
        self._options = options
        self._encoding = encoding
        #: scheme and host of the base, if normalisation leaves them alone; else ``""``
        self._host = _normal_host(base, options)
        #: URLs of references that have been resolved before, on any page of the host
        self.cached: Mapping[str, str] = _CACHE.of(self._host) if self._host else {}

    def resolve(self, reference: str) -> str | None:
        """Resolve and normalise a reference, as :func:`resolve` does."""
        if self._host and len(reference) <= _SHORT:
            if url := self.cached.get(reference):
                return url
            if _NORMAL_BELOW_HOST.match(reference) and not _DIRECTORY_INDEX.search(reference):
                url = self._host + reference
                _CACHE.add(self._host, reference, url)
                return url
        reference = reference.strip(_ENDS).translate(_LINE_ENDS)
        if not reference or reference[0] == "#" or len(reference) > MAX_URL_LENGTH:
            return None
        try:
            if not reference.isascii():
                reference = encode_query(reference, self._encoding)
            return normalise(_join(self._base, reference), self._options)
        except ValueError:
            return None


def _join(base: str, reference: str) -> str:
    """Resolve a reference as browsers do (WHATWG URL), with shortcuts for common ones.

    Raises ``ValueError`` for one that gives no URL.
    """
    if reference.startswith(("http://", "https://")) and _NORMAL.match(reference):
        return reference
    if "%2" in reference and "%2e" in reference.lower():  # a dot, perhaps of a dot segment
        return join_url(base, reference)
    if parts := _base_parts(base):
        if _BELOW_HOST.match(reference):
            return parts[0] + reference
        if _BELOW_FOLDER.match(reference):
            return parts[0] + parts[1] + reference
    return join_url(base, reference)


def _normal_host(base: str, options: Normalisation) -> str:
    """Return scheme and host of a base if normalisation leaves them alone; else ``""``."""
    match = _NORMAL.match(base)
    if match is None or len(match[1]) > 253:
        return ""
    if _changes_hosts(options) or options.exact:
        return ""
    return base[: match.start(2)]


def _changes_hosts(options: Normalisation) -> bool:
    """Whether the options may change the scheme or host of a URL."""
    return options.https_to_http or options.drop_www or bool(options.names)


@lru_cache(maxsize=64)
def _base_parts(base: str) -> tuple[str, str] | None:
    """Return the origin and the folder of a plain base URL; ``None`` for any other."""
    match = _BASE.match(base)
    return (match[1], match[2]) if match else None


@lru_cache(maxsize=4096)
def path_of(url: str) -> str:
    """Return the path of a URL, ``/`` if empty."""
    try:
        return urlsplit(url).path or "/"
    except ValueError:
        return "/"


def segments(path: str) -> tuple[str, ...]:
    """Split a path into its folders and file name: ``/a/b.html`` → ``("a", "b.html")``."""
    return tuple(part for part in path.split("/") if part)


@lru_cache(maxsize=4096)
def extension_of(path: str) -> str:
    """Return the lower-case file extension of a path, ``""`` if it has none.

    Suffixes of compression and archives are skipped where another extension precedes them:
    ``dump.nt.gz`` and ``dump.nt.tar.gz`` have ``nt``; ``all.gz`` has ``gz``. Versions (``v1.0``)
    are no extensions.
    """
    name = path.rsplit("/", 1)[-1].lower()
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem or not _EXTENSION.match(extension):
        return ""
    while extension in _COMPRESSED:
        inner = stem.rpartition(".")
        if not inner[1] or not _EXTENSION.match(inner[2]) or inner[2].isdigit():
            break
        stem, extension = inner[0], inner[2]
    return "" if extension.isdigit() else extension
