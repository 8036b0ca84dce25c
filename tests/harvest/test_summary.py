"""The summary of a harvest."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sqlalchemy import insert

from harvest.runs import harvest, pages, semcrawl, start_harvest
from semcrawl.commands import _summary
from semcrawl.commands._summary import RunFigures, show_summary, write_summary
from semcrawl.frontier.contract import LeftOutLinks, Reason, Withheld
from semcrawl.frontier.workers import JobName
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.records import Fetch, fetch_row
from semcrawl.metadata.summary import HostSummary, Summary, Tally
from semcrawl.web.hosts import netloc_of
from tests.loopback import web
from tests.waiting import until

WEB = DemoWeb()
LONG = "a-host-with-a-name-that-is-far-too-long-for-a-narrow-terminal.example"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Standard output, as wide as a small terminal."""
    out = io.StringIO()
    console = Console(file=out, width=80, markup=False, emoji=False)
    monkeypatch.setattr(_summary, "plain_console", lambda: console)
    return out


def recorded(folder: Path) -> int:
    """How many attempts the database of a crawl that goes on holds."""
    file = folder / "crawl.db"
    if not file.exists():
        return 0
    with contextlib.closing(sqlite3.connect(file)) as database:
        try:
            return int(database.execute("SELECT count(*) FROM fetch").fetchone()[0])
        except sqlite3.OperationalError:  # there is no table yet
            return 0


def left_out(url: str, links: int) -> LeftOutLinks:
    """So many links out of scope on one host, the first of them given."""
    host, reason = netloc_of(url), Reason.OUT_OF_SCOPE
    return LeftOutLinks({reason: Counter({host: links})}, {(reason, host): url})


def test_nothing_is_cut_off_on_a_narrow_terminal(shown: io.StringIO) -> None:
    outcomes = {str(outcome): 1234 for outcome in FetchOutcome}
    summary = Summary(requests=7, outcomes=outcomes, hosts={LONG: HostSummary(requests=7)})
    show_summary(summary, Path("out"), 0, RunFigures())
    lines = shown.getvalue().splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert LONG in "".join(line.strip("│ ").partition(" ")[0] for line in lines)
    assert all(any(f"{name} 1,234" in line for line in lines)
               for name in outcomes if not name.startswith("fetched-")
               or name in ("fetched-robots", "fetched-other"))  # fmt: skip


def test_checks_that_were_stopped_are_told_in_a_line(shown: io.StringIO) -> None:
    show_summary(Summary(requests=3, checks_stopped=2), Path("out"), 0, RunFigures())
    (line,) = [line for line in shown.getvalue().splitlines() if "were stopped" in line]
    assert ": 2." in line
    assert "SEMCRAWL_ABOUT_SHAPE_TIMEOUT" in line


def test_a_robots_txt_that_fails_is_no_request_of_the_budget() -> None:
    tally = Tally()
    for url in (
        "http://a.example/robots.txt",
        "http://a.example/",
        "http://a.example/d/robots.txt",
    ):
        tally.add(FetchRecord(url, FetchOutcome.NETWORK_ERROR))
    assert tally.requests == 2
    unasked = FetchRecord(
        "http://a.example/b", FetchOutcome.NETWORK_ERROR, errors="robots.txt: reset"
    )
    tally.add(unasked)
    assert tally.requests == 2


def test_a_site_that_lives_elsewhere_is_told_of(shown: io.StringIO) -> None:
    summary = Summary(requests=3, html_documents=2)
    run = RunFigures(left_out=left_out("http://b.example/page/", 3))
    show_summary(summary, Path("out"), 0, run)
    assert "3 links lead to b.example" in shown.getvalue()
    assert shown.getvalue().count("http://b.example/page/") == 1


def test_a_run_that_could_not_count_what_waits_does_not_say_that_nothing_does(
    shown: io.StringIO,
) -> None:
    """After a second Ctrl-C, say; earlier runs had sent as many requests."""
    show_summary(Summary(requests=3), Path("out"), 3, RunFigures(waiting=None))
    assert "nothing left" not in shown.getvalue()
    assert "The next run goes on" in shown.getvalue()


@pytest.mark.parametrize(
    ("expected", "words"),
    [(None, "2 links wait. Ended early"), (0.8, "about 1 target is"), (7.2, "about 7 targets are")],
)
def test_what_is_left_is_told(shown: io.StringIO, expected: float | None, words: str) -> None:
    run = RunFigures(waiting=2, expected_left=expected, limit="patience")
    show_summary(Summary(requests=3), Path("out"), 0, run)
    said = " ".join(shown.getvalue().split())
    assert words in said
    assert "out of patience" in said


