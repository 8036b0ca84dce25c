"""Scrapy's own commands in a working copy, and in a fresh project with the add-on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy.settings import Settings

from semcrawl.config.jobdir import job_path
from tests.loopback import web

pytestmark = pytest.mark.slow

ADDON = '\nADDONS = {"semcrawl.addon.Addon": 500}\nSEMCRAWL_CRAWL_DELAY = 0\n'

PLAIN = """
import scrapy

class Plain(scrapy.Spider):
    name = "plain"

    def parse(self, response):
        yield {"said": response.text}
"""


def scrapy(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *words],
        cwd=folder, capture_output=True, text=True, timeout=600,
    )  # fmt: skip


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``scrapy startproject`` writes, with the line for our add-on."""
    folder = tmp_path_factory.mktemp("started")
    assert scrapy(folder, "startproject", "theirs", ".").returncode == 0
    with (folder / "theirs" / "settings.py").open("a") as file:
        file.write(ADDON)
    return folder


@pytest.fixture
def project(started: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(started, tmp_path / "project"))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The part of a working copy that tells Scrapy which settings it has."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = semcrawl.settings\n")
    return tmp_path


#: prints settings as ``scrapy settings`` does, all in one process
SHOW = """
import sys
from scrapy.cmdline import execute
for name in sys.argv[1:]:
    try:
        execute(["scrapy", "settings", "--get", name])
    except SystemExit:
        pass
"""


def test_settings_of_a_clone_show_the_parts(clone: Path) -> None:
    names = ["SCHEDULER", "REMOTE_CONTROL_ENABLED", "TELNETCONSOLE_ENABLED", "ITEM_PIPELINES"]
    command = [sys.executable, "-c", SHOW, *names, "DOWNLOADER_MIDDLEWARES"]
    shown = subprocess.run(command, cwd=clone, capture_output=True, text=True, timeout=600).stdout
    *others, pipelines, middlewares = shown.splitlines()
    assert others == ["semcrawl.crawl.scheduler.FrontierScheduler", "False", "False"]
    assert json.loads(pipelines)["semcrawl.pipelines.quads.QuadsFilePipeline"] == 300
    assert json.loads(middlewares)["semcrawl.middlewares.attempts.AttemptMiddleware"] == 950


@pytest.mark.parametrize("place", ["clone", "project"])
def test_a_private_address_that_the_user_types_is_fetched(
    place: str, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(place)
    with web(lambda path, query: (200, "text/plain", b"it is there")) as base:
        fetched = scrapy(folder, "fetch", "--nolog", f"{base}/x")
        assert "it is there" in fetched.stdout
        shell = scrapy(folder, "shell", "--nolog", f"{base}/x", "-c", "response.text")
        assert "it is there" in shell.stdout
        if place == "project":
            (folder / "theirs" / "spiders" / "plain.py").write_text(PLAIN)
            parsed = scrapy(folder, "parse", "--nolog", "--spider", "plain", f"{base}/x")
            assert "it is there" in parsed.stdout
    assert not [path for path in folder.iterdir() if path.suffix in (".db", ".nq")]


def test_check_and_bench_run(clone: Path) -> None:
    assert "Ran 0 contracts" in scrapy(clone, "check").stderr
    bench = scrapy(clone, "bench", "-s", "CLOSESPIDER_TIMEOUT=2")
    assert "Spider closed (closespider_timeout)" in bench.stderr
    assert "private" not in bench.stderr


@pytest.mark.parametrize(
    ("words", "said", "status"),
    [
        (("-O", "o.pickle"), "cannot carry RDF documents", 2),
        (("-s", "SEMCRAWL_MAX_DEPTH=2"), "there is no setting SEMCRAWL_MAX_DEPTH", 2),
        (("-s", "SEMCRAWL_PAGES=x"), "SEMCRAWL_PAGES must be a whole number", 1),
        (("-a", "seeds=nonsense"), "not an http or https URL: 'nonsense'", 1),
    ],
)
def test_a_refusal_is_one_line_under_scrapy_crawl(
    words: tuple[str, ...], said: str, status: int, project: Path
) -> None:
    done = scrapy(project, "crawl", "html", "-a", "seeds=http://127.0.0.1:1/", *words)
    assert done.returncode in (status, 1)
    errors = [line for line in done.stderr.splitlines() if "ERROR" in line]
    assert len([line for line in errors if said in line]) == 1
    assert "Traceback" not in done.stderr


def test_a_project_without_a_job_folder_keeps_its_root(project: Path) -> None:
    """Its results are in the folder ``harvest``; ``list`` shows our spiders."""
    before = {path.name for path in project.iterdir()}
    with web(lambda path, query: (200, "text/turtle", b"<#a> <#b> 1 .")) as base:
        done = scrapy(project, "crawl", "html", "-a", f"seeds={base}/x.ttl", "-a", "follow_rdf=1")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in project.iterdir()} - before == {"harvest"}
    assert (project / "harvest" / "quads.nq").read_text()
    assert scrapy(project, "list").stdout.split() == ["html", "rdf"]


def test_a_folder_that_is_named_is_taken() -> None:
    addons = {"ADDONS": {"semcrawl.addon.Addon": 500}}
    assert job_path(Settings(addons)) == Path("harvest")
    assert job_path(Settings({**addons, "JOBDIR": "a"})) == Path("a")
    assert job_path(Settings({})) == Path()
