"""Real triple stores, each in a subprocess on a free port."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sysconfig
import threading
import time
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
from requests.auth import HTTPDigestAuth


class Server:
    """A store that can be killed and started again on the same data and port."""

    gsp: str
    update: str
    query: str
    user = ""
    password = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start, and return when it answers."""
        is_first = not self.port
        for _ in range(5):  # somebody may have taken the port in between
            self.port = self.port or free_port()
            self.process = self.launch()
            if self.wait():
                return
            self.kill()
            if is_first:
                self.port = 0
        raise RuntimeError("the server does not start")

    def launch(self) -> subprocess.Popen[bytes]:
        raise NotImplementedError

    def wait(self) -> bool:
        """Ask until it answers; says whether it does."""
        assert self.process
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.ask_once("SELECT * { ?s a <http://example.org/Nothing> }")
            except (requests.RequestException, ValueError):
                time.sleep(0.05)
            else:
                return True
        return False

    def kill(self) -> None:
        """Stop it as a power cut would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def comes_back(self) -> bool:
        """Say whether it died by itself since the last call, and is there again."""
        return False

    def ask(self, query: str) -> Any:
        try:
            return self.ask_once(query)
        except requests.ConnectionError:
            if not self.comes_back():
                raise
            return self.ask_once(query)

    def ask_once(self, query: str) -> Any:
        answer = requests.post(
            self.query,
            data=query.encode(),
            headers={
                "Content-Type": "application/sparql-query",
                "Accept": "application/sparql-results+json",
            },
            timeout=60,
        )
        answer.raise_for_status()
        return answer.json()

    def counts(self) -> dict[str, int]:
        """Statements by graph."""
        found = self.ask("SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g")
        return {
            row["g"]["value"]: int(row["n"]["value"])
            for row in found["results"]["bindings"]
            if not self.is_system(row["g"]["value"])
        }

    def write(self, update: str) -> None:
        """Write what a user writes by hand."""
        auth = HTTPDigestAuth(self.user, self.password) if self.user else None
        kind = {"Content-Type": "application/sparql-update"}
        answer = requests.post(self.update, update.encode(), headers=kind, auth=auth, timeout=60)
        answer.raise_for_status()

    def is_system(self, graph: str) -> bool:
        return False


class Oxigraph(Server):
    binary = Path(sysconfig.get_path("scripts"), "oxigraph")

    def launch(self) -> subprocess.Popen[bytes]:
        base = f"http://127.0.0.1:{self.port}"
        self.gsp, self.update, self.query = f"{base}/store", f"{base}/update", f"{base}/query"
        return subprocess.Popen(
            [self.binary, "serve", "--location", self.folder, "--bind", f"127.0.0.1:{self.port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


class Virtuoso(Server):
    """Kept up as a service manager would: Debian's 7.2.5 crashes now and then."""

    binary = shutil.which("virtuoso-t")
    debian_ini = Path("/etc/virtuoso-opensource-7/virtuoso.ini")
    debian_data = "/var/lib/virtuoso-opensource-7/"
    user = password = "dba"
    sql_port = 0
    is_killed = False
    crashes = crashes_seen = 0

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.lock = threading.RLock()

    def start(self) -> None:
        with self.lock:
            if self.process is not None and self.process.poll() is None:
                return  # it was kept up
            super().start()
            self.is_killed = False
            threading.Thread(target=self.keep_up, args=(self.process,), daemon=True).start()

    def kill(self) -> None:
        with self.lock:
            self.is_killed = True
            super().kill()

    def keep_up(self, process: subprocess.Popen[bytes]) -> None:
        """Start it again if it dies of a signal that is not ours."""
        is_dead = process.wait() < 0
        with self.lock:
            if is_dead and self.process is process and not self.is_killed:
                self.start()
                self.crashes += 1

    def comes_back(self) -> bool:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not self.is_killed:
            if self.crashes > self.crashes_seen:
                self.crashes_seen = self.crashes
                return True
            time.sleep(0.05)
        return False

    def launch(self) -> subprocess.Popen[bytes]:
        assert self.binary
        base = f"http://127.0.0.1:{self.port}"
        self.gsp = f"{base}/sparql-graph-crud-auth"
        self.update, self.query = f"{base}/sparql-auth", f"{base}/sparql"
        self.folder.mkdir(exist_ok=True)
        self.sql_port = free_port()
        self.folder.joinpath("virtuoso.lck").unlink(missing_ok=True)
        ini = self.folder / "virtuoso.ini"
        with ini.open("w") as file:
            self.configuration().write(file)
        return subprocess.Popen(
            [self.binary, "+foreground", "+configfile", ini],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def configuration(self) -> ConfigParser:
        """Debian's, with folders and ports of our own and without limits on what tests ask."""
        ini = ConfigParser(
            strict=False, interpolation=None, comment_prefixes=";", inline_comment_prefixes=";"
        )
        ini.optionxform = str  # type: ignore[assignment,method-assign]
        with self.debian_ini.open() as file:
            ini.read_file(file)
        for section in ini.values():
            for name, value in section.items():
                if value.startswith(self.debian_data):
                    section[name] = str(self.folder / Path(value).name)
        ini["Parameters"].update(ServerPort=str(self.sql_port), DirsAllowed="/")
        ini["HTTPServer"].update(ServerPort=f"127.0.0.1:{self.port}", ServerRoot=str(self.folder))
        ini["SPARQL"]["ResultSetMaxRows"] = "1000000"
        for section in ("Striping", "Plugins", "URIQA"):
            ini.remove_section(section)
        return ini

    def ask_once(self, query: str) -> Any:
        answer = requests.post(
            self.update,
            data={"query": query, "format": "application/sparql-results+json"},
            auth=HTTPDigestAuth(self.user, self.password),
            timeout=60,
        )
        if answer.status_code >= 400:
            raise ValueError(answer.text)
        found = answer.json()
        return found

    def sql(self, statements: str) -> None:
        """Run SQL as its administrator."""
        command = ["isql-vt", str(self.sql_port), self.user, self.password, f"exec={statements}"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert "*** Error" not in done.stdout + done.stderr, done.stdout

    def is_system(self, graph: str) -> bool:
        return bool(re.search(r"openlinksw|localuriqaserver|w3\.org/(ns/ldp|2002/07)", graph))


class FakeStore(BaseHTTPRequestHandler):
    """A Graph Store Protocol server that can be sick, or refuse what is written in a graph."""

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        (graph,) = parse_qs(urlsplit(self.path).query)["graph"]
        self.server.asked += 1
        is_refused = bool(self.server.refused) and self.server.refused in graph
        if not self.server.sick and not is_refused:
            self.server.graphs[graph] = body
        self.answer(self.server.sick or (400 if is_refused else 201))

    def do_GET(self):
        (graph,) = parse_qs(urlsplit(self.path).query)["graph"]
        body = self.server.graphs.get(graph, b"")
        self.send_response(self.server.sick or (200 if body else 404))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self):
        (graph,) = parse_qs(urlsplit(self.path).query)["graph"]
        self.server.graphs.pop(graph, None)
        self.answer(self.server.sick or 200)

    def log_message(self, *args):
        pass


@contextmanager
def fake_store() -> Iterator[Any]:
    """Serve one; ``sick`` is the status that it answers with, 0 when it is well."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), FakeStore)
    server.sick, server.refused, server.graphs, server.asked = 0, "", {}, 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
