"""Fetch the conformance suites that ``tests/rdf/test_w3c.py`` runs.

    python scripts/rdf_suites.py [FOLDER]

They are carried by the source package of rdflib on PyPI: the W3C's suites for N-Triples, N-Quads,
Turtle, TriG, RDF/XML and N3, the JSON-LD working group's toRdf and html, and TriX.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "rdflib==7.6.0"
DEFAULT = Path(
    os.environ.get("SEMCRAWL_SUITES", Path.home() / ".cache" / "semcrawl" / "rdf-suites")
)
WANTED = ("test/data/suites/w3c/", "test/data/suites/trix/", "test/jsonld/1.1/")


def fetch(folder: Path) -> Path:
    """Put the suites into ``folder`` unless they are there; return it."""
    if (folder / "w3c").is_dir():
        return folder
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(  # noqa: S603 - fixed arguments
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:",
             PACKAGE, "-d", work],
            check=True,
        )  # fmt: skip
        with tarfile.open(next(Path(work).glob("*.tar.gz"))) as package:
            members = []
            for member in package.getmembers():
                inner = member.name.partition("/")[2]
                if inner.startswith(WANTED):
                    member.name = inner.removeprefix("test/data/suites/").removeprefix("test/")
                    members.append(member)
            folder.mkdir(parents=True, exist_ok=True)
            if hasattr(tarfile, "data_filter"):
                package.extractall(folder, members, filter="data")
            else:  # Python before 3.11.4
                package.extractall(folder, members)  # noqa: S202 - a package of the registry
    return folder


if __name__ == "__main__":
    print(fetch(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT))
