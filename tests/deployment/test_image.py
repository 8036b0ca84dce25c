"""The Dockerfile: its steps run by hand, as where the tests run there may be no Docker."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from deployment.documents import ROOT
from semcrawl import settings

DOCKERFILE = (ROOT / "Dockerfile").read_text()
#: (instruction, its text), lines that go on joined
STEPS = [
    (line.split(None, 1)[0], line.split(None, 1)[1])
    for line in re.sub(r"\\\n *", " ", re.sub(r"(?m)^ *#.*\n", "", DOCKERFILE)).splitlines()
    if line
]


def texts(instruction: str) -> list[str]:
    return [text for name, text in STEPS if name == instruction]


def variables() -> dict[str, str]:
    return dict(re.findall(r"(\w+)=(\S+)", " ".join(texts("ENV"))))


def test_settings_that_it_names_exist() -> None:
    named = {name for name in variables() if name.startswith("SEMCRAWL_")}
    assert named
    assert all(hasattr(settings, name) for name in named)


def test_it_does_not_run_as_root_and_can_be_asked_for_its_health() -> None:
    assert texts("USER") == ["10001:10001"]
    assert len(texts("HEALTHCHECK")) == 1
    # programs are called directly: signals reach them
    for name in ("ENTRYPOINT", "CMD"):
        assert isinstance(json.loads(texts(name)[-1]), list)


def test_extras_that_it_installs_exist() -> None:
    (extras,) = (text.partition("=")[2] for text in texts("ARG"))
    project = (ROOT / "pyproject.toml").read_text()
    assert all(f"\n{extra} = [" in project for extra in extras.split(","))


def context(folder: Path) -> None:
    """Copy what Docker sends: what the last pattern of .dockerignore that fits does not leave out.

    Patterns that begin with two asterisks hold at any depth.
    """
    patterns = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        sent = True
        for pattern in patterns:
            bare = pattern.removeprefix("!").removeprefix("**/")
            tops = name.split("/") if "**/" in pattern else [name.split("/")[0]]
            if any(fnmatch(part, bare) for part in tops):
                sent = pattern.startswith("!")
        if sent and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


@pytest.mark.slow
def test_its_steps_build_a_worker_that_can_be_asked_for_its_health(tmp_path: Path) -> None:
    """The steps that copy and install, on the files that are sent; dependencies are here."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs the repository")
    sent, source, target = tmp_path / "sent", tmp_path / "src", tmp_path / "opt"
    for folder in (sent, source):
        folder.mkdir()
    context(sent)
    assert {path.name for path in sent.iterdir()} == {
        *("pyproject.toml", "setup.py", "README.md", "LICENSE", "semcrawl")
    }
    libraries = next(path for path in sys.path if path.endswith("site-packages"))
    environment = {
        **os.environ,
        # our dependencies, and nothing is asked of a registry
        "PYTHONPATH": libraries,
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "EXTRAS": texts("ARG")[0].partition("=")[2],
    }
    stages = "\n".join(f"{name} {text}" for name, text in STEPS).split("FROM ")
    for step in stages[1].splitlines()[1:]:
        name, _, text = step.partition(" ")
        if name == "COPY":
            *sources, to = text.split()
            for each in sources:
                if (sent / each).is_dir():
                    shutil.copytree(sent / each, source / to)
                else:
                    shutil.copy(sent / each, source / to)
        elif name == "RUN":
            text = text.replace("/opt/semcrawl", str(target))
            subprocess.run(["sh", "-ec", text], cwd=source, env=environment, check=True)
    given = {**environment, **variables(), "SEMCRAWL_HEARTBEATS": str(tmp_path / "beats")}
    given["PATH"] = f"{target / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True)

    where = run("python", "-c", "import semcrawl; print(semcrawl.__file__)").stdout
    assert where.startswith(str(target))
    shown = run(*json.loads(texts("ENTRYPOINT")[0]), *json.loads(texts("CMD")[-1]))
    assert "harvest" in shown.stdout
    check = run(*json.loads(texts("HEALTHCHECK")[0].partition("CMD ")[2]))
    assert (check.returncode, check.stdout.split(" in ")[0]) == (1, "no crawl keeps a heartbeat")
