"""Pages as the Web has them, and random ones: others read the same statements from them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import html5lib
import pytest
from hypothesis import HealthCheck, given, seed, settings
from pyoxigraph import Quad

from semcrawl.rdf import read, read_embedded
from tests.rdf import forms

from . import soup
from .independent import JavaScript, lines_of

URL = "http://example.org/page"
#: statements, and whether no reader complained
Answer = tuple[set[str], bool]
pytestmark = pytest.mark.slow

#: pages that differ, and the clause that proves us right
DIFFERENT = {
    "023.html": "HTML 4.2.3: addresses are relative to the base element, also those of Microdata",
    "035.html": "Microdata to RDF 6.3: an item's own type gives the names of its properties",
    "038.html": "HTML 13.2.5.73: &amp is a reference without its semicolon, too",
    "056.html": "as 038.html",
    "064.html": "HTML 5.2.2: itemtype without itemscope is no type",
    "113.html": "RDF 1.1 concepts 3.3: text in an empty language (lang='') is a string",
    "126.html": "as 038.html",
    "177.html": "as 038.html",
}


def plain(lines: Counter[str]) -> set[str]:
    """Fold what is ours by choice: http for https at schema.org, tags of Microdata, line ends."""
    result = set()
    for line in lines:
        line = line.replace("https://schema.org/", "http://schema.org/")
        line = line.replace("\\r\\n", "\\n").replace("\\r", "\\n")
        result.add(
            re.sub(
                r"(['\"])@[a-z0-9-]+( *)$", r"\1^^<http://www.w3.org/2001/XMLSchema#string>\2", line
            )
        )
    return result


def stored(page: Path) -> Answer:
    answers = json.loads(page.with_suffix(".json").read_text("utf-8"))
    found: Counter[str] = Counter()
    for kind in ("jsonld", "rdfa", "microdata"):
        for line in answers[kind]:
            try:
                found += lines_of(f"{line.strip().removesuffix('.')} .\n".encode(), URL)
            except SyntaxError:
                found[line] += 1
    return plain(found), not answers["errors"]


def live(text: str, javascript: JavaScript, contexts: dict[str, Any]) -> Answer:
    clean = True
    found = javascript.ask("rdfa", text, URL, "text/html").lines
    for line in [line for line in found if "vocab#role>" in line]:
        del found[line]  # landmarks of the page, which ours reads on demand
    found += javascript.ask("microdata", text, URL).lines
    for script in html5lib.parse(text, namespaceHTMLElements=False).iter("script"):
        if script.get("type", "").partition(";")[0].strip().lower() == "application/ld+json":
            answer = javascript.ask("jsonld", script.text or "", URL, None, contexts)
            found += answer.lines if answer.clean else Counter()
            clean = clean and answer.clean
    return plain(found), clean


def judge(pages: Path, expected: Callable[[Path], Answer]) -> None:
    """Hold our statements of all pages against those of others.

    A script that others refuse and ours mends tells nothing of what ours has more.
    """
    found = wanted = own = fitting = 0
    silent = {}
    for page in sorted(pages.glob("*.html")):
        if page.name in DIFFERENT:
            continue
        want, clean = expected(page)
        reading = read_embedded(page.read_bytes(), URL, "text/html")
        ours = plain(lines_of(reading.nquads, URL, lenient=False))
        lost = want - ours
        if lost and not reading.errors:
            silent[page.name] = sorted(lost)[:3]
        found, wanted = found + len(want & ours), wanted + len(want)
        if clean:
            fitting, own = fitting + len(want & ours), own + len(ours)
    assert silent == {}
    assert wanted > 10_000
    assert found / wanted >= 0.998
    assert fitting / own >= 0.995


def test_real_pages_say_what_is_stored(wild_pages: Path) -> None:
    """What three readers found in 188 real pages, ours finds too, and hardly anything else."""
    judge(wild_pages, stored)


def test_real_pages_say_what_others_read_now(
    wild_pages: Path, javascript: JavaScript, contexts: dict[str, Any]
) -> None:
    """The same with the readers themselves."""
    judge(wild_pages, lambda page: live(page.read_text("utf-8", "replace"), javascript, contexts))


@pytest.mark.parametrize("kind", ["rdfa", "microdata"])
def test_random_markup(kind: str, javascript: JavaScript) -> None:
    """Pages with attributes in every combination say the same to both readers."""
    make = {"rdfa": soup.rdfa_page, "microdata": soup.microdata_page}[kind]
    different = {}
    for number in range(600):
        page = make(number)
        ours = lines_of(read_embedded(page.encode(), URL, "text/html").nquads, URL, lenient=False)
        theirs = javascript.ask(kind, page, URL, "text/html")
        if theirs.clean and theirs.lines != ours:
            different[number] = (theirs.lines - ours, ours - theirs.lines)
    assert different == {}


@pytest.mark.parametrize("form", ["jsonld", "turtle", "trig"])
def test_random_documents(form: str, javascript: JavaScript) -> None:
    """Documents in random form say the same to both readers, if the other has no complaint."""
    compared = 0

    @seed(1)
    @settings(
        max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(forms.datasets(graphs=form == "trig"), forms.forms())
    def holds(quads: list[Quad], spelling: forms.Form) -> None:
        nonlocal compared
        document = forms.WRITERS[form](quads, spelling)
        theirs = javascript.ask(form, document.data().decode(document.encoding), URL)
        if theirs.clean:
            ours = read(document.data(), URL, document.content_type)
            assert lines_of(ours.nquads, URL, lenient=False) == theirs.lines, document.data()
            compared += 1

    holds()
    assert compared > 50
