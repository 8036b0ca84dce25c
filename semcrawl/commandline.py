"""The program: its commands, their common options, and Scrapy's own commands beside them.

Replaces Scrapy's commands in our project, and in projects with our add-on.
They are entry points of the group ``scrapy.commands``. Scrapy loads add-ons only after it has
parsed the command line, and only for a crawl: ``crawl`` and ``runspider`` learn our feed formats
before, ``list`` our spiders, and ``settings`` the parts with which crawls run. The commands that
fetch an address for their user may fetch a private one. A crawl that semcrawl refuses gives one
line. Elsewhere they work like Scrapy's.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import gc
import json
import logging
import os
import re
import signal
import sqlite3
import stat
import sys
import time
import traceback
from asyncio import Future
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from io import TextIOWrapper
from pathlib import Path
from pkgutil import iter_modules
from shlex import quote
from typing import Any, NoReturn, TextIO

import scrapy
import scrapy.commands
from scrapy import cmdline, signals
from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.crawler import Crawler, CrawlerProcessBase
from scrapy.exceptions import UsageError as ScrapyUsageError
from scrapy.settings import BaseSettings, Settings, default_settings
from scrapy.utils.conf import closest_scrapy_cfg
from scrapy.utils.misc import load_object
from scrapy.utils.project import get_project_settings

import semcrawl
import semcrawl.commands
from semcrawl.config.checks import check_log, check_settings, is_on_redis
from semcrawl.config.environment import take_environment
from semcrawl.config.jobdir import has_addon
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.houses import houses
from semcrawl.printable import printable
from semcrawl.settings import feedformats as registry
from semcrawl.terminal import aligned, amount, complain, fitted, note_refusal, table_console

__all__ = ["signals_call"]


class HelpFormatter(ScrapyHelpFormatter):
    """Fixes Scrapy's formatter, which takes any line that ends with a colon for a heading."""

    def format_part_strings(self, part_strings: list[str]) -> list[str]:
        """Underline only headings: the second part of a section, and nothing in options."""
        if part_strings[:1] == ["\n"]:
            return [*super().format_part_strings(part_strings[:2]), *part_strings[2:]]
        if part_strings and part_strings[0].startswith("usage: "):
            return super().format_part_strings(part_strings)
        return part_strings


class OneLineErrors(ScrapyCommand):
    """A command that reports errors in one line: status 2 for wrong input, 1 for failures.

    Subclasses implement :meth:`execute`, and :meth:`check` for errors that show before the start.
    """

    #: whether unknown options stay in ``args``
    passes_options = False
    #: texts of the usage, the overview and the command's help; empty: Scrapy's
    arguments = ""
    summary = ""
    description = ""

    def syntax(self) -> str:
        """Return the arguments in the usage line."""
        return self.arguments or super().syntax()

    def short_desc(self) -> str:
        """Return the description in the list of commands."""
        return self.summary or super().short_desc()

    def long_desc(self) -> str:
        """Return the description in the command's help."""
        return self.description or super().long_desc()

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's options, and show the called program in the usage."""
        super().add_options(parser)
        name = type(self).__module__.rpartition(".")[2]
        parser.usage = f"{parser.prog} {name} {self.syntax()}"
        parser.formatter_class = HelpFormatter
        parser.error = self._refuse_value  # type: ignore[method-assign]
        self._parser = parser

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Copy the options into the settings; refuse invalid ones."""
        try:
            take_environment(self.own_settings)
            if not self.passes_options:
                self._refuse_unknown(args)
            try:
                super().process_options(args, opts)
            except ScrapyUsageError as error:
                raise UsageError(str(error)) from None
            except OSError as error:
                raise UsageError(f"cannot write {error.filename}: {error.strerror}") from None
            self.complete(args, opts)
            if is_on_redis(self.own_settings):
                from semcrawl.config.redisserver import adopt_redis  # importing redis is slow

                adopt_redis(self.own_settings)
            check_settings(self.own_settings)
            check_log(self.own_settings)
            self.check(args, opts)
        except SemcrawlError as error:
            note_refusal(self.own_settings, str(error))
            raise SystemExit(self._told(error)) from None

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Execute the command; report our own errors in one line."""
        # no tracebacks for a log that cannot be written, such as on a full disk
        logging.raiseExceptions = False
        try:
            self.execute(args, opts)
        except SemcrawlError as error:
            self.exitcode = self._told(error)

    def complete(self, args: list[str], opts: argparse.Namespace) -> None:
        """Add to arguments, options and settings before they are checked; raise ``UsageError``."""

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raise ``UsageError`` for errors that show before the start."""

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command."""
        raise NotImplementedError

    @property
    def own_settings(self) -> BaseSettings:
        """The settings that Scrapy passes to every command."""
        if self.settings is None:
            raise UsageError("the command was started without settings")
        return self.settings

    def _refuse_unknown(self, args: list[str]) -> None:
        """Raise ``UsageError`` for an unknown option, which Scrapy leaves in ``args``."""
        unknown = next((arg for arg in args if arg.startswith("-") and arg not in ("-", "--")), "")
        if unknown:
            name = unknown.partition("=")[0]
            known = set(re.findall(r"--[a-z-]+", self._parser.format_help())) - {name}
            close = get_close_matches(name, known, n=1, cutoff=0.75)
            hint = f"did you mean {close[0]}?" if close else self._where_options_are()
            raise UsageError(f"unknown option {name}; {hint}")

    def _refuse_value(self, message: str) -> NoReturn:
        """Report argparse's error in one line without the usage."""
        for kind, wanted in (("int", "a whole number"), ("float", "a number")):
            message = re.sub(
                rf"^argument (\S+): invalid {kind} value: ", rf"\1 must be {wanted}, not ", message
            )
        raise SystemExit(self._told(UsageError(message)))

    def _where_options_are(self) -> str:
        return f"see `{' '.join((self._parser.usage or '').split()[:2])} -h`"

    @staticmethod
    def _told(error: SemcrawlError) -> int:
        """Report an error and return its exit status."""
        complain(str(error))
        return 2 if isinstance(error, UsageError) else 1


