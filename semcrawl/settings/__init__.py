"""The settings module of semcrawl as a Scrapy project.

Our own settings begin with ``SEMCRAWL_``; :mod:`semcrawl.settings.table` declares them.
"""

import os
from typing import Any

from semcrawl.settings import table as _table
from semcrawl.settings.feedformats import FEED_EXPORTERS as FEED_EXPORTERS
from semcrawl.settings.feedformats import FEED_STORAGES as FEED_STORAGES

# --- our own settings

globals().update((name, row.default) for name, row in _table.TABLE.items())
REDIS_URL = os.environ.get("REDIS_URL", "")

# --- Scrapy's own settings, with our defaults

BOT_NAME = "semcrawl"
SPIDER_MODULES = ["semcrawl.spiders"]
NEWSPIDER_MODULE = "semcrawl.spiders"
COMMANDS_MODULE = "semcrawl.commands"

USER_AGENT = "semcrawl/0.1 (+https://github.com/semcrawl/semcrawl)"
ROBOTSTXT_OBEY = True
LOG_LEVEL = "INFO"
LOG_FORMATTER = "semcrawl.logformat.SparingLogFormatter"
STATS_CLASS = "semcrawl.crawl.downloadhandler.StatsCollector"
CONCURRENT_REQUESTS = 16
CONCURRENT_ITEMS = 2
DOWNLOAD_TIMEOUT = 60
DOWNLOAD_MAXSIZE = 100 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
# Scrapy's 5 MB would stop all requests while one large document is read. The slots bound the bodies
# in memory: a link holds its slot until its body is read.
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 1 << 30
RETRY_GIVE_UP_LOG_LEVEL = "INFO"  # it is in the records
DOWNLOAD_HANDLERS = {
    "http": "semcrawl.crawl.downloadhandler.AiohttpDownloadHandler",
    "https": "semcrawl.crawl.downloadhandler.AiohttpDownloadHandler",
}
# The handlers refuse private addresses; to spiders that are not ours, this middleware says so.
DOWNLOADER_MIDDLEWARES = {"semcrawl.middlewares.addresses.PrivateAddressMiddleware": 50}
# The frontier enforces the crawl delay of every host for all workers; the downloader adds none.
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 1000
# <meta http-equiv="refresh"> counts as a link.
METAREFRESH_ENABLED = False
COOKIES_ENABLED = False
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False  # it runs code that any program of the user sends
REQUEST_FINGERPRINTER_CACHE_SIZE = 0

__all__ = [*(name for name in globals() if name.isupper()), "feedformats"]


def __getattr__(name: str) -> Any:
    """Tell type checkers that the settings of the table are names here."""
    raise AttributeError(f"there is no setting {name}")
