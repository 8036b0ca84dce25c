"""The texts of a document: a page's title, headings and text, or the literals of RDF."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from semcrawl.rdf.patterns import re
from semcrawl.topics.contract import Document
from semcrawl.topics.excerpts import blocks


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
