"""The help of ``-h`` is complete on a terminal of any width."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from pkgutil import iter_modules

import pytest
from scrapy.settings import Settings

import semcrawl.commands
from semcrawl.commands import completion
from tests.inprocess import exit_status

HEADINGS = {"Usage", "Options", "Global Options"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name for _, name, _ in iter_modules(semcrawl.commands.__path__) if not name.startswith("_")],
)
def test_only_headings_are_underlined(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in range(50, 130):
        monkeypatch.setenv("COLUMNS", str(columns))
        command = import_module(f"semcrawl.commands.{name}").Command()
        command.settings = Settings()
        parser = argparse.ArgumentParser(conflict_handler="resolve")
        command.add_options(parser)
        lines = parser.format_help().splitlines()
        underlined = {a for a, b in pairwise(lines) if b and not b.strip("=-")}
        assert underlined - {name.title()} <= HEADINGS


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The shells are asked, where they are installed; zsh only reads the script."""
    assert exit_status(completion.Command(), shell) == 0
    script = tmp_path / "_semcrawl"
    script.write_text(capsys.readouterr().out)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    asked = {
        "bash": "source {0}; for words in 'fro' 'frontier --wat'; do COMP_WORDS=(semcrawl $words);"
        " COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _shtab_semcrawl; echo $COMPREPLY; done",
        "zsh": "fpath=({1} $fpath); autoload -U compinit; compinit -u -D; echo $_comps[semcrawl];"
        " autoload +X _semcrawl && echo loaded",
        "fish": "source {0}; complete -C 'semcrawl fro'; complete -C 'semcrawl frontier --wat'",
    }[shell].format(script, tmp_path)
    options = {"zsh": ["-f"], "fish": ["--no-config"], "bash": ["--norc"]}[shell]
    run = subprocess.run([shell, *options, "-c", asked], capture_output=True, text=True, timeout=60)
    assert run.stderr == ""
    wanted = {"_semcrawl", "loaded"} if shell == "zsh" else {"frontier", "--watch"}
    assert wanted <= set(run.stdout.split())


def test_a_shell_that_is_not_known_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(completion.Command(), "cmd") == 2
    assert capsys.readouterr().err == "semcrawl: name one shell: bash, zsh, fish\n"


@pytest.mark.slow
def test_without_an_extra_the_commands_are_completed_all_the_same() -> None:
    code = (
        "import sys; sys.modules['PIL'] = None\n"
        "from semcrawl.__main__ import main\n"
        "sys.argv = ['semcrawl', 'completion', 'bash']\n"
        "main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stderr == ""
    assert "_shtab_semcrawl_harvest" in run.stdout
    assert "_shtab_semcrawl_evaluate" in run.stdout
