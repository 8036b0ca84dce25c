"""The built wheel holds everything that a crawl needs."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "semcrawl"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of a copy of the sources; nothing of an earlier build gets into it."""
    folder = tmp_path_factory.mktemp("wheel")
    sources = folder / "sources"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, sources / "semcrawl", ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(sources)],
        check=True,
    )
    (built,) = folder.glob("semcrawl-*.whl")
    shutil.rmtree(sources)
    return built


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    """Scripts of Redis, templates, contexts and pages of reports among them."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("semcrawl/")}
    files = {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == files


@pytest.mark.slow
def test_the_wheel_harvests_the_demonstration_web_without_the_sources(
    wheel: Path, tmp_path: Path
) -> None:
    """As the README shows it, in an environment that knows our dependencies but not our sources."""
    where = tmp_path / "venv"
    venv.create(where, with_pip=False)
    python = where / ("Scripts" if os.name == "nt" else "bin") / Path(sys.executable).name
    libraries = next(where.rglob("site-packages"))
    # our dependencies, without the .pth file or finder that leads to the sources
    own = next(Path(path) for path in sys.path if path.endswith("site-packages"))
    for entry in own.iterdir():
        if "semcrawl" not in entry.name and entry.suffix != ".pth":
            (libraries / entry.name).symlink_to(entry)
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps",
         "--no-index", str(wheel)],
        check=True,
    )  # fmt: skip
    clean = {n: v for n, v in os.environ.items() if not n.startswith(("PYTHON", "SCRAPY", "COV"))}
    found = subprocess.run(
        [python, "-c", "import semcrawl; print(semcrawl.__file__)"],
        cwd=tmp_path, env=clean, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(found.stdout.strip()).is_relative_to(where)
    command = [python.with_name("semcrawl"), "demo", "--harvest", "--out", "harvest"]
    done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(tmp_path / "harvest" / "crawl.db") as records:
        (documents,) = records.execute("SELECT count(*) FROM document").fetchone()
    quads = (tmp_path / "harvest" / "quads.nq").read_bytes().count(b"\n")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    total = re.search(r"│ all +│ +[\d,]+ │ +([\d,]+) │ +[\d,]+ │ +[\d,]+ │ +([\d,]+) │", readme)
    assert total is not None
    assert (f"{documents:,}", f"{quads:,}") == total.groups()
