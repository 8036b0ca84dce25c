"""A worker and the job of its seeds, run as the Kubernetes example says, on a real cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harvest.runs import environment
from spiders.site import handler, page

from deployment.documents import resource
from deployment.pods import NODES, PASSWORD, Cluster
from semcrawl.lab.demo import DemoWeb, serve
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.server]


def test_a_worker_crawls_what_the_job_put_on_the_list(tmp_path: Path, cluster: Cluster) -> None:
    cluster.make()
    data = resource("ConfigMap", "semcrawl")["data"]
    spec = resource("StatefulSet", "worker")["spec"]["template"]["spec"]["containers"][0]
    (url,) = (each["value"] for each in spec["env"] if each["name"] == "REDIS_URL")
    url = url.replace("$(REDIS_PASSWORD)", PASSWORD)
    for node in range(NODES):
        url = url.replace(f"redis-{node}.redis", cluster.address(node))
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
            push(cluster)
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


def push(cluster: Cluster) -> None:
    """Run the job's command, again where it fails, as `restartPolicy: OnFailure` does."""
    job = resource("Job", "seeds")["spec"]["template"]["spec"]["containers"][0]
    folder = cluster.folder / "seeds"
    folder.mkdir()
    (folder / "seeds.txt").write_text("# ours\n\nhttp://d.example/\n")
    data = resource("ConfigMap", "semcrawl")["data"]
    variables = {**cluster.environment(None), "SEMCRAWL_CRAWL_NAME": data["SEMCRAWL_CRAWL_NAME"]}
    *shell, script = job["command"]
    script = script.replace("/seeds/", f"{folder}/")
    command = [*shell, script]
    until(lambda: subprocess.run(command, env=variables, capture_output=True).returncode == 0)
