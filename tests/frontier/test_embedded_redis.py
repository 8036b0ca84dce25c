"""The embedded server: there when it is needed, gone when we are, losing nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from redis import Redis

from semcrawl.errors import FrontierUnavailable
from semcrawl.frontier import Counts, EmbeddedRedis, Entry, FrontierOptions, RedisFrontier
from semcrawl.frontier.local.supervisor import ServerSupervisor
from semcrawl.frontier.workers import is_gone, short_name, worker_name
from tests.waiting import until


def client(redis: EmbeddedRedis) -> Redis:
    return Redis(unix_socket_path=str(redis.socket))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_for_end(pid: int) -> None:
    until(lambda: not alive(pid), 20)


def test_data_survive_a_stop(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "job") as redis:
        client(redis).set("k", "v")
        pid = redis.pid
        assert redis.started
        assert pid is not None
    assert not alive(pid)
    with EmbeddedRedis(tmp_path / "job") as redis:
        assert client(redis).get("k") == b"v"


def test_a_killed_server_is_started_again_and_has_lost_nothing(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path) as redis:
        connection = client(redis)
        for n in range(1000):
            connection.rpush("list", n)
        pid = redis.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        until(lambda: redis.pid != pid and _answers(redis), 20)
        assert client(redis).llen("list") == 1000


def _answers(redis: EmbeddedRedis) -> bool:
    try:
        return bool(client(redis).ping())
    except Exception:
        return False


@pytest.mark.slow
def test_a_server_that_crashes_again_and_again_is_left_alone_until_it_is_asked_for(
    tmp_path: Path,
) -> None:
    with EmbeddedRedis(tmp_path) as redis:
        client(redis).set("k", "v")
        pids = set()
        for _ in range(4):
            until(lambda: redis.pid not in pids and _answers(redis), 20)
            assert redis.pid is not None
            pids.add(redis.pid)
            os.kill(redis.pid, signal.SIGKILL)
        assert redis._keeper is not None
        until(lambda: redis._keeper.given_up, 20)
        assert not _answers(redis)
        redis.ensure()
        assert redis.pid not in pids
        assert client(redis).get("k") == b"v"


def test_a_server_that_hangs_is_ended_by_force(tmp_path: Path) -> None:
    redis = EmbeddedRedis(tmp_path, timeout=2.0)
    redis.start()
    pid = redis.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    redis.stop()
    assert not alive(pid)


def test_an_interrupt_for_the_crawler_does_not_reach_the_server(tmp_path: Path) -> None:
    """A terminal sends it to the whole group of processes; the crawl still needs the server."""
    with EmbeddedRedis(tmp_path) as redis:
        assert redis.pid is not None
        assert os.getpgid(redis.pid) != os.getpgid(0)


def test_what_keeps_a_server_from_being_started_is_said(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("a") as lock:
        command = [str(tmp_path / "redis-server")]
        keeper = ServerSupervisor(command, tmp_path / "socket", tmp_path / "log", lock)
        keeper.start()
        with pytest.raises(FileNotFoundError, match="redis-server"):
            keeper.await_server(time.monotonic() + 20)


async def test_a_frontier_goes_on_over_a_killed_server(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path) as redis:
        frontier = RedisFrontier(
            redis.socket, prefix="c", worker_id="w", options=FrontierOptions(delay=0),
            revive=redis.ensure,
        )  # fmt: skip
        async with frontier:
            for n in range(50):
                assert await frontier.add([Entry(f"http://h/{n}", "h", "html", "g")]) == [True]
                if n % 20 == 10:
                    assert redis.pid is not None
                    os.kill(redis.pid, signal.SIGKILL)
            assert (await frontier.counts(["html"], [])).waiting == 50


def test_no_port_is_opened(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path) as redis:
        assert client(redis).config_get("port") == {"port": "0"}
        assert redis.socket.parent == tmp_path
        assert redis.socket.stat().st_mode & 0o077 == 0


def test_folders_with_long_paths(tmp_path: Path) -> None:
    """A Unix socket's path may have about 100 bytes only."""
    folder = tmp_path / ("x" * 120) / "ü"
    with EmbeddedRedis(folder) as redis, EmbeddedRedis(folder) as joined:
        assert len(os.fsencode(redis.socket)) < 104
        assert not joined.started
        client(redis).set("k", "v")
        assert client(joined).get("k") == b"v"


