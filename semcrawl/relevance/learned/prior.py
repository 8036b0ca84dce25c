"""What a link is worth before anything was learned: a hand-made logit."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Self

from semcrawl.links import Link
from semcrawl.relevance.learned.targets import TargetSigns
from semcrawl.vocabulary import ARCHIVE_EXTENSIONS, HTML_EXTENSIONS

_WORD = re.compile(r"[a-z0-9]+")
_MEDIA_TYPE = re.compile(r"[a-z]+/[a-z0-9.+-]+")
_INDEX_PAGE = re.compile(r"(?:index|default|overview|welcome|home)(?:\.[a-z0-9]+)?")
#: values of ``rel`` that never lead to a document to read
_USELESS_RELS = frozenset(
    {
        "stylesheet", "icon", "shortcut", "apple-touch-icon", "apple-touch-icon-precomposed",
        "mask-icon", "fluid-icon", "image_src", "manifest", "preload", "prefetch", "dns-prefetch",
        "preconnect", "modulepreload", "pingback", "edituri", "wlwmanifest", "search",
    }
)  # fmt: skip
#: beginnings of type attributes that never belong to a document to read
_USELESS_TYPES = (
    "image/", "text/css", "text/javascript", "application/javascript", "video/", "audio/", "font/",
    "application/rss+xml", "application/atom+xml", "application/json+oembed", "text/xml+oembed",
    "application/opensearchdescription+xml", "application/rsd+xml", "application/pdf",
)  # fmt: skip
#: the sorting links of a web server's folder listing
_LISTING_ORDER = re.compile(r"(?:[nmsd]=[ad]|c=[nmsd](?:[;&]o=[ad])?)")
#: words of pages that gather data, and of pages that hardly ever do
_HUB_WORDS = frozenset(
    {
        "data", "dataset", "datasets", "download", "downloads", "dump", "dumps", "example",
        "examples", "sample", "samples", "vocabulary", "vocabularies", "vocab", "schema",
        "schemas", "ontologies", "namespace", "ns", "semantic", "linked", "export", "opendata",
        "metadata", "catalog", "catalogue",
    }
)  # fmt: skip
_DULL_WORDS = frozenset(
    {
        "login", "logout", "signin", "signup", "register", "password", "cart", "checkout",
        "basket", "privacy", "terms", "legal", "imprint", "cookies", "cookie", "copyright",
        "license", "licence", "disclaimer", "javadoc", "apidocs", "doxygen", "press", "jobs",
        "careers", "newsletter", "subscribe", "donate", "sponsors", "calendar", "feed", "rss",
        "share", "print", "edit", "history", "talk", "diff", "oldid", "printable", "replytocom",
        "whatlinkshere", "recentchanges", "search",
    }
)  # fmt: skip

#: logit of a page that nothing is known of
BASE = -2.2
#: … of a link that looks like a target by extension or type
SURE = 3.5
#: … of one that is never fetched, or whose document was had
NEVER = -6.0
#: taken off for a link outside the seed's folder; for a sure one, this share of it
_OUTSIDE = {"near": 1.2, "out": 4.0}
_OUTSIDE_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class LinkSigns:
    """What speaks for or against a link at first sight."""

    #: its extension or type attribute is a target's
    sure: bool
    #: an image, a style sheet, a script …: never to be fetched
    useless: bool
    #: its extension is neither a page's nor a target's: only a look inside can tell
    ambiguous: bool
    #: … and known to be something else as a rule (tables, plain text, archives)
    unlikely: bool
    #: index logit
    prior: float
    #: logit of being a target itself
    target_prior: float

    @classmethod
    def of(
        cls,
        link: Link,
        targets: TargetSigns,
        *,
        extension: str,
        endings: Sequence[str],
        segments: Sequence[str],
        trailing: bool,
        query: str,
        within: str,
    ) -> Self:
        """Look at a link whose URL was taken apart; everything in lower case."""
        kind = link.type[:200].partition(";")[0].strip().lower()
        sure = extension in targets.extensions or kind in targets.media_types
        useless = not sure and (
            extension in targets.dropped
            or (bool(kind) and kind.startswith(_USELESS_TYPES))
            or (bool(link.rel) and not _USELESS_RELS.isdisjoint(link.rel[:200].lower().split()))
            or (bool(query) and bool(_LISTING_ORDER.fullmatch(query)))
        )
        packed = extension in ARCHIVE_EXTENSIONS and bool({*endings[:-1]} & targets.extensions)
        ambiguous = bool(extension) and not sure and extension not in HTML_EXTENSIONS
        unlikely = extension in targets.unlikely and not packed
        outside = _OUTSIDE.get(within, 0.0)
        if sure:
            prior, target_prior = SURE - _OUTSIDE_SHARE * outside, SURE
        elif useless:
            prior, target_prior = NEVER, NEVER
        else:
            data = packed or extension in {"xml", "json"}
            words = _word_evidence(link, targets.words, targets.media_types, segments, query)
            hub = _hub_likeness(segments, trailing=trailing, query=bool(query))
            kind_logit = 0.3 if data else -2.5 if unlikely else -1.0 if ambiguous else 0.0
            prior = BASE + words + hub + kind_logit - outside
            target_prior = -1.0 if ambiguous and not unlikely else -3.0
        return cls(sure, useless, ambiguous, unlikely, prior, target_prior)


def _word_evidence(
    link: Link, words: Set[str], types: Set[str], segments: Sequence[str], query: str
) -> float:
    """What the words in and around a link add to its logit."""
    named = f"{link.anchor[:500]} {link.title[:500]}".lower()
    named_words = _WORD.findall(named)
    last_words = _WORD.findall(segments[-1]) if segments else []
    path_words = _WORD.findall(" ".join(segments[:-1]))
    logit = 0.0
    if "/" in named and not types.isdisjoint(_MEDIA_TYPE.findall(named)):
        logit += 3.0
    if not words.isdisjoint(named_words):
        logit += 1.2
    if not words.isdisjoint(last_words):
        logit += 1.2
    elif not words.isdisjoint(path_words):
        logit += 0.3
    if link.before or link.after:
        around = f"{link.before[-200:]} {link.after[:200]}".lower()
        if not words.isdisjoint(_WORD.findall(around)):
            logit += 0.5
    if "alternate" in link.rel:
        logit += 0.5
    if not (_HUB_WORDS.isdisjoint(last_words) and _HUB_WORDS.isdisjoint(named_words[:8])):
        logit += 0.6
    if not (
        _DULL_WORDS.isdisjoint(last_words)
        and _DULL_WORDS.isdisjoint(path_words)
        and (not query or _DULL_WORDS.isdisjoint(_WORD.findall(query)))
    ):
        logit -= 0.7
    return logit


def _hub_likeness(segments: Sequence[str], *, trailing: bool, query: bool) -> float:
    """What the shape of the path adds: folders and index pages are hubs, depth speaks against."""
    index = trailing or (bool(segments) and bool(_INDEX_PAGE.fullmatch(segments[-1])))
    likeness = index - 0.5 * max(0, len(segments) - 1) - 0.5 * query
    return 0.3 * max(likeness, -4.0)
