"""The prior: the worth of a link before anything was learned, as a hand-made logit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from semcrawl.config.targets import Targets, extensions_of_type, types_like
from semcrawl.links import Link
from semcrawl.links.model import FOLDER, GUESS
from semcrawl.relevance.learned.parts import RDF_STEM, LinkParts
from semcrawl.relevance.rules import is_of_other_format
from semcrawl.web.vocabulary import (
    ARCHIVE_EXTENSIONS,
    FEED_MEDIA_TYPES,
    HTML_EXTENSIONS,
    NON_SEMANTIC_EXTENSIONS,
    PLAIN_EXTENSIONS,
    RDF_CONCEPT_WORDS,
    RDF_EXTENSIONS,
    RDF_MEDIA_TYPES,
)

#: Words for data embedded in pages (RDFa, microdata, JSON-LD in a script element).
_EMBEDDED_WORDS = frozenset({"rdfa", "microdata", "jsonld", "schema"})
#: a media type within a text
_MEDIA_TYPE = re.compile(r"[a-z]+/[a-z0-9.+-]+")
#: last segments of a folder's own page
_INDEX_PAGE = re.compile(r"(?:index|default|overview|welcome|home)(?:-[a-z]{2})?(?:\.[a-z0-9]+)?")
#: values of ``rel`` that never lead to a useful document
_USELESS_RELS = frozenset(
    {
        "stylesheet", "icon", "shortcut", "apple-touch-icon", "apple-touch-icon-precomposed",
        "mask-icon", "fluid-icon", "image_src", "manifest", "preload", "prefetch", "dns-prefetch",
        "preconnect", "modulepreload", "pingback", "edituri", "wlwmanifest", "search",
    }
)  # fmt: skip
#: prefixes of ``type`` attributes that never belong to a useful document
_USELESS_TYPES = (
    "image/", "text/css", "text/javascript", "application/javascript", "video/", "audio/", "font/",
    "application/json+oembed", "text/xml+oembed", "application/pdf",
    "application/opensearchdescription+xml", "application/rsd+xml",
)  # fmt: skip
#: query of sorting links in a web server's directory listing
_LISTING_ORDER = re.compile(r"(?:[nmsd]=[ad]|c=[nmsd](?:[;&]o=[ad])?)")
#: further words for RDF, which the thesis's rules do not have
_RDF_WORDS = frozenset({"shacl", "shex"})
#: words of pages that collect data, and of pages that hardly ever do
_HUB_WORDS = frozenset(
    "data dataset datasets download downloads dump dumps example examples sample samples "
    "vocabulary vocabularies vocab schema schemas namespace ns semantic linked export "
    "opendata metadata catalog catalogue shape shapes validation "
    # German, Dutch
    "daten datensatz datensätze beispiel beispiele herunterladen vokabular schemata validierung "
    "gegevens voorbeeld voorbeelden downloaden "
    # Spanish, Portuguese, Italian, French
    "datos ejemplo ejemplos descarga descargas descargar vocabulario esquema esquemas validación "
    "catálogo catalogo dados exemplo exemplos baixar vocabulário dati esempio esempi scarica "
    "scaricare vocabolario données donnees exemple exemples télécharger téléchargement "
    "vocabulaire schéma schémas "
    # Polish
    "dane przykład przykłady pobierz słownik".split()
)
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
#: logit of a page without evidence
BASE = -2.2
#: … of a link that is a target by extension or type
SURE = 3.5
#: … of a link that is never fetched, or whose document was fetched
NEVER = -6.0
#: logits taken off a link outside the seed's folder; for a sure one, this share of them
_OUTSIDE = {"near": 1.2, "out": 4.0}
_OUTSIDE_SHARE = 0.8
#: … taken off a folder that no page links to
_UNNAMED = 1.0


@dataclass(frozen=True, slots=True)
class TargetSigns:
    """Signs of links to targets, before anything is learned."""

    #: file extensions of targets, without the dot
    extensions: frozenset[str]
    #: media types of targets
    media_types: frozenset[str]
    #: words that indicate a target
    words: frozenset[str]
    #: extensions that are never fetched
    dropped: frozenset[str]
    #: extensions of unlikely targets, which are fetched last
    unlikely: frozenset[str]
    #: whether RDF is a target
    rdf: bool = True

    @classmethod
    def of(cls, targets: Targets) -> Self:
        """Return the signs of links to these targets."""
        extensions, types, words = set[str](), set[str](), set[str]()
        if targets.rdf:
            extensions |= RDF_EXTENSIONS
            types |= RDF_MEDIA_TYPES
            words |= RDF_CONCEPT_WORDS | _RDF_WORDS
        if targets.embedded:
            words |= _EMBEDDED_WORDS
        if targets.html:
            extensions |= HTML_EXTENSIONS
            types |= {"text/html", "application/xhtml+xml"}
        for name in targets.types:
            types |= {name, *types_like(name)}
            found = {e[1:] for e in extensions_of_type(name)}
            found |= {name.rpartition("/")[2].rpartition("+")[2]} - {"*", "plain", "xml"}
            extensions |= found
            words |= found
        return cls(
            extensions=frozenset(extensions),
            media_types=frozenset(types),
            words=frozenset(words),
            dropped=NON_SEMANTIC_EXTENSIONS - extensions,
            unlikely=(PLAIN_EXTENSIONS | ARCHIVE_EXTENSIONS) - extensions,
            rdf=targets.rdf,
        )

    def are_not_in(self, texts: Sequence[str]) -> bool:
        """Whether none of these words is one of a target's."""
        if not self.words.isdisjoint(texts):
            return False
        return not (self.rdf and f" {RDF_STEM}" in f" {' '.join(texts)}")


