"""Runs without results leave no files, and say so."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from harvest.runs import TIMEOUT, environment

from semcrawl.lab.demo import DemoWeb, serve
from spiders.site import handler, page

pytestmark = pytest.mark.slow

SITE = {"/": page("/a.ttl"), "/a.ttl": ("text/turtle", b"<#it> <http://v.example/p> 1 .")}
ADDED_ON = """
BOT_NAME = "theirs"
SPIDER_MODULES = ["theirs.spiders"]
ADDONS = {"semcrawl.addon.Addon": 500}
"""
SPIDERS = """
import scrapy
from semcrawl.items import RdfDocument
from semcrawl.spiders.html import HtmlSpider

class Plain(scrapy.Spider):
    name = "plain"
    start_urls = ["http://d.example/"]
    def parse(self, response):
        yield {"title": "A page"}

class Finds(scrapy.Spider):
    name = "finds"
    start_urls = ["http://d.example/a.ttl"]
    def parse(self, response):
        yield RdfDocument(response.url, quads=1, nquads=b"<u:s> <u:p> <u:o> <u:g> .\\n")

class Ours(HtmlSpider):
    name = "ours"
    start_urls = ["http://d.example/"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = theirs.settings\n")
    (tmp_path / "theirs" / "settings.py").write_text(ADDED_ON)
    (tmp_path / "theirs" / "spiders.py").write_text(SPIDERS)
    return tmp_path


def run(project: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        return subprocess.run(
            [sys.executable, "-m", program, *arguments, "-s", "LOG_LEVEL=WARNING"],
            cwd=project, env=environment(server.proxy_url, PYTHONDONTWRITEBYTECODE="1"),
            capture_output=True, text=True, timeout=TIMEOUT,
        )  # fmt: skip


def left(project: Path) -> set[str]:
    return {path.name for path in project.iterdir()} - {"theirs", "scrapy.cfg"}


@pytest.mark.parametrize("program", ["scrapy", "semcrawl"])
def test_a_spider_without_results_leaves_no_files(program: str, project: Path) -> None:
    done = run(project, program, "crawl", "plain")
    assert done.returncode == 0, done.stderr
    assert left(project) == set()
    done = run(project, program, "crawl", "finds")
    assert done.returncode == 0, done.stderr
    assert left(project) == {"harvest"}  # the add-on's folder of results
    assert {"quads.nq", "crawl.db"} <= {path.name for path in (project / "harvest").iterdir()}
    assert (project / "harvest" / "quads.nq").read_text() == "<u:s> <u:p> <u:o> <u:g> .\n"


def test_our_formats_are_known_on_the_command_line_of_an_add_on_project(project: Path) -> None:
    done = run(project, "semcrawl", "crawl", "finds", "-o", "out.nq.gz")
    assert done.returncode == 0, done.stderr
    packed = (project / "out.nq.gz").read_bytes()
    assert gzip.decompress(packed) == b"<u:s> <u:p> <u:o> <u:g> .\n"


@pytest.mark.parametrize("spider", ["plain", "ours"])
def test_parse_leaves_nothing(spider: str, project: Path) -> None:
    done = run(project, "semcrawl", "parse", "--spider", spider, "http://d.example/")
    assert done.returncode == 0, done.stderr
    assert "Scraped Items" in done.stdout
    assert left(project) == set()


def test_a_second_run_says_why_it_does_nothing(project: Path) -> None:
    first = run(project, "scrapy", "crawl", "ours")
    assert "No request was sent" not in first.stderr
    second = run(project, "scrapy", "crawl", "ours")
    assert second.returncode == 0
    reason = f"an earlier run of this crawl (in {project / 'harvest' / 'frontier.db'})"
    assert f"No request was sent: {reason}" in second.stderr
    assert "JOBDIR" in second.stderr
