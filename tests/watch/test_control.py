"""``semcrawl control`` on two workers: the server's log shows each order within five seconds.

Each test has one kind of frontier; with the other it is a study. What any kind keeps of orders is
shown in ``frontier/conformance/test_orders.py``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from harvest.runs import harvest, semcrawl, start_harvest
from spiders.site import handler, page
from waiting import until

from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream

pytestmark = pytest.mark.slow

A, B, C = (f"{name}.example" for name in "abc")
NAMES = [f"/{n}.ttl" for n in range(400)]
SITE = {"/": page(*NAMES)} | dict.fromkeys(NAMES, ("text/turtle", b"<> a <urn:x> ."))
PACE = ("-s", "SEMCRAWL_CRAWL_DELAY=0.2", "-s", "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES=1")
#: seconds until all workers obey
OBEYED = 5.0


@dataclass
class Log:
    """What the server was asked for: when, and on which host."""

    asked: list[tuple[float, str]] = field(default_factory=list)
    #: seconds until it answers
    wait: float = 0.0

    def site(self, name: str) -> object:
        answer = handler(SITE)

        async def note(request: Request, out: Stream) -> None:
            self.asked.append((time.monotonic(), name))
            await asyncio.sleep(self.wait)
            await answer(request, out)

        return note

    def after(self, when: float, *hosts: str) -> int:
        return sum(at > when and host in hosts for at, host in list(self.asked))


@pytest.fixture
def redis(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, ...]]:
    """Options that name the frontier."""
    if request.param == "file":
        yield ()
        return
    with RedisServer(tmp_path / "redis") as server:
        yield ("-s", f"REDIS_URL=unix://{server.socket}")


def worker_of(command: int) -> int:
    found = subprocess.run(
        ["pgrep", "-P", str(command)], capture_output=True, text=True, check=True
    )
    return int(found.stdout.split()[-1])


@pytest.mark.parametrize(
    "redis", ["file", pytest.param("redis", marks=pytest.mark.study)], indirect=True
)
def test_orders_are_obeyed_by_all_workers_and_nothing_is_lost(
    redis: tuple[str, ...], tmp_path: Path
) -> None:
    out, log = tmp_path / "out", Log()

    def order(*words: str) -> float:
        run = semcrawl("control", *redis, str(out), *words, folder=out)
        assert run.status == 0, run.err
        return time.monotonic() + OBEYED

    sites = {name: log.site(name) for name in (A, B, C)}
    with serve(DemoWeb(), handlers=sites) as server:  # type: ignore[arg-type]
        run = start_harvest(
            *(f"http://{name}/" for name in (A, B)), *PACE, *redis, "--workers", "2",
            folder=out, proxy=server.proxy_url,
        )  # fmt: skip
        until(lambda: log.after(0, A) > 5 and log.after(0, B) > 5)
        obeyed = order("pause", A)
        until(lambda: log.after(obeyed, B) > 10)
        assert not log.after(obeyed, A)
        obeyed = order("resume", A)
        until(lambda: log.after(0, A) and time.monotonic() > obeyed)
        assert log.after(obeyed - OBEYED, A)
        obeyed = order("pause")
        until(lambda: time.monotonic() > obeyed)
        os.kill(worker_of(run.process.pid), signal.SIGKILL)  # the next one pauses as well
        until(lambda: time.monotonic() > obeyed + 8)
        assert not log.after(obeyed, A, B)
        before = time.monotonic()
        order("resume")
        until(lambda: log.after(before, A) and log.after(before, B))
        obeyed = order("block", B)
        until(lambda: log.after(obeyed, A) > 10)
        assert not log.after(obeyed, B)
        obeyed = order("seed", f"http://{C}/1.ttl")
        until(lambda: log.after(0, C))
        obeyed = order("delay", A, "3")
        until(lambda: log.after(obeyed, A) > 2)
        times = [at for at, host in log.asked if host == A and at > obeyed]
        assert min(later - at for at, later in pairwise(times)) > 2.5
        order("stop")
        ended = run.wait()
        assert ended.status == 0, ended.err
        assert "an order by command: stop" in (out / "crawl.log").read_text()
        order("unblock", B)
        order("delay", A, "0.05")
        run = harvest("--fast", *redis, folder=out, proxy=server.proxy_url)
    assert run.status == 0, run.err
    wanted = {f"http://{host}{name}" for host in (A, B) for name in NAMES}
    assert wanted <= set(run.documents())


@pytest.mark.parametrize(
    "redis", ["redis", pytest.param("file", marks=pytest.mark.study)], indirect=True
)
def test_a_deferred_host_waits_for_the_others(redis: tuple[str, ...], tmp_path: Path) -> None:
    """Each worker sends one request at a time, so that there is an order."""
    out, log = tmp_path / "out", Log(wait=0.05)

    def order(*words: str) -> float:
        run = semcrawl("control", *redis, str(out), *words, folder=out)
        assert run.status == 0, run.err
        return time.monotonic() + OBEYED / 5

    sites = {name: log.site(name) for name in (A, B)}
    with serve(DemoWeb(), handlers=sites) as server:  # type: ignore[arg-type]
        run = start_harvest(
            *(f"http://{name}/" for name in (A, B)), *PACE[2:], "--fast", *redis, "--workers", "2",
            "-s", "CONCURRENT_REQUESTS=1", "-s", "SEMCRAWL_CONCURRENCY_PER_HOST=4",
            folder=out, proxy=server.proxy_url,
        )  # fmt: skip
        until(lambda: log.after(0, A) > 5 and log.after(0, B) > 5)
        obeyed = order("defer", A)
        until(lambda: log.after(obeyed, B) > 20)
        assert not log.after(obeyed, A)
        obeyed = order("prefer", A)
        until(lambda: log.after(obeyed, A) > 20)
        assert not log.after(obeyed, B)
        order("unrank", A)
        log.wait = 0.0
        ended = run.wait()
    assert ended.status == 0, ended.err
    wanted = {f"http://{host}{name}" for host in (A, B) for name in NAMES}
    assert wanted <= set(ended.documents())
