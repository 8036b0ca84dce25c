"""Texts as topics read them: words, passages, what is near what.

Splits texts in any language into words that topics can compare.
Words are normalised (Unicode NFKC) and case-folded. Scripts without spaces between words give
bigrams of letters. If the language has a stemmer, its words become stems.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import Protocol

import regex
import stopwordsiso

from semcrawl.rdf.patterns import re
from semcrawl.rdf.shortnames import local_name, namespace_of, other_scheme
from semcrawl.topics.contract import Document

_WORDS = regex.compile(r"[\p{L}\p{M}\p{N}]+")
#: runs of letters: those of scripts without spaces between words, and all others
_RUNS = regex.compile(
    r"(?P<dense>[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々〆]"
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{M}ー々〆]*)"
    r"|[^\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々〆]+"
)
#: one letter with its combining marks, or marks without a letter
_LETTERS = regex.compile(r"\P{M}\p{M}*|\p{M}+")
#: translation tables that turn ASCII other than letters and digits into spaces; one lower-cases too
_CASED = bytes(b if b > 127 or chr(b).isalnum() else 32 for b in range(256))
_FOLDED = bytes(ord(chr(b).lower()) if b < 128 else b for b in _CASED)
#: the one combining mark that NFKC composes with ASCII characters other than letters
_STROKE = "\u0338"
#: Snowball's stemmers by ISO 639-1 code
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque",
    "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
#: most stems cached per language, and most that one text may add (a second of work)
_MAX_STEMS, _MAX_NEW = 100_000, 20_000


def words_of(text: str, language: str = "") -> list[str]:
    """Return the words of a text in order, as stems where the language has a stemmer.

    >>> words_of("Sorting of the sorted", "en")
    ['sort', 'of', 'the', 'sort']
    >>> words_of("漁業の歴史")
    ['漁業', '業の', 'の歴', '歴史']
    """
    stem = stemmer_of(language)
    words = _words(text)
    return words if stem is None else stem.of(words)


def _words(text: str) -> list[str]:
    """Return the words of a text, with a path for ASCII that is several times as fast."""
    data = text.encode("utf-8", "replace")
    odd = len(data) - len(text)
    if odd > len(text) // 8 or (odd and _STROKE in text):
        return _words_of_any(text)
    if not odd:
        return data.translate(_FOLDED).decode().split()
    words: list[str] = []
    for part in data.translate(_CASED).decode().split():
        if part.isascii():
            words.append(part.lower())
        else:
            words += _words_of_any(part)
    return words


def _words_of_any(text: str) -> list[str]:
    words: list[str] = []
    for word in _WORDS.findall(unicodedata.normalize("NFKC", text).casefold()):
        if max(word) < "\u0e00":  # Thai is the first script without spaces
            words.append(word)
        else:
            words += _split_scripts(word)
    return words


def _split_scripts(word: str) -> list[str]:
    """Split a word where scripts change; scripts without spaces give bigrams."""
    parts: list[str] = []
    for run in _RUNS.finditer(word):
        if run["dense"] is None:
            parts.append(run[0])
            continue
        letters = _LETTERS.findall(run[0])
        parts += ["".join(letters[n : n + 2]) for n in range(max(1, len(letters) - 1))]
    return parts


def primary(language: str) -> str:
    """Return the first part of a language tag: ``pt`` of ``pt-BR``."""
    return language.replace("_", "-").partition("-")[0].strip().lower()


class Stemmer(Protocol):
    """Stems the words of one language."""

    def of(self, words: list[str]) -> list[str]:
        """Return the stem of each word."""
        ...


class _Stemmer:
    """Caches stems, as the library is slow."""

    def __init__(self, algorithm: str) -> None:
        import snowballstemmer  # slow: loads the stemmers of all languages

        self._stem = snowballstemmer.stemmer(algorithm).stemWord
        self._known: dict[str, str] = {}

    def of(self, words: list[str]) -> list[str]:
        """Return the stem of each word; beyond :data:`_MAX_NEW` unknown ones, the word itself."""
        known = self._known
        try:
            return [known[word] for word in words]
        except KeyError:
            pass
        if len(known) > _MAX_STEMS:
            known.clear()
        new = (word for word in dict.fromkeys(words) if word not in known)
        for word in islice(new, _MAX_NEW):
            is_code = word.isascii() and word[-1:].isdigit()  # (an ontology may have a million)
            known[word] = word if is_code or len(word) > 100 else self._stem(word)
        return [known.get(word, word) for word in words]


@cache
def _load(algorithm: str) -> Stemmer:
    return _Stemmer(algorithm)


def stemmer_of(language: str) -> Stemmer | None:
    """Return the stemmer of a language; ``None`` where there is none."""
    algorithm = _STEMMERS.get(primary(language)) if language else None
    return None if algorithm is None else _load(algorithm)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, in the form of :func:`words_of`.

    Empty for an unknown language. ``language`` is an ISO 639-1 code.
    """
    listed = stopwordsiso.stopwords(language) if stopwordsiso.has_lang(language) else ()
    return frozenset(word for text in listed for word in words_of(text, language))


#: least bytes of a block, which joins small pieces
_BLOCK = 1 << 18


def blocks(document: Document, size: int) -> Iterator[bytes]:
    """Yield the first N-Quads lines of a document, at most ``size`` bytes, in large blocks.

    A line that crosses ``size`` is left out. Each block ends with a line end.
    """
    held: list[bytes] = []
    length = 0
    for piece in document.statements():
        if len(piece) >= size:
            piece = piece[: piece.rfind(b"\n", 0, size) + 1]
            size = len(piece)
        size -= len(piece)
        held.append(piece)
        length += len(piece)
        if length >= _BLOCK or size <= 0:
            yield _joined(held)
            held, length = [], 0
        if size <= 0:
            return
    if held:
        yield _joined(held)


