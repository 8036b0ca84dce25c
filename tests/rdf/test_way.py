"""The way of a plain document through the readers is the one on the map."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import semcrawl
from semcrawl.rdf import detect, read

HOME = Path(semcrawl.__file__).parent
MAP = HOME.parent / "docs" / "architecture.md"
DOCUMENT = (
    b"@prefix ex: <http://example.org/> .\nex:a ex:p ex:b ; ex:q [ ex:r 1 ] .\n_:n ex:p 'c' .\n"
)


def files_run_by(work: Callable[[], object]) -> set[str]:
    """The files of ``semcrawl.rdf`` in which a function is called meanwhile."""
    found = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(HOME / "rdf"):
            found.add(path.relative_to(HOME).as_posix())

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found


def test_a_turtle_document_passes_the_files_on_the_map() -> None:
    """Those that the map lists, and beside them the limits and the spelling of IRIs."""
    url = "http://example.org/x"
    section = MAP.read_text(encoding="utf-8").partition("## Bytes, ")[2]
    section = section.partition("\nThe list leaves out")[0]
    listed = {name for name in re.findall(r"`([\w/]+\.py)`", section) if name.startswith("rdf/")}
    run = files_run_by(lambda: read(DOCUMENT, url, detection=detect(DOCUMENT, "text/turtle", url)))
    assert run == listed | {"rdf/limits.py", "rdf/terms.py"}
