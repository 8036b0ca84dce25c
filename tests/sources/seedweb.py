"""``semcrawl seeds`` in this process."""

from __future__ import annotations

from semcrawl.commands.seeds import Command
from tests.inprocess import exit_status


def seeds(capsys, *arguments: object) -> tuple[int, list[str], str]:
    """Run the command; return exit status, seeds, and what it complained of."""
    status = exit_status(Command(), *arguments, "-s", "SEMCRAWL_CRAWL_DELAY=0")
    said = capsys.readouterr()
    lines = said.out.splitlines()
    return status, [line for line in lines if not line.startswith("#")], said.err
