"""Redis servers, embedded and served, and frontiers on them."""

from __future__ import annotations

import itertools
import random
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError

from semcrawl.frontier import EmbeddedRedis, FrontierOptions, RedisFrontier
from semcrawl.frontier.embedded import find_redis_server

OpenFrontier = Callable[..., Awaitable[RedisFrontier]]


class ServedRedis:
    """A Redis server on a TCP port, as an administrator would run one."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = options
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self, **options: Any) -> Redis:
        return Redis(port=self.port, **options)

    def start(self) -> None:
        ports = [self.port] if self.port else random.sample(range(20000, 32000), 20)
        options = dict(zip(self._options[::2], self._options[1::2], strict=True))
        password = options.get("--requirepass")
        for port in ports:
            command = [find_redis_server(), "--port", str(port), "--bind", "127.0.0.1"]
            command += ["--save", "", "--appendonly", "yes", "--appendfsync", "no"]
            command += ["--dir", str(self._folder), *self._options]
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            # a port that is in use ends the server, and the next one is tried
            while self.process.poll() is None:
                try:
                    with Redis(port=port, password=password) as client:
                        pid = client.info("server")["process_id"]
                except (ConnectionError, OSError):
                    time.sleep(0.005)
                    continue
                if pid == self.process.pid:
                    self.port = port
                    return
                break
            self.stop()
        raise RuntimeError("no Redis server could be started")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedRedis]:
    with EmbeddedRedis(tmp_path_factory.mktemp("embedded")) as redis:
        yield redis


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedRedis]:
    redis = ServedRedis(tmp_path_factory.mktemp("served"))
    yield redis
    redis.stop()


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


@pytest.fixture(params=["embedded", "served"])
def address(request: pytest.FixtureRequest, embedded: EmbeddedRedis, served: ServedRedis) -> str:
    return str(embedded.socket) if request.param == "embedded" else served.url


_numbers = itertools.count()


@pytest.fixture
def prefix() -> str:
    return f"crawl{next(_numbers)}"


@pytest.fixture
async def open_frontier(address: str, prefix: str) -> AsyncIterator[OpenFrontier]:
    """Open a frontier of a worker; all those of a test are of one crawl unless told otherwise."""
    stack = AsyncExitStack()

    async def opened(worker: str = "w1", *, prefix: str = prefix, **options: Any) -> RedisFrontier:
        merged = FrontierOptions(**({"delay": 0.0, "concurrency": 1000} | options))
        frontier = RedisFrontier(address, prefix=prefix, worker_id=worker, options=merged)
        return await stack.enter_async_context(frontier)

    async with stack:
        yield opened
