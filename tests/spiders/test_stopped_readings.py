"""When a crawl is stopped, nothing that may take long keeps it from ending."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest
from harvest.runs import start_harvest
from hostile.measures import wait
from hostile.server import WebServer
from hostile.worlds.answers import at, document, fixed, page

from semcrawl import rdf
from semcrawl.links import ExtractionOptions
from semcrawl.reading.pool import ReadingLost
from semcrawl.reading.reader import Reader

#: a term to mend in each statement
_SLOW = b"".join(
    b"<http://a.example/%d> <http://a.example/p> <http://a.example/c%s> .\n" % (n, b" d" * (n > 0))
    for n in range(150_000)
)
_OPTIONS = rdf.ReadOptions(give_up_after_errors=10**9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["text/turtle", "application/n-triples"])
def test_a_reading_in_a_thread_ends_with_the_crawl(kind: str) -> None:
    """Its document is lost by our own fault, so that it is had again."""

    async def run() -> float:
        reader = Reader(ExtractionOptions(), _OPTIONS)
        detection = reader.detect(_SLOW, kind, "http://a.example/")
        reading = asyncio.create_task(
            reader.read(_SLOW, "http://a.example/", kind, detection, options=_OPTIONS)
        )
        await asyncio.sleep(0.5)
        assert not reading.done()
        began = time.monotonic()
        reader.close()
        with pytest.raises(ReadingLost) as lost:
            await reading
        assert lost.value.ours
        took = time.monotonic() - began
        # a program ends only when its threads have ended
        await asyncio.get_running_loop().shutdown_default_executor()
        assert time.monotonic() - began < 10
        return took

    before = threading.active_count()
    assert asyncio.run(run()) < 1
    assert threading.active_count() <= before


@pytest.mark.slow
def test_a_stopped_crawl_asks_for_no_more_robots_txt_and_waits_for_no_reading(
    tmp_path: Path,
) -> None:
    """Forty hosts of a domain wait for their robots.txt, two seconds each; a document is slow."""
    hosts = [f"h{number}.uni.example" for number in range(40)]
    handlers = {
        "slow.example": at({"/": fixed(_SLOW, ("Content-Type", "text/turtle"))}),
        "www.hub.example": at({"/": page(f"http://{host}/x.ttl" for host in hosts)}),
        **dict.fromkeys(hosts, at({"/x.ttl": document})),
    }
    with WebServer(handlers) as server:
        started = start_harvest(
            *("http://slow.example/", "http://www.hub.example/", f"http://{hosts[0]}/x.ttl"),
            *("-s", "SEMCRAWL_CRAWL_DELAY=2"),
            folder=tmp_path / "out",
            proxy=server.proxy,
        )
        assert wait(lambda: sum(asked.host in hosts for asked in server.log) >= 3, 90)
        started.interrupt()
        began = time.monotonic()
        assert wait(lambda: started.process.poll() is not None, 30)
        took, asked = time.monotonic() - began, [each for each in server.log if each.time > began]
        run = started.wait()
        assert took < 15
        assert len([each for each in asked if each.time > began + 2]) <= 1
        assert "Traceback" not in run.err
