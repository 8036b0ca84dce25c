"""Installs semcrawl's components among Scrapy's."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from contextlib import suppress
from importlib.util import find_spec
from inspect import isasyncgenfunction
from pathlib import Path
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings
from scrapy.utils.conf import closest_scrapy_cfg
from scrapy.utils.misc import load_object

from semcrawl import __version__
from semcrawl import settings as defaults
from semcrawl.config.checks import is_on_redis
from semcrawl.config.environment import take_environment
from semcrawl.config.jobdir import job_path
from semcrawl.errors import UsageError
from semcrawl.houses import houses
from semcrawl.settings.feedformats import FEED_EXPORTERS, FEED_STORAGES
from semcrawl.settings.reader import check_name

#: Scrapy's setting of the event loop, as a command's default, which a project or ``-s`` overrides.
#: Programs that start crawls by themselves keep their loop: Scrapy refuses one that differs from
#: this setting
FASTEST_LOOP = {"ASYNCIO_EVENT_LOOP": "uvloop.Loop"} if find_spec("uvloop") else {}

#: priority of our component settings: above Scrapy's defaults, below a project's own
_PRIORITY = "addon"

SCHEDULER = "semcrawl.crawl.scheduler.FrontierScheduler"

DOWNLOADER_MIDDLEWARES: dict[str, int | None] = {
    "semcrawl.middlewares.addresses.ExcludedLinksMiddleware": 40,
    "semcrawl.middlewares.addresses.PrivateAddressMiddleware": 50,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "semcrawl.middlewares.robots.PacedRobotsMiddleware": 100,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "semcrawl.middlewares.codings.ForgivingCompressionMiddleware": 590,
    "scrapy.downloadermiddlewares.stats.DownloaderStats": None,
    "semcrawl.middlewares.attempts.DownloadStats": 850,
    "semcrawl.middlewares.fetchfilter.FetchFilterMiddleware": 940,
    "semcrawl.middlewares.health.HostHealthMiddleware": 945,
    "semcrawl.middlewares.attempts.AttemptMiddleware": 950,
}

#: middlewares of ours that are left out where a project orders Scrapy's, which do the same
_SCRAPYS = {
    "semcrawl.middlewares.attempts.DownloadStats": (
        "scrapy.downloadermiddlewares.stats.DownloaderStats"
    ),
    "semcrawl.logformat.EvenLogStats": "scrapy.extensions.logstats.LogStats",
    "semcrawl.crawl.acknowledgement.Referers": "scrapy.spidermiddlewares.referer.RefererMiddleware",
}

#: ours is next to the engine, so it sees what all others let through. Scrapy's own only handle
#: requests, which our callbacks never return. They are off, as each costs a generator per item
SPIDER_MIDDLEWARES: dict[str, int | None] = {
    "semcrawl.crawl.acknowledgement.Acknowledgement": -1000,
    "semcrawl.crawl.acknowledgement.Referers": 700,
    "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
    "scrapy.spidermiddlewares.start.StartSpiderMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
    "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware": None,
}

EXTENSIONS: dict[str, int | None] = {
    "semcrawl.crawl.downloadhandler.SpoolRemoval": 200,
    "semcrawl.spiders.submitting.PingAddress": 400,
    "semcrawl.crawl.liveness.Liveness": 450,
    "semcrawl.crawl.progress.Progress": 500,
    "scrapy.extensions.logstats.LogStats": None,
    "semcrawl.logformat.EvenLogStats": 0,
}

#: extensions for any spider
RESULT_EXTENSIONS: dict[str, int | None] = {
    "scrapy.extensions.feedexport.FeedExporter": None,
    "semcrawl.pipelines.feeds.FeedExporter": 0,
    "semcrawl.pipelines.warc.WarcExtension": 0,
}

ITEM_PIPELINES: dict[str, int | None] = {
    "semcrawl.pipelines.quads.QuadsFilePipeline": 300,
    "semcrawl.pipelines.quads.EmbeddedQuadsPipeline": 310,
    "semcrawl.pipelines.topicpages.PagesPipeline": 315,
    "semcrawl.pipelines.files.FilesPipeline": 320,
    "semcrawl.pipelines.metadata.MetadataPipeline": 900,
}


#: an exception that only Scrapy's own HTTP handler raises, and that loads the handler
_HANDLERS_OWN = "scrapy.core.downloader.handlers.http11.TunnelError"


def install(settings: BaseSettings) -> None:
    """Install semcrawl's components, except where the project has decided otherwise.

    Raises ``UsageError`` for a project with another reactor than asyncio's, or a spider middleware
    without asynchronous output.
    """
    check_reactor(settings)
    _check_spider_middlewares(settings)
    for name in dir(defaults):
        if name.isupper() and name not in _PROJECT_ONLY:
            settings.set(name, getattr(defaults, name), _PRIORITY)
    _take_names(settings)
    if is_on_redis(settings):
        from semcrawl.config.redisserver import adopt_redis  # a crawl on a file loads no Redis

        adopt_redis(settings)
        if not settings.get("REDIS_ITEMS_SERIALIZER"):  # scrapy-redis's own cannot encode quads
            serializer = "semcrawl.pipelines.documentfeeds.item_json"
            _settle(settings, "REDIS_ITEMS_SERIALIZER", serializer)
    say_who_it_is(settings)
    # Scrapy's ``issubclass`` only looks at methods, and accepts any scheduler
    if load_object(SCHEDULER) not in load_object(settings["SCHEDULER"]).__mro__:
        # a project may have another for its own spiders, but ours need this one
        _settle(settings, "SCHEDULER", SCHEDULER, "cmdline")
    if not settings.getbool("COOKIES_ENABLED"):  # Scrapy would load them, with an HTTP client
        base = settings.getdict("DOWNLOADER_MIDDLEWARES_BASE")
        base.pop("scrapy.downloadermiddlewares.cookies.CookiesMiddleware", None)
        settings.set("DOWNLOADER_MIDDLEWARES_BASE", base, _PRIORITY)
    for name, components in (
        ("DOWNLOADER_MIDDLEWARES", DOWNLOADER_MIDDLEWARES),
        ("SPIDER_MIDDLEWARES", SPIDER_MIDDLEWARES),
        ("EXTENSIONS", EXTENSIONS),
        ("DOWNLOAD_HANDLERS", defaults.DOWNLOAD_HANDLERS),
    ):
        _add_components(settings, name, components)
    if defaults.DOWNLOAD_HANDLERS.items() <= settings.getdict("DOWNLOAD_HANDLERS").items():
        retried = [each for each in default_settings.RETRY_EXCEPTIONS if each != _HANDLERS_OWN]
        settings.set("RETRY_EXCEPTIONS", retried, _PRIORITY)
    _leave_pace_to_frontier(settings)
    _place_cache(settings)
    _install_targets(settings)


def say_who_it_is(settings: BaseSettings) -> None:
    """Set the user agent of our spiders, with the contact, unless the user has set one."""
    if settings["USER_AGENT"] not in (default_settings.USER_AGENT, defaults.USER_AGENT):
        return
    contact = settings.get("SEMCRAWL_CONTACT")
    agent = f"semcrawl/{__version__} (+{contact})" if contact else defaults.USER_AGENT
    _settle(settings, "USER_AGENT", agent)


def _place_cache(settings: BaseSettings) -> None:
    """Outside of projects, put an HTTP cache with a relative path into the job folder.

    Scrapy would look for the project's data folder, and continue without the cache.
    """
    folder = Path(settings["HTTPCACHE_DIR"] or "httpcache")
    if settings.getbool("HTTPCACHE_ENABLED") and not (folder.is_absolute() or closest_scrapy_cfg()):
        _settle(settings, "HTTPCACHE_DIR", str(job_path(settings).resolve() / folder))


def _leave_pace_to_frontier(settings: BaseSettings) -> None:
    """Leave the pace to the frontier, with a longer ``DOWNLOAD_DELAY`` of the project.

    Scrapy's own delay would hold back requests that the frontier counts as sent, and so send them
    too close to the next ones.
    """
    delays = ("DOWNLOAD_DELAY", "SEMCRAWL_CRAWL_DELAY")
    theirs, ours = (settings.getpriority(name) or 0 for name in delays)
    with suppress(ValueError, TypeError):  # wrong values are reported elsewhere
        if theirs > ours:
            longest = max(settings.getfloat(name) for name in delays)
            settings.set("SEMCRAWL_CRAWL_DELAY", longest, theirs)
    for name, value in (
        ("DOWNLOAD_DELAY", 0),
        ("CONCURRENT_REQUESTS_PER_DOMAIN", defaults.CONCURRENT_REQUESTS_PER_DOMAIN),
        ("CONCURRENT_REQUESTS_PER_IP", 0),
        ("AUTOTHROTTLE_ENABLED", False),
    ):
        _settle(settings, name, value, "cmdline")


def check_reactor(settings: BaseSettings) -> None:
    """Raise ``UsageError`` unless crawls can run on asyncio's reactor and the named loop."""
    if not settings.getbool("TWISTED_REACTOR_ENABLED"):
        raise UsageError("our spiders need a reactor: leave TWISTED_REACTOR_ENABLED on")
    reactor = str(settings["TWISTED_REACTOR"])
    if "asyncio" not in reactor:
        raise UsageError(f"our spiders need asyncio's reactor: TWISTED_REACTOR is {reactor!r}")
    _check_event_loop(settings["ASYNCIO_EVENT_LOOP"])


