"""semcrawl's parts in somebody else's project, and raw responses kept."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import textwrap
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings

from semcrawl import __version__
from semcrawl import settings as defaults
from semcrawl.addon import Addon
from semcrawl.config.components import ITEM_PIPELINES, RESULT_EXTENSIONS
from semcrawl.errors import UsageError
from semcrawl.settings.feedformats import FEED_EXPORTERS, FEED_STORAGES
from semcrawl.spiders.html import HtmlSpider

SPIDER = """
    import scrapy
    from semcrawl.items import RdfDocument
    class Own(scrapy.Spider):
        name = "own"
        async def start(self):
            yield scrapy.Request(self.url)
        def parse(self, response):
            yield RdfDocument(url=response.url, nquads=response.body, quads=1)
    """

#: asks for 1.nq, 2.nq and 3.nq, in this order
THREE = """
    import scrapy
    class Own(scrapy.Spider):
        name = "own"
        async def start(self):
            yield scrapy.Request(self.url + "/1.nq")
        def parse(self, response):
            number = int(response.url[-4])
            if number < 3:
                yield response.follow(f"/{number + 1}.nq")
    """


@pytest.fixture
def project(tmp_path) -> Path:
    """Somebody's project with one spider and one line for semcrawl."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = theirs.settings\n")
    (tmp_path / "theirs" / "__init__.py").touch()
    (tmp_path / "theirs" / "spiders.py").write_text(textwrap.dedent(SPIDER))
    (tmp_path / "theirs" / "settings.py").write_text(
        'SPIDER_MODULES = ["theirs.spiders"]\nADDONS = {"semcrawl.addon.Addon": 500}\n'
    )
    return tmp_path


