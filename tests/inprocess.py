"""Runs a command in this process: a second of start-up less than a process of its own."""

from __future__ import annotations

import argparse

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings


def exit_status(command: ScrapyCommand, *arguments: object) -> int:
    """Do with a command as Scrapy's command line does, and return the exit status."""
    command.settings = Settings()
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    options, rest = parser.parse_known_args([str(argument) for argument in arguments])
    try:
        command.process_options(rest, options)
    except SystemExit as end:
        return int(end.code or 0)
    command.run(rest, options)
    return command.exitcode