def test_one_link_waits(shown: io.StringIO) -> None:
    show_summary(Summary(requests=3), Path("out"), 0, RunFigures(waiting=1, expected_left=0.2))
    assert "1 link waits; about 0 targets are" in " ".join(shown.getvalue().split())


def test_a_command_to_copy_quotes_the_folder(shown: io.StringIO) -> None:
    summary = Summary(requests=3, missed={"failed": Counter({"a.example": 2})})
    show_summary(summary, Path("my job"), 0, RunFigures())
    assert "semcrawl frontier 'my job' --requeue, and go on." in shown.getvalue()


def test_a_command_to_copy_asks_for_the_redis_of_the_crawl(
    shown: io.StringIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)
    JobName.fresh("mine").write(tmp_path)
    summary = Summary(requests=3, missed={"failed": Counter({"a.example": 2})})
    show_summary(summary, tmp_path, 0, RunFigures())
    assert "--requeue -s REDIS_URL=…, and go on." in " ".join(shown.getvalue().split())


def test_links_off_an_ordinary_site_are_not_worth_a_word(shown: io.StringIO) -> None:
    summary = Summary(requests=3, html_documents=3)
    show_summary(summary, Path("out"), 0, RunFigures(left_out=left_out("http://b.example/", 3)))
    assert "seed" not in shown.getvalue()


def test_the_summary_ends_with_what_was_not_harvested_and_why(shown: io.StringIO) -> None:
    out_of_scope = Counter({f"h{n}.example": 10 - n for n in range(5)})
    missed = {
        "failed": Counter({"a.example:8080": 2}),
        "robots-denied": Counter({"[::1]:8080": 1_234}),
    }
    run = RunFigures(left_out=LeftOutLinks({Reason.OUT_OF_SCOPE: out_of_scope}))
    summary = Summary(requests=3, html_documents=50, missed=missed)
    show_summary(summary, Path("out"), 0, run)
    ending = shown.getvalue().partition("Links not harvested:\n")[2].splitlines()
    assert ending == [
        "  40 out of scope: h0.example 10, h1.example 9, h2.example 8 and 2 more hosts",
        "  1,234 forbidden by robots.txt: [::1]:8080 1,234",
        "  2 failed, retries included: a.example:8080 2",
        "To try failed links again: semcrawl frontier out --requeue, and go on.",
    ]


def test_families_of_links_that_gave_nothing_are_told_of(shown: io.StringIO) -> None:
    found = [
        Withheld(f"http://a.example/dump{n}.nt.gz", "http://a.example/id/0", 470 - n, 30)
        for n in range(5)
    ]
    show_summary(
        Summary(requests=3), Path("out"), 0, RunFigures(left_out=LeftOutLinks(withheld=found))
    )
    ending = shown.getvalue().partition("Links not harvested:\n")[2].splitlines()
    assert ending[:2] == [
        "  470 of http://a.example/dump0.nt.gz like http://a.example/id/0, as none of 30",
        "    requests gave a result",
    ]
    assert "  933 more of 2 such families" in ending
    assert "SEMCRAWL_FAMILY_TRIES=0" in ending[-1]
    parts = (
        RunFigures(left_out=LeftOutLinks(withheld=found))
        .not_harvested(Summary())
        .as_dict()["withheld"]
    )
    assert (parts["links"], len(parts["families"])) == (5 * 470 - 10, 5)


def test_a_harvest_that_missed_nothing_does_not_speak_of_it(shown: io.StringIO) -> None:
    show_summary(Summary(requests=3), Path("out"), 0, RunFigures())
    assert "not harvested" not in shown.getvalue()


