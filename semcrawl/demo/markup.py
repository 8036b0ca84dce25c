"""Makes pages of the demonstration web from a template, and small pieces of HTML."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_NAVIGATION = (
    ("http://www.demo.example/", "Home"),
    ("http://members.demo.example/", "Members"),
    ("http://data.demo.example/", "Data"),
    ("http://vocab.demo.example/", "Vocabulary"),
    ("http://blog.demo.example/", "Blog"),
)


def page(site: str, title: str, content: str, *, head: str = "") -> str:
    """Return an HTML page with the web's navigation around ``content`` (HTML)."""
    navigation = " ".join(link(url, text) for url, text in _NAVIGATION)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)} – {escape(site)}</title>\n"
        '<link rel="stylesheet" href="http://www.demo.example/style.css">\n'
        f"{head}</head>\n<body>\n<header><nav>{navigation}</nav></header>\n"
        f"<main>\n<h1>{escape(title)}</h1>\n{content}\n</main>\n"
        "<footer><p>Saltmarsh Field Society, a demonstration. Nobody here exists.</p></footer>\n"
        "</body>\n</html>\n"
    )


def link(url: str, text: str, **attributes: str) -> str:
    """Return an ``a`` element; ``text`` and values are escaped."""
    more = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f'<a href="{escape(url)}"{more}>{escape(text)}</a>'


def alternate(url: str, content_type: str, title: str = "") -> str:
    """Return a ``link rel=alternate`` element for the head."""
    named = f' title="{escape(title)}"' if title else ""
    return f'<link rel="alternate" type="{content_type}" href="{escape(url)}"{named}>\n'


def listing(items: Iterable[str]) -> str:
    """Return an unordered list of pieces of HTML."""
    return "<ul>\n" + "".join(f"<li>{item}</li>\n" for item in items) + "</ul>"


def paragraphs(texts: Iterable[str]) -> str:
    """Return paragraphs of plain text."""
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts)
