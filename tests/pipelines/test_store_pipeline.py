"""Delivering while a crawl runs, and by ``semcrawl load``."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest
from scrapy.settings import Settings

from semcrawl.errors import UsageError
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.results.stores.opening import open_deliverer
from semcrawl.results.stores.storepipeline import StorePipeline

from .deliveries import counts_for_store, fill
from .documents import document


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"SEMCRAWL_STORE_URL": "ftp://x/"}, "must be http or https: ftp://x/"),
        ({"SEMCRAWL_STORE_URL": "http://x/", "SEMCRAWL_STORE_AUTH": "magic"}, "basic, digest"),
        ({"SEMCRAWL_STORE_URL": "http://x/", "SEMCRAWL_STORE_BULK_URL": "http://x/"}, "beside it"),
        ({}, "no URL"),
    ],
)
def test_wrong_settings_are_one_clear_line(job, settings, message):
    with pytest.raises(UsageError, match=message):
        open_deliverer(Settings(settings), job)


@pytest.mark.slow
async def test_a_crawl_goes_on_while_the_store_is_away(job, oxigraph, caplog, monkeypatch):
    """One line per attempt; what waits at the end is delivered by the next run."""
    monkeypatch.setattr("semcrawl.results.stores.storepipeline.PATIENCE", 0)
    oxigraph.kill()
    settings = Settings(
        {
            "SEMCRAWL_JOBDIR": str(job),
            "SEMCRAWL_STORE_URL": oxigraph.gsp,
            "SEMCRAWL_STORE_UPDATE_URL": oxigraph.update,
        }
    )
    for names, waiting in (("abc", 3), ("de", None)):
        if waiting is None:
            oxigraph.start()
        pipeline = StorePipeline(job, settings)
        caplog.clear()
        pipeline.open_spider()
        await asyncio.gather(*(pipeline.process_item(document(name, "1")) for name in names))
        await pipeline.close_spider()
        if waiting:
            assert "Connection refused; trying again in 1 s" in caplog.messages[0]
            assert caplog.messages[-1].startswith("3 documents wait in ")
        else:
            assert caplog.messages == []
    assert oxigraph.counts() == counts_for_store(job)


@pytest.mark.slow
async def test_of_two_crawlers_one_delivers_for_both(job, oxigraph):
    settings = Settings({"SEMCRAWL_STORE_URL": oxigraph.gsp})
    first, second = StorePipeline(job, settings), StorePipeline(job, settings)
    for pipeline in (first, second):
        pipeline.open_spider()
    await asyncio.gather(*(first.process_item(document(f"f{i}", "1")) for i in range(20)))
    await asyncio.gather(*(second.process_item(document(f"s{i}", "1")) for i in range(20)))
    await first.close_spider()
    await second.process_item(document("late", "1"))
    await second.close_spider()
    assert len(oxigraph.counts()) == 41
    assert oxigraph.counts() == counts_for_store(job)


@pytest.mark.slow
def test_load_delivers_a_finished_harvest(job, oxigraph):
    file = QuadsFile(job)
    fill(file)
    file.close()
    command = [sys.executable, "-m", "scrapy", "load", str(job), "--store", oxigraph.gsp]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "semcrawl.settings"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "44 documents" in done.stdout
    assert oxigraph.counts() == counts_for_store(job)
    oxigraph.kill()
    done = subprocess.run(
        [*command, "--again"], capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.strip().endswith("Connection refused")
    assert len(done.stderr.splitlines()) == 1
