"""The public face: the ``__all__`` of packages, and the import paths that the docs name."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from scrapy.utils.misc import load_object

import semcrawl
from semcrawl.config import components

ROOT = Path(__file__).parents[1]
HOME = Path(semcrawl.__file__).parent
PACKAGES = sorted(
    ".".join(path.relative_to(HOME.parent).parent.parts) for path in HOME.rglob("__init__.py")
)
PAGES = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
#: files in which settings name classes
NAMING = [
    *(ROOT / "semcrawl/settings").glob("*.py"),
    Path(components.__file__),
]
NAMING += (ROOT / "examples").rglob("*.py")
_PATH = re.compile(r"\bsemcrawl(?:\.[A-Za-z_]\w*)+")
_IMPORT = re.compile(r"^from (semcrawl[\w.]*) import ([\w, ]+)$", re.MULTILINE)
#: ends of file names and of host names
_NO_MODULE = re.compile(r"\.(?:md|py|toml|cfg|css|svg|org|example|test)$")


def public(package: str) -> list[str]:
    names: list[str] = import_module(package).__all__
    return names


def paths_in(text: str) -> set[str]:
    found = {path for path in _PATH.findall(text) if not _NO_MODULE.search(path)}
    for module, names in _IMPORT.findall(text):
        found |= {f"{module}.{name.strip()}" for name in names.split(",")}
    return found


DOCUMENTED = set().union(*(paths_in(page.read_text(encoding="utf-8")) for page in PAGES))
NAMED = set().union(
    *(set(re.findall(r'"(semcrawl\.[\w.]+)"', file.read_text(encoding="utf-8"))) for file in NAMING)
)


def resolved(path: str) -> object:
    """The module, or the member of one, at a dotted path."""
    return import_module(path) if is_module(path) else load_object(path)


def is_module(path: str) -> bool:
    """Whether a dotted path is that of a module; that of a class has a module as its parent."""
    try:
        return find_spec(path) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_lists_its_public_names_once(package: str) -> None:
    names = public(package)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_says_what_it_is(package: str) -> None:
    for name in public(package):
        found = resolved(f"{package}.{name}")
        if isinstance(found, ModuleType) or inspect.isclass(found) or inspect.isroutine(found):
            assert inspect.getdoc(found), f"{package}.{name} has no docstring"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_public_class_or_function_is_found_in_the_module_that_it_names(package: str) -> None:
    for name in public(package):
        found = resolved(f"{package}.{name}")
        if inspect.isclass(found) or inspect.isroutine(found):
            assert found.__module__.startswith("semcrawl."), f"{package}.{name}"
            assert getattr(import_module(found.__module__), found.__name__) is found


@pytest.mark.parametrize("path", sorted(DOCUMENTED))
def test_a_documented_import_path_works(path: str) -> None:
    assert resolved(path) is not None


@pytest.mark.parametrize("path", sorted(NAMED - set(PACKAGES)))
def test_a_module_that_settings_name_is_public(path: str) -> None:
    """Users replace or switch off the classes that settings name, by these paths."""
    assert resolved(path) is not None
    module = path if is_module(path) else path.rpartition(".")[0]
    package, _, name = module.rpartition(".")
    assert name in public(package), f"{module} is not in the __all__ of {package}"


def test_documentation_and_settings_name_paths() -> None:
    """The tests before this one look at something."""
    assert len(DOCUMENTED) > 10
    assert len(NAMED) > 20
