"""The version that a release has everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import semcrawl

ROOT = Path(__file__).parents[1]


def test_all_places_name_the_version_of_the_last_release():
    """The package, its metadata, the citation and the newest dated entry of the changes."""
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    version, day = re.findall(r"^## \[([\d.]+)\] - (\S+)$", changes, re.M)[0]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert semcrawl.__version__ == version == project["version"]
    assert f"version: {version}\n" in citation
    assert f"date-released: {day}\n" in citation


def test_unreleased_changes_stand_above_the_last_release():
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## \[(.+?)\]", changes, re.M)
    assert headings[0] == "Unreleased"
    assert len(headings) == len(set(headings))
