"""A Redis server on a TCP port."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import ConnectionError

from semcrawl.frontier.redis.localserver import find_server


class ServedRedis:
    """A Redis server on a TCP port, as an administrator would run one."""

    def __init__(self, folder: Path, *options: str, binary: str = "") -> None:
        self._binary = binary or find_server() or "redis-server"
        self.folder = folder
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
            command = [self._binary, "--port", str(port), "--bind", "127.0.0.1"]
            command += ["--save", "", "--appendonly", "yes", "--appendfsync", "no"]
            command += ["--dir", str(self.folder), *self._options]
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
