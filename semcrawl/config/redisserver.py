"""Finds the crawl's Redis by the settings of scrapy-redis, whose users know them.

scrapy-redis itself reads ``REDIS_URL``, ``REDIS_HOST``, ``REDIS_PORT``, ``REDIS_DB`` and
``REDIS_PARAMS`` (:func:`scrapy_redis.connection.get_redis_from_settings`). Its clients are
synchronous, while the frontier must not block the event loop: what it found becomes one URL, from
which each part of the frontier makes a client of its own.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from redis import Redis
from redis.asyncio.connection import URL_QUERY_ARGUMENT_PARSERS
from redis.connection import SSLConnection, UnixDomainSocketConnection
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy_redis import connection

from semcrawl.config.checks import REDIS_NAMES, is_on_redis
from semcrawl.errors import UsageError

#: parameters that are in another part of the URL
_PLACE = frozenset(
    {"host", "port", "db", "username", "password", "path", "unix_socket_path", "url"}
)
#: other parameters of redis-py that a URL can hold
_OPTIONS = frozenset(URL_QUERY_ARGUMENT_PARSERS) - _PLACE | {
    *("client_name", "ssl_keyfile", "ssl_certfile", "ssl_ca_certs", "ssl_ca_path", "ssl_ca_data"),
    *("ssl_cert_reqs", "ssl_password"),
}
#: those that the frontier decides itself: it waits and repeats calls by its own rules
_OURS = frozenset({"retry_on_timeout", "retry_on_error", "max_connections", "timeout"})


def adopt_redis(settings: BaseSettings) -> None:
    """Set ``REDIS_URL`` as the settings of scrapy-redis say, if they name a server.

    Raises ``UsageError`` for wrong ones.
    """
    if settings.get("REDIS_URL") and not settings.getdict("REDIS_PARAMS"):
        return
    if url := _url(settings):
        priority = max(settings.getpriority(n) or 0 for n in ("SCHEDULER", *REDIS_NAMES))
        settings.set("REDIS_URL", url, max(priority, SETTINGS_PRIORITIES["addon"]))


def _url(settings: BaseSettings) -> str:
    """Return the address of the server that scrapy-redis would use; empty if none is named."""
    if not is_on_redis(settings):
        return ""
    params = settings.getdict("REDIS_PARAMS")
    several = str(settings.get("REDIS_URL") or "")
    if "," in several or "+cluster" in several:
        return several  # scrapy-redis knows neither
    plain = BaseSettings({name: settings.get(name) for name in REDIS_NAMES})
    plain["REDIS_PARAMS"] = {k: v for k, v in params.items() if k != "redis_cls"}
    try:
        client: Redis = connection.get_redis_from_settings(plain)
    except (TypeError, ValueError) as error:
        raise UsageError(f"REDIS_PARAMS or REDIS_URL is wrong: {error}") from None
    pool = client.connection_pool
    found: dict[str, Any] = pool.connection_kwargs
    options = {
        name: str(value)
        for name, value in params.items()
        if name in _OPTIONS - _OURS and isinstance(value, str | int | float)
    }
    user = quote(str(found.get("username") or ""), safe="")
    if password := found.get("password"):
        user += ":" + quote(str(password), safe="")
    user += "@" if user else ""
    if issubclass(pool.connection_class, UnixDomainSocketConnection):
        options.setdefault("db", str(found.get("db") or 0))
        return f"unix://{user}{quote(str(found['path']))}?{urlencode(options)}"
    if several:
        options = dict(_query(several)) | options
    scheme = "rediss" if issubclass(pool.connection_class, SSLConnection) else "redis"
    host, port = str(found.get("host") or "localhost"), found.get("port") or 6379
    netloc = f"{user}[{host}]:{port}" if ":" in host else f"{user}{host}:{port}"
    return urlunsplit((scheme, netloc, f"/{found.get('db') or 0}", urlencode(options), ""))


def _query(url: str) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(url).query)


def make_client(url: str, **params: Any) -> Redis:
    """Return scrapy-redis's synchronous client of a server, for checks before a crawl."""
    client: Redis = connection.get_redis(url=url, **params)
    return client
