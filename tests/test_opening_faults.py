"""A crawl that cannot begin says why in one line on the terminal, with exit status 1."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from harvest.runs import Run, start, start_harvest
from scrapy.settings import Settings

from semcrawl.commandline import reason_of, unloadable_part
from semcrawl.commands._run import check_crawl, proxy_fault
from semcrawl.errors import UsageError
from semcrawl.lab.demo import DemoServer, DemoWeb, serve

slow = pytest.mark.slow
PARTS = Path(__file__).with_name("opening_parts.py")


@pytest.fixture(scope="module")
def web() -> Iterator[DemoServer]:
    with serve(DemoWeb(1)) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for results beside the parts, which are found as those of a user are."""
    shutil.copy(PARTS, tmp_path)
    return tmp_path / "out"


def without(package: str, folder: Path) -> str:
    """Make a folder for PYTHONPATH in which a package cannot be imported."""
    place = folder.parent / "without" / package
    place.mkdir(parents=True)
    (place / "__init__.py").write_text(f"raise ModuleNotFoundError('no', name={package!r})\n")
    return str(place.parent)


def harvest(web: DemoServer, folder: Path, *options: str, **variables: str) -> Run:
    started = start_harvest(
        DemoWeb.start, "--fast", "--pages", "5", *options,
        folder=folder, proxy=web.proxy_url, **variables,
    )  # fmt: skip
    return started.wait()


def tells_the_fault(run: Run, *words: str) -> None:
    """Assert that there is one line, which holds ``words``, and no table."""
    lines = run.err.strip().splitlines()
    assert run.status == 1, run.err
    assert len(lines) == 1, run.err
    assert lines[0].startswith("semcrawl: "), run.err
    for word in words:
        assert word in lines[0]
    assert not run.out


@pytest.mark.slow
def test_a_part_that_is_not_there_is_named_with_its_setting(web: DemoServer, folder: Path) -> None:
    run = harvest(web, folder, "-s", 'ITEM_PIPELINES={"opening_parts.Absent": 100}')
    tells_the_fault(run, "the crawl cannot begin", "ITEM_PIPELINES", "opening_parts.Absent")
    assert "Task exception" not in (folder / "crawl.log").read_text()


@slow
@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ('EXTENSIONS={"nowhere.Part": 1}', ("EXTENSIONS names nowhere.Part",)),
        ('EXTENSIONS={"opening_parts.Raises": 1}', ("KeyError: 'PART_KEY'", "opening_parts.py")),
        ('DOWNLOADER_MIDDLEWARES={"opening_parts.Raises": 1}', ("KeyError", "opening_parts.py")),
        ('ITEM_PIPELINES={"opening_parts.OpensBadly": 1}', ("RuntimeError: no database",)),
        ('ADDONS={"nowhere.Part": 1}', ("ADDONS names nowhere.Part",)),
        ("SCHEDULER=nowhere.Part", ("SCHEDULER names nowhere.Part",)),
        ("SPIDER_LOADER_CLASS=nowhere.Part", ("SPIDER_LOADER_CLASS names nowhere.Part",)),
        ("DUPEFILTER_CLASS=nowhere.Part", ("DUPEFILTER_CLASS names nowhere.Part",)),
        ("HTTPAUTH_USER=me", ("HTTPAUTH_DOMAIN must be set",)),
        ('FEEDS={"odd://x/y.nq": {"format": "nq"}}', ("no storage for odd:",)),
    ],
)
def test_a_part_that_cannot_begin_says_why(
    setting: str, words: tuple[str, ...], web: DemoServer, folder: Path
) -> None:
    tells_the_fault(harvest(web, folder, "-s", setting), *words)


@slow
@pytest.mark.parametrize(
    ("package", "options", "words"),
    [
        ("warcio", ["--record"], ("pip install", "warc")),
        ("boto3", ["-o", "s3://bucket/%(worker)s.nq"], ("s3://bucket/", "boto3")),
    ],
)
def test_a_package_that_is_missing_is_told(
    package: str, options: list[str], words: tuple[str, ...], web: DemoServer, folder: Path
) -> None:
    run = harvest(web, folder, *options, PYTHONPATH=without(package, folder))
    tells_the_fault(run, *words)


@slow
def test_a_spider_of_scrapys_command_says_it_too(web: DemoServer, folder: Path) -> None:
    run = start(
        *("crawl", "html", "-a", f"seeds={DemoWeb.start}", "--nolog"),
        *("-s", f"SEMCRAWL_JOBDIR={folder}", "-s", 'EXTENSIONS={"opening_parts.Raises": 1}'),
        folder=folder, proxy=web.proxy_url,
    ).wait()  # fmt: skip
    tells_the_fault(run, "KeyError: 'PART_KEY'")


