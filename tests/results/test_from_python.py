"""Harvests and studies that a program starts, and what a job tells a notebook."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

import semcrawl
from semcrawl import results
from semcrawl.commandline import main
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.worlds import FolderSite, FolderWorld


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    links = "".join(f'<a href="{n}.html">page {n}</a> ' for n in range(6))
    (folder / "index.html").write_text(f'{links}<a href="data.ttl">data as RDF</a>')
    for n in range(6):
        (folder / f"{n}.html").write_text(f"page {n}")
    (folder / "data.ttl").write_text("<a> <b> <c> .")
    return folder


@pytest.mark.slow
def test_importing_semcrawl_loads_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import semcrawl; new = set(sys.modules) - before;"
    )
    code += (
        "print(*(name for name in new if name.partition('.')[0] not in sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["semcrawl"]


def test_there_is_no_other_function() -> None:
    with pytest.raises(AttributeError, match="no attribute 'harvst'"):
        semcrawl.harvst  # noqa: B018


@pytest.mark.slow
def test_a_study_gives_the_figures_of_the_command(site: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    told = []
    names = ["breadth-first", "learned"]
    frame = semcrawl.evaluate([site], names, pages=20, progress=told.append)
    assert list(frame["strategy"]) == names
    assert list(frame["found"]) == list(frame["targets"]) == [1, 1]
    assert all(len(row.curve) == row.requests for row in frame.itertuples())
    assert [each.strategy for each in told if each.finished] == names
    out = tmp_path / "out"
    with pytest.raises(SystemExit):
        main(["semcrawl", "evaluate", str(site), "--strategies", ",".join(names), "--pages", "20",
              "--out", str(out)])  # fmt: skip
    [world] = json.loads((out / "results.json").read_text())["sets"][0]["worlds"]
    for row in frame.itertuples():
        figures = world["strategies"][row.strategy]
        assert figures["auc_relative"]["mean"] == pytest.approx(row.auc_relative)
        assert figures["requests"]["mean"] == row.requests


@pytest.mark.slow
def test_a_world_may_be_an_object(site: Path) -> None:
    pytest.importorskip("pandas")
    world = FolderWorld(FolderSite("a.example", site))
    assert list(semcrawl.evaluate(world, "learned", progress=False)["set"]) == ["FolderWorld"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere", "learned"), "no such world"),
        (("thesis", "lerned"), "lerned"),
    ],
)
def test_a_study_refuses_what_is_unknown(arguments: tuple[str, str], words: str) -> None:
    pytest.importorskip("pandas")
    with pytest.raises(UsageError, match=words):
        semcrawl.evaluate(*arguments)
    with pytest.raises(UsageError, match="did you mean SEMCRAWL_SCOPE"):
        semcrawl.evaluate("thesis", "learned", settings={"SEMCRAWL_SCOPES": 1})


@pytest.mark.slow
def test_a_harvest_runs_beside_a_running_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(DemoWeb()) as server:
        monkeypatch.setenv("http_proxy", server.proxy_url)

        async def both() -> tuple[results.Job, results.Job, int]:
            ticks = 0

            async def tick() -> None:
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.01)
                    ticks += 1

            ticking = asyncio.create_task(tick())
            first = await semcrawl.aharvest(
                [DemoWeb.start], out=tmp_path / "a", pages=20, fast=True, progress=False
            )
            ticking.cancel()
            second = semcrawl.harvest(DemoWeb.start, out=tmp_path / "b", pages=20, fast=True)
            return first, second, ticks

        first, second, ticks = asyncio.run(both())
        assert ticks > 50  # the loop went on meanwhile
        for job in (first, second):
            with job:
                assert "<td>20</td>" in job._repr_html_()
                assert len(list(job.documents())) > 2


@pytest.mark.slow
def test_a_harvest_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^pges is no key; did you mean pages\?"):
        semcrawl.harvest("http://x.example/", out=tmp_path / "a", pges=3)
    with pytest.raises(UsageError, match="a value is none that a job may have"):
        semcrawl.harvest("http://x.example/", out=tmp_path / "a", scope=object())
    with pytest.warns(UserWarning, match="Connection refused"):
        job = semcrawl.harvest("http://127.0.0.1:9/", out=tmp_path / "b", fast=True)
    with job:
        assert [(each.url, each.outcome) for each in job.failures()] == [
            ("http://127.0.0.1:9/", "network-error")
        ]
    assert issubclass(UsageError, SemcrawlError)


@pytest.mark.slow
async def test_a_cancelled_harvest_ends_after_the_requests_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(DemoWeb()) as server:
        monkeypatch.setenv("http_proxy", server.proxy_url)
        out = tmp_path / "out"
        task = asyncio.create_task(
            semcrawl.aharvest(DemoWeb.start, out=out, crawl_delay=0.1, progress=False)
        )
        assert await asyncio.to_thread(server.wait_until_answered, 5, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    with results.open(out) as job:
        assert "<td>" in job._repr_html_()  # it wrote its summary