class OfflineCommand(OneLineErrors):
    """A command without a crawl and a log."""

    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}


#: most damaged documents that are named
_NAMED = 10


class JobCommand(OfflineCommand):
    """A command on the job folder of a finished or running crawl."""

    def add_top(self, parser: argparse.ArgumentParser, rows: int, what: str) -> None:
        """Add the option ``--top``."""
        parser.add_argument(
            "--top", type=int, default=rows, metavar="N", help=f"{what} shown ({rows:,})"
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse a number of rows below 1."""
        if opts.top < 1:
            raise UsageError(f"--top must be at least 1, not {opts.top}")


def job_at(args: list[str], position: int) -> Path:
    """Return the folder in the arguments, by default the current one."""
    return Path(args[position]) if len(args) > position else Path()


def refuse_several(folders: list[str]) -> None:
    """Raise ``UsageError`` for more than one folder: a document in two would count twice."""
    if len(folders) > 1:
        raise UsageError("give one job folder; `semcrawl merge DIR DIR… --out DIR` merges several")


def print_json(content: Any) -> None:
    """Print an object as JSON without escaping non-ASCII characters."""
    json.dump(content, sys.stdout, ensure_ascii=False, indent=1)
    print()


def print_table(title: str, columns: dict[str, bool], rows: list[tuple[str, ...]]) -> None:
    """Print a table. Columns of figures (``True``) are aligned right and do not wrap."""
    console = table_console()
    table = aligned(title, columns, rows)
    table.title_style = "bold"
    console.print(fitted(table, console))


def tell_of_damaged(urls: Sequence[str], folders: Sequence[Path | str]) -> int:
    """Say which documents were left out as their lines are damaged; return the exit status."""
    if not urls:
        return 0
    for url in urls[:_NAMED]:
        remark(f"left out: {url}: its lines are damaged")
    names = " ".join(quote(str(folder)) for folder in folders)
    rest = f" (the first {_NAMED} are named)" if len(urls) > _NAMED else ""
    complain(
        f"{amount(len(urls), 'document')} left out{rest}: `semcrawl check {names}` says what is "
        "damaged, and the next harvest into the folder reads it again"
    )
    return 1


def remark(text: str) -> None:
    """Print a remark on standard error."""
    print(printable(text), file=sys.stderr)


#: ending signals; not every system has all
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


@contextmanager
def signals_call(
    function: Callable[[], object], names: tuple[str, ...] = _ENDING
) -> Iterator[None]:
    """Call ``function`` on Ctrl-C and the like; restore the former handlers at the end.

    Ignored signals stay ignored. Works in the main thread only.
    """
    numbers = [number for name in names if (number := getattr(signal, name, None))]
    before = {
        number: handler
        for number in numbers
        if (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, lambda *_: function())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def serve_until_stopped(serve: Callable[[asyncio.Event], Awaitable[None]], port: int) -> None:
    """Run a server until Ctrl-C and the like set its event.

    Raises ``UsageError`` if the port cannot be had.
    """

    async def run() -> None:
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()
        with signals_call(lambda: loop.call_soon_threadsafe(stopped.set)):
            await serve(stopped)

    try:
        asyncio.run(run())
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise UsageError(f"cannot serve on port {port}: {reason}") from None


logger = logging.getLogger(__name__)

#: settings of components by import path, each with its order
_PLACES = (
    "ADDONS",
    "DOWNLOADER_MIDDLEWARES",
    "EXTENSIONS",
    "ITEM_PIPELINES",
    "SPIDER_MIDDLEWARES",
)
#: settings of components by name
_NAMED_PARTS = ("DOWNLOAD_HANDLERS", "FEED_EXPORTERS", "FEED_STORAGES")
#: folders of Scrapy's and our code, whose errors are reported without a position
_KNOWN = tuple(str(Path(module.__file__ or "").parent) for module in (scrapy, semcrawl))


class Crawls:
    """The crawls that a command runs together in its process, and their errors."""

    def __init__(self, process: CrawlerProcessBase) -> None:
        """Run the crawls in ``process``."""
        self._process = process
        #: why the first of them could not begin, or empty
        self.fault = ""
        self._watch = _SignalWatch()
        self._began = time.process_time()

    @property
    def spent(self) -> float:
        """Processor seconds of this process since its last spider opened."""
        return time.process_time() - self._began

    @property
    def failed(self) -> bool:
        """Whether a crawl could not begin, or a signal handler failed."""
        return bool(self.fault or self._process.bootstrap_failed or self._watch.failed)

    def run(
        self, crawls: Mapping[Crawler, Mapping[str, Any]], give_up: Callable[[str], None]
    ) -> None:
        """Run crawlers with the arguments of their spiders until all have ended.

        If one cannot begin, log the reason in one line and pass it to ``give_up``, which ends the
        others.
        """
        handlers = logging.getLogger("scrapy.utils.signal")
        handlers.addHandler(self._watch)
        try:
            for crawler, arguments in crawls.items():
                crawler.signals.connect(self._opened, signals.spider_opened)
                unbegun = partial(self._unbegun, crawler.settings, give_up)
                crawl: Any = self._process.crawl(crawler, **arguments)
                if isinstance(crawl, Future):
                    crawl.add_done_callback(partial(_tell, unbegun))
                else:
                    crawl.addErrback(lambda failure, tell=unbegun: tell(failure.value))
            with _hangups_end():
                self._process.start()
        finally:
            handlers.removeHandler(self._watch)

    def _opened(self) -> None:
        """Exempt what is loaded by now from garbage collection, and start the clock."""
        gc.freeze()
        self._began = time.process_time()

    def _unbegun(
        self, settings: BaseSettings, give_up: Callable[[str], None], error: BaseException
    ) -> None:
        """Report why a crawl could not begin."""
        fault = f"the crawl cannot begin: {reason_of(error, settings)}"
        if fault != self.fault:  # both spiders may report the same
            logger.error("%s", fault)
            logger.debug("where it happened", exc_info=error)
        self.fault = self.fault or fault
        give_up(fault)


@contextmanager
def _hangups_end() -> Iterator[None]:
    """Let SIGHUP, sent when the terminal closes, end crawls like SIGTERM, unless it is ignored."""
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is None or signal.getsignal(hangup) is not signal.SIG_DFL:
        yield
        return
    signal.signal(hangup, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(hangup, signal.SIG_DFL)


def reason_of(error: BaseException, settings: BaseSettings) -> str:
    """Return one line on why a crawl could not begin.

    It names the setting whose component cannot be loaded. For an error in code that is neither
    Scrapy's nor ours it gives the position.
    """
    if isinstance(error, SemcrawlError):
        return _one_line(error)
    if fault := unloadable_part(settings):
        return fault
    before = error.__context__
    if before is not None and not error.__suppress_context__ and _is_known(error):
        return reason_of(before, settings)  # raised while Scrapy cleaned up
    reason = f"{type(error).__name__}: {_one_line(error)}".removesuffix(": ")
    if _is_known(error):
        return reason
    place = traceback.extract_tb(error.__traceback__)[-1:]
    return reason + "".join(
        f" ({at.filename}, line {at.lineno})" for at in place if not at.filename.startswith("<")
    )


def unloadable_part(settings: BaseSettings) -> str:
    """Return which setting names a component that cannot be loaded, and why; empty if none."""
    for name, path in _parts(settings):
        try:
            load_object(path)
        except Exception as error:  # importing may raise anything
            return f"{name} names {path}, which cannot be loaded: {_one_line(error)}"
    return ""


def _parts(settings: BaseSettings) -> Iterator[tuple[str, str]]:
    """Yield settings and the import paths that they name."""
    for name, default in vars(default_settings).items():
        if not name.isupper() or (settings.getpriority(name) or 0) <= 0:
            continue
        value = settings[name]
        if name in _PLACES:
            paths = [path for path, place in dict(value).items() if place is not None]
        elif name in _NAMED_PARTS:
            paths = list(dict(value).values())
        else:
            paths = [value] if isinstance(default, str) and _is_path(default) else []
        yield from ((name, path) for path in paths if isinstance(path, str) and "." in path)


def _is_path(text: str) -> bool:
    """Whether a default value is the import path of a class."""
    return text.startswith(("scrapy.", "twisted.")) and text.rpartition(".")[2][:1].isupper()


def _is_known(error: BaseException) -> bool:
    """Whether Scrapy or we raised an error."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.startswith(_KNOWN)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _tell(unbegun: Callable[[BaseException], None], crawl: Future[None]) -> None:
    """Report the exception that ended a crawl, if any."""
    if not crawl.cancelled() and (error := crawl.exception()) is not None:
        unbegun(error)


class _SignalWatch(logging.Handler):
    """Notices exceptions in signal handlers, which Scrapy only logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.failed = False

    def emit(self, record: logging.LogRecord) -> None:
        """Record the failure."""
        self.failed = True


def know_feed_formats(settings: BaseSettings) -> None:
    """Add our feed formats and storages to a project with our add-on; its own take precedence."""
    if not has_addon(settings):
        return
    for name in ("FEED_EXPORTERS", "FEED_STORAGES"):
        formats = {**getattr(registry, name), **settings.getdict(name)}
        settings.set(name, formats, "project")


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
            with _found_at_once(command, settings["COMMANDS_MODULE"]):
                cmdline.execute(arguments, settings)
        except (ImportError, NameError, TypeError, ValueError):
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


@contextmanager
def _found_at_once(command: str, module: str) -> Iterator[None]:
    """Let Scrapy find the only command that a module of ours has.

    It would load all of its own before, and what they need.
    """
    search = cmdline._get_commands_dict
    if module and module == our_commands().get(command):
        cmdline._get_commands_dict = lambda *_: {command: import_module(module).Command()}
    try:
        yield
    finally:
        cmdline._get_commands_dict = search


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
            "an event loop already runs in this process, as in a notebook: use semcrawl.harvest(), "
            f"or start a process with `!semcrawl {command} …`"
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
    ours = our_commands()
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
    known.update(our_commands())
    if module := get_project_settings()["COMMANDS_MODULE"]:
        known.update(_names(module))
    if command not in known:
        close = get_close_matches(command, known, n=1)
        hint = f"did you mean {close[0]}?" if close else "`semcrawl` lists the commands"
        raise UsageError(f"unknown command {command}; {hint}")


def __getattr__(name: str) -> Any:
    """Return one of Scrapy's commands, as entry points name them; none is loaded before."""
    if name.endswith("Command"):
        return getattr(import_module("semcrawl.scrapycommands"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _settings_for(command: str) -> Settings:
    """Return the settings for a command, by which Scrapy imports only this one of our commands.

    Inside a Scrapy project our commands use our settings, as in any other folder. ``crawl``,
    ``parse`` and the project's own commands use the project's.
    """
    settings = get_project_settings()
    module = settings["COMMANDS_MODULE"]
    ours = our_commands().get(command, "")
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


def our_commands() -> dict[str, str]:
    """Return the names of our commands, and those of houses, with their modules."""
    found = {name: f"{_OURS}.{name}" for name in _names(_OURS)}
    for house in houses():
        found.update(house.commands)
    return dict(sorted(found.items()))


def scrapy_commands() -> list[str]:
    """Return the names of Scrapy's commands."""
    return _names("scrapy.commands")


def _names(package: str) -> list[str]:
    """Return the names of the commands in a module or package, which are those of modules."""
    path = getattr(import_module(package), "__path__", None)
    if path is None:
        return [package.rpartition(".")[2]]
    return sorted(m.name for m in iter_modules(path) if not m.name.startswith("_"))