@slow
def test_a_part_that_declines_is_told_of_and_the_crawl_goes_on(
    web: DemoServer, folder: Path
) -> None:
    run = harvest(web, folder, "-s", 'EXTENSIONS={"opening_parts.Declines": 1}')
    assert run.status == 0
    assert "semcrawl: Disabled opening_parts.Declines: PART_KEY is missing\n" in run.err


@slow
def test_an_extension_that_fails_at_a_signal_is_told_of_with_its_reason(
    web: DemoServer, folder: Path
) -> None:
    run = harvest(web, folder, "-s", 'EXTENSIONS={"opening_parts.HearsBadly": 1}')
    assert run.status == 1
    assert "semcrawl: HearsBadly.opened failed: RuntimeError: no licence\n" in run.err
    assert run.summary["requests"]


@slow
def test_a_feed_that_its_storage_cannot_store_is_told_of(web: DemoServer, folder: Path) -> None:
    """The package for gs:// is missed only when the feed is to be stored."""
    run = harvest(web, folder, "-o", "gs://bucket/x.nq", PYTHONPATH=without("google", folder))
    assert run.status == 1
    assert "The feed gs://bucket/x.nq is given up: ModuleNotFoundError" in run.err
    assert "Task exception" not in run.err


def test_parts_that_can_be_loaded_or_are_off_are_no_fault() -> None:
    settings = Settings(
        {
            "EXTENSIONS": {"scrapy.extensions.corestats.CoreStats": 1, "nowhere.Off": None},
            "DOWNLOAD_HANDLERS": {"ftp": None},
            "REFERRER_POLICY": "no-referrer",
            "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
        }
    )
    assert unloadable_part(settings) == ""
    settings["FEED_STORAGES"] = {"odd": "nowhere.Storage"}
    assert unloadable_part(settings).startswith("FEED_STORAGES names nowhere.Storage, which ")


def test_a_fault_in_a_parts_own_code_tells_where() -> None:
    try:
        int("many\nlines")
    except ValueError as error:
        reason = reason_of(error, Settings())
    assert reason.startswith("ValueError: invalid literal for int() with base 10: ")
    assert "\n" not in reason
    assert f"({__file__}, line " in reason


@pytest.mark.parametrize(
    ("proxy", "is_one"),
    [
        ("http://127.0.0.1:3128", True),
        ("https://user:word@proxy.example:8443/", True),
        ("proxy.example:3128", True),
        ("foo://bad", False),
        ("socks5://127.0.0.1:1080", False),
        ("http://", False),
        ("http://x.example:99999", False),
        ("http://[::1", False),
    ],
)
def test_a_proxy_is_one_or_its_fault_is_told(proxy: str, is_one: bool) -> None:
    assert (proxy_fault(proxy) == "") is is_one


def test_a_proxys_password_is_not_told() -> None:
    assert "secret" not in proxy_fault("foo://user:secret@bad")


@pytest.mark.parametrize("handler", ["nowhere.Handler", "collections.Counter", "math.pi"])
def test_a_download_handler_that_is_none_is_refused(handler: str) -> None:
    with pytest.raises(UsageError, match=f"DOWNLOAD_HANDLERS names {handler} for http,"):
        check_crawl(Settings({"DOWNLOAD_HANDLERS": {"http": handler}}))


@pytest.mark.slow
def test_download_handlers_that_are_some_are_taken() -> None:
    handler = "semcrawl.crawl.downloadhandler.AiohttpDownloadHandler"
    handlers = {"http": handler, "ftp": None}
    check_crawl(Settings({"DOWNLOAD_HANDLERS": handlers, "SEMCRAWL_TARGETS": "rdf"}))


@slow
@pytest.mark.parametrize(
    ("options", "proxy", "word"),
    [
        ([], "foo://bad", "foo://bad"),
        (["-s", 'DOWNLOAD_HANDLERS={"http": "nowhere.X"}'], "http://127.0.0.1:1", "nowhere.X"),
    ],
)
def test_requests_that_could_not_be_sent_keep_a_crawl_from_beginning(
    options: list[str], proxy: str, word: str, folder: Path
) -> None:
    run = start_harvest(DemoWeb.start, *options, folder=folder, proxy=proxy).wait()
    run.says_in_one_line(word)
    assert not folder.exists()
