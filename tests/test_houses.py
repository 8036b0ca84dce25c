"""The core imports no house, and does without each of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loopback import web
from tests.test_imports import HOUSES

ROOT = Path(__file__).parents[1]
PAGE = b"<html><title>Data</title><img src=/a.png><a href=/data.ttl>data</a></html>"
#: tests of the core that run without each house
CORE = (
    "tests/rdf/test_statements.py",
    "tests/links",
    "tests/spiders/test_linking.py",
    "tests/pipelines/test_quads_and_metadata.py",
)
#: an editable installation finds what the copy lacks
_WITHOUT_EDITABLE = """import sys
sys.meta_path[:] = [f for f in sys.meta_path if not getattr(f, "__name__", "").startswith("_Edit")]
"""


def _answer(path: str, query: object) -> tuple[int, str, bytes]:
    if path == "/data.ttl":
        return 200, "text/turtle", b"<a> <b> <c> ."
    return (200, "text/html", PAGE) if path == "/" else (404, "text/plain", b"")


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(root), "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=500
    )


def _crawl(root: Path, out: Path) -> set[str]:
    """Harvest a small site; return the modules that were loaded."""
    code = (
        "import sys\n"
        "from semcrawl.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print(*sys.modules)\n"
    )
    with web(_answer) as site:
        arguments = ("harvest", f"{site}/", "--out", str(out), "-q", "-s", "SEMCRAWL_CRAWL_DELAY=0")
        done = _run(root, "-c", code, *arguments)
    assert not done.returncode, done.stderr
    assert json.loads((out / "summary.json").read_text())["rdf_documents"] == 1
    return set(done.stdout.split())


@pytest.mark.slow
def test_a_plain_harvest_loads_no_house(tmp_path: Path) -> None:
    """But for their declarations."""
    loaded = _crawl(ROOT, tmp_path / "job")
    for house, parts in HOUSES.items():
        names = tuple(f"semcrawl.{part}." for part in parts)
        found = {name for name in loaded if f"{name}.".startswith(names)}
        assert found <= {f"semcrawl.{house}"}


@pytest.mark.slow
@pytest.mark.parametrize("house", HOUSES)
def test_a_house_can_be_deleted(tmp_path: Path, house: str) -> None:
    ignored = shutil.ignore_patterns("__pycache__", ".venv")
    root = tmp_path / "copy"
    for name in ("semcrawl", "tests", "examples", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", root)
    (root / "sitecustomize.py").write_text(_WITHOUT_EDITABLE)
    for part in HOUSES[house]:
        path = root / "semcrawl" / part.replace(".", "/")
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.with_suffix(".py").unlink()
    _crawl(root, tmp_path / "job")
    commands = {part.removeprefix("commands.") for part in HOUSES[house] if "commands." in part}
    overview = _run(root, "-m", "semcrawl")
    listed = {line.split()[0] for line in overview.stdout.splitlines() if line.startswith("  ")}
    assert "harvest" in listed, overview.stderr
    assert not commands & listed
    if house == "images":
        done = _run(root, "-m", "semcrawl", "harvest", "http://a.example/", "--targets", "images")
        assert done.returncode == 2
        assert "the targets images need semcrawl.images, which is missing" in done.stderr
    done = _run(root, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *CORE)
    assert not done.returncode, done.stdout
