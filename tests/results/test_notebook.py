"""The notebooks run: one opens the result of a crawl, one harvests and compares strategies."""

from __future__ import annotations

import ast
import json
from inspect import isawaitable
from pathlib import Path
from typing import Any

import pytest

from semcrawl.lab.demo import DemoWeb

EXAMPLES = Path(__file__).parents[2] / "examples"


async def run(name: str) -> list[Any]:
    """Run the cells with code one after the other, as a notebook does; return what each shows."""
    names: dict[str, Any] = {}
    shown = []
    for cell in json.loads((EXAMPLES / name).read_text("utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        parts: list[tuple[ast.AST, str]] = [(tree, "exec")]
        if last is not None:
            parts.append((ast.Expression(last.value), "eval"))
        for part, mode in parts:
            code = compile(part, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            value = eval(code, names)
            if isawaitable(value):
                value = await value
        if last is not None:
            shown.append(value)
    return shown


@pytest.mark.slow
async def test_it_opens_a_harvest_of_the_demonstration_web(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    shown = await run("what-a-crawl-found.ipynb")
    records, formats, vocabularies, (people, _), friends, (statements, _), names, _ = shown
    assert records.loc["fetched-rdf", "attempts"] > 100
    pages = len(DemoWeb().manifest().embedded)
    assert formats.loc["embedded", "count"] == pages
    assert ("http://schema.org/", pages) in {row[:2] for row in vocabularies}
    assert people == 51
    assert friends[0][1] == 3
    assert statements > 3000
    assert len(names) == 5


@pytest.mark.slow
async def test_it_harvests_in_a_running_loop_and_compares(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("http_proxy", "")  # set by the notebook, and restored
    job, failures, report, formats, figures, _ = await run("harvest-and-compare.ipynb")
    assert "<td>150</td>" in job._repr_html_()
    assert failures["refused (403)"] == 1
    assert report == "Report"
    assert formats["turtle"] > 0
    assert list(figures["found"]) == [1, 1]
    assert figures["requests_to_90"].iloc[1] < figures["requests_to_90"].iloc[0]
