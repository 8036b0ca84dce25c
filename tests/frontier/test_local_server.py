"""A Redis server that a process runs for itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from semcrawl.errors import FrontierUnavailable
from semcrawl.frontier.redis.localserver import RedisServer, wheel_server
from tests.waiting import until


@pytest.mark.slow
def test_its_data_are_there_again(tmp_path: Path) -> None:
    for number in range(2):
        with (
            RedisServer(tmp_path, wheel_server()) as server,
            Redis(unix_socket_path=str(server.socket)) as client,
        ):
            assert client.get("a") == (b"1" if number else None)
            client.set("a", 1)
        assert not server.socket.exists()


def test_it_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    code = f"""
import os
from pathlib import Path
from redis import Redis
from semcrawl.frontier.redis.localserver import RedisServer
server = RedisServer(Path({str(tmp_path)!r}))
server.start()
print(Redis(unix_socket_path=str(server.socket)).info("server")["process_id"], flush=True)
os.kill(os.getpid(), 9)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    process = Path("/proc") / ended.stdout.strip()
    until(lambda: not process.exists() or "State:\tZ" in (process / "status").read_text())


@pytest.mark.slow
def test_why_it_does_not_start_is_said(tmp_path: Path) -> None:
    (tmp_path / "frontier.aof").write_text("no append-only file\n" * 9)
    (tmp_path / "appendonlydir").write_text("no folder")
    with pytest.raises(FrontierUnavailable, match=r"does not start in .*: \S"):
        RedisServer(tmp_path, wheel_server()).start()
