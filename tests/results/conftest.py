"""A small job, and the commands run in this process."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module

import pytest

from semcrawl.items import FetchOutcome, FetchRecord
from tests.inprocess import exit_status

from .jobs import ANN, add, page, people, record


@pytest.fixture
def job(tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    add(folder, *people(), page())
    record(
        folder,
        FetchRecord(ANN, FetchOutcome.FETCHED_RDF, ANN, status=200, quads=5, started_at=5.0),
        FetchRecord("http://a.example/x", FetchOutcome.TIMEOUT, started_at=6.0),
    )
    return folder


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The only line that was said, of a command that failed without an answer."""
        assert self.out == ""
        assert self.err.count("\n") == 1, self.err
        return self.err.removeprefix("semcrawl: ").strip()


@pytest.fixture
def semcrawl(capfdbinary, monkeypatch):
    """A command in this process: starting one takes longer than the work."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(name: str, *args: object) -> Done:
        status = exit_status(import_module(f"semcrawl.commands.{name}").Command(), *args)
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Done(status, out.decode(), err.decode())

    return run
