"""Command lines of a new user, and the answers to them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from spiders.site import handler, page
from waiting import until

from harvest.runs import TIMEOUT, environment, harvest, semcrawl, start_harvest
from semcrawl.errors import UsageError
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.spiders.seeds import read_seeds

TURTLE = "text/turtle", b"<#it> <http://v.example/p> 1 ."
SITE = {
    "/": page("/a.ttl", "/pages/", "/b.ttl?page=2", "/bad/c.ttl"),
    "/pages/": page("/pages/d.ttl"),
    **dict.fromkeys(("/a.ttl", "/b.ttl?page=2", "/bad/c.ttl", "/pages/d.ttl"), TURTLE),
}
D = "http://d.example"
FAST = ("-s", "SEMCRAWL_CRAWL_DELAY=0")


@pytest.fixture(scope="module")
def proxy() -> object:
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        yield server.proxy_url


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("www.example.org", "https://www.example.org/"),
        ("example.org/data?x", "https://example.org/data?x"),
        ("localhost:8080", "https://localhost:8080/"),
    ],
)
def test_a_host_alone_is_asked_about(text: str, meant: str) -> None:
    with pytest.raises(UsageError, match="did you mean") as caught:
        read_seeds(text)
    assert str(caught.value).endswith(f"did you mean {meant}?")


@pytest.mark.parametrize("text", ["x", "ftp://example.org", "a b", "user@host", "12.5", "..", ""])
def test_what_is_no_host_is_not(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_seeds(text)
    assert "did you mean" not in str(caught.value)


def test_a_file_is_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives one is told how a list of seeds is given, and how one is made."""
    (tmp_path / "data.ttl").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        read_seeds("data.ttl")
    for words in ("'data.ttl'; it is a file", "@data.ttl", "semcrawl seeds list data.ttl"):
        assert words in str(caught.value)


@pytest.mark.slow
def test_patterns_of_addresses(proxy: str, tmp_path: Path) -> None:
    def documents(name: str, *arguments: str) -> set[str]:
        run = harvest(*arguments, *FAST, folder=tmp_path / name, proxy=proxy)
        assert run.status == 0, run.err
        return {url.removeprefix(D) for url in run.documents()}

    seed = f"{D}/"
    assert documents("glob", seed, "--exclude", "/bad/*", "--exclude", "*page=*") == {
        "/a.ttl",
        "/pages/d.ttl",
    }
    assert documents("include", seed, "--include", r"re:/(a|bad/.{1,2})\.ttl$") == {
        "/a.ttl",
        "/bad/c.ttl",
    }
    # what waits already is left, too
    documents("later", seed, "--pages", "1")
    assert "/bad/c.ttl" not in documents("later", "--exclude", "/bad/*")
    wrong = harvest(seed, "--exclude", "re:(", folder=tmp_path / "wrong", proxy=proxy)
    wrong.says_in_one_line("re:(", "regular expression")


@pytest.mark.slow
def test_how_much_is_said(proxy: str, tmp_path: Path) -> None:
    quiet = harvest(f"{D}/", "-q", *FAST, folder=tmp_path / "quiet", proxy=proxy)
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")
    plain = harvest(f"{D}/", "--json", *FAST, folder=tmp_path / "json", proxy=proxy)
    assert json.loads(plain.out) == plain.summary
    verbose = harvest(f"{D}/", "-v", *FAST, folder=tmp_path / "verbose", proxy=proxy)
    assert "INFO: Spider opened" in verbose.err
    assert "Found in" in verbose.out
    both = harvest(f"{D}/", "-v", "-q", folder=tmp_path / "both", proxy=proxy)
    both.says_in_one_line("-q or -v")


@pytest.mark.slow
@pytest.mark.parametrize("command", [["harvest", "@-"], ["crawl", "html", "-a", "seeds=@-"]])
def test_seeds_come_from_standard_input(command: list[str], proxy: str, tmp_path: Path) -> None:
    settings = ("SEMCRAWL_CRAWL_DELAY=0", f"SEMCRAWL_JOBDIR={tmp_path / 'out'}")
    done = subprocess.run(
        [sys.executable, "-m", "semcrawl", *command, *(x for s in settings for x in ("-s", s))],
        cwd=tmp_path, env=environment(proxy), input=f"# seeds\n{D}/a.ttl\n",
        capture_output=True, text=True, timeout=TIMEOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert D + "/a.ttl" in (tmp_path / "out" / "quads.nq").read_text()


@pytest.mark.slow
def test_the_end_of_the_terminal_ends_a_harvest_with_its_table(proxy: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    slow = ("-s", "SEMCRAWL_CRAWL_DELAY=30")
    # (under nohup the tests, and what they start, would ignore it)
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        under_way = start_harvest(f"{D}/", *slow, folder=folder, proxy=proxy)
    finally:
        signal.signal(signal.SIGHUP, before)
    log = folder / "crawl.log"
    until(lambda: log.exists() and "Spider opened" in log.read_text())
    under_way.process.send_signal(signal.SIGHUP)
    run = under_way.wait()
    assert "Found in" in run.out
    assert run.summary


@pytest.mark.slow
def test_a_cache_is_in_the_job_folder(proxy: str, tmp_path: Path) -> None:
    cached = ("-s", "HTTPCACHE_ENABLED=1")
    run = harvest(f"{D}/a.ttl", *FAST, *cached, folder=tmp_path / "out", proxy=proxy)
    assert run.status == 0, run.err
    assert (run.folder / "httpcache").is_dir()


@pytest.mark.slow
def test_help_is_had_as_elsewhere(tmp_path: Path) -> None:
    assert semcrawl("help", "load", folder=tmp_path / "x").out.startswith("Usage")
    assert "Usage: semcrawl COMMAND" in semcrawl("help", folder=tmp_path / "x").out
    unknown = semcrawl("help", "harvst", folder=tmp_path / "x")
    unknown.says_in_one_line("did you mean harvest?")
