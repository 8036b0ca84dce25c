"""Odd names and terminals, files that are gone, and notebooks: each gets one clear line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harvest.runs import harvest

from semcrawl.commandline import main


@pytest.mark.slow
def test_a_folder_whose_name_is_no_text_is_told_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"b\xffd")
    harvest("http://x.example/", folder=folder).says_in_one_line("is not UTF-8")
    assert not folder.exists()


@pytest.mark.slow
def test_signs_that_the_terminal_does_not_know_are_written_as_escapes(tmp_path: Path) -> None:
    run = harvest("http://[::1]:9/ü", folder=tmp_path / "größe", PYTHONIOENCODING="ascii")
    assert "gr\\xf6\\xdfe" in run.out
    assert "Traceback" not in run.err


def test_a_file_that_is_gone_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job folder that is moved away while a command starts, say."""

    def execute(*_: object) -> None:
        (tmp_path / "moved" / "crawl.log").open("w")

    monkeypatch.setattr("scrapy.cmdline.execute", execute)
    with pytest.raises(SystemExit) as ended:
        main(["semcrawl", "version"])
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert told == f"semcrawl: {tmp_path / 'moved' / 'crawl.log'}: No such file or directory\n"


def test_a_name_with_line_ends_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A carriage return would have the rest of the line written over its beginning."""
    with pytest.raises(SystemExit) as ended:
        main(["semcrawl", "describe", f"{tmp_path}/a\nb\rc\x1b[31m"])
    assert ended.value.code == 2
    told = f"semcrawl: there is no folder {tmp_path}/a b c\\x1b[31m\n"
    assert capsys.readouterr().err == told


async def test_a_command_in_a_notebook_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An event loop runs there, as it does here."""
    with pytest.raises(SystemExit) as ended:
        main(["semcrawl", "harvest", "http://x.example/"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "`!semcrawl harvest …`" in told
