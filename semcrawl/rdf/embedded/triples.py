"""Collects the triples of a page before their IRIs are resolved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from semcrawl.rdf.limits import ErrorLog, LimitReached
from semcrawl.rdf.terms import RDF, iri_of, language_tag, literal_term

#: what HTML and XML call white space
WHITE_SPACE = " \t\n\r\f"
_LINE_ENDS = str.maketrans("", "", "\t\n\r")
_RDFA = "http://www.w3.org/ns/rdfa#"
_TYPE = f"<{RDF}type>"
_COPY, _PATTERN = f"<{_RDFA}copy>", f"<{_RDFA}Pattern>"
_LITERAL = re.compile(r'("(?:[^"\\]|\\.)*+")(?:@(.*)|\^\^<(.*)>)?\Z', re.DOTALL)
#: datatypes of literals with a language, and never of others
_OF_LANGUAGES = frozenset({RDF + "langString", RDF + "dirLangString"})


class Triple(NamedTuple):
    """Three terms as the page has them, and the line they come from.

    They are written as in N-Triples, but IRIs may be relative, and IRIs and languages wrong.
    """

    subject: str
    predicate: str
    object: str
    line: int


def words(text: str) -> list[str]:
    """Return the words between white space, which is that of HTML, not Unicode's."""
    return text.split() if text.isascii() else re.findall(r"[^ \t\n\r\f]+", text)


def address(text: str) -> str:
    """Return the term for an IRI, without white space around it and line ends in it.

    That is how browsers read a URL (WHATWG, URL, section 4.4).
    """
    return f"<{text.strip(WHITE_SPACE).translate(_LINE_ENDS)}>"


def literal(text: str, language: str = "", datatype: str = "") -> str:
    """Return the term for a literal."""
    quoted = literal_term(text)
    if datatype:
        return f"{quoted}^^<{datatype}>"
    # a quote would end the term
    return quoted + "@" + language.replace('"', "'") if language else quoted


def statements(triples: Iterable[Triple], errors: ErrorLog) -> Iterator[tuple[str, int]]:
    """Yield the statements in Turtle, each on a line, and their lines in the page.

    IRIs and languages are mended, or the statement is left out; ``errors`` has both.
    """
    for triple in triples:
        one, two, three, line = triple
        subject, predicate = _iri(one, line, errors), _iri(two, line, errors)
        if (value := _value(three, line, errors)) is not None:
            yield f"{subject} {predicate} {value} .\n", line


def _iri(term: str, line: int, errors: ErrorLog) -> str:
    if term[0] != "<":
        return term
    iri = term[1:-1]
    if (mended := iri_of(iri)) == iri:
        return term
    errors.add_mended(f"characters of <{iri}> that no IRI has are percent-encoded", line)
    return f"<{mended}>"


def _value(term: str, line: int, errors: ErrorLog) -> str | None:
    if term[0] != '"':
        return _iri(term, line, errors)
    if term[-1] == '"' or (parts := _LITERAL.match(term)) is None:
        return term
    text, language, datatype = parts.groups()
    if language is not None:
        tag, mended = language_tag(language)
        if mended:
            errors.add_mended(f"the language {language!r} is read as {tag}", line)
        elif not tag:  # it is unknown (HTML, 3.2.6.2)
            errors.add_mended(f"the language {language!r} is none; its text has none", line)
        return f"{text}@{tag}" if tag else str(text)
    if datatype in _OF_LANGUAGES:
        errors.add(f"a literal of the type <{datatype}> without a language", line)
        return None
    return f"{text}^^{_iri(f'<{datatype}>', line, errors)}"


class TripleList(list[Triple]):
    """The bounded triples of one page and kind: a few kilobytes can state millions."""

    def __init__(self, limit: int, size: int) -> None:
        """Allow at most ``limit`` triples of ``size`` characters, and forty steps for each."""
        super().__init__()
        self._limit = limit
        self._size = self._left = size
        self._steps = 40 * limit

    def add(self, triple: Triple) -> None:
        """Add a triple. Raises :class:`LimitReached`."""
        if len(self) >= self._limit:
            raise LimitReached(f"more than {self._limit} triples in one page")
        self._left -= len(triple.subject) + len(triple.predicate) + len(triple.object)
        if self._left < 0:
            raise LimitReached(f"triples of more than {self._size} characters in one page")
        self.append(triple)

    def step(self) -> None:
        """Count a visited element. Raises :class:`LimitReached`."""
        self._steps -= 1
        if self._steps < 0:
            raise LimitReached("the page's elements refer to each other too often")


def copy_patterns(triples: list[Triple]) -> Iterator[Triple]:
    """Yield ``triples`` with each ``rdfa:copy`` replaced by the pattern's statements.

    See HTML+RDFa 1.1, section 3.5.
    """
    if not any(t.predicate == _COPY for t in triples):
        yield from triples
        return
    patterns = {t.subject for t in triples if t.predicate == _TYPE and t.object == _PATTERN}
    about: dict[str, list[Triple]] = {}
    for triple in triples:
        about.setdefault(triple.subject, []).append(triple)
    used = {t.object for t in triples if t.predicate == _COPY and t.object in patterns}
    for triple in triples:
        if triple.subject in used:
            continue
        if triple.predicate != _COPY or triple.object not in patterns:
            yield triple
            continue
        seen, waiting = set[str](), [triple.object]
        while waiting:
            pattern = waiting.pop()
            if pattern in seen:
                continue
            seen.add(pattern)
            for other in about.get(pattern, ()):
                if other.predicate == _COPY and other.object in patterns:
                    waiting.append(other.object)
                elif other.object != _PATTERN:
                    yield Triple(triple.subject, other.predicate, other.object, other.line)
