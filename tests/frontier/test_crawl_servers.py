"""The servers of a crawl, as they are asked before it is opened."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

import pytest
from redis import Redis
from redis.exceptions import BusyLoadingError, ConnectionError
from scrapy.settings import Settings
from served_redis import ServedRedis

from semcrawl.frontier.redis.crawl import CrawlServers

pytestmark = pytest.mark.server


def test_a_server_that_reads_its_data_is_waited_for(
    start_served: Callable[..., ServedRedis],
) -> None:
    slowly = ("--key-load-delay", "300", "--loading-process-events-interval-bytes", "1024")
    served = start_served("--appendonly", "no", *slowly)
    with served.client() as client, client.pipeline() as pipe:
        for number in range(2000):
            pipe.set(f"key{number}", "value")
        pipe.execute()
        client.save()
    served.kill()
    starting = Thread(target=served.start)
    starting.start()
    try:
        with served.client(retry=None) as client:
            while not is_loading(client):
                assert starting.is_alive()
        CrawlServers.of(Settings({"REDIS_URL": served.url})).check()
    finally:
        starting.join()


def is_loading(client: Redis) -> bool:
    """Whether a server is there, and reads its data."""
    try:
        client.ping()
    except BusyLoadingError:
        return True
    except ConnectionError:
        pass
    return False
