"""``semcrawl``: Scrapy's command line with this project's settings, from any folder."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import sys
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from io import TextIOWrapper
from pkgutil import iter_modules

import scrapy
import scrapy.commands
from scrapy.cmdline import execute
from scrapy.settings import Settings
from scrapy.utils.conf import closest_scrapy_cfg
from scrapy.utils.project import get_project_settings

import semcrawl.commands
from semcrawl.cli.scrapycommands import know_feed_formats
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.terminal.messages import complain

#: where our commands are
_OURS = semcrawl.commands.__name__
#: objects made and not freed before the garbage collector looks. A page makes some thousand that
#: live until its record is written, and many pages are in flight: with the default of 700 they are
#: all looked at again and again for nothing. More would save nothing: few collections are left
_GARBAGE = (20_000, 20, 20)


def main(argv: list[str] | None = None) -> None:
    """Run a command; inside somebody's Scrapy project Scrapy's own have that project's settings."""
    if not closest_scrapy_cfg():
        os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "semcrawl.settings")
    gc.set_threshold(*_GARBAGE)
    # signs that the terminal's encoding does not know are written as escapes
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors != "backslashreplace":
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = list(sys.argv if argv is None else argv)
    sys.argv[:1] = arguments[:1] = ["semcrawl"]  # what usage messages show
    if arguments[1:2] == ["help"]:  # as many programs have it
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
            # (not imported before: after the reactor, where one is installed)
            from semcrawl.cli.crawling import unloadable_part

            if not (reason := unloadable_part(settings)):
                raise
            raise SemcrawlError(reason) from None
        finally:
            sys.stdout.flush()  # here, where a closed pipe is known from other errors
    except SemcrawlError as error:
        complain(str(error))
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _discard_output()  # who reads it has seen enough
        sys.exit(1)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            complain(f"cannot write {error.filename or 'to standard output'}: {error.strerror}")
            _discard_output()
        elif error.filename is not None:  # a folder that was moved away, say
            complain(f"{error.filename}: {error.strerror}")
        else:
            raise
        sys.exit(1)


def _check_loop(command: str) -> None:
    """Raise ``UsageError`` where an event loop runs: a crawl needs its own."""
    with suppress(RuntimeError):  # there is none
        asyncio.get_running_loop()
        raise UsageError(
            "an event loop runs in this process already, as in a notebook: start a process, with "
            f"`!semcrawl {command} …` or subprocess.run"
        )


def _discard_output() -> None:
    """Silence errors of output that is still buffered for standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _answer(options: list[str]) -> str:
    """Return the answer where no command is named. Raises ``UsageError`` for an unknown option."""
    unknown = next((word for word in options if word not in ("-h", "--help", "--version")), None)
    if unknown is not None:
        raise UsageError(f"unknown option {unknown} and no command; `semcrawl` lists the commands")
    return _version() if "--version" in options else _overview()


def _version() -> str:
    python = sys.version.split()[0]
    return f"semcrawl {semcrawl.__version__} (Scrapy {scrapy.__version__}, Python {python})"


def _overview() -> str:
    """List the commands: ours each in a line, Scrapy's by name."""
    ours = _names(_OURS)
    lines = [
        "semcrawl finds the RDF that web sites publish and brings it home as quads.",
        "",
        "Usage: semcrawl COMMAND [options]   (semcrawl COMMAND -h tells more)",
        "",
    ]
    for name in ours:
        command = import_module(f"{_OURS}.{name}").Command()
        lines.append(f"  {name:<10} {command.short_desc()}")
    theirs = [name for name in _names("scrapy.commands") if name not in ours]
    lines += ["", "Scrapy's own commands: " + ", ".join(theirs)]
    return "\n".join(lines)


def _check(command: str) -> None:
    """Raise ``UsageError`` for a command that there is not."""
    known = {*_names("scrapy.commands"), *(e.name for e in entry_points(group="scrapy.commands"))}
    known.update(_names(_OURS))
    if module := get_project_settings()["COMMANDS_MODULE"]:
        known.update(_names(module))
    if command not in known:
        close = get_close_matches(command, known, n=1)
        hint = f"did you mean {close[0]}?" if close else "`semcrawl` lists the commands"
        raise UsageError(f"unknown command {command}; {hint}")


def _settings_for(command: str) -> Settings:
    """The project's settings, by which Scrapy imports of our commands the asked one only.

    In somebody's project our commands run with our settings, as in any other folder; ``crawl``,
    ``parse``, and what the project has a command for, are the project's.
    """
    settings = get_project_settings()
    module = settings["COMMANDS_MODULE"]
    ours = command in _names(_OURS)
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
        settings.set("COMMANDS_MODULE", f"{_OURS}.{command}" if ours else "", "project")
    if editor := os.environ.get("EDITOR"):  # as Scrapy does when it reads the settings itself
        settings.set("EDITOR", editor, "project")
    return settings


def _names(package: str) -> list[str]:
    """Names of the commands in a module or package: commands are named by their modules."""
    path = getattr(import_module(package), "__path__", None)
    if path is None:
        return [package.rpartition(".")[2]]
    return sorted(module.name for module in iter_modules(path))
