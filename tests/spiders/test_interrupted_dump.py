"""A large dump whose lines are being written when the crawl is stopped."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from harvest.runs import duplicates, harvest, start_harvest

from semcrawl.lab.demo import DemoWeb, serve
from spiders.site import handler, triples

D = "http://d.example"
COUNT = 300_000
pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "signals",
    [[signal.SIGINT], [signal.SIGINT, signal.SIGINT], [signal.SIGKILL]],
    ids=["once", "twice", "killed"],
)
def test_nothing_is_lost_or_doubled(tmp_path: Path, signals: list[signal.Signals]) -> None:
    """Lines without a record are cut off, and the dump is fetched again."""
    site = {
        "/small.nt": ("application/n-triples", triples("small", 3)),
        "/dump.nt": ("application/n-triples", triples("dump", COUNT)),
    }
    out = tmp_path / "out"
    seeds = (f"{D}/small.nt", f"{D}/dump.nt")
    options = ("--fast", "-s", "SEMCRAWL_RDF_LINKS=see-also")
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        run = start_harvest(*seeds, *options, folder=out, proxy=server.proxy_url)
        deadline = time.monotonic() + 60
        while not (out / "quads.nq").exists() or (out / "quads.nq").stat().st_size < 100_000:
            assert run.process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.0005)
        for number in signals:
            run.process.send_signal(number)
        run.process.communicate(timeout=120)
        again = harvest(*seeds, *options, folder=out, proxy=server.proxy_url)
    again.is_calm()
    assert again.documents() == {f"{D}/small.nt": 3, f"{D}/dump.nt": COUNT}
    assert len(again.quads) == COUNT + 3
    assert duplicates(again.quads) == []
    assert again.outcomes()[f"{D}/dump.nt"] == ["fetched-rdf"]
    assert not list(out.glob(".spool-*/*"))
