"""Base classes of our commands: unknown options, one-line errors, exit status."""

from __future__ import annotations

import argparse
import logging
import re
from difflib import get_close_matches
from typing import NoReturn

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError as ScrapyUsageError
from scrapy.settings import BaseSettings

from semcrawl.config.checks import check_log, check_settings, is_on_redis
from semcrawl.config.environment import take_environment
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.terminal.messages import complain, note_refusal


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