SCRIPT = """
import sys, time
from semcrawl.frontier import EmbeddedRedis
redis = EmbeddedRedis(sys.argv[1])
redis.start()
print(redis.started, redis.pid, flush=True)
sys.stdin.readline()
"""


def run_other(folder: Path) -> tuple[subprocess.Popen[str], list[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()


def end(process: subprocess.Popen[str]) -> None:
    process.communicate()


def test_a_second_process_joins_and_takes_over(tmp_path: Path) -> None:
    other, (started, pid) = run_other(tmp_path)
    assert started == "True"
    with EmbeddedRedis(tmp_path) as redis:
        assert not redis.started
        client(redis).set("k", "v")
        redis.ensure()
        assert not redis.started
        other.kill()
        end(other)
        wait_for_end(int(pid))
        redis.ensure()
        assert redis.started
        assert client(redis).get("k") == b"v"


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends the server on Linux only")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_the_server_ends_with_the_process_that_started_it(
    tmp_path: Path, how: signal.Signals | None
) -> None:
    """Killed, terminated, or at its end without a stop."""
    other, (_, pid) = run_other(tmp_path)
    if how is not None:
        other.send_signal(how)
    end(other)
    wait_for_end(int(pid))


def test_a_folder_in_use_by_a_server_that_hangs(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path) as redis:
        assert redis.pid is not None
        os.kill(redis.pid, signal.SIGSTOP)
        try:
            with pytest.raises(FrontierUnavailable, match="in use by a Redis server"):
                EmbeddedRedis(tmp_path, timeout=0.05).start()
        finally:
            os.kill(redis.pid, signal.SIGCONT)


def test_what_a_dead_server_left_is_no_hindrance(tmp_path: Path) -> None:
    """A socket nobody listens on, and a last write cut short."""
    with EmbeddedRedis(tmp_path) as redis:
        client(redis).set("k", "v")
    with (tmp_path / "frontier.aof").open("ab") as file:
        file.write(b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$5\r\nab")
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "redis.sock"))
    with EmbeddedRedis(tmp_path) as redis:
        assert client(redis).get("k") == b"v"
        assert client(redis).get("x") is None


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FrontierUnavailable, match=r"no Redis server can be started in .*file"):
        EmbeddedRedis(tmp_path / "file").start()


def test_data_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    (tmp_path / "frontier.aof").write_bytes(b"no append-only file\r\n" * 10)
    with pytest.raises(FrontierUnavailable, match=r"does not start: .*Bad file format"):
        EmbeddedRedis(tmp_path, timeout=10).start()


def test_a_worker_is_shown_by_its_machine_and_process() -> None:
    machine, pid, _ = worker_name().split("/")
    assert short_name(worker_name()) == f"{machine[:8]}/{pid}" == f"{machine[:8]}/{os.getpid()}"
    assert short_name("bench") == "bench"


def test_a_worker_is_gone_when_its_process_has_ended() -> None:
    assert not is_gone(worker_name())
    code = "from semcrawl.frontier import worker_name; print(worker_name())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert is_gone(ended.stdout.strip())
    assert not is_gone(ended.stdout.strip().replace("/", "x/", 1))
    assert not is_gone("w1")


def test_leases_of_a_killed_process_go_back_when_the_next_one_opens(tmp_path: Path) -> None:
    code = f"""
import asyncio, os
from semcrawl.frontier import *
async def main():
    redis = EmbeddedRedis({str(tmp_path)!r})
    redis.start()
    frontier = RedisFrontier(redis.socket, prefix="c", worker_id=worker_name())
    await frontier.open()
    await frontier.add([Entry("http://h/1", "h", "html", "g")])
    print(len(await frontier.take(1, ["html"])), flush=True)
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.stdout == "1\n"
    with EmbeddedRedis(tmp_path) as redis:
        options = FrontierOptions(delay=0)
        frontier = RedisFrontier(
            redis.socket, prefix="c", worker_id=worker_name(), options=options, revive=redis.ensure
        )

        async def look() -> Counts:
            async with frontier:
                return await frontier.counts(["html"], [])

        counts = asyncio.run(look())
        assert (counts.waiting, counts.leased) == (1, 0)
