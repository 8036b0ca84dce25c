"""Redis servers, on a socket and on a port, and frontiers on them and in files."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import pytest
from answered_crawl import Crawl
from backends import (
    BACKENDS,
    INSTALLED,
    PARTLY,
    REPEATING,
    Backend,
    ShardedBackend,
    backend_at,
)
from frontier_calls import OpenFrontier
from served_cluster import ServedCluster
from served_redis import ServedRedis

from semcrawl.frontier import FrontierOptions
from semcrawl.frontier.contract import QUEUES, Frontier
from semcrawl.frontier.redis.localserver import RedisServer, wheel_server


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    # the oldest version that there is: the other server is the installed one
    with RedisServer(tmp_path_factory.mktemp("redis"), wheel_server()) as redis:
        yield redis


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedRedis]:
    redis = ServedRedis(tmp_path_factory.mktemp("served"))
    yield redis
    redis.stop()


@pytest.fixture(scope="session")
def three_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Addresses of three servers, with commas between them."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(RedisServer(tmp_path_factory.mktemp("shard"))) for _ in range(3)
        ]
        yield ",".join(str(server.socket) for server in servers)


@pytest.fixture
def servers(three_servers: str) -> list[str]:
    """URLs of the three servers."""
    return [f"unix://{address}" for address in three_servers.split(",")]


@pytest.fixture
def start_served(tmp_path: Path) -> Iterator[Callable[..., ServedRedis]]:
    """Start a server of the test's own, with options."""
    servers: list[ServedRedis] = []

    def start(*options: str) -> ServedRedis:
        folder = tmp_path / f"served-{len(servers)}"
        folder.mkdir()
        servers.append(ServedRedis(folder, *options))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedRedis]:
    if (binary := shutil.which("valkey-server")) is None:
        pytest.skip("valkey-server is not installed")
    served = ServedRedis(tmp_path_factory.mktemp("valkey"), binary=binary)
    yield served
    served.stop()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedCluster]:
    """A cluster of three primaries with a replica each, which no test changes."""
    served = ServedCluster(tmp_path_factory.mktemp("cluster"))
    yield served
    served.stop()


def _marks(name: str) -> Sequence[pytest.MarkDecorator]:
    if name in INSTALLED:
        return [pytest.mark.server]
    return [pytest.mark.slow] if name in REPEATING else []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make studies of the tests that show nothing new with a backend."""
    for item in items:
        parameters = getattr(item, "callspec", None)
        name = parameters.params.get("backend") if parameters else None
        if name in PARTLY and not item.path.stem.endswith(PARTLY[name]):
            item.add_marker(pytest.mark.study)


@pytest.fixture(params=[pytest.param(name, marks=_marks(name)) for name in BACKENDS])
def backend(request: pytest.FixtureRequest) -> Backend:
    """A store for frontiers; see ``backends.py``."""
    if request.param == "redis":
        redis_server: RedisServer = request.getfixturevalue("redis_server")
        return backend_at(str(redis_server.socket))
    if request.param == "sqlite":
        folder: Path = request.getfixturevalue("tmp_path_factory").mktemp("sqlite")
        return backend_at(f"sqlite:{folder}")
    if request.param == "shards":
        return backend_at(request.getfixturevalue("three_servers"))
    if request.param == "shards-in-order":
        servers: str = request.getfixturevalue("three_servers")
        return ShardedBackend(tuple(servers.split(",")), in_order=True)
    if request.param == "cluster":
        return backend_at(request.getfixturevalue("cluster").url)
    if request.param == "valkey":
        return backend_at(request.getfixturevalue("valkey").url)
    served: ServedRedis = request.getfixturevalue("served")
    return backend_at(served.url)


@pytest.fixture(params=["redis", "sqlite"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of a backend for sessions, of each engine; see ``backend_at``."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path}"
    redis: RedisServer = request.getfixturevalue("redis_server")
    return str(redis.socket)


_numbers = itertools.count()


@pytest.fixture
def prefix() -> str:
    return f"crawl{next(_numbers)}"


@pytest.fixture
async def open_frontier(backend: Backend, prefix: str) -> AsyncIterator[OpenFrontier]:
    """Open a frontier of a worker; all those of a test are of one crawl unless told otherwise."""
    stack = AsyncExitStack()

    async def opened(worker: str = "w1", *, prefix: str = prefix, **options: Any) -> Frontier:
        usual = {"delay": 0.0, "concurrency": 1000}
        merged = FrontierOptions(**(usual | options))
        return await stack.enter_async_context(backend.frontier(prefix, worker, merged))

    async with stack:
        yield opened


@pytest.fixture
async def crawl(address: str, prefix: str, request: pytest.FixtureRequest) -> AsyncIterator[Crawl]:
    """A crawl whose links the test answers, with the options that its ``param`` names."""
    crawl = Crawl(address, f"session-{prefix}", **getattr(request, "param", {}))
    yield crawl
    for queue in QUEUES:
        await crawl.session.detach(queue)