class MarkupSigns(NamedTuple):
    """The evidence of a link's element, type and relations, which many links share."""

    #: its type attribute is a target's
    sure: bool
    feed: bool
    #: its type or relation is never a page's or a target's, unless it is sure
    useless: bool
    is_sitemap: bool
    #: it leads to a list of links
    is_list: bool
    alternate: bool

    @classmethod
    def of(cls, link: Link, targets: TargetSigns) -> Self:
        """Examine the element of a link."""
        kind = link.type[:200].partition(";")[0].strip().lower() if link.type else ""
        sure = kind in targets.media_types
        feed = kind in FEED_MEDIA_TYPES and not sure  # RSS 1.0 is RDF, others list documents
        useless = kind.startswith(_USELESS_TYPES) or not _USELESS_RELS.isdisjoint(
            link.rel[:200].lower().split()
        )
        is_list = link.is_sitemap or feed or "resourcesync" in link.rel.split()
        return cls(sure, feed, useless, link.is_sitemap, is_list, "alternate" in link.rel)


class LinkSigns(NamedTuple):
    """The evidence on a link before anything is learned."""

    #: its extension or type attribute is a target's
    sure: bool
    #: an image, a style sheet, a script …, which is never fetched
    useless: bool
    #: its extension is neither a page's nor a target's, so that only its content can tell
    ambiguous: bool
    #: usually something else: tables, plain text, archives, feeds
    unlikely: bool
    #: logit of the index
    prior: float
    #: logit of being a target itself
    target_prior: float
    #: logit of the share about the topic
    share_prior: float = 0.0
    #: level of its page, if it is surely a target; see ``pagelevels``
    level: int = 0

    @classmethod
    def of(cls, link: Link, parts: LinkParts, markup: MarkupSigns, targets: TargetSigns) -> Self:
        """Examine a link and its parts."""
        extension, sitemap = parts.extension, markup.is_sitemap
        sure = markup.sure or extension in targets.extensions or link.element == GUESS
        feed = markup.feed and not sure
        useless = not (sure or sitemap) and (
            extension in targets.dropped
            or markup.useless
            or is_of_other_format(link)
            or (bool(parts.query) and bool(_LISTING_ORDER.fullmatch(parts.query)))
        )
        packed = extension in ARCHIVE_EXTENSIONS and not targets.extensions.isdisjoint(
            parts.endings[:-1]
        )
        is_page = markup.is_list or extension in HTML_EXTENSIONS
        ambiguous = bool(extension) and not sure and not is_page
        unlikely = not sitemap and (feed or (extension in targets.unlikely and not packed))
        outside = _OUTSIDE.get(parts.folder.within, 0.0)
        if sure:
            prior, target_prior = SURE - _OUTSIDE_SHARE * outside, SURE
        elif useless:
            prior, target_prior = NEVER, NEVER
        else:
            data = packed or (extension in {"xml", "json"} and not feed)
            kind_logit = 0.3 if data else -2.5 if unlikely else -1.0 if ambiguous else 0.0
            words = _word_evidence(link, parts, targets) + 0.5 * markup.alternate
            prior = BASE + words + _hub_likeness(parts) + kind_logit - outside
            prior -= _UNNAMED * (link.element == FOLDER)
            target_prior = -1.0 if ambiguous and not unlikely else -3.0
        return cls(sure, useless, ambiguous, unlikely, prior, target_prior)


def _word_evidence(link: Link, parts: LinkParts, targets: TargetSigns) -> float:
    """Return the logits for the words in and around a link."""
    words, types = targets.words, targets.media_types
    logit = 0.0
    for text in (link.anchor, link.title):
        if "/" in text and not types.isdisjoint(_MEDIA_TYPE.findall(text[:500].lower())):
            logit += 3.0
            break

    folder, last, anchor = parts.folder, parts.last_words, parts.anchor_words
    if folder.named is None:
        folder.named = not targets.are_not_in(folder.words)
        folder.dull = not _DULL_WORDS.isdisjoint(folder.words)
    unnamed = targets.are_not_in if parts.may_name else words.isdisjoint
    if not (unnamed(anchor) and unnamed(parts.title_words)):
        logit += 1.2
    if not unnamed(last):
        logit += 1.2
    elif folder.named:
        logit += 0.3
    if not (unnamed(parts.words_before) and unnamed(parts.words_after)):
        logit += 0.5
    if not (_HUB_WORDS.isdisjoint(last) and _HUB_WORDS.isdisjoint(anchor)):
        logit += 0.6
    if folder.dull or not (
        _DULL_WORDS.isdisjoint(last) and _DULL_WORDS.isdisjoint(parts.query_words)
    ):
        logit -= 0.7
    return logit


def _hub_likeness(parts: LinkParts) -> float:
    """Return the logits for the path: folders and index pages are hubs, depth counts against."""
    segments = parts.segments
    index = parts.trailing or bool(_INDEX_PAGE.fullmatch(segments[-1]))
    likeness = index - 0.5 * max(0, len(segments) - 1) - 0.5 * bool(parts.query)
    return 0.3 * max(likeness, -4.0)
