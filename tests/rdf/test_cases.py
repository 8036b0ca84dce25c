"""Minimal inputs of faults that were met on the Web, beside the project where they are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from semcrawl.rdf import read, read_embedded

CASES = Path(__file__).parents[3] / "shared" / "cases"
TABLE = json.loads((CASES / "cases.json").read_text("utf-8")) if CASES.is_dir() else []


def statements(nquads: bytes, url: str) -> list[str]:
    """Return the lines without the document's own graph, all blank nodes as ``_``."""
    found = []
    for line in nquads.decode().splitlines():
        line = line.removesuffix(" .").removesuffix(f" <{url}>")
        parts = re.split(r'("(?:[^"\\]|\\.)*")', line)
        parts[::2] = [re.sub(r"_:\w+", "_", part) for part in parts[::2]]
        found.append("".join(parts))
    return sorted(found)


@pytest.mark.skipif(not TABLE, reason="needs ../shared/cases")
@pytest.mark.parametrize("case", TABLE, ids=[case["id"] for case in TABLE])
def test_case(case: dict[str, Any]) -> None:
    """Each input gives its statements, or another right answer, and as many errors as it has."""
    reader = read_embedded if case["mode"] == "embedded" else read
    contexts = {url: text.encode() for url, text in case["contexts"].items()}
    body = (CASES / case["file"]).read_bytes()
    reading = reader(body, case["url"], case["content_type"], contexts=contexts or None)
    found = statements(reading.nquads, case["url"])
    answers = [sorted(answer) for answer in [case["expected"], *case.get("alternatives", [])]]
    assert found in answers or found == answers[0]
    assert len(reading.errors) >= case["min_errors"]
