"""``semcrawl init``: write a job file by asking a few questions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import tomli_w

from semcrawl.commandline import OfflineCommand
from semcrawl.commands._harvestoptions import add_harvest_options
from semcrawl.commands._jobfile import JOB_FILE, fault_of, job_keys
from semcrawl.config.scope import Scope
from semcrawl.config.targets import Targets
from semcrawl.errors import UsageError, os_errors_as
from semcrawl.settings.reader import number
from semcrawl.spiders.seeds import read_seeds
from semcrawl.terminal import complain
from semcrawl.web.urls import Normalisation
from semcrawl.wholefiles import whole_file


def _seeds(text: str) -> list[str]:
    return read_seeds(text, Normalisation(exact=True))


def _scope(text: str) -> str:
    Scope.parse(text)
    return text


def _targets(text: str) -> str:
    Targets.parse(text)
    return text


def _pages(text: str) -> int:
    return int(number("the number of requests", text, 0, whole=True))


def _delay(text: str) -> int | float:
    found = float(number("the number of seconds", text, 0))
    return int(found) if found.is_integer() else found


@dataclass(frozen=True, slots=True)
class _Question:
    """A question whose answer is the value of a key."""

    key: str
    text: str
    default: str
    #: reads the answer; raises ``UsageError``
    read: Callable[[str], Any] = str


_QUESTIONS = (
    _Question("seeds", "Addresses to start from, with blanks between", "", _seeds),
    _Question("out", "Folder for the results", "harvest"),
    _Question("scope", "How far to go: site, parent, any, or hosts", "site", _scope),
    _Question("targets", "What to look for: rdf, embedded, html, images", "rdf", _targets),
    _Question("about", "A topic, such as keywords:merge sort (empty: none)", ""),
    _Question("pages", "Most requests of a run (0: no limit)", "0", _pages),
    _Question("crawl-delay", "Seconds between two requests to a host", "1", _delay),
    _Question("contact", "Your mail address or page, which sites are told (empty: none)", ""),
)
_TAIL = """
# All options of `semcrawl harvest` are keys, and all settings (docs/settings.md):
# SEMCRAWL_STORE_URL is store-url, or url below [store]. [scrapy] holds Scrapy's own settings.
"""


class Command(OfflineCommand):
    """Asks, and writes a job file."""

    arguments = f"[FILE] (default: {JOB_FILE})"
    summary = "Write a job file for `semcrawl harvest` by asking a few questions"
    description = (
        "Ask what to harvest and how, and write it to a file that `semcrawl harvest FILE` takes. "
        "Answers may also come from a pipe, one a line; an empty one takes the default."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's option to Scrapy's."""
        super().add_options(parser)
        parser.add_argument("--force", action="store_true", help="replace the file if it exists")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse a file that exists."""
        if len(args) > 1:
            raise UsageError("give one file")
        self._path = Path(args[0] if args else JOB_FILE)
        if self._path.suffix != ".toml":
            raise UsageError(f"the name of a job file ends with .toml, unlike {self._path}")
        if self._path.exists() and not opts.force:
            raise UsageError(f"{self._path} exists; --force replaces it")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Ask and write."""
        parser = argparse.ArgumentParser()
        add_harvest_options(parser)
        keys = job_keys(parser)
        lines = []
        for question in _QUESTIONS:
            value = _ask(question, keys.get(question.key))
            if value == "":
                continue
            # a default that is left open may follow from other keys, as targets from a topic
            mark = "# " if str(value) == question.default else ""
            lines += [f"# {question.text}", mark + tomli_w.dumps({question.key: value})]
        text = "\n".join(lines) + _TAIL
        with os_errors_as(UsageError, f"cannot write {self._path}"):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(self._path) as file:
                file.write(text.encode())
        print(f"{self._path} is written; start it with: semcrawl harvest {quote(str(self._path))}")


def _ask(question: _Question, meaning: Any) -> Any:
    """Return the answer; ask again at a terminal. Raises ``UsageError``."""
    while True:
        default = f" [{question.default}]" if question.default else ""
        print(f"{question.text}{default}: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not sys.stdin.isatty():
            print(file=sys.stderr)
        answer = line.strip() or question.default
        try:
            if not answer and question.key == "seeds":
                raise UsageError("give an address to start from")
            value = question.read(answer)
            fault = fault_of(meaning, question.key, value) if meaning is not None else ""
            if fault:
                raise UsageError(f"{question.key} {fault}")
        except UsageError as error:
            if not (line and sys.stdin.isatty()):
                raise
            complain(str(error))
        else:
            return value
