"""Splits texts in any language into words that topics can compare.

Words are normalised (Unicode NFKC) and case-folded. Scripts without spaces between words give
bigrams of letters. If the language has a stemmer, its words become stems.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import islice
from typing import Protocol

import regex
import stopwordsiso

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
