"""A harvest brings home the same on every kind of frontier."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.runs import asked, duplicates, harvest
from semcrawl.demo import DemoWeb, serve

pytestmark = pytest.mark.slow

WEB = DemoWeb()
MANIFEST = WEB.manifest()
SQLITE = ("-s", "SEMCRAWL_FRONTIER=sqlite")


def test_a_harvest_with_a_file_for_its_frontier(tmp_path: Path) -> None:
    """All documents, each once; a second run finds nothing to do, whatever the default is."""
    log = tmp_path / "requests.jsonl"
    with serve(WEB, log=log) as server:
        run = harvest(WEB.start, "--fast", *SQLITE, folder=tmp_path / "out", proxy=server.proxy_url)
        run.is_calm()
        assert run.status == 0
        assert run.documents() == MANIFEST.documents
        assert not duplicates(run.quads)
        assert len(run.quads) == MANIFEST.quads
        assert run.sent() == asked(log)
        assert not (run.folder / "frontier").exists()
        requests = asked(log)
        again = harvest(WEB.start, "--fast", folder=tmp_path / "out", proxy=server.proxy_url)
        assert again.status == 0
        assert asked(log) == requests
        assert not (run.folder / "frontier").exists()
