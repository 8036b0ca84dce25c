"""What a link is worth before anything was learned: a hand-made logit."""

from __future__ import annotations

import re
from collections.abc import Sequence
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

BASE = -2.2
SURE = 3.5
NEVER = -6.0


@dataclass(frozen=True, slots=True)
class LinkSigns:
    """What speaks for or against a link at first sight."""

    #: its extension or type attribute is a target's
    sure: bool
    #: an image, a style sheet, a script …: never to be fetched
    useless: bool
    #: known, but rarely what is looked for (tables, plain text, archives)
    unlikely: bool
    #: its extension is neither a page's nor a target's, so that only a look inside can tell
    ambiguous: bool
    #: a target's media type in anchor or title
    type_named: bool
    #: a word of the targets in anchor or title, in the last segment, in the path, in the context
    word_named: bool
    word_last: bool
    word_path: bool
    word_context: bool
    alternate: bool
    data_extension: bool
    hub: float

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
        query: bool,
    ) -> Self:
        """Look at a link whose URL was taken apart."""
        rel = link.rel[:200].lower().split()
        kind = link.type[:200].partition(";")[0].strip().lower()
        typed = kind in targets.media_types
        packed = extension in ARCHIVE_EXTENSIONS and bool({*endings[:-1]} & targets.extensions)
        named = f"{link.anchor[:500]} {link.title[:500]}".lower()
        last = segments[-1] if segments else ""
        words = targets.words
        known = extension in targets.extensions
        useless = not (known or typed) and (
            extension in targets.dropped
            or kind.startswith(_USELESS_TYPES)
            or not _USELESS_RELS.isdisjoint(rel)
        )
        index = trailing or bool(_INDEX_PAGE.fullmatch(last))
        return cls(
            sure=known or typed,
            useless=useless,
            unlikely=extension in targets.unlikely and not packed,
            ambiguous=bool(extension) and not known and extension not in HTML_EXTENSIONS,
            type_named="/" in named
            and not targets.media_types.isdisjoint(_MEDIA_TYPE.findall(named)),
            word_named=not words.isdisjoint(_WORD.findall(named)),
            word_last=not words.isdisjoint(_WORD.findall(last)),
            word_path=any(not words.isdisjoint(_WORD.findall(s)) for s in segments[:-1]),
            word_context=not words.isdisjoint(
                _WORD.findall(f"{link.before[-200:]} {link.after[:200]}".lower())
            ),
            alternate="alternate" in rel,
            data_extension=extension in {"xml", "json"} or packed,
            hub=(1.0 if index else 0.0) - 0.5 * max(0, len(segments) - 1) - (0.5 if query else 0.0),
        )


def prior_logit(signs: LinkSigns) -> float:
    """Logit of the index that a link is taken to have at first sight."""
    if signs.sure:
        return SURE
    if signs.useless:
        return NEVER
    logit = BASE + 0.3 * max(signs.hub, -4.0)
    logit += 3.0 * signs.type_named + 1.2 * signs.word_named
    logit += 1.2 if signs.word_last else 0.3 * signs.word_path
    logit += 0.5 * signs.word_context + 0.5 * signs.alternate + 0.3 * signs.data_extension
    return logit - 2.5 * signs.unlikely
