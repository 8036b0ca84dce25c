"""Quads per second into triple stores: the pipeline beside the store's own bulk path.

    python benchmarks/store_throughput.py [--documents 2000] [--quads 100] [--rounds 3] \
        [--stores embedded,Oxigraph,Virtuoso]

Both load the same documents into an empty store in the same run, in turn; printed are the medians
and their ratio. The bulk path of Oxigraph is one POST of all N-Quads, that of Virtuoso its RDF
loader (``ld_dir``, ``rdf_loader_run``), that of the embedded store pyoxigraph's ``bulk_load``. The
pipeline's time is from the first item to the moment the store has all, the spool included.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyoxigraph
import requests
from scrapy.settings import Settings

from semcrawl.items import RdfDocument
from semcrawl.pipelines.store import StorePipeline

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from pipelines.servers import Oxigraph, Server, Virtuoso


def documents(count: int, quads: int) -> list[RdfDocument]:
    made = []
    for i in range(count):
        url = f"http://example.org/data/{i}"
        lines = "".join(
            f"<{url}#{j % 17}> <http://example.org/vocabulary#property{j % 23}> "
            + (
                f"<http://example.org/data/{(i * 7 + j) % count}#{j % 17}>"
                if j % 3
                else f'"{i} {j}"'
            )
            + f" <{url}> .\n"
            for j in range(quads)
        )
        made.append(RdfDocument(url=url, nquads=lines.encode(), quads=quads))
    return made


def pipeline_time(items: list[RdfDocument], folder: Path, settings: dict[str, str]) -> float:
    async def run() -> float:
        pipeline = StorePipeline(folder, Settings(settings))
        pipeline.open_spider()
        start = time.perf_counter()
        for first in range(0, len(items), 100):
            await asyncio.gather(*map(pipeline.process_item, items[first : first + 100]))
        await pipeline.close_spider()
        return time.perf_counter() - start

    folder.mkdir()
    return asyncio.run(run())


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bulk_embedded(data: Path, folder: Path) -> float:
    store = pyoxigraph.Store(str(folder))

    def load() -> None:
        store.bulk_load(path=str(data), format=pyoxigraph.RdfFormat.N_QUADS)
        store.flush()

    return timed(load)


def bulk_oxigraph(data: Path, server: Server) -> float:
    def load() -> None:
        with data.open("rb") as file:
            requests.post(
                server.gsp, data=file, headers={"Content-Type": "application/n-quads"}, timeout=600
            ).raise_for_status()

    return timed(load)


def bulk_virtuoso(data: Path, server: Virtuoso) -> float:
    script = f"ld_dir('{data.parent}', '{data.name}', 'http://example.org/none');"
    script += " rdf_loader_run(); checkpoint;"
    return timed(
        lambda: subprocess.run(
            ["isql-vt", str(server.sql_port), "dba", "dba", f"exec={script}"],
            check=True,
            capture_output=True,
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--quads", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stores", default="embedded,Oxigraph,Virtuoso")
    options = parser.parse_args()
    items = documents(options.documents, options.quads)
    total = options.documents * options.quads
    times: dict[str, tuple[list[float], list[float]]] = {}
    for number in range(options.rounds):
        top = Path(tempfile.mkdtemp(prefix="store-throughput-"))
        (top / "load").mkdir()
        data = top / "load" / "all.nq"
        data.write_bytes(b"".join(item.nquads for item in items))
        if "embedded" in options.stores:
            ours, bulk = times.setdefault("embedded", ([], []))
            bulk.append(bulk_embedded(data, top / "bulk"))
            ours.append(pipeline_time(items, top / "job", {"SEMCRAWL_STORE_URL": "embedded"}))
        for kind in (Oxigraph, Virtuoso):
            if kind.__name__ not in options.stores or not kind.binary:
                continue
            servers = [kind(top / f"{kind.__name__}-{name}") for name in ("bulk", "pipeline")]
            ours, bulk = times.setdefault(kind.__name__, ([], []))
            servers[0].start()
            if isinstance(servers[0], Virtuoso):
                bulk.append(bulk_virtuoso(data, servers[0]))
            else:
                bulk.append(bulk_oxigraph(data, servers[0]))
            loaded = sum(servers[0].counts().values())
            servers[0].kill()
            server = servers[1]
            server.start()
            settings = {"SEMCRAWL_STORE_URL": server.gsp, "SEMCRAWL_STORE_USER": server.user}
            settings["SEMCRAWL_STORE_PASSWORD"] = server.password
            if kind is Virtuoso:
                settings["SEMCRAWL_STORE_AUTH"] = "digest"
            else:
                settings["SEMCRAWL_STORE_UPDATE_URL"] = server.update
            ours.append(pipeline_time(items, top / f"job-{kind.__name__}", settings))
            delivered = sum(server.counts().values())
            server.kill()
            if delivered != loaded:
                sys.exit(f"{kind.__name__}: {delivered} by the pipeline, {loaded} in bulk")
        shutil.rmtree(top)
        print(f"round {number + 1} of {options.rounds} done", file=sys.stderr)
    print(f"{'store':<10} {'bulk, quads/s':>14} {'pipeline':>10} {'ratio':>6}")
    for name, (ours, bulk) in times.items():
        own, reference = total / statistics.median(ours), total / statistics.median(bulk)
        print(f"{name:<10} {reference:>14,.0f} {own:>10,.0f} {own / reference:>6.2f}")


if __name__ == "__main__":
    main()
