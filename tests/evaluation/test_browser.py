"""The report in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from semcrawl.lab.report import report_page
from semcrawl.lab.study import REFERENCES, Plan, simulated, study
from semcrawl.lab.studydata import as_data
from semcrawl.lab.worldsets import WorldSet
from semcrawl.relevance import load_strategy, strategies
from tests.evaluation.worlds import members

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
@pytest.mark.parametrize("width", [1200, 500])
def test_it_opens_without_a_complaint_and_draws_its_charts(tmp_path, width):
    plan = Plan(["rules-parents", "breadth-first", "omniscient"])

    def tell(progress):
        pass

    crawl = simulated(load_strategy, plan, tell)
    results = study([WorldSet("members", [members()])], plan, crawl, tell)
    page = tmp_path / "report.html"
    page.write_text(report_page(as_data(results, plan, "offline")), "utf-8")
    picture = tmp_path / "report.png"
    done = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr",
            f"--window-size={width},1600", f"--screenshot={picture}", "--dump-dom", page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert not re.search(r"CONSOLE", done.stderr)
    assert done.stdout.count("<polyline") >= 4
    assert done.stdout.count('class="bar') >= 4
    assert picture.stat().st_size > 20_000


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
@pytest.mark.parametrize("width", [1200, 1600])
def test_no_table_is_cut_off(tmp_path, width):
    """All strategies, on as many worlds as people compare."""
    plan = Plan([*strategies(), *REFERENCES], pages=40, repeat=2)

    def tell(progress):
        pass

    worlds = WorldSet("ten", [members(number) for number in range(2, 12)])
    results = study([worlds], plan, simulated(load_strategy, plan, tell), tell)
    # (members of a page that are closed have no width)
    measure = """<script>
        for (const one of document.querySelectorAll("details")) one.open = true;
        document.title = [...document.querySelectorAll(".scroll")].map(
            one => one.scrollWidth - one.clientWidth).join(" ");
    </script>"""
    page = tmp_path / "report.html"
    page.write_text(report_page(as_data(results, plan, "offline")) + measure, "utf-8")
    done = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={width},1600", "--dump-dom", page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )  # fmt: skip
    beyond = re.search("<title>([-0-9 ]+)</title>", done.stdout)
    assert beyond is not None
    assert set(beyond[1].split()) == {"0"}
