"""The notebook that opens the result of a crawl runs."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from semcrawl.lab.demo import DemoWeb

NOTEBOOK = Path(__file__).parents[2] / "examples" / "what-a-crawl-found.ipynb"


def run(cells: list[dict[str, Any]]) -> list[Any]:
    """Run the cells with code one after the other, as a notebook does; return what each shows."""
    names: dict[str, Any] = {}
    shown = []
    for cell in cells:
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, NOTEBOOK.name, "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names))
    return shown


@pytest.mark.slow
def test_it_opens_a_harvest_of_the_demonstration_web(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    shown = run([cell for cell in notebook["cells"] if cell["cell_type"] == "code"])
    records, formats, vocabularies, (people, _), friends, (statements, _), names, _ = shown
    assert records.loc["fetched-rdf", "attempts"] > 100
    pages = len(DemoWeb().manifest().embedded)
    assert formats.loc["embedded", "count"] == pages
    assert ("http://schema.org/", pages) in {row[:2] for row in vocabularies}
    assert people == 51
    assert friends[0][1] == 3
    assert statements > 3000
    assert len(names) == 5