def test_summary_json_has_what_was_not_harvested(tmp_path: Path) -> None:
    url = "http://a.example:8080/"
    engine = connect(crawl_db_url(tmp_path))
    with engine.begin() as connection:
        record = FetchRecord(url, FetchOutcome.HTTP_ERROR, status=401)
        connection.execute(insert(Fetch), [fetch_row(record)])
    engine.dispose()
    out_of_scope = Counter({f"h{n:02}.example": 2 for n in range(12)})
    left_out = LeftOutLinks({Reason.OUT_OF_SCOPE: out_of_scope}, more=True)
    run = RunFigures(waiting=7, limit="pages", left_out=left_out, dropped=5)
    write_summary(tmp_path, crawl_db_url(tmp_path), run)
    data = json.loads((tmp_path / "summary.json").read_text())
    found = data["not_harvested"]
    assert list(data["hosts"]) == ["a.example:8080"]
    assert found.pop("out-of-scope") == {
        "links": 24,
        "hosts": {f"h{n:02}.example": 2 for n in range(10)},
        "other_hosts": 2,
        "at_least": True,
    }
    assert found == {
        "unauthorized": {"links": 1, "hosts": {"a.example:8080": 1}},
        "dropped": {"links": 5},
        "waiting": {"links": 7, "limit": "pages"},
    }


@pytest.mark.slow
def test_a_resumed_harvest_misses_what_one_in_one_go_does(tmp_path: Path) -> None:
    """Whoever finds a link that is left out, and in whichever run, it counts once."""
    with serve(WEB) as server:
        place: dict[str, Any] = {"folder": tmp_path / "out", "proxy": server.proxy_url}
        first = harvest(WEB.start, "--fast", "--pages", "150", **place)
        waiting = first.summary["not_harvested"]["waiting"]
        assert waiting["limit"] == "pages"
        assert waiting["links"] == first.summary["waiting"] > 0
        assert f"{waiting['links']} links wait" in first.out
        resumed = harvest("--fast", **place)
        whole = harvest(WEB.start, "--fast", folder=tmp_path / "whole", proxy=server.proxy_url)
    assert resumed.summary["not_harvested"] == whole.summary["not_harvested"]
    # (an address that was only tried is nothing that was missed)
    guessed = ("/void", "/sitemap.xml")
    tried = {
        row["url"]
        for row in whole.records
        if row["url"].endswith(guessed) or row["found_by"] in ("folder", "twin")
    }
    by_record = Counter(
        urls[-1]
        for url, urls in whole.outcomes().items()
        if urls[-1] in ("robots-denied", "http-error") and url not in tried
    )
    found = {reason: part["links"] for reason, part in whole.summary["not_harvested"].items()}
    assert found.pop("out-of-scope") == 1
    assert found.pop("robots-denied") == by_record["robots-denied"]
    # links that were never requested: pictures, and what a catalogue calls CSV
    assert found.pop("other-type") > 0
    assert sum(found.values()) == by_record["http-error"]


@pytest.mark.slow
def test_links_that_are_told_as_failed_can_be_requeued(tmp_path: Path) -> None:
    """Any 5xx is, also one that is not worth a retry in the same run."""
    with web(lambda path, query: (404 if path == "/robots.txt" else 501, "", b"no")) as base:
        run = harvest(f"{base}/x", "--fast", folder=tmp_path / "out")
    assert run.summary["not_harvested"]["failed"]["links"] == 1
    again = semcrawl("frontier", str(tmp_path / "out"), "--requeue", folder=tmp_path)
    assert again.out == "1 failed link waits again\n"


@pytest.mark.slow
def test_a_crawl_that_could_not_begin_says_why_and_how_to_try_again(tmp_path: Path) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        first = harvest(address, "--fast", folder=tmp_path / "out")
        again = harvest(address, "--fast", folder=tmp_path / "out")
    for run in (first, again):
        run.is_calm()
        assert run.status == 1
        assert "nothing could be fetched: " in run.err
        assert run.summary["requests"] == 0  # nobody gave a robots.txt
        assert run.summary["robots_requests"] > 0
    assert "nothing left to fetch" in again.out
    assert "--requeue" in again.out


@pytest.mark.slow
def test_a_run_counts_its_own_requests_and_not_those_of_one_that_was_killed(
    tmp_path: Path,
) -> None:
    log = tmp_path / "requests.jsonl"
    with serve(WEB, log=log) as server:
        place: dict[str, Any] = {"folder": tmp_path / "out", "proxy": server.proxy_url}
        killed = start_harvest(WEB.start, "--fast", **place)
        # (records are written in batches, some time after their requests)
        until(lambda: log.exists() and pages(log) > 20 and recorded(tmp_path / "out") > 20)
        killed.kill()
        killed.wait()
        run = harvest("--fast", "--pages", "5", **place)
    assert run.summary["requests"] > 5
    assert "This run: 5 of these requests." in run.out
