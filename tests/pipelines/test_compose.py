"""The example of docker compose: its syntax, and its services started by hand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import redis
import requests

from semcrawl.frontier.redis.localserver import find_server
from tests.waiting import until

from .servers import free_port

EXAMPLE = Path(__file__).parents[2] / "examples" / "docker-compose"
SCRIPTS = Path(sysconfig.get_path("scripts"))
pytestmark = pytest.mark.slow


def test_the_syntax_is_right():
    commands = [["docker", "compose"], ["docker-compose"]]
    for command in commands:
        if shutil.which(command[0]):
            done = subprocess.run(
                [*command, "-f", EXAMPLE / "compose.yaml", "config", "--services"],
                capture_output=True,
                text=True,
                cwd=EXAMPLE,
            )
            if done.returncode == 0:
                assert set(done.stdout.split()) == {"redis", "oxigraph", "html", "rdf", "scrapyd"}
                return
    pytest.skip("needs docker compose")


@pytest.fixture
def redis_url(tmp_path):
    port = free_port()
    process = subprocess.Popen(
        [
            find_server() or "redis-server",
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--appendonly",
            "yes",
        ],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
    )
    client = redis.Redis(port=port)
    until(lambda: ping(client))
    yield f"redis://127.0.0.1:{port}/0"
    client.close()
    process.terminate()
    process.wait()


def ping(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=5).ok
    except requests.RequestException:
        return False


def test_workers_and_scrapyd_share_frontier_and_store(tmp_path, redis_url, oxigraph, web):
    pytest.importorskip("scrapyd")
    environment = {
        **os.environ,
        "SCRAPY_SETTINGS_MODULE": "semcrawl.config.environment",
        "REDIS_URL": redis_url,
        "SEMCRAWL_STORE_URL": oxigraph.gsp,
        "SEMCRAWL_STORE_UPDATE_URL": oxigraph.update,
    }
    processes = []

    def start(name: str, *command: object) -> None:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        log = (folder / "log").open("wb")
        processes.append(
            subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        )

    port = free_port()
    (tmp_path / "scrapyd").mkdir()
    text = (EXAMPLE / "scrapyd.conf").read_text()
    text = text.replace("/job/", f"{tmp_path}/scrapyd/").replace("0.0.0.0", "127.0.0.1")
    text = text.replace("[scrapyd]", f"[scrapyd]\nhttp_port = {port}\npoll_interval = 0.2")
    (tmp_path / "scrapyd" / "scrapyd.conf").write_text(text)
    start("scrapyd", SCRIPTS / "scrapyd")
    # seeds of a Redis list open no private address by themselves
    private = ("-s", "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES=1")
    start("html", sys.executable, "-m", "semcrawl", "crawl", "html", *private)
    start("rdf", sys.executable, "-m", "semcrawl", "crawl", "rdf", *private)
    try:
        with redis.Redis.from_url(redis_url) as client:
            client.lpush("html:start_urls", f"{web}/")
        until(lambda: len(oxigraph.counts()) == 2)
        assert set(oxigraph.counts()) == {f"{web}/a.ttl", f"{web}/b.ttl"}
        until(lambda: answers(f"http://127.0.0.1:{port}/daemonstatus.json"))
        spiders = requests.get(
            f"http://127.0.0.1:{port}/listspiders.json?project=semcrawl", timeout=60
        ).json()
        assert {"html", "rdf"} <= set(spiders["spiders"])
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=60)
    for name in ("html", "rdf"):
        assert "Traceback" not in (tmp_path / name / "log").read_text()
