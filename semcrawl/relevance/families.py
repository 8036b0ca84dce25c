"""Families: links of one RDF document that look alike, and whether any of them is useful.

A dump names thousands of things by IRIs, and often none of them can be fetched. So the links of one
document whose addresses have the same pattern form a *family*. When the first few of a family were
barren, the crawl withholds the others. This happens before any strategy sees them.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

from semcrawl.relevance.contract import Outcome
from semcrawl.web.urls import extension_of
from semcrawl.web.vocabulary import Kind

#: bytes of a family's hashed name; among 10⁵ families two share a name with probability 2·10⁻⁵
_NAME_BYTES = 6
#: a family of mixed patterns needs more than this many times ``tries`` links
_MIXED = 3
#: a path segment (digits folded) that identifies a single thing: a hash, a UUID
_OPAQUE = re.compile(r"(?=[a-f]*0)[a-f0-]{6,}|(?=.*0.*0)[a-z0]{16,}", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
#: temporary failures, which say nothing of an address
_PASSING = frozenset(
    {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
)


@dataclass(frozen=True, slots=True)
class Family:
    """Links of a document that look alike."""

    #: URL of the document
    document: str
    #: the pattern of their addresses, such as ``http://a.example/catch/0`` with digits folded to 0
    pattern: str

    @property
    def name(self) -> str:
        """A name of eight characters, from 48 bits."""
        text = f"{self.document} {self.pattern}".encode("utf-8", "surrogatepass")
        return urlsafe_b64encode(blake2b(text, digest_size=_NAME_BYTES).digest()).decode()


class Verdict(StrEnum):
    """What an outcome says of its link's family."""

    USEFUL = "useful"  #: RDF, a page or another target
    BARREN = "barren"  #: nothing of use
    UNKNOWN = "unknown"  #: nothing was sent, or the failure may be temporary


def families(document: str, urls: Iterable[str], tries: int) -> dict[str, Family]:
    """Return the families of a document's links, by URL; links in no family are left out.

    A family has more than ``tries`` links. Links of smaller patterns form families by folder, else
    by host, if there are more than three times as many.
    """
    result: dict[str, Family] = {}
    left = list(urls)
    for level, least in ((_pattern, tries), (_folder, _MIXED * tries), (_host, _MIXED * tries)):
        alike: defaultdict[str, list[str]] = defaultdict(list)
        for url in left:
            alike[level(url)].append(url)
        left = []
        for pattern, members in alike.items():
            if len(members) > least:
                result.update(dict.fromkeys(members, Family(document, pattern)))
            else:
                left += members
    return result


def verdict(outcome: Outcome) -> Verdict:
    """Return the verdict of an outcome on its link's family."""
    if outcome.target or outcome.kind is Kind.RDF or outcome.new_links:
        return Verdict.USEFUL
    if outcome.kind is Kind.HTML:
        # a duplicate page: many servers send one instead of status 404
        return Verdict.BARREN if outcome.duplicate else Verdict.USEFUL
    status = outcome.status
    if status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _PASSING:
        return Verdict.UNKNOWN
    # a redirect to a known address is judged by the number of links that lead there
    return Verdict.UNKNOWN if outcome.duplicate else Verdict.BARREN


class FamilyLedger:
    """The verdicts on families, for one process without a frontier, such as the simulator.

    ``tries``: links of a family that must be barren before the others are withheld; 0 = none is.
    """

    def __init__(self, tries: int) -> None:
        self.tries = tries
        self._counts: defaultdict[str, Counter[Verdict]] = defaultdict(Counter)
        #: where the last redirect of a family led to, and that of its first useful link
        self._led: dict[str, str] = {}
        self._only: dict[str, str] = {}
        #: links whose turn came although their family is barren
        self._met: Counter[str] = Counter()

    def judge(self, name: str, what: Verdict, led_to: str) -> None:
        """Note a verdict, and the document that the link led to.

        A redirect to a known address that another link of the family led to before is barren. If
        that other link was the only useful one, it does not count as useful either.
        """
        counts = self._counts[name]
        if led_to:
            if what is not Verdict.USEFUL and self._led.get(name) == led_to:
                what = Verdict.BARREN
                if self._only.get(name) == led_to and counts[Verdict.USEFUL] == 1:
                    counts[Verdict.USEFUL] = 0
                    counts[Verdict.UNKNOWN] += 1
            elif what is Verdict.USEFUL and not counts[Verdict.USEFUL]:
                self._only[name] = led_to
            self._led[name] = led_to
        counts[what] += 1

    def is_barren(self, name: str) -> bool:
        """Whether the links of a family are withheld."""
        counts = self._counts[name]
        return 0 < self.tries <= counts[Verdict.BARREN] and not counts[Verdict.USEFUL]

    def withholds(self, name: str) -> bool:
        """Whether to withhold a link whose turn has come; the 1st, 2nd, 4th, 8th … is a sample."""
        if not self.is_barren(name):
            return False
        self._met[name] += 1
        return self._met[name] & (self._met[name] - 1) != 0

    def restored(self, name: str) -> None:
        """Note that the withheld links of a family wait again."""
        del self._met[name]


def _pattern(url: str) -> str:
    """Fold the parts that identify a single thing: digits, identifiers, names without digits."""
    folder, name, query = _parts(url)
    slash = "/" if name.endswith("/") else ""
    name = name.rstrip("/")
    extension = extension_of(name)
    stem = name[: len(name) - len(extension) - 1] if extension else name
    if any(c.isdigit() for c in stem):
        stem = _folded(stem)
    elif stem and not query:  # with a query, the name is a program's
        stem = "*"
    return f"{folder}{stem}{'.' if extension else ''}{extension}{slash}{query}"


def _folder(url: str) -> str:
    return _parts(url)[0] + "…"


def _host(url: str) -> str:
    return url.partition("://")[0] + "://" + url.split("/", 3)[2] + "/…"


def _parts(url: str) -> tuple[str, str, str]:
    """Return scheme, host and folded folder; the name; and the names of the query's variables."""
    parts = urlsplit(url)
    path = parts.path or "/"
    folder, _, name = path[:-1].rpartition("/") if path.endswith("/") else path.rpartition("/")
    if path.endswith("/"):
        name += path[-1] if len(path) > 1 else ""
    folded = "/".join(_folded(part) for part in folder.split("/"))
    variables = sorted({name for name, _ in parse_qsl(parts.query, keep_blank_values=True)})
    query = "?" + "&".join(f"{variable}=" for variable in variables) if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}{folded}/", name, query


def _folded(part: str) -> str:
    """Turn runs of digits into 0, and identifiers into #."""
    folded = _DIGITS.sub("0", part)
    return "#" if _OPAQUE.fullmatch(folded) else folded


def by_name(found: Mapping[str, Family]) -> dict[str, Family]:
    """Return the distinct families by name."""
    return {family.name: family for family in set(found.values())}
