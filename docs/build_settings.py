"""Write docs/settings.md from the ``#:`` comments in semcrawl/settings/.

python docs/build_settings.py
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path

_HERE = Path(__file__).parent
_SETTINGS = _HERE.parent / "semcrawl" / "settings"
SOURCES = [_SETTINGS / f"_{name}.py" for name in ("links", "pace", "reading", "strategies")]
TARGET = _HERE / "settings.md"

_INTRODUCTION = """\
# Settings

Set them like Scrapy's own: in a project's `settings.py`, with `-s NAME=VALUE` on the command line,
or in a spider's `custom_settings`. `python docs/build_settings.py` makes this page from the
comments in `semcrawl/settings/`. A few of [Scrapy's settings](concepts.md#scrapys-settings) have
no effect.
"""


@dataclass
class Section:
    """Settings that belong together: (name, default as written, description)."""

    title: str
    settings: list[tuple[str, str, str]] = field(default_factory=list)


def all_sections() -> list[Section]:
    """Return the sections of all modules of settings."""
    return [section for path in SOURCES for section in read_sections(path.read_text("utf-8"))]


def read_sections(source: str) -> list[Section]:
    """Return the described settings by section; those without a comment share the one above."""
    values = _assignments(source)
    sections: list[Section] = []
    comment: list[str] = []
    described = ""
    for number, line in enumerate(source.splitlines(), 1):
        if line.startswith("# --- "):
            sections.append(Section(line[6:].strip()))
            described = ""
        elif line.startswith("#:"):
            comment.append(line[2:].strip())
        elif number in values:
            name, default = values[number]
            described = " ".join(comment) or described
            comment = []
            if sections and described:
                sections[-1].settings.append((name, default, described))
        elif not line.strip():
            comment = []
    return [section for section in sections if section.settings]


def _assignments(source: str) -> dict[int, tuple[str, str]]:
    """Return name and default of each setting by its line."""
    found = {}
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name):
            found[node.lineno] = (target.id, _shown(node.value))
    return found


def _shown(value: ast.expr) -> str:
    """Write a default as a reader expects it."""
    return ast.unparse(value).replace("|", "\\|")


def render(sections: list[Section]) -> str:
    """Return the page."""
    lines = [_INTRODUCTION]
    for section in sections:
        title, _, remark = section.title.partition(" (")
        lines.append(f"## {title}\n")
        if remark:
            lines.append(f"({remark}\n")
        for name, default, text in section.settings:
            lines += [f"### `{name}`\n", f"Default: `{default}`\n", f"{text}\n"]
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(render(all_sections()), "utf-8")
