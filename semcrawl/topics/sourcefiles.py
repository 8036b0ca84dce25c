"""Reads the files and URLs that define topics: RDF, texts, folders."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, cast

import pyoxigraph

from semcrawl.errors import UsageError
from semcrawl.links.pagetexts import page_text
from semcrawl.links.trees import parse_html
from semcrawl.rdf import Reading, ReadOptions, detect, read
from semcrawl.rdf.terms import iri_of
from semcrawl.topics.contract import Document, TopicOptions
from semcrawl.topics.texts import Role, passages
from semcrawl.web.charsets import marked_encoding, to_utf8
from semcrawl.web.vocabulary import Kind

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: bytes of a file that takes so long that a line says so
_LARGE = 16 * 2**20
#: the messages about a limit of bytes, maybe after the name of a member
_TOO_LARGE = re.compile(r"(?:^|: )(more than \d+ bytes.*)$")
#: most characters of a first line that counts as the title of a plain text
_MAX_TITLE = 200
#: most files in a folder
_MAX_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Sample:
    """A text that shows what a topic is about, or what it is not about."""

    text: str
    title: str = ""
    headings: str = ""
    #: language tag; empty if unknown
    language: str = ""


def statements_of(name: str, options: TopicOptions) -> bytes:
    """Return the statements of an RDF file or URL, in any syntax, as N-Quads.

    Raises ``UsageError`` if it cannot be read or has no RDF. If it has errors, a warning says so,
    and the valid statements are returned.
    """
    return _statements_in(options.read(name), name, options.max_file)


def _statements_in(data: bytes, name: str, most: int) -> bytes:
    if len(data) > _LARGE:
        logger.warning("about: %s has %d MB and takes a while", name, len(data) >> 20)
    reading = _read(data, name, most)
    final = reading.errors[-1].message if reading.errors else ""
    if found := _TOO_LARGE.search(final):
        raise UsageError(f"{name} cannot be read: {found[1]}")
    if not reading.quads:
        why = f": {reading.errors[0].message}" if reading.errors else ""
        raise UsageError(f"{name} cannot be read as RDF{why}")
    if reading.error_count:
        logger.warning(
            "about: %s has %d errors, the first: %s",
            name, reading.error_count, reading.errors[0].message,
        )  # fmt: skip
    return reading.nquads


def _read(data: bytes, name: str, most: int) -> Reading:
    """Read a topic's file, which stays in memory; nothing is spooled to disk."""
    bounds = ReadOptions(
        spool_above=most,
        max_in_memory=most,
        max_nquads_bytes=most,
        max_unpacked_bytes=most,
    )
    return read(data, _base_of(name), None, bounds)


def _base_of(name: str) -> str:
    return iri_of(name if "://" in name else Path(name).resolve().as_uri())


def made_of(name: str, options: TopicOptions, make: Callable[[Iterator[pyoxigraph.Quad]], T]) -> T:
    """Return ``make`` applied to the statements of an RDF file or URL.

    The last results are cached, as a crawl makes its topic for each spider and for the strategy.
    Raises as :func:`statements_of` does.
    """
    return cast("T", _made(options.read(name), name, make, options.max_file))


@lru_cache(maxsize=2)
def _made(
    data: bytes, name: str, make: Callable[[Iterator[pyoxigraph.Quad]], object], most: int
) -> object:
    lines = _statements_in(data, name, most)
    return make(pyoxigraph.parse(lines, format=pyoxigraph.RdfFormat.N_QUADS))


def samples_of(name: str, options: TopicOptions) -> list[Sample]:
    """Return the texts of a file, a URL, or all files in a folder, recursively.

    Raises ``UsageError`` if there is no text.
    """
    folder = Path(name)
    if "://" in name or not folder.is_dir():
        if samples := [*_samples(name, options)]:
            return samples
        raise UsageError(f"{name} holds no text")
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if len(paths) > _MAX_FILES:
        raise UsageError(f"the folder {name} holds more than {_MAX_FILES} files")
    samples = [sample for path in paths for sample in _samples(str(path), options)]
    if not samples:
        raise UsageError(f"the folder {name} holds no text")
    return samples


def _samples(name: str, options: TopicOptions) -> Iterator[Sample]:
    """Yield the text of a page or plain text, or those of RDF by language; nothing for others."""
    data = options.read(name)[: options.max_size]
    kind = detect(data, None, name).kind
    if kind is Kind.HTML:
        found = [_page(data)]
    elif kind is Kind.RDF:
        found = _of_rdf(data, name, options)
    elif b"\0" in data and marked_encoding(data) is None:
        return
    else:
        text = to_utf8(data).data.decode("utf-8", "replace")
        first = text.strip().partition("\n")[0].strip("# ").strip()
        found = [Sample(text, first if len(first) <= _MAX_TITLE else "")]
    yield from (each for each in found if f"{each.text}{each.title}{each.headings}".strip())


def _of_rdf(data: bytes, name: str, options: TopicOptions) -> list[Sample]:
    reading = _read(data, name, options.max_file)
    return samples_in(reading.nquads, name, options.max_size)


def samples_in(statements: bytes, url: str, max_size: int) -> list[Sample]:
    """Return the texts of literals in N-Quads, one per language."""
    document = Document(url, Kind.RDF, statements=lambda: [statements])
    texts: dict[str, dict[Role, str]] = {}
    for passage in passages(document, max_size):
        texts.setdefault(passage.language, {})[passage.role] = passage.text
    return [
        Sample(roles.get(Role.BODY, ""), "", roles.get(Role.HEADING, ""), language)
        for language, roles in texts.items()
    ]


def _page(data: bytes) -> Sample:
    root = parse_html(data, None).root
    if root is None:
        return Sample("")
    page = page_text(root, len(data))
    return Sample(page.text, page.title, page.headings, page.language)
