"""What a harvest says at its end."""

from __future__ import annotations

import io
import socket
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harvest.runs import harvest, pages, start_harvest
from semcrawl import harvestreport
from semcrawl.demo import DemoWeb, serve
from semcrawl.harvestreport import RunFigures, show_summary
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.metadata.summary import HostSummary, Summary
from semcrawl.tally import LeftOut, Tally
from tests.waiting import until

WEB = DemoWeb()
LONG = "a-host-with-a-name-that-is-far-too-long-for-a-narrow-terminal.example"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Standard output, as wide as a small terminal."""
    out = io.StringIO()
    monkeypatch.setattr(harvestreport, "Console", lambda: Console(file=out, width=80))
    return out


def test_nothing_is_cut_off_on_a_narrow_terminal(shown: io.StringIO) -> None:
    outcomes = {str(outcome): 1234 for outcome in FetchOutcome}
    summary = Summary(requests=7, outcomes=outcomes, hosts={LONG: HostSummary(requests=7)})
    show_summary(summary, Path("out"), 0, RunFigures())
    lines = shown.getvalue().splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert LONG in "".join(line[1:].partition("│")[0].strip() for line in lines if "│" in line)
    assert all(any(f"{name} 1,234" in line for line in lines)
               for name in outcomes if not name.startswith("fetched-")
               or name in ("fetched-robots", "fetched-other"))  # fmt: skip


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
    run = RunFigures(left_out=("http://b.example/page/", 3))
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
    run = RunFigures(waiting=2, expected_left=expected, gave_up=True)
    show_summary(Summary(requests=3), Path("out"), 0, run)
    said = " ".join(shown.getvalue().split())
    assert words in said
    assert "out of patience" in said


def test_links_off_an_ordinary_site_are_not_worth_a_word(shown: io.StringIO) -> None:
    summary = Summary(requests=3, html_documents=3)
    show_summary(summary, Path("out"), 0, RunFigures(left_out=("http://b.example/", 3)))
    assert "scope" not in shown.getvalue()


def test_links_out_of_scope_are_counted_once_each_by_host() -> None:
    left_out = LeftOut()
    assert left_out.most == ("", 0)
    for url in ("http://b.example/1", "http://c.example/", "http://b.example/1"):
        left_out.add(url)
    assert left_out.most == ("http://b.example/1", 1)
    left_out.add("http://c.example/2")
    assert left_out.most == ("http://c.example/", 2)


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
    assert "nothing left to ask for" in again.out
    assert "--requeue" in again.out


@pytest.mark.slow
def test_a_run_counts_its_own_requests_and_not_those_of_one_that_was_killed(
    tmp_path: Path,
) -> None:
    log = tmp_path / "requests.jsonl"
    with serve(WEB, log=log) as server:
        place: dict[str, Any] = {"folder": tmp_path / "out", "proxy": server.proxy_url}
        killed = start_harvest(WEB.start, "--fast", **place)
        until(lambda: log.exists() and pages(log) > 20)
        killed.kill()
        killed.wait()
        run = harvest("--fast", "--pages", "5", **place)
    assert run.summary["requests"] > 5
    assert "This run: 5 of these requests." in run.out
