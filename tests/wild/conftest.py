"""What the tests of the wild share."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .independent import JavaScript, npm_folder

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def javascript() -> Iterator[JavaScript]:
    folder = npm_folder()
    if folder is None:
        pytest.skip("needs Node and npm")
    with JavaScript(folder) as readers:
        yield readers


@pytest.fixture(scope="session")
def contexts() -> dict[str, Any]:
    """The contexts that the reader has at hand, by all their addresses."""
    kept = json.loads((ROOT / "semcrawl" / "rdf" / "data" / "contexts.json").read_text("utf-8"))
    found = {}
    for name, context in kept.items():
        host = "" if "." in name.partition("/")[0] else "www.w3.org/"
        for scheme in ("http", "https"):
            found[f"{scheme}://{host}{name}"] = {"@context": context}
            if name == "schema.org":
                found[f"{scheme}://{name}/"] = {"@context": context}
    return found


@pytest.fixture(scope="session")
def wild_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive = SHARED / "wild" / "pages.tar.xz"
    if not archive.is_file():
        pytest.skip("needs ../shared/wild")
    folder = tmp_path_factory.mktemp("wild")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "pages"
