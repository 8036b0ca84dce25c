"""``semcrawl why``: what became of an address, or why it was never asked for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest
from scrapy.settings import Settings

from semcrawl.frontier import FrontierOptions
from semcrawl.frontier.backends import frontier_file
from semcrawl.frontier.contract import Entry, Frontier, Reason
from semcrawl.frontier.links import LinkState
from semcrawl.frontier.sqlite.frontier import SqliteFrontier
from semcrawl.frontier.workers import crawl_name
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.metadata.summary import MISSED_WORDS
from semcrawl.relevance.families import Family, Verdict
from semcrawl.results.job import Job
from semcrawl.results.reporting.making import OUTCOME_WORDS, Fate, Known, Place, known_of, place_of

from .jobs import ANN, BOB, add, document, record

URL, PAGE = "http://a.example/0", "http://a.example/"
Act = Callable[[Frontier], Awaitable[object]]


def entry(url: str = URL, group: str = "g", key: float = 0.0, **more: object) -> Entry:
    state = LinkState(PAGE, 1, rules=("anchor",), **more)
    return Entry(url, "a.example", "html", group, key, state.pack(), "H")


def fill(folder, act: Act) -> None:
    """Do something with the frontier of a job, as a worker."""

    async def run() -> None:
        options = FrontierOptions(delay=0, concurrency=9, family_tries=10)
        name = crawl_name(Settings())
        frontier = SqliteFrontier(frontier_file(folder), name=name, worker_id="w", options=options)
        await frontier.open(make=True)
        try:
            await act(frontier)
        finally:
            await frontier.close()

    asyncio.run(run())


def placed(tmp_path, act: Act, url: str = URL) -> Place:
    found: list[Place] = []

    async def look(frontier: Frontier) -> None:
        await act(frontier)
        found.append(await place_of(frontier, url))

    fill(tmp_path, look)
    return found[0]


@pytest.mark.slow
def test_every_outcome_has_a_sentence_and_is_the_fate(job):
    urls = {outcome: f"{URL}/{outcome}" for outcome in FetchOutcome}
    record(job, *(FetchRecord(url, o, url, PAGE, errors="reason") for o, url in urls.items()))
    with Job(job) as opened:
        fates = {o: Fate(known_of(opened, url), Place("seen")) for o, url in urls.items()}
    for outcome, fate in fates.items():
        (line,) = fate.lines()
        assert line.startswith(OUTCOME_WORDS[outcome][:-1])
        assert "reason" in line or outcome is FetchOutcome.HTTP_ERROR
        assert (fate.kind, fate.known.pages) == (outcome, [PAGE])


def test_a_link_that_was_left_out_says_why(tmp_path):
    async def act(frontier: Frontier) -> None:
        await frontier.aside.leave_out([(f"{URL}/{reason}", reason) for reason in Reason], 99)
        for reason in Reason:
            fate = Fate(Known(URL), await place_of(frontier, f"{URL}/{reason}"))
            assert fate.kind == f"left-out:{reason}"
            assert MISSED_WORDS[reason] in "".join(fate.lines())

    fill(tmp_path, act)


def test_a_waiting_link_waits_behind_better_groups_and_smaller_keys(tmp_path):
    async def act(frontier: Frontier) -> None:
        worse = [entry(f"{URL}/{n}", "low") for n in range(3)]
        better = [entry(f"{URL}/b{n}", "high") for n in range(4)]
        same = [entry(f"{URL}/s", key=1.0), entry(key=2.0), entry(f"{URL}/t", key=3.0)]
        await frontier.add([*worse, *better, *same])
        await frontier.set_values({"high": 2.0, "g": 1.0, "low": 0.5})

    place = placed(tmp_path, act)
    assert (place.kind, place.ahead, place.value) == ("waiting", 5, 1.0)
    assert place.state is not None
    assert (place.state.parent, place.state.rules) == (PAGE, ("anchor",))


def test_links_in_flight_failed_done_and_unseen_are_told_apart(tmp_path):
    async def take(frontier: Frontier) -> None:
        await frontier.add([entry()])
        await frontier.take(1, ["html"])

    async def fail(frontier: Frontier) -> None:
        await frontier.add([entry()])
        await frontier.end(await frontier.take(1, ["html"]), failed=True)

    async def finish(frontier: Frontier) -> None:
        await frontier.add([entry()])
        await frontier.end(await frontier.take(1, ["html"]))

    async def nothing(frontier: Frontier) -> None:
        await frontier.add([entry(f"{URL}/other")])

    acts = {"in-flight": take, "failed": fail, "seen": finish, "unseen": nothing}
    for kind, act in acts.items():
        folder = tmp_path / kind
        folder.mkdir()
        assert placed(folder, act).kind == kind


def test_a_link_of_a_barren_family_is_withheld_and_names_it(tmp_path):
    family = Family("http://a.example/dump.nt", "http://a.example/0/0")

    async def act(frontier: Frontier) -> None:
        await frontier.aside.know_families({family.name: family})
        await frontier.add([entry(f"{URL}/{n:03}", family=family.name) for n in range(50)])
        first = await frontier.take(10, ["html"])
        await frontier.aside.judge_families([(family.name, Verdict.BARREN, "")] * 10)
        await frontier.end(first)
        await frontier.end(await frontier.take(50, ["html"]))

    place = placed(tmp_path, act, f"{URL}/048")
    assert place.kind == "withheld"
    assert family.document in place.reason
    assert family.pattern in place.reason


def test_it_tells_of_attempts_documents_and_who_mentions_it(job, semcrawl):
    done = semcrawl("why", ANN, job)
    assert done.code == 0
    assert "It was read as RDF." in done.out
    assert f"document: {ANN}, turtle, 5 statements" in done.out
    assert "attempt 1970-01-01 00:00:05 UTC: fetched-rdf, status 200, 5 statements" in done.out
    told = json.loads(semcrawl("why", BOB, job, "--json").out)
    assert told["mentions"] == {ANN: "http://xmlns.com/foaf/0.1/knows"}
    assert told["fate"] == "unknown"  # the job has no frontier
    assert "holds no frontier" in told["frontier"]["reason"]


def test_redirects_are_followed_to_their_end_and_circles_too(job, semcrawl):
    there = FetchRecord("http://a.example/old", FetchOutcome.REDIRECTED, ANN, PAGE, status=301)
    back = FetchRecord(ANN, FetchOutcome.REDIRECTED, "http://a.example/old", PAGE, status=301)
    record(job, there)
    told = json.loads(semcrawl("why", "http://a.example/old", job, "--json").out)
    assert [one["url"] for one in told["then"]] == [ANN]
    assert told["then"][0]["redirected_from"] == ["http://a.example/old"]
    record(job, back)
    told = json.loads(semcrawl("why", "http://a.example/old", job, "--json").out)
    assert [one["url"] for one in told["then"]] == [ANN]


def test_a_waiting_link_of_a_job_is_told_with_its_page_and_label(job, semcrawl):
    fill(job, lambda frontier: frontier.add([entry(f"{URL}/b"), entry()]))
    done = semcrawl("why", URL, job)
    assert "It waits behind 1 link." in done.out
    assert f"linked from {PAGE}" in done.out
    assert "label H, group g, rules anchor" in done.out
    assert "never seen" in semcrawl("why", "http://a.example/nobody", job).out


def test_a_graph_names_the_documents_that_fill_it(job, semcrawl):
    other = document("http://c.example/c")
    other.nquads = f"<x:s> <x:p> <x:o> <{BOB}> .\n".encode()
    add(job, other)
    assert "its graph has statements of http://c.example/c" in semcrawl("why", BOB, job).out


def test_what_is_no_address_is_one_clear_line(job, semcrawl):
    assert semcrawl("why", "nothing", job).complaint == "not an http or https URL: 'nothing'"
    assert semcrawl("why").complaint.startswith("give an address")
