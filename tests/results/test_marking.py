"""Documents of a job as examples of a later crawl's topic."""

from __future__ import annotations

import csv
import json
import re
from io import StringIO

import pytest

from semcrawl.errors import UsageError
from semcrawl.items import TopicPage
from semcrawl.pipelines.pagestore import PAGES_FILE, PAGES_LEDGER, document_of_page
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.topics import Document, about
from semcrawl.topics.examples import MARKS_FILE, read_marks
from semcrawl.web.vocabulary import Kind

from .jobs import ANN, BOB

COD, OVEN = "http://a.example/cod", "http://a.example/oven"
TEXTS = {
    COD: "Cod is a fish of the cold ocean. Fisheries of the north catch cod with nets.",
    OVEN: "Bake the bread in an oven. Flour, water and salt make a dough.",
}


@pytest.fixture
def job(job):
    """A job that keeps pages as well."""
    file = QuadsFile(job, PAGES_FILE, PAGES_LEDGER, terms=0)
    file.append(
        [
            document_of_page(TopicPage(url, "", text, "en", "fish", 0.9))
            for url, text in TEXTS.items()
        ]
    )
    file.close()
    return job


def relevance(job, text: str) -> float:
    topic = about(f"examples:{job}", {})
    return topic.judge(Document("http://b.example/", Kind.HTML, "", "", text, "en")).relevance


def test_marked_pages_are_the_examples_of_a_later_crawl(job, semcrawl):
    done = semcrawl("pages", job, "--mark", "good", COD)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("1 document marked good, 0 bad\n")
    assert semcrawl("pages", job, "--mark", "bad", OVEN).out.endswith(
        "1 document marked good, 1 bad\n"
    )
    fish = "Fisheries catch herring, a fish of the ocean, with nets."
    assert relevance(job, fish) > 0.5 > 0.3 > relevance(job, "Salt the dough before the oven.")
    assert re.search(rf"good +│ {COD}", semcrawl("pages", job).out)


def test_rdf_documents_are_marked_by_their_literals(job, semcrawl):
    assert semcrawl("pages", job, "--mark", "good", ANN, BOB).code == 0
    texts = {one.sample.text + one.sample.headings for one in read_marks(job)}
    assert any("Anne" in text for text in texts)
    assert any("Bob" in text for text in texts)


def test_a_mark_changes_and_goes(job, semcrawl):
    semcrawl("pages", job, "--mark", "good", COD, OVEN)
    semcrawl("pages", job, "--mark", "bad", OVEN)
    assert {one.url: one.mark for one in read_marks(job)} == {COD: "good", OVEN: "bad"}
    semcrawl("pages", job, "--mark", "none", COD)
    assert [one.url for one in read_marks(job)] == [OVEN]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--mark", "good"), "the URLs to mark"),
        (("--mark", "good", COD, "http://a.example/none"), "keeps no page or RDF"),
        ((COD,), "give one job folder"),
    ],
)
def test_what_cannot_be_marked_is_one_line_and_marks_nothing(job, semcrawl, arguments, said):
    assert said in semcrawl("pages", job, *arguments).complaint
    assert not (job / MARKS_FILE).exists()


def test_a_job_without_marks_is_no_example(job):
    with pytest.raises(UsageError, match="nothing is marked in the job"):
        relevance(job, "fish")


def test_bad_marks_alone_describe_no_topic(job, semcrawl):
    semcrawl("pages", job, "--mark", "bad", OVEN)
    with pytest.raises(UsageError, match="name texts"):
        relevance(job, "fish")


@pytest.mark.parametrize("line", ["{", "[]", '{"mark": "fine", "url": "x"}', '{"mark": "good"}'])
def test_a_line_that_is_no_mark_is_told(job, line):
    good = json.dumps({"mark": "good", "url": COD, "text": TEXTS[COD]})
    (job / MARKS_FILE).write_text(f"{good}\n{line}\n")
    with pytest.raises(UsageError, match="line 2"):
        read_marks(job)


def test_what_a_page_says_is_no_formula_and_moves_no_terminal(job, semcrawl):
    file = QuadsFile(job, PAGES_FILE, PAGES_LEDGER, terms=0)
    title, text = '=HYPERLINK("http://evil.example/")', "\x9b31m @SUM(A1)"
    page = TopicPage("http://a.example/evil", title, text, "en", "fish", 0.9)
    file.append([document_of_page(page)])
    file.close()
    *_, last = csv.DictReader(StringIO(semcrawl("pages", job, "--csv").out))
    assert (last["title"], last["text"]) == (f"'{title}", "\\x9b31m @SUM(A1)")
    *_, line = semcrawl("pages", job, "--jsonl").out.splitlines()
    assert "\x9b" not in line
    assert (json.loads(line)["title"], json.loads(line)["text"]) == (title, text)
