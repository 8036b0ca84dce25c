"""Tables on narrow terminals."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.table import Table

from semcrawl.terminal import fitted

FIGURES = ("1,234,567", "100.0%", "-0.2422", "12", "345")


def shown(width: int) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width)
    table = Table("host")
    table.columns[0].overflow = "fold"
    for name in ("requests", "rate", "key", "RDF", "quads"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_row("members.demo.example:8080", *FIGURES)
    console.print(fitted(table, console))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_figure_is_cut_and_names_are_whole(width: int) -> None:
    lines = shown(width)
    assert all(len(line.rstrip()) <= width for line in lines)
    (row,) = [line for line in lines if FIGURES[0] in line]
    assert all(figure in row for figure in FIGURES)
    names = "".join(line.strip("│ ")[:25].split(" ")[0] for line in lines[-3:])
    assert "members.demo.example:8080" in names.replace("─", "").replace("└", "")


def test_lines_between_columns_go_first_where_it_is_narrow() -> None:
    assert any("│" in line for line in shown(80))
    assert not any("│" in line for line in shown(60))
