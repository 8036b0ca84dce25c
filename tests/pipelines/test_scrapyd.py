"""scrapyd runs our spiders as it runs others."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import requests

from tests.waiting import until

from .servers import free_port

pytest.importorskip("scrapyd")
pytestmark = pytest.mark.slow
REPOSITORY = Path(__file__).parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))
CONFIGURATION = """
[scrapyd]
bind_address = 127.0.0.1
http_port = {port}
poll_interval = 0.2
jobs_dir = {folder}/jobs
logs_dir = {folder}/logs
items_dir = {folder}/items
eggs_dir = {folder}/eggs
dbs_dir = {folder}/dbs
"""


@pytest.fixture
def scrapyd(tmp_path):
    """A scrapyd without a project."""
    folder = tmp_path / "scrapyd"
    folder.mkdir()
    port = free_port()
    (folder / "scrapyd.conf").write_text(CONFIGURATION.format(port=port, folder=folder))
    process = subprocess.Popen(
        [SCRIPTS / "scrapyd"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    until(lambda: answers(url))
    yield url, folder
    process.terminate()
    process.wait()


def deploy(checkout: Path, url: str) -> None:
    """Deploy from a copy: building leaves files behind."""
    checkout.mkdir()
    for name in ("setup.py", "pyproject.toml", "scrapy.cfg", "README.md", "LICENSE"):
        if (REPOSITORY / name).exists():
            shutil.copy(REPOSITORY / name, checkout)
    (checkout / "README.md").touch()
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "semcrawl", checkout / "semcrawl", ignore=ignore)
    send(checkout, url)


def send(checkout: Path, url: str) -> None:
    """Build an egg of a project and send it."""
    config = checkout / "scrapy.cfg"
    config.write_text(config.read_text().replace("http://localhost:6800", url))
    done = subprocess.run(
        [SCRIPTS / "scrapyd-deploy"], cwd=checkout, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert '"status": "ok"' in done.stdout


def answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/daemonstatus.json", timeout=5).ok
    except requests.RequestException:
        return False


def test_deploy_schedule_two_jobs_and_cancel_one(scrapyd, web):
    url, folder = scrapyd
    deploy(folder / "checkout", url)
    spiders = requests.get(f"{url}/listspiders.json?project=semcrawl", timeout=600).json()
    assert {"html", "rdf"} <= set(spiders["spiders"])

    def schedule(**more: str) -> str:
        data = {"project": "semcrawl", "spider": "html", "follow_rdf": "1", **more}
        return requests.post(f"{url}/schedule.json", data=data, timeout=600).json()["jobid"]

    def state(job: str) -> str:
        jobs = requests.get(f"{url}/listjobs.json?project=semcrawl", timeout=600).json()
        for name in ("pending", "running", "finished"):
            if any(each["id"] == job for each in jobs[name]):
                return name
        return "unknown"

    quick = schedule(seeds=f"{web}/", setting="SEMCRAWL_CRAWL_DELAY=0")
    endless = schedule()  # waits for seeds on its list
    until(lambda: state(quick) == "finished" and state(endless) == "running")
    log = folder / "logs" / "semcrawl" / "html" / f"{endless}.log"
    until(lambda: log.exists() and "Spider opened" in log.read_text())
    cancel = {"project": "semcrawl", "job": endless}
    assert requests.post(f"{url}/cancel.json", data=cancel, timeout=600).json()["prevstate"]
    until(lambda: state(endless) == "finished")
    assert "'finish_reason': 'shutdown'" in log.read_text()

    job = folder / "jobs" / "semcrawl" / "html" / quick
    lines = (job / "quads.nq").read_text().splitlines()
    assert sorted(line.split()[-2] for line in lines) == [f"<{web}/a.ttl>", f"<{web}/b.ttl>"]
    with sqlite3.connect(job / "crawl.db") as connection:
        workers = connection.execute("SELECT DISTINCT worker FROM fetch").fetchall()
    assert workers == [(quick,)]
    items = (folder / "items" / "semcrawl" / "html" / f"{quick}.jl").read_text().splitlines()
    documents = [found for found in map(json.loads, items) if "nquads" in found]
    assert "".join(found["nquads"] for found in documents).splitlines() == lines
    assert len(items) > len(documents) == 2
    log = folder / "logs" / "semcrawl" / "html" / f"{quick}.log"
    assert "'semcrawl/quads/documents': 2" in log.read_text()
    assert "Traceback" not in log.read_text()


def test_a_project_with_the_add_on_has_our_spiders(scrapyd, web):
    """As scrapyd-deploy makes its egg; the job has its own folder."""
    url, folder = scrapyd
    project = folder / "theirs"
    project.mkdir()
    start = [sys.executable, "-m", "scrapy", "startproject", "theirs", "."]
    subprocess.run(start, cwd=project, check=True, capture_output=True)
    with (project / "theirs" / "settings.py").open("a") as file:
        file.write('\nADDONS = {"semcrawl.addon.Addon": 500}\nSEMCRAWL_CRAWL_DELAY = 0\n')
    deployed = "[deploy]\nurl = http://localhost:6800/\nproject = theirs\n"
    (project / "scrapy.cfg").write_text(f"[settings]\ndefault = theirs.settings\n{deployed}")
    send(project, url)
    spiders = requests.get(f"{url}/listspiders.json?project=theirs", timeout=600).json()
    assert spiders["spiders"] == ["html", "rdf"]
    data = {"project": "theirs", "spider": "html", "follow_rdf": "1", "seeds": f"{web}/"}
    name = requests.post(f"{url}/schedule.json", data=data, timeout=600).json()["jobid"]

    def over() -> bool:
        jobs = requests.get(f"{url}/listjobs.json?project=theirs", timeout=600).json()
        return any(job["id"] == name for job in jobs["finished"])

    until(over)
    job = folder / "jobs" / "theirs" / "html" / name
    lines = (job / "quads.nq").read_text().splitlines()
    assert sorted(line.split()[-2] for line in lines) == [f"<{web}/a.ttl>", f"<{web}/b.ttl>"]
    assert not [path for path in folder.iterdir() if path.suffix in (".db", ".nq")]


def test_the_package_works_from_an_egg(tmp_path):
    """Scripts, data and migrations are found inside a zip file."""
    shutil.copytree(
        REPOSITORY / "semcrawl",
        tmp_path / "egg" / "semcrawl",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    egg = shutil.make_archive(str(tmp_path / "semcrawl"), "zip", tmp_path / "egg")
    code = f"""
import sys
sys.path.insert(0, {egg!r})
import semcrawl
assert {egg!r} in semcrawl.__file__, semcrawl.__file__
from sqlalchemy import create_engine
from semcrawl.metadata.database import connect, migrate
migrate(create_engine("sqlite:///{tmp_path}/crawl.db"), "0001")
connect("sqlite:///{tmp_path}/crawl.db")
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