def _joined(pieces: list[bytes]) -> bytes:
    block = b"".join(pieces)
    return block if block.endswith(b"\n") or not block else block + b"\n"


class Role(StrEnum):
    """The place of a text in its document."""

    TITLE = "title"
    HEADING = "heading"  #: headings of a page, labels in RDF
    BODY = "text"


@dataclass(frozen=True, slots=True)
class Passage:
    """The texts of one role and one language, joined by line breaks."""

    role: Role
    language: str
    text: str


#: local names of properties that name their subject
_LABELS = frozenset(
    (b"label", b"prefLabel", b"altLabel", b"title", b"name", b"headline", b"alternateName")
)
#: a line whose object is text: its property's local name, the text, the language tag
_LITERAL = re.compile(
    rb"^\S+ <(?:[^>]*[#/])?([^>]*)> "
    rb'"((?:[^"\\\n]|\\.)*+)"(?:@([A-Za-z0-9-]+)|(?=\s)|'
    rb"\^\^<http://www\.w3\.org/(?:2001/XMLSchema#string|1999/02/22-rdf-syntax-ns#HTML)>)",
    re.MULTILINE,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.S)
_SIGNS = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}


def passages(document: Document, size: int) -> list[Passage]:
    """Return the texts of a document, at most ``size`` characters of each text or bytes of RDF.

    Literals count only without a page's text.
    """
    language = document.language
    found = [
        Passage(role, language, text[:size])
        for role, text in (
            (Role.TITLE, document.title),
            (Role.HEADING, document.headings),
            (Role.BODY, document.text),
        )
        if text
    ]
    if not document.text:
        found += _literals(document, size)
    return found


def _literals(document: Document, size: int) -> Iterator[Passage]:
    texts: dict[tuple[Role, bytes], list[bytes]] = {}
    for block in blocks(document, size):
        for name, text, language in _LITERAL.findall(block):
            role = Role.HEADING if name in _LABELS else Role.BODY
            texts.setdefault((role, language), []).append(text)
    for (role, tag), parts in texts.items():
        joined = b"\n".join(parts).decode("utf-8", "replace")
        if "\\" in joined:
            joined = _ESCAPE.sub(_sign, joined)
        yield Passage(role, tag.decode(), joined)


def _sign(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code is None:
        return _SIGNS.get(match[3], match[3])
    number = int(code, 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


#: a local name, and the markup before it where code is coloured
_NAME = rb"[\w.-]*\w"
_COLOURED = rb"(?:<[^<>]{0,200}>){0,4}"


class Mentions:
    """Searches the bytes of a page for the IRIs and prefixed names of terms.

    Local names are checked only where their namespace or prefix occurs. A page without them costs
    two or three searches per namespace.
    """

    def __init__(self, terms: Iterable[str], prefixes: Mapping[str, str]) -> None:
        """Search for ``terms``; one that ends with ``#``, ``/`` or ``:`` means a namespace.

        ``prefixes`` maps namespaces to their prefixes.
        """
        names: defaultdict[str, set[bytes]] = defaultdict(set)
        whole_namespaces = set()
        for term in terms:
            if term[-1] in "#/:":
                whole_namespaces.add(term)
            names[namespace_of(term)].add(local_name(term).encode())
        self._searches = [
            (mark, pattern, None if namespace in whole_namespaces else frozenset(found))
            for namespace, found in names.items()
            for mark, pattern in _spellings(namespace, prefixes.get(namespace, ""))
        ]

    def first(self, markup: bytes) -> str:
        """Return a term that the page mentions, as it is written there; empty if there is none."""
        for mark, pattern, names in self._searches:
            if mark not in markup:
                continue
            for found in pattern.finditer(markup):
                if names is None or found[1] in names:
                    return (mark + (found[1] or b"")).decode("utf-8", "replace")
        return ""


def _spellings(namespace: str, prefix: str) -> Iterator[tuple[bytes, re.Pattern[bytes]]]:
    """Yield the spellings of a namespace's terms: a fixed beginning, and a pattern of the whole."""
    for iri in (namespace, other_scheme(namespace)):
        mark = iri.encode()
        yield mark, re.compile(re.escape(mark) + rb"(" + _NAME + rb")?")
    if prefix:
        mark = f"{prefix}:".encode()
        whole = rb"(?<![\w.-])" + re.escape(mark) + _COLOURED + rb"(" + _NAME + rb")"
        yield mark, re.compile(whole)


_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
#: most texts whose similarity is cached
_MAX_KNOWN = 50_000


class Nearness(ABC):
    """Base of topics with words: cached :meth:`similarity` and :meth:`iri_similarity`."""

    takes_long = False
    knows_words = True

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._known: dict[tuple[str, str], float] = {}

    def similarity(self, text: str, language: str = "") -> float:
        """Similarity of a word or phrase to the topic, 0 to 1."""
        key = (text, language)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            known = self._known[key] = self._similarity(text, language)
        return known

    def iri_similarity(self, iri: str) -> float:
        """Similarity of the name of a property or class, 0 to 1."""
        return self.similarity(spaced(local_name(iri)))

    @abstractmethod
    def _similarity(self, text: str, language: str) -> float:
        """Compute :meth:`similarity`."""


def spaced(name: str) -> str:
    """Put spaces between the words of a name such as ``DataCatalog``."""
    return _CAMEL.sub(" ", name)
