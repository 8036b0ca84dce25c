"""The program ``semcrawl``: Scrapy's command line with our settings, from any folder."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import sqlite3
import stat
import sys
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from io import TextIOWrapper
from pkgutil import iter_modules
from typing import TextIO

import scrapy
import scrapy.commands
from scrapy.cmdline import execute
from scrapy.settings import Settings
from scrapy.utils.conf import closest_scrapy_cfg
from scrapy.utils.project import get_project_settings

import semcrawl.commands
from semcrawl.cli.scrapycommands import know_feed_formats
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.houses import houses
from semcrawl.terminal.messages import complain

#: package of our commands
_OURS = semcrawl.commands.__name__
#: thresholds of the garbage collector. A page creates thousands of objects that live until its
#: record is written, and many pages are in flight: the default of 700 traverses them again and
#: again in vain. Higher thresholds save no more: few collections are left
_GARBAGE = (20_000, 20, 20)


def main(argv: list[str] | None = None) -> None:
    """Run a command. Inside a Scrapy project, Scrapy's commands use the project's settings."""
    if not closest_scrapy_cfg():
        os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "semcrawl.settings")
    gc.set_threshold(*_GARBAGE)
    # escape characters that the encoding of standard output lacks
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors != "backslashreplace":
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = list(sys.argv if argv is None else argv)
    sys.argv[:1] = arguments[:1] = ["semcrawl"]  # shown in usage messages
    if arguments[1:2] == ["help"]:  # as in many programs
        arguments[1:] = [*arguments[2:3], "-h"]
    command = next((word for word in arguments[1:] if not word.startswith("-")), None)
    try:
        if command is None:
            print(_answer(arguments[1:]))
            return
        _check(command)
        _check_loop(command)
        settings = _settings_for(command)
        try:
            execute(arguments, settings)
        except (ImportError, NameError, TypeError, ValueError):
            # not imported before the reactor is installed
            from semcrawl.cli.crawling import unloadable_part

            if not (reason := unloadable_part(settings)):
                raise
            raise SemcrawlError(reason) from None
        finally:
            sys.stdout.flush()  # so that a closed pipe is caught here
    except SemcrawlError as error:
        complain(str(error))
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _discard_output()  # the reader has stopped
        sys.exit(1)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            # a terminal or a pipe cannot be full
            unnamed = "a file" if _is_stream(sys.stdout) else "to standard output"
            complain(f"cannot write {error.filename or unnamed}: {error.strerror}")
            _discard_output()
        elif error.filename is not None:  # such as a folder that was moved away
            complain(f"{error.filename}: {error.strerror}")
        else:
            raise
        sys.exit(1)
    except Exception as error:
        if not _is_of_database(error):
            raise
        complain(f"the crawl's records (crawl.db) cannot be read: {_cause(error)}")
        sys.exit(1)


def _is_of_database(error: Exception) -> bool:
    """Whether an error is one of a damaged database, or of one that is away."""
    library = sys.modules.get("sqlalchemy.exc")
    kinds = (
        (sqlite3.DatabaseError,) if library is None else (sqlite3.DatabaseError, library.DBAPIError)
    )
    return isinstance(error, kinds)


def _cause(error: Exception) -> str:
    """Return the database's own words, without the statement that SQLAlchemy adds."""
    lines = str(getattr(error, "orig", None) or error).splitlines()
    return lines[0] if lines else type(error).__name__


def _is_stream(output: TextIO) -> bool:
    """Whether an output is a terminal or a pipe, not a file or a device."""
    try:
        mode = os.fstat(output.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return output.isatty() or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _check_loop(command: str) -> None:
    """Raise ``UsageError`` inside a running event loop: a crawl needs its own."""
    with suppress(RuntimeError):  # no loop runs
        asyncio.get_running_loop()
        raise UsageError(
            "an event loop already runs in this process, as in a notebook: start a separate "
            f"process with `!semcrawl {command} …` or subprocess.run"
        )


def _discard_output() -> None:
    """Discard what is still buffered for standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _answer(options: list[str]) -> str:
    """Return the answer without a command. Raises ``UsageError`` for an unknown option."""
    unknown = next((word for word in options if word not in ("-h", "--help", "--version")), None)
    if unknown is not None:
        raise UsageError(f"unknown option {unknown} and no command; `semcrawl` lists the commands")
    return _version() if "--version" in options else _overview()


def _version() -> str:
    python = sys.version.split()[0]
    return f"semcrawl {semcrawl.__version__} (Scrapy {scrapy.__version__}, Python {python})"


def _overview() -> str:
    """Return the list of commands, ours with a description."""
    ours = _ours()
    lines = [
        "semcrawl finds the RDF that web sites publish and brings it home as quads.",
        "",
        "Usage: semcrawl COMMAND [options]   (semcrawl COMMAND -h shows help)",
        "",
    ]
    for name, module in ours.items():
        command = import_module(module).Command()
        lines.append(f"  {name:<10} {command.short_desc()}")
    theirs = [name for name in _names("scrapy.commands") if name not in ours]
    lines += ["", "Scrapy's own commands: " + ", ".join(theirs)]
    return "\n".join(lines)


def _check(command: str) -> None:
    """Raise ``UsageError`` for an unknown command."""
    known = {*_names("scrapy.commands"), *(e.name for e in entry_points(group="scrapy.commands"))}
    known.update(_ours())
    if module := get_project_settings()["COMMANDS_MODULE"]:
        known.update(_names(module))
    if command not in known:
        close = get_close_matches(command, known, n=1)
        hint = f"did you mean {close[0]}?" if close else "`semcrawl` lists the commands"
        raise UsageError(f"unknown command {command}; {hint}")


def _settings_for(command: str) -> Settings:
    """Return the settings for a command, by which Scrapy imports only this one of our commands.

    Inside a Scrapy project our commands use our settings, as in any other folder. ``crawl``,
    ``parse`` and the project's own commands use the project's.
    """
    settings = get_project_settings()
    module = settings["COMMANDS_MODULE"]
    ours = _ours().get(command, "")
    theirs = {"crawl", "parse", *(_names(module) if module else ())}
    if module != _OURS and ours and command not in theirs:
        settings = Settings()
        settings.setmodule("semcrawl.settings", priority="project")
        module = _OURS
    else:
        know_feed_formats(settings)
    if command == "parse" and command not in (_names(module) if module else ()):
        module = _OURS
    if module == _OURS:
        settings.set("COMMANDS_MODULE", ours, "project")
    if editor := os.environ.get("EDITOR"):  # as Scrapy does
        settings.set("EDITOR", editor, "project")
    return settings


def _ours() -> dict[str, str]:
    """Return the names of our commands, and those of houses, with their modules."""
    found = {name: f"{_OURS}.{name}" for name in _names(_OURS)}
    for house in houses():
        found.update(house.commands)
    return dict(sorted(found.items()))


def _names(package: str) -> list[str]:
    """Return the names of the commands in a module or package, which are those of modules."""
    path = getattr(import_module(package), "__path__", None)
    if path is None:
        return [package.rpartition(".")[2]]
    return sorted(module.name for module in iter_modules(path))
