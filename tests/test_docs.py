"""The pages of the documentation name what exists: pages, headings, files, settings, commands."""

from __future__ import annotations

import ast
import builtins
import doctest
import json
import re
import subprocess
import tomllib
from pathlib import Path
from pkgutil import iter_modules

import pytest

import semcrawl.commands
from semcrawl import settings

ROOT = Path(__file__).parents[1]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))
}
FILES = {
    path.relative_to(ROOT).as_posix()
    for folder in ("semcrawl", "tests", "benchmarks", "scripts", "docs", "examples")
    for path in (ROOT / folder, *(ROOT / folder).rglob("*"))
    if "__pycache__" not in path.parts
}
COMMANDS = {module.name for module in iter_modules(semcrawl.commands.__path__)}
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")


def anchors(page: str) -> set[str]:
    """The anchors that forges give to the headings of a page."""
    headings = _HEADING.findall(_FENCED.sub("", PAGES[page]))
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_pages_and_headings(page: str) -> None:
    for link in _LINK.findall(_FENCED.sub("", PAGES[page])):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent.joinpath(path).resolve() if path else ROOT / page
        assert target.exists(), f"{page}: {link}"
        name = target.relative_to(ROOT).as_posix()
        if anchor and name in PAGES:
            assert anchor in anchors(name), f"{page}: {link}"


@pytest.mark.parametrize("page", sorted(PAGES.keys() - {"CHANGELOG.md"}))
def test_settings_that_a_page_names_exist(page: str) -> None:
    named = set(re.findall(r"\bSEMCRAWL_[A-Z_]*[A-Z]\b", PAGES[page]))
    assert not {name for name in named if not hasattr(settings, name)}


@pytest.mark.parametrize("page", sorted(PAGES.keys() - {"CHANGELOG.md"}))
def test_commands_that_a_page_names_exist(page: str) -> None:
    code = [*_FENCED.findall(PAGES[page]), *_CODE.findall(_FENCED.sub("", PAGES[page]))]
    named = {
        name
        for text in code
        for name in re.findall(r"(?:^|&& |bin/|\* )\$? ?semcrawl ([a-z]+)\b", text, re.MULTILINE)
    }
    assert named <= COMMANDS | {"find", "list", "runspider", "settings", "shell"}


def test_files_that_the_map_names_exist() -> None:
    """Paths are those of the package or the repository, or end as a file of theirs does."""
    named = {
        code
        for code in _CODE.findall(PAGES["docs/architecture.md"])
        if re.fullmatch(r"[\w./*]+(?:\.(?:py|lua|md)|/)", code)
    }
    assert len(named) > 40
    for name in named:
        places = (name.rstrip("/"), f"semcrawl/{name.rstrip('/')}")
        assert any(place in FILES for place in places) or any(
            file.endswith(f"/{name.rstrip('/')}") for file in FILES
        ), name


def test_names_that_docstrings_cite_exist() -> None:
    """A full name in a role (``:func:`semcrawl.a.b.c```) is a module, or one of its names."""
    missing = set()
    for path in sorted((ROOT / "semcrawl").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r":(?:mod|func|class|meth|attr|data):`~?(semcrawl\.[\w.]+)`", text):
            parts = name.split(".")
            module = next(n for n in range(len(parts), 0, -1) if _module_file(parts[:n]))
            rest = parts[module : module + 1]
            code = _module_file(parts[:module])
            assert code is not None
            if rest and not re.search(rf"\b{rest[0]}\b", code.read_text(encoding="utf-8")):
                missing.add((path.relative_to(ROOT).as_posix(), name))
    assert not missing


def _module_file(parts: list[str]) -> Path | None:
    """The file of a module by the parts of its name, if there is one."""
    base = ROOT.joinpath(*parts)
    return next((f for f in (base.with_suffix(".py"), base / "__init__.py") if f.is_file()), None)


_BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(kind, code, id=f"{page}-{number}")
    for page, text in PAGES.items()
    for number, (kind, code) in enumerate(_BLOCK.findall(text))
]
#: names that a page's text introduces
_GIVEN = {"spark", "body", "url", "content_type", "head", "file"}


@pytest.mark.parametrize(
    ("kind", "code"), [block for block in BLOCKS if block.values[0] == "python"]
)
def test_python_in_a_page_runs(kind: str, code: str, tmp_path: Path, monkeypatch) -> None:
    """Definitions and settings are run; of other code each name is known, each import works."""
    monkeypatch.chdir(tmp_path)
    if code.startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(code, {}, "page", None, 0)
        assert doctest.DocTestRunner().run(test).failed == 0
        return
    tree = ast.parse(code)
    known = {*dir(builtins), *_GIVEN}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef):
            names = getattr(node, "names", None) or [node]
            known |= {
                (each.asname if hasattr(each, "asname") else "") or each.name for each in names
            }
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.add(node.id)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert used <= known
    safe = ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef | ast.Assign
    if all(isinstance(node, safe) for node in tree.body):
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = getattr(node, "module", None) or node.names[0].name
                pytest.importorskip(module.partition(".")[0])
        exec(compile(tree, "page", "exec"), {"__name__": "page"})


@pytest.mark.parametrize(
    ("kind", "code"), [block for block in BLOCKS if block.values[0] in ("sh", "json", "toml")]
)
def test_other_code_in_a_page_is_well_formed(kind: str, code: str) -> None:
    if kind == "sh":
        done = subprocess.run(["sh", "-n"], input=code, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    else:
        (json if kind == "json" else tomllib).loads(code)


@pytest.mark.parametrize(("kind", "code"), BLOCKS)
def test_every_block_says_what_it_is(kind: str, code: str) -> None:
    """One without a language is output or a configuration file, and nobody takes it for code."""
    if not kind:
        assert not re.search(r"^(import|from|def|class) \w+", code, re.MULTILINE)
