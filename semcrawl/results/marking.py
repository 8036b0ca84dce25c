"""Marks documents of a job as good or bad examples of a topic."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from semcrawl.errors import UsageError
from semcrawl.pipelines.pagestore import PAGES_LEDGER, stored_pages
from semcrawl.results.job import Job
from semcrawl.settings import SEMCRAWL_ABOUT_MAX_SIZE
from semcrawl.topics.marks import Marked, read_marks, write_marks
from semcrawl.topics.sourcefiles import Sample, samples_in


def mark(folder: Path, urls: Collection[str], as_what: str) -> None:
    """Mark kept pages and RDF documents as ``good`` or ``bad``; ``none`` takes the mark away.

    Their texts are written down with the mark. Raises ``UsageError`` for an address of which the
    job keeps nothing, and marks none then.
    """
    others = [one for one in read_marks(folder) if one.url not in urls]
    if as_what == "none":
        write_marks(folder, others)
        return
    marked = [Marked(url, as_what, sample) for url, sample in _texts(folder, frozenset(urls))]
    if missing := sorted({*urls} - {one.url for one in marked}):
        raise UsageError(f"{folder} keeps no page or RDF with a text of {missing[0]}")
    write_marks(folder, others + marked)


def marks_of(folder: Path) -> dict[str, str]:
    """Return the marks of a job folder by URL; raise ``UsageError`` where they cannot be read."""
    return {one.url: one.mark for one in read_marks(folder)}


def _texts(folder: Path, urls: frozenset[str]) -> Iterator[tuple[str, Sample]]:
    """Yield the texts of pages, and of the other addresses those of their statements."""
    pages = set()
    with Job(folder) as job:
        if (folder / PAGES_LEDGER).is_file():
            for page in stored_pages(folder):
                if page.url in urls and (page.text or page.title):
                    pages.add(page.url)
                    yield page.url, Sample(page.text, page.title, "", page.language)
        for source in job.sources:
            with source.snapshot() as snapshot:
                for place in snapshot.places():
                    if place.url in urls - pages:
                        lines = b"".join(snapshot.lines(place))
                        for sample in samples_in(lines, place.url, SEMCRAWL_ABOUT_MAX_SIZE):
                            yield place.url, sample