def _check_event_loop(name: str | None) -> None:
    """Raise ``UsageError`` unless ``name`` is the class of an event loop."""
    if name is None:
        return
    try:
        found = load_object(name)
    except (ImportError, NameError, ValueError):
        found = None
    if not (isinstance(found, type) and issubclass(found, AbstractEventLoop)):
        raise UsageError(
            "ASYNCIO_EVENT_LOOP must name an event loop class, such as "
            f"asyncio.SelectorEventLoop, not {name!r}"
        )


def _check_spider_middlewares(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for a spider middleware of the project that Scrapy would refuse.

    Older versions of ``scrapy startproject`` wrote such a one.
    """
    for part, place in settings.getdict("SPIDER_MIDDLEWARES").items():
        if place is None:
            continue
        found = load_object(part)
        process = getattr(found, "process_spider_output", None)
        process = getattr(found, "process_spider_output_async", process)
        if process is not None and not isasyncgenfunction(process):
            name = part if isinstance(part, str) else f"{found.__module__}.{found.__qualname__}"
            raise UsageError(
                f"SPIDER_MIDDLEWARES: process_spider_output() of {name} must be an asynchronous "
                "generator: async def …: async for item in result: yield item"
            )


def install_results(settings: BaseSettings) -> None:
    """Install the components that process items, for spiders that are not ours."""
    for name in dir(defaults):
        if name.startswith("SEMCRAWL_"):
            settings.set(name, getattr(defaults, name), _PRIORITY)
    _take_names(settings)
    _install_targets(settings)


def _take_names(settings: BaseSettings) -> None:
    """Take the environment; raise ``UsageError`` for a ``SEMCRAWL_`` name that is no setting."""
    for name in settings:
        check_name(str(name))
    take_environment(settings)


def _install_targets(settings: BaseSettings) -> None:
    pipelines = dict(ITEM_PIPELINES)
    for house in houses():
        pipelines.update(house.pipelines(settings))
    targets: tuple[tuple[str, dict[str, Any]], ...] = (
        ("EXTENSIONS", RESULT_EXTENSIONS),
        ("ITEM_PIPELINES", pipelines),
        ("FEED_EXPORTERS", FEED_EXPORTERS),
        ("FEED_STORAGES", FEED_STORAGES),
    )
    for name, components in targets:
        _add_components(settings, name, components)


#: settings of semcrawl as a Scrapy project
_PROJECT_ONLY = frozenset(
    {
        "BOT_NAME",
        "SPIDER_MODULES",
        "NEWSPIDER_MODULE",
        "COMMANDS_MODULE",
        "USER_AGENT",
        "FEED_EXPORTERS",
        "FEED_STORAGES",
    }
)


def _add_components(settings: BaseSettings, name: str, components: dict[str, Any]) -> None:
    """Add the components that the project does not order itself."""
    current = dict(settings.getdict(name))
    placed = {_path(key) for key in current}
    current.update(
        (path, order)
        for path, order in components.items()
        if path not in placed and _SCRAPYS.get(path) not in placed
    )
    _settle(settings, name, current)


def _settle(settings: BaseSettings, name: str, value: Any, least: str = _PRIORITY) -> None:
    """Give a setting a value with a higher priority than its present one.

    In ``process.crawl(process.create_crawler(…))`` the runner merges its own settings into the
    crawler's, and replaces those of equal priority.
    """
    priority = max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES[least])
    settings.set(name, value, priority + 1)


def _path(component: Any) -> str:
    if isinstance(component, str):
        return component
    return f"{component.__module__}.{component.__qualname__}"
