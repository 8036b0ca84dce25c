"""The reference pages of settings and stats say what the code does."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from semcrawl import settings
from semcrawl.settings.reader import INTERNAL

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "semcrawl").rglob("*.py"))

BUILDER = runpy.run_path(str(ROOT / "docs" / "build_settings.py"))


def test_the_settings_page_is_up_to_date():
    """docs/settings.md is what build_settings.py makes of the table."""
    page = BUILDER["TARGET"].read_text("utf-8")
    assert page == BUILDER["render"](), "run python docs/build_settings.py"


def test_settings_that_are_used_are_defined():
    """No part of the package reads a SEMCRAWL_ setting that is not defined."""
    for path in SOURCES:
        if path.name == "table.py" and path.parent.name == "settings":
            continue  # it names former settings too
        used = set(re.findall(r"SEMCRAWL_[A-Z_]*[A-Z]\b", path.read_text("utf-8")))
        unknown = {name for name in used - INTERNAL if not hasattr(settings, name)}
        assert not unknown, path


def test_every_stat_is_described():
    """Each stat name that the package counts is on docs/stats.md."""
    page = (ROOT / "docs" / "stats.md").read_text("utf-8")
    documented = set(re.findall(r"\| `(semcrawl/[\w/]+)`", page))
    families = {name.rsplit("/", 1)[0] for name in documented}
    for path in SOURCES:
        for name in re.findall(r'"(semcrawl/[a-z_/{.}]+)"', path.read_text("utf-8")):
            fixed = name.split("/{")[0]
            assert fixed in documented | families, f"{name} of {path}"
