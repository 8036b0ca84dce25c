"""``semcrawl completion``: print a script by which a shell completes commands and options."""

from __future__ import annotations

import argparse
from importlib import import_module

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from semcrawl.commandline import OfflineCommand, our_commands, scrapy_commands
from semcrawl.errors import UsageError

#: shells whose scripts are tried
_SHELLS = ("bash", "zsh", "fish")


class Command(OfflineCommand):
    """Prints the script for a shell."""

    arguments = "bash | zsh | fish"
    summary = "Print a script for the shell that completes commands and options"
    description = (
        "Print a script by which bash, zsh or fish completes semcrawl's commands, options and "
        "files. It is made once and runs nothing of semcrawl. Bash: semcrawl completion bash > "
        "~/.local/share/bash-completion/completions/semcrawl"
    )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse other shells."""
        if len(args) != 1 or args[0] not in _SHELLS:
            raise UsageError(f"name one shell: {', '.join(_SHELLS)}")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the script."""
        import shtab  # other commands need none of it

        parser = argparse.ArgumentParser(prog="semcrawl")
        parser.add_argument("--version", action="store_true", help="print the version")
        commands = parser.add_subparsers()
        for name, command in _commands().items():
            command.settings = Settings()
            one = commands.add_parser(
                name, help=_quiet(command.short_desc()), conflict_handler="resolve"
            )
            command.add_options(one)
            one.add_argument("arguments", nargs="*")
            for action in one._actions:
                if action.help != argparse.SUPPRESS:
                    action.help = _quiet(action.help or "")
                if (action.nargs != 0 or not action.option_strings) and not action.choices:
                    is_folder = action.metavar == "DIR"
                    action.complete = shtab.DIRECTORY if is_folder else shtab.FILE  # type: ignore[attr-defined]
        print(shtab.complete(parser, args[0]))


def _commands() -> dict[str, ScrapyCommand]:
    """Return all commands by name, Scrapy's among them; no module of theirs needs an extra."""
    modules = {name: f"scrapy.commands.{name}" for name in scrapy_commands()} | our_commands()
    return {name: import_module(module).Command() for name, module in sorted(modules.items())}


def _quiet(text: str) -> str:
    """Return the first sentence of a help text, as shells show it beside a name."""
    return " ".join(text.split()).partition("; ")[0]
