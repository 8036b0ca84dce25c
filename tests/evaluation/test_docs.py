"""The worked examples of the documents run as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def write_blocks(document, folder):
    text = (DOCS / document).read_text("utf-8")
    for name, code in re.findall(r"^```python title=(\S+)\n(.*?)^```", text, re.M | re.S):
        (folder / name).write_text(code)


def run(folder, *command):
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_worked_strategy_passes_its_own_test(tmp_path):
    write_blocks("strategies.md", tmp_path)
    run(tmp_path, "-c", "import test_folders; test_folders.test_a_folder_that_pays_comes_first()")


@pytest.mark.slow
def test_the_study_in_python_runs(tmp_path):
    write_blocks("evaluation.md", tmp_path)
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "index.html").write_text('<a href="x.ttl">data</a>')
    (tmp_path / "public" / "x.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    assert run(tmp_path, "study.py").split() == ["1", "1.0"]
