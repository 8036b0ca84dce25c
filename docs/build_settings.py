"""Write docs/settings.md from the table of settings.

python docs/build_settings.py
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from semcrawl.settings.table import PAGES, Setting

TARGET = Path(__file__).parent / "settings.md"

_INTRODUCTION = """\
# Settings

Set them like Scrapy's own: in a project's `settings.py`, with `-s NAME=VALUE` on the command line,
or in a spider's `custom_settings`. `python docs/build_settings.py` makes this page from
`semcrawl/settings/table.py`. A few of [Scrapy's settings](concepts.md#scrapys-settings) have no
effect.
"""
_FIRST = "What you will want to set"


def render() -> str:
    """Return the page: the settings that most users set, then all others by subject."""
    lines = [_INTRODUCTION]
    rows = [row for page in PAGES.values() for row in page]
    lines += _section(_FIRST, (row for row in rows if row.first))
    for title, page in PAGES.items():
        lines += _section(title, (row for row in page if not row.first))
    return "\n".join(lines)


def _section(title: str, rows: Iterable[Setting]) -> list[str]:
    """Return the lines of a section; a remark in its title stands below it."""
    title, _, remark = title.partition(" (")
    lines = [f"## {title}\n"]
    if remark:
        lines.append(f"({remark}\n")
    for row in rows:
        lines += [f"### `{row.name}`\n", f"Default: {_default(row)}\n", f"{row.says}\n"]
    return lines


def _default(row: Setting) -> str:
    """Write a default as a reader expects it, with its unit."""
    value = row.default
    shown = f"{value:_}" if isinstance(value, int) and not isinstance(value, bool) else repr(value)
    return f"`{shown}`" + (f" {row.unit}" if row.unit else "")


if __name__ == "__main__":
    TARGET.write_text(render(), "utf-8")
