"""The servers of the Kubernetes example, run as its scripts say, each at an address of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from deployment.documents import resource
from semcrawl.frontier.redis.localserver import find_server
from tests.waiting import until

PASSWORD = "a-test"
NODES = 9


class Cluster:
    """Nine servers, each with an address of its own, as pods have."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scripts = resource("ConfigMap", "redis")["data"]
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.net = 1 + os.getpid() % 100
        tools = folder / "bin"
        tools.mkdir()
        # what the scripts call, by the names and addresses of now
        for name, text in {
            "getent": "import os, sys\nn = sys.argv[2].split('.')[0].split('-')[1]\n"
            "print(f\"{os.environ['NET']}.{int(n) + 1}  {sys.argv[2]}\")\n",
            "redis-cli": "import os, sys\na = sys.argv[1:]\n"
            "if '--cluster' not in a:\n"
            "    host = os.environ.get('POD_IP', '')\n"
            "    if '-h' in a:\n"
            "        n = a.pop(a.index('-h') + 1).split('.')[0].split('-')[1]\n"
            "        a.remove('-h')\n"
            "        host = f\"{os.environ['NET']}.{int(n) + 1}\"\n"
            "    a = ['-h', host, *a]\n"
            f"os.execv({shutil.which('redis-cli')!r}, ['redis-cli', *a])\n",
        }.items():
            path = tools / name
            path.write_text(f"#!{sys.executable}\n{text}")
            path.chmod(0o755)

    @property
    def prefix(self) -> str:
        return f"127.{self.net}.7"

    def address(self, node: int) -> str:
        return f"{self.prefix}.{node + 1}"

    def environment(self, node: int | None) -> dict[str, str]:
        tools = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        given = {**os.environ, "PATH": tools, "NET": self.prefix, "REDISCLI_AUTH": PASSWORD}
        return given if node is None else {**given, "POD_IP": self.address(node)}

    def script(self, name: str, node: int | None = None) -> None:
        subprocess.run(
            ["sh", "-ec", self.scripts[name]], env=self.environment(node), check=True,
            stdout=subprocess.DEVNULL, timeout=120,
        )  # fmt: skip

    def start(self, node: int) -> None:
        """Start a server by the example's script, on its data."""
        home = self.folder / str(node)
        home.mkdir(exist_ok=True)
        settings = self.scripts["redis.conf"].replace("/data", str(home))
        (home / "redis.conf").write_text(f"{settings}\nbind {self.address(node)}\n")
        script = self.scripts["start.sh"].replace("/etc/redis/redis.conf", f"{home}/redis.conf")
        script = script.replace("redis-server", find_server() or "redis-server")
        self.processes[node] = subprocess.Popen(
            ["sh", "-ec", script], env=self.environment(node), stdout=subprocess.DEVNULL
        )

    def make(self) -> None:
        """Start all servers, and make the cluster."""
        for node in range(NODES):
            self.start(node)
        self.script("create.sh")
        until(lambda: self.is_whole() and self.has_replicas())

    def end(self) -> None:
        """End all servers."""
        for node in list(self.processes):
            self.kill(node)

    def kill(self, node: int) -> None:
        process = self.processes.pop(node)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def client(self, node: int) -> Redis:
        return Redis(host=self.address(node), password=PASSWORD, socket_timeout=5)

    def asks(self, node: int, *command: str) -> object:
        with suppress(RedisError), self.client(node) as client:
            return client.execute_command(*command)
        return None

    def is_whole(self) -> bool:
        """Whether every server that runs says so."""
        info = [str(self.asks(node, "CLUSTER", "INFO")) for node in self.processes]
        return all("cluster_state:ok" in text for text in info)

    def has_replicas(self) -> bool:
        """Whether every primary has as many replicas as it needs to be written to."""
        found = [self.asks(node, "INFO", "replication") for node in self.processes]
        return all(
            isinstance(info, dict)
            and (info["role"] == "slave" or info.get("min_slaves_good_slaves", 1) > 0)
            for info in found
        )

    def write(self, key: str, value: str) -> bool:
        """Write by whichever primary takes it."""
        return any(self.asks(node, "SET", key, value) for node in list(self.processes))

    def read(self, key: str) -> list[object]:
        return [value for node in self.processes if (value := self.asks(node, "GET", key))]
