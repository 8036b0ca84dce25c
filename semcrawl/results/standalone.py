"""Makes self-contained pages: one file, without scripts and without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template

from semcrawl.printable import printable


def whole_page(title: str, body: str) -> str:
    """Return a page of this body, which is HTML; ``title`` is plain text."""
    template = Template(files("semcrawl.results").joinpath("page.html").read_text("utf-8"))
    return template.substitute(title=html_text(title), body=body)


def html_text(text: str) -> str:
    """Escape a text for HTML, with its control characters made visible."""
    return escape(printable(text))


def tiles(figures: Mapping[str, int]) -> str:
    """Return large figures with their names."""
    each = (f"<div><dt>{name}</dt><dd>{number:,}</dd></div>" for name, number in figures.items())
    return f'<dl class="tiles">{"".join(each)}</dl>'
