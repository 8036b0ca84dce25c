"""The help of ``-h`` is complete on a terminal of any width."""

from __future__ import annotations

import argparse
from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules

import pytest
from scrapy.settings import Settings

import semcrawl.commands

HEADINGS = {"Usage", "Options", "Global Options"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name for _, name, _ in iter_modules(semcrawl.commands.__path__) if not name.startswith("_")],
)
def test_only_headings_are_underlined(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in range(50, 130):
        monkeypatch.setenv("COLUMNS", str(columns))
        command = import_module(f"semcrawl.commands.{name}").Command()
        command.settings = Settings()
        parser = argparse.ArgumentParser(conflict_handler="resolve")
        command.add_options(parser)
        lines = parser.format_help().splitlines()
        underlined = {a for a, b in pairwise(lines) if b and not b.strip("=-")}
        assert underlined - {name.title()} <= HEADINGS
