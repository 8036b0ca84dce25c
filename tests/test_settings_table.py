"""Each setting is declared once: options, bounds and pages come from its row."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest

import semcrawl
from semcrawl.errors import UsageError
from semcrawl.settings.reader import Values, fill, read
from semcrawl.settings.table import FORMER, PAGES, TABLE


def option_classes() -> list[type]:
    """Return all dataclasses of the package with a field that names its setting."""
    found: set[Any] = set()
    for module in pkgutil.walk_packages(semcrawl.__path__, "semcrawl."):
        if ".migrations" in module.name or module.name == "semcrawl.__main__":
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and dataclasses.is_dataclass(value):
                marks = [mark for each in dataclasses.fields(value) for mark in each.metadata]
                if "setting" in marks:
                    found.add(value)
    return sorted(found, key=lambda each: each.__name__)


@pytest.mark.parametrize("options", option_classes(), ids=lambda each: each.__name__)
def test_options_are_by_default_what_empty_settings_give(options: Any) -> None:
    assert made(lambda: fill(options, read({}))) == made(options)


def made(make: Callable[[], Any]) -> Any:
    """Return what is made, or the complaint of options that need a setting (a store's URL)."""
    try:
        return make()
    except UsageError as error:
        return str(error)


def test_there_are_options() -> None:
    assert len(option_classes()) > 10


NUMBERS = [
    row
    for row in TABLE.values()
    if isinstance(row.default, int | float) and not isinstance(row.default, bool) and not row.plain
]


@pytest.mark.parametrize("row", NUMBERS, ids=lambda row: row.name)
def test_a_number_keeps_its_bounds_and_refuses_their_neighbours(row: Any) -> None:
    whole = isinstance(row.default, int)
    for bound, step in ((row.low, -1), (row.high, 1)):
        if abs(bound) == float("inf"):
            continue
        assert Values({row.name: str(bound)})[row.name] == bound
        beyond = bound + step * (1 if whole else 1e-6)
        with pytest.raises(UsageError, match=row.name):
            Values({row.name: str(beyond)})[row.name]
    for wrong in ("many", "nan"):
        with pytest.raises(UsageError, match=f"{row.name} must be a"):
            Values({row.name: wrong})[row.name]
    assert Values({row.name: ""})[row.name] == row.default


@pytest.mark.parametrize(
    "row", [row for row in TABLE.values() if row.words], ids=lambda row: row.name
)
def test_a_word_is_one_of_a_closed_set(row: Any) -> None:
    assert row.default in row.words
    for word in row.words:
        assert Values({row.name: f" {word.upper()}"})[row.name] == word
    with pytest.raises(UsageError, match=f"{row.name} must be one of {row.words[0]}"):
        Values({row.name: "perhaps"})[row.name]


def test_ten_settings_stand_on_the_first_page() -> None:
    assert sum(row.first for row in TABLE.values()) == 10
    assert len(TABLE) == sum(map(len, PAGES.values()))


def test_former_names_say_what_replaces_them() -> None:
    assert not FORMER.keys() & TABLE.keys()
    for name, instead in FORMER.items():
        with pytest.raises(UsageError, match=f"there is no setting {name}: {instead}"):
            read({name: "1"})


def test_a_misspelt_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="did you mean SEMCRAWL_CRAWL_DELAY"):
        read({"SEMCRAWL_CRAWL_DELY": "1"})
