"""RDF files of real sites: rapper, rdflib, pyoxigraph and the parsers of npm find the same."""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from semcrawl.rdf import read

from .conftest import SHARED
from .independent import JavaScript, all_readings, lines_of, npm_folder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.sites,
    pytest.mark.skipif(not (SHARED / "sites").is_dir(), reason="needs ../shared/sites"),
]
TYPES = {
    ".rdf": "application/rdf+xml", ".owl": "application/rdf+xml", ".ttl": "text/turtle",
    ".nt": "application/n-triples", ".n3": "text/n3", ".jsonld": "application/ld+json",
    ".nq": "application/n-quads", ".trig": "application/trig",
}  # fmt: skip
#: larger files are for those who have the time: others take a second for 30,000 statements
LARGEST = 60_000
#: files that differ, and the clause that proves us right
DIFFERENT = {
    "ruleml/rdf/creator.rdf": "RDF/XML 6.1.4: an attribute without a namespace is no property",
}
SITES = sorted(path.name.removesuffix(".tar.xz") for path in (SHARED / "sites").glob("*.tar.xz"))


def files(site: str) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(SHARED / "sites" / f"{site}.tar.xz") as packed:
        for member in packed:
            wanted = member.isfile() and Path(member.name).suffix in TYPES
            if wanted and member.size <= LARGEST and "/test-suite/" not in member.name:
                content = packed.extractfile(member)
                assert content is not None
                yield member.name, content.read()


@pytest.fixture(scope="module")
def optional_javascript() -> Iterator[JavaScript | None]:
    folder = npm_folder()
    if folder is None:
        yield None
        return
    with JavaScript(folder) as readers:
        yield readers


@pytest.mark.parametrize("site", SITES)
def test_others_find_the_same(
    site: str, optional_javascript: JavaScript | None, contexts: dict[str, Any]
) -> None:
    """All that a reader has, and nothing that none has if one reads the whole file."""
    different = {}
    for name, body in files(site):
        if name in DIFFERENT:
            continue
        url = f"http://site.example/{name.replace(' ', '%20')}"
        reading = read(body, url, TYPES[Path(name).suffix])
        syntax = reading.detection.format
        if syntax is None or reading.contexts_needed or not body.strip():
            continue
        ours = lines_of(reading.nquads, url, lenient=False)
        body = body.removeprefix(b"\xef\xbb\xbf")
        found = list(all_readings(body, syntax, url, optional_javascript, contexts))
        # the parsers of npm stop at some faults without a word
        clean = [o for o in found if o.clean and (o.reader != "npm" or len(found) == 1)]
        if not found or any(outcome.lines == ours for outcome in clean):
            continue
        most = max(clean or found, key=lambda outcome: (outcome.lines & ours).total())
        anybody: Counter[str] = Counter()
        for outcome in found:
            anybody |= outcome.lines
        # where all others give up, ours may mend and have more
        lost, more = most.lines - ours, (ours - anybody if clean else Counter())
        if lost or more:
            different[name] = (most.reader, list(lost)[:3], list(more)[:3], reading.errors[:2])
    assert different == {}
