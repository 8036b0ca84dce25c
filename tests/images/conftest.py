"""A whole crawl of the site with images, and its log."""

from __future__ import annotations

from pathlib import Path

import pytest
from harvest.runs import Run, harvest

from images.imagesite import OPTIONS, D, site
from semcrawl.lab.demo import DemoWeb, serve


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    place = tmp_path_factory.mktemp("whole")
    log = place / "log.jsonl"
    with serve(DemoWeb(), handlers={"i.example": site}, log=log) as server:
        run = harvest(f"{D}/", *OPTIONS, folder=place / "job", proxy=server.proxy_url)
    run.is_calm()
    return run, log