@pytest.mark.slow
def test_our_commands_are_there_in_somebody_s_project(project):
    (project / "theirs" / "settings.py").write_text('SPIDER_MODULES = ["theirs.spiders"]\n')
    for command, said in (
        (("frontier",), "semcrawl: . holds no frontier\n"),
        (("harvest",), "give a URL to start from"),
        (("crawl", "html"), "html"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "semcrawl", *command],
            cwd=project, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert said in done.stderr
        assert done.returncode != 0
    listed = subprocess.run(
        [sys.executable, "-m", "semcrawl", "list"], cwd=project, capture_output=True, text=True
    )
    assert listed.stdout == "own\n"


@pytest.fixture
def web_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("web")


@pytest.fixture
def web(web_folder):
    handler = partial(SimpleHTTPRequestHandler, directory=str(web_folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    url = f"{url_of(server)}/a.nq"
    (web_folder / "a.nq").write_text(f'<{url}#s> <{url}#p> "1" <{url}> .\n')
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield url_of(server)
    server.shutdown()
    server.server_close()


def url_of(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def scrapy(folder: Path, *args: str, preexec=None) -> subprocess.CompletedProcess:
    environment = {k: v for k, v in os.environ.items() if k != "SCRAPY_SETTINGS_MODULE"}
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *args],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=600,
        env=environment,
        preexec_fn=preexec,
    )


@pytest.mark.slow
def test_one_line_brings_pipelines_and_formats_to_their_spiders(project, web):
    done = scrapy(
        project, "crawl", "own", "-a", f"url={web}/a.nq", "-s", "SEMCRAWL_JOBDIR=job",
        "-o", "out/data.ttl.gz",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (project / "job" / "quads.nq").read_text().count(f"<{web}/a.nq> .") == 1
    assert (project / "out" / "data.ttl.gz").stat().st_size > 0


@pytest.mark.slow
def test_projects_without_the_line_have_scrapy_s_formats_alone(project, web):
    (project / "theirs" / "settings.py").write_text('SPIDER_MODULES = ["theirs.spiders"]\n')
    done = scrapy(project, "crawl", "own", "-a", f"url={web}/a.nq", "-o", "data.nq")
    assert done.returncode == 2
    assert "Unrecognized output format 'nq'" in done.stderr


@pytest.mark.slow
def test_one_line_brings_our_spiders(project, web):
    """The server's own listing is the page that leads to the document; the pace is ours."""
    with (project / "theirs" / "settings.py").open("a") as file:
        file.write("DOWNLOAD_DELAY = 600\nAUTOTHROTTLE_ENABLED = True\n")
    done = scrapy(
        project, "crawl", "html", "-a", f"seeds={web}/", "-a", "follow_rdf=1",
        "-s", "SEMCRAWL_JOBDIR=job", "-s", "SEMCRAWL_CRAWL_DELAY=0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (project / "job" / "quads.nq").read_text().count(f"<{web}/a.nq> .") == 1


@pytest.mark.parametrize(
    ("theirs", "ours", "holds"),
    [
        ({"DOWNLOAD_DELAY": 3}, {}, 3),
        ({"DOWNLOAD_DELAY": 0.1}, {}, 1),
        ({"DOWNLOAD_DELAY": 3, "SEMCRAWL_CRAWL_DELAY": 0.5}, {}, 0.5),
        ({"DOWNLOAD_DELAY": 3}, {"SEMCRAWL_CRAWL_DELAY": 0.5}, 0.5),
        ({"SEMCRAWL_CRAWL_DELAY": 0.5}, {"DOWNLOAD_DELAY": 3}, 3),
    ],
)
def test_which_delay_holds_for_our_spiders(theirs, ours, holds):
    """The one that is said on purpose; of a project's for all its spiders the longer one."""
    settings = Settings(theirs, "project")
    settings.setdict(ours, "cmdline")
    Addon().update_settings(settings)
    HtmlSpider.update_settings(settings)
    assert settings.getfloat("SEMCRAWL_CRAWL_DELAY") == holds
    assert settings.getfloat("DOWNLOAD_DELAY") == 0


CONTACT = {"SEMCRAWL_CONTACT": "me@a.example"}
WITH_CONTACT = f"semcrawl/{__version__} (+me@a.example)"


@pytest.mark.parametrize(
    ("theirs", "own", "agent"),
    [
        ({}, {}, defaults.USER_AGENT),
        (CONTACT, {}, WITH_CONTACT),
        ({"USER_AGENT": defaults.USER_AGENT}, CONTACT, WITH_CONTACT),
        ({"USER_AGENT": "theirs/1"}, {}, "theirs/1"),
        ({"USER_AGENT": "theirs/1", **CONTACT}, {}, "theirs/1"),
        (CONTACT, {"USER_AGENT": "own/1"}, "own/1"),
    ],
)
def test_our_spiders_say_who_they_are_unless_they_are_told_a_name(theirs, own, agent):
    settings = Settings(theirs, "project")
    Addon().update_settings(settings)
    type("Own", (HtmlSpider,), {"custom_settings": own}).update_settings(settings)
    assert settings["USER_AGENT"] == agent


@pytest.mark.parametrize(
    ("theirs", "http"),
    [({"s3": None}, defaults.DOWNLOAD_HANDLERS["http"]), ({"http": "a.b.Handler"}, "a.b.Handler")],
)
def test_handlers_of_other_schemes_leave_ours_where_they_are(theirs, http):
    settings = Settings({"DOWNLOAD_HANDLERS": theirs}, "project")
    HtmlSpider.update_settings(settings)
    handlers = settings.getdict("DOWNLOAD_HANDLERS")
    assert handlers["http"] == http
    assert handlers["https"] == defaults.DOWNLOAD_HANDLERS["https"]
    assert theirs.items() <= handlers.items()


class Theirs:
    """A part of somebody's project."""


@pytest.mark.parametrize("level", ["project", "cmdline"])
def test_our_parts_stay_when_a_runner_merges_its_settings_into_a_crawler(level):
    """As ``process.crawl(crawler)`` does, with a crawler that ``create_crawler`` made."""
    settings = Settings({"SEMCRAWL_CONTACT": "me@a.example"})
    project = {
        **{name: {Theirs: 500} for name in ("ITEM_PIPELINES", "DOWNLOADER_MIDDLEWARES")},
        **{name: {Theirs: 500} for name in ("SPIDER_MIDDLEWARES", "EXTENSIONS")},
        "SCHEDULER": "scrapy.core.scheduler.Scheduler",
        "AUTOTHROTTLE_ENABLED": True,
        "DOWNLOAD_DELAY": 3,
        "USER_AGENT": defaults.USER_AGENT,
    }
    settings.setdict(project, level)
    runner = AsyncCrawlerRunner(settings)
    crawler = runner.create_crawler(HtmlSpider)
    made = crawler.settings.copy_to_dict()
    assert set(ITEM_PIPELINES) < set(made["ITEM_PIPELINES"])
    assert made["DOWNLOAD_DELAY"] == 0
    assert made["USER_AGENT"] == WITH_CONTACT
    assert runner.create_crawler(crawler).settings.copy_to_dict() == made


class Synchronous:
    """A spider middleware as ``scrapy startproject`` wrote it for long."""

    def process_spider_output(self, response, result, spider):
        yield from result


class Asynchronous:
    """The same as Scrapy wants it."""

    async def process_spider_output(self, response, result):
        async for item in result:
            yield item


class Both(Synchronous):
    """The same for old and new Scrapy."""

    process_spider_output_async = Asynchronous.process_spider_output


def test_a_spider_middleware_that_scrapy_refuses_is_told_in_one_line():
    settings = Settings({"SPIDER_MIDDLEWARES": {Synchronous: 543}}, "project")
    with pytest.raises(UsageError, match=r"output\(\) of .*Synchronous must be an asynchr") as told:
        HtmlSpider.update_settings(settings)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("theirs", [{Asynchronous: 543}, {Both: 543}, {Synchronous: None}])
def test_other_spider_middlewares_of_a_project_stay(theirs):
    settings = Settings({"SPIDER_MIDDLEWARES": theirs}, "project")
    HtmlSpider.update_settings(settings)
    assert theirs.items() <= settings.getdict("SPIDER_MIDDLEWARES").items()


@pytest.mark.slow
def test_responses_are_kept_as_warc(project, web):
    pytest.importorskip("warcio")
    from warcio.archiveiterator import ArchiveIterator

    done = scrapy(
        project, "crawl", "own", "-a", f"url={web}/a.nq", "-s", "SEMCRAWL_JOBDIR=job",
        "-s", "SEMCRAWL_WARC=1",
    )  # fmt: skip
    assert "'semcrawl/warc/records': 1" in done.stderr
    (path,) = (project / "job").glob("*.warc.gz")
    with path.open("rb") as file:
        records = [
            (
                record.rec_type,
                record.rec_headers.get_header("WARC-Target-URI"),
                record.content_stream().read(),
            )
            for record in ArchiveIterator(file)
        ]
    kinds = [kind for kind, _, _ in records]
    assert kinds == ["warcinfo", "response", "request"]
    assert records[1][1] == f"{web}/a.nq"
    assert records[1][2].startswith(f"<{web}/a.nq#s>".encode())
    assert not list((project / "job").glob("*.open"))


@pytest.mark.slow
def test_a_record_that_does_not_fit_costs_no_other(project, web, web_folder):
    pytest.importorskip("warcio")
    from warcio.archiveiterator import ArchiveIterator

    def limit_file_size() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    (project / "theirs" / "spiders.py").write_text(textwrap.dedent(THREE))
    for name, body in (
        ("1.nq", b"# first\n"),
        ("2.nq", os.urandom(600_000)),
        ("3.nq", b"# last\n"),
    ):
        (web_folder / name).write_bytes(body)
    done = scrapy(
        project, "crawl", "own", "-a", f"url={web}", "-s", "SEMCRAWL_JOBDIR=job",
        "-s", "SEMCRAWL_WARC=1", preexec=limit_file_size,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert "'semcrawl/warc/records': 2" in done.stderr
    assert "'semcrawl/warc/failed': 1" in done.stderr
    (path,) = (project / "job").glob("*.warc.gz")
    with path.open("rb") as file:
        kept = [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"))
            for record in ArchiveIterator(file)
        ]
    assert kept == [
        ("warcinfo", None),
        *((kind, f"{web}/{name}") for name in ("1.nq", "3.nq") for kind in ("response", "request")),
    ]


def test_the_addon_changes_nothing_but_what_it_says():
    """Their scheduler, middlewares and politeness stay as they are."""
    before, after = Settings(), Settings()
    Addon.update_pre_crawler_settings(after)
    Addon().update_settings(after)
    changed = {
        name
        for name in after
        if not name.startswith("SEMCRAWL_") and dict_of(before, name) != dict_of(after, name)
    }
    assert changed == {
        "SPIDER_MODULES",
        "EXTENSIONS",
        "ITEM_PIPELINES",
        "FEED_EXPORTERS",
        "FEED_STORAGES",
    }
    assert after.getdict("ITEM_PIPELINES") == ITEM_PIPELINES
    assert after.getdict("EXTENSIONS") == RESULT_EXTENSIONS
    assert after.getdict("FEED_EXPORTERS") == FEED_EXPORTERS
    assert after.getdict("FEED_STORAGES") == FEED_STORAGES


def test_the_projects_own_choice_wins():
    ours = next(iter(ITEM_PIPELINES))
    settings = Settings({"ITEM_PIPELINES": {ours: None}, "SEMCRAWL_WARC": True})
    Addon().update_settings(settings)
    assert settings.getdict("ITEM_PIPELINES")[ours] is None
    assert settings.getbool("SEMCRAWL_WARC")


def dict_of(settings: Settings, name: str):
    value = settings.get(name)
    return dict(value) if hasattr(value, "items") else value
