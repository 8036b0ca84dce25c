"""Hooks of MkDocs: pages made from the code, and links that leave the folder of pages.

`make site` runs them. ``commands.md`` comes from the parsers of the commands, ``api.md`` from the
public names of the packages and their docstrings.
"""

from __future__ import annotations

import argparse
import os
import posixpath
from importlib import import_module
from pkgutil import iter_modules
from re import Match
from typing import Any
from xml.etree import ElementTree

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from scrapy.settings import Settings

import semcrawl.commands

#: packages and modules whose public names are for users, in the order of the page
_PUBLIC = (
    "semcrawl",
    "semcrawl.items",
    "semcrawl.results",
    "semcrawl.results.job",
    "semcrawl.relevance",
    "semcrawl.topics",
    "semcrawl.links",
    "semcrawl.sources",
    "semcrawl.rdf",
    "semcrawl.imagesearch",
    "semcrawl.frontier",
    "semcrawl.errors",
)
#: names of roles in docstrings, as Sphinx has them
_ROLE = r":(?:mod|func|class|meth|attr|data|exc):`~?([^`<>\s]+)`"


class _Role(InlineProcessor):
    """Shows a role of a docstring as code with the last part of the name."""

    def handleMatch(  # type: ignore[override]  # noqa: N802 (the library's name)
        self, m: Match[str], data: str
    ) -> tuple[ElementTree.Element, int, int]:
        code = ElementTree.Element("code")
        code.text = m.group(1).rpartition(".")[2]
        return code, m.start(0), m.end(0)


class _Doctests(Preprocessor):
    """Shows the examples of docstrings, each up to an empty line, as code."""

    def run(self, lines: list[str]) -> list[str]:
        found: list[str] = []
        inside = False
        for line in [*lines, ""]:
            if line.startswith(">>> ") and not inside:
                inside = True
                found += ["", "```pycon"]
            elif inside and not line.strip():
                inside = False
                found.append("```")
            found.append(line)
        return found


class _Docstrings(Extension):
    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (the library's name)
        # before blocks, and before code in backticks
        md.preprocessors.register(_Doctests(md), "doctests", 90)
        md.inlinePatterns.register(_Role(_ROLE, md), "role", 200)


@event_priority(100)
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Let docstrings have roles and examples, as our editors know them."""
    config.markdown_extensions.append(_Docstrings())  # type: ignore[arg-type]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from the code."""
    for name, content in (("commands.md", commands()), ("api.md", api())):
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **others: Any) -> str:
    """Let links to files outside the folder of pages lead to the repository."""
    base = f"{posixpath.normpath(config.repo_url or '')}".replace(":/", "://", 1)
    return markdown.replace("](../", f"]({base}/blob/main/")


def commands() -> str:
    """Return the page of the commands, from their own help."""
    os.environ["COLUMNS"] = "78"  # as wide as a block of code
    lines = ["# Commands", "", "Each has Scrapy's global options, too; `semcrawl COMMAND -h`.", ""]
    for _, name, _ in iter_modules(semcrawl.commands.__path__):
        module = import_module(f"semcrawl.commands.{name}")
        if name.startswith("_") or not hasattr(module, "Command"):
            continue
        command = module.Command()
        command.settings = Settings()
        parser = argparse.ArgumentParser(
            prog="semcrawl",
            conflict_handler="resolve",
            add_help=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        type(command).add_options(command, parser)
        parser._action_groups = [  # Scrapy's own options are the same everywhere
            group for group in parser._action_groups if group.title != "Global Options"
        ]
        lines += [f"## {name}", "", command.short_desc(), ""]
        lines += ["```text", parser.format_help().strip(), "```", ""]
    return "\n".join(lines)


def api() -> str:
    """Return the page of the public names; the docstrings are filled in from the source."""
    lines = ["# Python", "", "Public names by package. They stay as they are.", ""]
    for package in _PUBLIC:
        module = import_module(package)
        lines += [f"## {package}", ""]
        names = getattr(module, "__all__", None)
        if names is None or package in ("semcrawl.items", "semcrawl.errors"):
            lines += [f"::: {package}", "    options: {show_root_heading: false}", ""]
            continue
        for name in names:
            made = getattr(module, name, None)
            home = getattr(made, "__module__", None)
            if isinstance(made, type) or callable(made):
                lines += [f"::: {home}.{made.__qualname__}", ""]
    return "\n".join(lines)
