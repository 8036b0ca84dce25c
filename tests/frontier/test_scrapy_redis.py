"""The settings, lists and items of scrapy-redis are those that its users know."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from frontier.served_redis import ServedRedis
from harvest.runs import TIMEOUT, environment
from redis.asyncio import Redis as AsyncRedis
from scrapy.settings import Settings
from scrapy_redis import defaults
from spiders.site import handler, page

from semcrawl.config.checks import START_URLS_KEY, unheeded
from semcrawl.config.redisserver import adopt_redis
from semcrawl.errors import UsageError
from semcrawl.images.imageitems import Decoded, FetchedImage, ImagePage, RedirectedImage
from semcrawl.images.outcomes import FoundAs, ImageOutcome
from semcrawl.images.places import ShownImage
from semcrawl.items import FetchedFile
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.pipelines.documentfeeds import item_json
from semcrawl.spiders.seeds import read_planted

#: all settings of scrapy-redis 0.9 that mean nothing to a frontier
WITHOUT_EFFECT = {
    "REDIS_CLS", "REDIS_DECODE_RESPONSES", "REDIS_START_URLS_AS_SET", "REDIS_START_URLS_AS_ZSET",
    "SCHEDULER_DUPEFILTER_CLASS", "SCHEDULER_DUPEFILTER_KEY", "SCHEDULER_FLUSH_ON_START",
    "SCHEDULER_IDLE_BEFORE_CLOSE", "SCHEDULER_PERSIST", "SCHEDULER_QUEUE_CLASS",
    "SCHEDULER_QUEUE_KEY", "SCHEDULER_SERIALIZER",
}  # fmt: skip
PASSWORD = "a/b?c#d@e:f g%h"
SCHEDULER = "scrapy_redis.scheduler.Scheduler"


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ({}, ""),
        ({"SCHEDULER": SCHEDULER}, "redis://localhost:6379/0"),
        ({"REDIS_HOST": "h"}, "redis://h:6379/0"),
        ({"REDIS_HOST": "h", "REDIS_PORT": "7000", "REDIS_DB": 3}, "redis://h:7000/3"),
        ({"REDIS_HOST": "::1", "REDIS_PARAMS": {"db": 2}}, "redis://[::1]:6379/2"),
        ({"REDIS_PARAMS": {"url": "redis://p:1/5"}}, "redis://p:1/5"),
        ({"REDIS_URL": "redis://u:1/2", "REDIS_HOST": "h"}, "redis://u:1/2"),
        ({"REDIS_URL": "redis://a,b", "REDIS_PARAMS": {"db": 1}}, "redis://a,b"),
        (
            {"REDIS_URL": "redis://u:1/2?client_name=c", "REDIS_PARAMS": {"password": "x"}},
            "redis://:x@u:1/2?client_name=c",
        ),
        ({"REDIS_HOST": "h", "REDIS_PARAMS": {"ssl": True}}, "rediss://h:6379/0"),
        ({"REDIS_HOST": "h", "REDIS_PARAMS": {"socket_timeout": 9}}, "redis://h:6379/0?socket_timeout=9"),
        ({"REDIS_PARAMS": {"redis_cls": "a.b.C", "host": "h"}}, "redis://h:6379/0"),
    ],
)  # fmt: skip
def test_the_server_is_the_one_that_scrapy_redis_would_use(given, url):
    settings = Settings(given)
    for _ in range(2):  # a command and its spiders do it
        adopt_redis(settings)
    assert (settings.get("REDIS_URL") or "") == url


@pytest.mark.parametrize("user", ["", "me@b"])
def test_a_password_of_any_characters_arrives(user):
    params = {"password": PASSWORD, "username": user} if user else {"password": PASSWORD}
    settings = Settings({"REDIS_HOST": "h", "REDIS_PARAMS": params})
    adopt_redis(settings)
    found = AsyncRedis.from_url(settings["REDIS_URL"]).connection_pool.connection_kwargs
    assert (found["password"], found.get("username") or "") == (PASSWORD, user)


def test_a_seed_list_has_the_name_that_scrapy_redis_gives_it() -> None:
    assert START_URLS_KEY == defaults.START_URLS_KEY


def test_wrong_parameters_are_refused_in_one_line():
    with pytest.raises(UsageError, match="REDIS_PARAMS or REDIS_URL is wrong"):
        adopt_redis(Settings({"REDIS_URL": "nonsense", "REDIS_PARAMS": {"db": 1}}))


def test_settings_without_effect_have_a_line() -> None:
    said = unheeded(Settings({"SCHEDULER_QUEUE_KEY": "x", "REDIS_CLS": "a.B", "REDIS_HOST": "h"}))
    assert [line.split()[0] for line in said] == ["REDIS_CLS", "SCHEDULER_QUEUE_KEY"]
    without = Settings(dict.fromkeys(WITHOUT_EFFECT, "x"))
    assert {line.split()[0] for line in unheeded(without)} == WITHOUT_EFFECT


def test_kept_files_and_images_are_items_without_their_bytes() -> None:
    """Whoever reads the list of items finds JSON in each, not an empty text."""
    shown = ShownImage(f"{HOST}/i.png", FoundAs.IMG)
    items = [
        FetchedFile(f"{HOST}/a.csv", b"1,2", content_type="text/csv"),
        FetchedImage(f"{HOST}/i.png", Decoded(ImageOutcome.KEPT, width=3, grey=b"jpeg"), bytes=9),
        ImagePage(f"{HOST}/", shown=(shown,), links=(f"{HOST}/b",)),
        RedirectedImage(f"{HOST}/j.png", f"{HOST}/i.png"),
    ]
    file, image, page_, _ = [json.loads(item_json(item)) for item in items]
    assert (file["item_class"], file["content_type"]) == ("FetchedFile", "text/csv")
    assert "body" not in file
    assert image["bytes"] == 9
    assert image["decoded"]["width"] == 3
    assert "grey" not in image["decoded"]
    assert page_["links"] == [f"{HOST}/b"]


def test_other_texts_of_an_entry_go_into_its_query():
    """As scrapy-redis makes its requests."""
    planted = read_planted('{"url": "http://a.example/s", "q": "x y", "method": "get"}')
    assert planted.link.url == "http://a.example/s?q=x+y"


def test_entries_for_other_methods_are_refused():
    with pytest.raises(UsageError, match="fetched by GET, not POST"):
        read_planted('{"url": "http://a.example/s", "q": "x", "method": "POST"}')


@pytest.mark.slow
def test_a_crawl_without_a_server_needs_no_client_of_one() -> None:
    code = (
        "import sys; sys.modules['scrapy_redis'] = sys.modules['redis'] = None\n"
        "import semcrawl.items, semcrawl.rdf, semcrawl.results\n"
        "import semcrawl.spiders.html, semcrawl.frontier.backends, semcrawl.commands.harvest\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


HOST = "http://d.example"
SITE = {
    "/": page(),
    **{f"/{n}/": page(f"/{n}.ttl") for n in "abcd"},
    **{f"/{n}.ttl": ("text/turtle", b"<#it> <http://v.example/p> 1 .") for n in "abcd"},
}
#: as its README has them
SETTINGS = """
BOT_NAME = "theirs"
SPIDER_MODULES = ["theirs.spiders"]
ADDONS = {"semcrawl.addon.Addon": 500}
SCHEDULER = "scrapy_redis.scheduler.Scheduler"
DUPEFILTER_CLASS = "scrapy_redis.dupefilter.RFPDupeFilter"
SCHEDULER_PERSIST = True
ITEM_PIPELINES = {"scrapy_redis.pipelines.RedisPipeline": 300}
REDIS_HOST = "127.0.0.1"
REDIS_PORT = %d
REDIS_PARAMS = {"password": %r, "db": 1}
REDIS_START_URLS_KEY = "%%(name)s:seeds"
REDIS_ENCODING = "iso-8859-1"
MAX_IDLE_TIME_BEFORE_CLOSE = 3
SEMCRAWL_CRAWL_DELAY = 0
SEMCRAWL_SITEMAPS = "never"
SEMCRAWL_WELL_KNOWN = []
SEMCRAWL_JOBDIR = "job"
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServedRedis]:
    (tmp_path / "redis").mkdir()
    served = ServedRedis(tmp_path / "redis", "--requirepass", PASSWORD)
    yield served
    served.kill()


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["list", "set", "zset"])
def test_a_scrapy_redis_users_settings_drive_a_crawl(kind: str, tmp_path: Path, server) -> None:
    """Seeds as addresses and JSON, from a list, a set or a sorted set; items in its list."""
    (tmp_path / "theirs" / "spiders").mkdir(parents=True)
    (tmp_path / "theirs" / "spiders" / "__init__.py").touch()
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = theirs.settings\n")
    (tmp_path / "theirs" / "settings.py").write_text(SETTINGS % (server.port, PASSWORD))
    entries = [
        f"{HOST}/a/",
        json.dumps({"url": f"{HOST}/b/", "meta": {"job": "é"}}, ensure_ascii=False),
    ]
    redis = server.client(password=PASSWORD, db=1, encoding="iso-8859-1")
    if kind == "list":
        redis.lpush("html:seeds", *entries)
    elif kind == "set":
        redis.sadd("html:seeds", *entries)
    else:
        redis.zadd("html:seeds", {entry: rank for rank, entry in enumerate(entries)})
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as web:
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "crawl", "html", "-a", "follow_rdf=1"],
            cwd=tmp_path, env=environment(web.proxy_url), capture_output=True, text=True,
            timeout=TIMEOUT,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert PASSWORD not in done.stderr
    assert (
        f"Waiting for seeds on the list html:seeds of the Redis at redis://127.0.0.1:{server.port}"
        in (done.stderr)
    )
    lines = (tmp_path / "job" / "quads.nq").read_text().splitlines()
    assert sorted(line.split()[-2] for line in lines) == [f"<{HOST}/a.ttl>", f"<{HOST}/b.ttl>"]
    items = [json.loads(item) for item in redis.lrange("html:items", 0, -1)]
    documents = [item["nquads"] for item in items if item["item_class"] == "RdfDocument"]
    assert sorted("".join(documents).splitlines()) == sorted(lines)
    assert redis.keys("*semcrawl*")
