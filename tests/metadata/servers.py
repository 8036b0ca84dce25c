"""Real database servers, each in a subprocess on a free port."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError


class DatabaseServer:
    """A server that can be killed and started again on the same data and port."""

    account: str

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="semcrawl-db-"))
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        if os.geteuid() == 0:
            shutil.chown(self.folder, self.account, None)

    def run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True, **self.identity())

    def identity(self) -> dict:
        return {"user": self.account, "cwd": self.folder} if os.geteuid() == 0 else {}

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.command(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self.identity(),
        )
        engine = create_engine(self.url)
        deadline = time.monotonic() + 60
        while True:
            try:
                engine.connect().close()
            except SQLAlchemyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                engine.dispose()
                return

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self) -> list[str]:
        raise NotImplementedError

    @property
    def url(self) -> str:
        raise NotImplementedError


class PostgreSQL(DatabaseServer):
    account = "postgres"
    binaries = max(glob.glob("/usr/lib/postgresql/*/bin"), default="")

    def __init__(self) -> None:
        super().__init__()
        self.run(
            f"{self.binaries}/initdb", "-D", f"{self.folder}/data", "-U", "postgres",
            "-A", "trust", "-E", "UTF8", "--no-sync",
        )  # fmt: skip

    def command(self) -> list[str]:
        return [
            f"{self.binaries}/postgres", "-D", f"{self.folder}/data", "-p", str(self.port),
            "-h", "127.0.0.1", "-k", str(self.folder),
        ]  # fmt: skip

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/postgres"


class MariaDB(DatabaseServer):
    account = "mysql"
    binary = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")

    def __init__(self) -> None:
        super().__init__()
        self.run(
            "mariadb-install-db", "--no-defaults", f"--datadir={self.folder}/data",
            "--auth-root-authentication-method=normal", "--skip-test-db",
        )  # fmt: skip

    def command(self) -> list[str]:
        assert self.binary
        return [
            self.binary, "--no-defaults", f"--datadir={self.folder}/data", f"--port={self.port}",
            "--bind-address=127.0.0.1", f"--socket={self.folder}/s", "--skip-name-resolve",
        ]  # fmt: skip

    @property
    def url(self) -> str:
        return f"mysql+pymysql://root@127.0.0.1:{self.port}/mysql?charset=utf8mb4"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
