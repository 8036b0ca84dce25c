"""A query asked in a process of its own, which ends when it takes too long."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Timer
from typing import IO

from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.results.queryprocess import Question


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: a table, yes or no, or triples; and its bytes."""

    kind: str
    stream: IO[bytes]


@contextmanager
def asked(store: Path, query: str, answer_format: str, seconds: float | None) -> Iterator[Answer]:
    """Ask a store; the answer is to be read within the context.

    Raises ``UsageError`` for a query that is wrong, and ``SemcrawlError`` for one that takes more
    than so many seconds or fails.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "semcrawl.results.queryprocess"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    late: list[bool] = []

    def end() -> None:
        late.append(True)
        process.kill()

    timer = Timer(seconds, end) if seconds else None
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise SemcrawlError("the query could not be asked")  # (there are pipes to all of them)
    try:
        if timer is not None:
            timer.daemon = True
            timer.start()
        with process.stdin as stdin:
            stdin.write(json.dumps(asdict(Question(str(store), query, answer_format))).encode())
        head = json.loads(process.stdout.readline() or b"{}")
        if "error" in head:
            raise UsageError(head["error"])
        failure: Exception | None = None
        if head:
            try:
                yield Answer(head["kind"], process.stdout)
            except (ValueError, SyntaxError) as error:  # an answer that was cut off
                failure = error
        process.stdout.close()
        words = process.stderr.read().decode("utf-8", "replace").strip()
        status = process.wait()
        if late:
            raise SemcrawlError(
                f"the query took more than {seconds:g} s; --timeout SECONDS lets it go on"
            )
        if status or failure or not head:
            reason = words.splitlines()[-1] if words else f"its process ended with {status}"
            raise SemcrawlError(f"the query failed: {reason}")
    finally:
        if timer is not None:
            timer.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError):  # what it did not take any more
                pipe.close()
