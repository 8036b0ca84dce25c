"""A crawl whose process runs out of files that it may open."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from tests.waiting import until

from .runs import start_harvest
from .test_revisit import site as site
from .test_revisit import write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="a call of Linux"),
]


def test_a_lack_of_files_is_no_failure_of_the_host(site: tuple[Path, str], tmp_path: Path) -> None:
    folder, start = site
    texts = {f"d{number}": f"text {number}" for number in range(12)}
    write(folder, texts)
    out = tmp_path / "out"
    started = start_harvest(
        *(start, "-s", "SEMCRAWL_CRAWL_DELAY=0.3", "-s", "SEMCRAWL_ADDRESS_DELAY=0"),
        # every request has a connection of its own
        *("-s", 'DEFAULT_REQUEST_HEADERS={"Connection": "close"}'),
        folder=out,
    )
    quads = out / "quads.nq"
    until(lambda: quads.exists() and quads.read_bytes().count(b"\n") >= 2)
    pid = started.process.pid
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    used = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
    # the least free number is what a new file would get
    free = next(number for number in range(len(used) + 1) if number not in used)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (free, limits[1]))
    log = out / "crawl.log"
    until(lambda: "too many open files" in log.read_text())
    resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
    run = started.wait()
    run.is_calm()
    assert run.status == 0, run.err
    assert len(run.quads) == len(texts)
    assert run.err.count("too many open files: fewer requests are sent at a time") == 1
    outcomes = [outcome for each in run.outcomes().values() for outcome in each]
    assert not {"network-error", "host-down"} & set(outcomes), run.outcomes()
