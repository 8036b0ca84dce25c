"""A worker and the job of its seeds, run as the Kubernetes example says, on three real Redis."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from harvest.runs import environment
from pipelines.servers import free_port
from redis import Redis
from redis.exceptions import RedisError
from spiders.site import handler, page

from deployment.documents import resource
from semcrawl.demo import DemoWeb, serve
from semcrawl.frontier.redis.localserver import find_server
from tests.waiting import until

pytestmark = pytest.mark.slow

PASSWORD = "a-test"


@pytest.fixture
def ports(tmp_path: Path) -> Iterator[list[int]]:
    """Three servers with the example's settings; the ports at which they answer."""
    settings = resource("ConfigMap", "redis")["data"]["redis.conf"]
    found = []
    with ExitStack() as stack:
        for n in range(3):
            folder = tmp_path / f"redis-{n}"
            folder.mkdir()
            (folder / "redis.conf").write_text(settings.replace("dir /data", f"dir {folder}"))
            port = free_port()
            process = subprocess.Popen(
                [find_server() or "redis-server", folder / "redis.conf", "--port", str(port),
                 "--bind", "127.0.0.1", "--requirepass", PASSWORD],
                stdout=subprocess.DEVNULL,
            )  # fmt: skip
            stack.callback(process.wait)
            stack.callback(process.terminate)
            found.append(port)
        for port in found:
            with Redis(port=port, password=PASSWORD) as client:
                until(lambda client=client: answers(client))
        yield found


def answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except RedisError:
        return False


def test_a_worker_crawls_what_the_job_put_on_the_list(tmp_path: Path, ports: list[int]) -> None:
    if shutil.which("redis-cli") is None:
        pytest.skip("needs redis-cli")
    names = {f"redis-{n}.redis": f"127.0.0.1:{port}" for n, port in enumerate(ports)}
    data = resource("ConfigMap", "semcrawl")["data"]
    spec = resource("StatefulSet", "worker")["spec"]["template"]["spec"]["containers"][0]
    (url,) = (each["value"] for each in spec["env"] if each["name"] == "REDIS_URL")
    url = url.replace("$(REDIS_PASSWORD)", PASSWORD)
    for name, address in names.items():
        url = url.replace(name, address)
    (tmp_path / "job").mkdir()
    beats = tmp_path / "beats"
    variables = {
        **{name: text for name, text in data.items() if "_STORE_" not in name},
        "SCRAPY_SETTINGS_MODULE": "semcrawl.config.environment",
        "REDIS_URL": url,
        "SEMCRAWL_JOBDIR": str(tmp_path / "job"),
        "SEMCRAWL_HEARTBEATS": str(beats),
        "SEMCRAWL_CRAWL_DELAY": "0",
    }
    site = {
        "/": page("/a.ttl"),
        "/a.ttl": ("text/turtle", b"<#it> <#leads> </b.ttl> ."),
        "/b.ttl": ("text/turtle", b"<#it> <#says> 'it' ."),
    }
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        log = (tmp_path / "log").open("wb")
        worker = subprocess.Popen(
            [sys.executable, "-m", "semcrawl", *spec["args"]],
            env=environment(server.proxy_url, **variables), cwd=tmp_path, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            push(tmp_path, names)
            quads = tmp_path / "job" / "quads.nq"
            until(lambda: quads.exists() and "#says" in quads.read_text())
            check = [sys.executable, *spec["livenessProbe"]["exec"]["command"][1:]]
            done = subprocess.run(
                check, env={**os.environ, **variables}, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout
            assert done.stdout.startswith(f"process {worker.pid}: ")
        finally:
            worker.terminate()
            assert worker.wait(timeout=60) == 0
    text = (tmp_path / "log").read_text()
    assert "Traceback" not in text
    assert list(beats.iterdir()) == []


def push(folder: Path, names: dict[str, str]) -> None:
    """Run the job's command, with a ``redis-cli`` that finds the servers by their names."""
    job = resource("Job", "seeds")["spec"]["template"]["spec"]["containers"][0]
    (folder / "seeds").mkdir()
    (folder / "seeds" / "seeds.txt").write_text("# ours\n\nhttp://d.example/\n")
    cli = folder / "bin" / "redis-cli"
    cli.parent.mkdir()
    cli.write_text(
        f"#!{sys.executable}\nimport os, sys\nnames = {json.dumps(names)}\n"
        "arguments = sys.argv[1:]\n"
        "at = arguments.index('-h')\n"
        "host, _, port = names[arguments[at + 1]].partition(':')\n"
        "arguments[at:at + 2] = ['-h', host, '-p', port]\n"
        f"os.execv({shutil.which('redis-cli')!r}, ['redis-cli', *arguments])\n"
    )
    cli.chmod(0o755)
    variables = {
        **os.environ,
        "PATH": f"{cli.parent}{os.pathsep}{os.environ['PATH']}",
        "REDISCLI_AUTH": PASSWORD,
        "SEMCRAWL_CRAWL_NAME": resource("ConfigMap", "semcrawl")["data"]["SEMCRAWL_CRAWL_NAME"],
    }
    *shell, script = job["command"]
    script = script.replace("/seeds/", f"{folder}/seeds/")
    subprocess.run([*shell, script], env=variables, check=True, stdout=subprocess.DEVNULL)
