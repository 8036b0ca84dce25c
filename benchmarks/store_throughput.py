"""Quads per second into triple stores: the pipeline beside the store's own bulk path.

    python benchmarks/store_throughput.py [--documents 2000] [--quads 100] [--rounds 3] \
        [--stores embedded,Oxigraph,Oxigraph-bulk,Virtuoso]

Both load the same documents, a graph each, into an empty store in the same run, in turn; every
fifth document has blank nodes. Printed are the medians and their ratio. The bulk path of the
embedded store is pyoxigraph's ``bulk_load``, that of Oxigraph one POST of all N-Quads, in one
transaction; for ``Oxigraph-bulk`` it is the same without a transaction (``?no_transaction``), and
the pipeline delivers by ``SEMCRAWL_STORE_BULK_URL``. Virtuoso's is its RDF loader (``ld_dir``,
``rdf_loader_run``), which reads one file on the server, and a checkpoint, as the loader does not
log: after both the data outlive a ``kill -9`` of the server and can be asked for. The bulk paths
start from a file that is there and do not look what the store holds. The pipeline's time is from
the first item to the moment the store has all, the spool on disk included; it replaces graphs,
and can do so while the store is in use.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyoxigraph
import requests
from scrapy.settings import Settings

from semcrawl.items import RdfDocument
from semcrawl.results.stores.storepipeline import StorePipeline

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from pipelines.servers import Oxigraph, Virtuoso

#: items that the pipeline is handed before it is done with the first
IN_FLIGHT = 200


def documents(count: int, quads: int) -> list[RdfDocument]:
    made = []
    for i in range(count):
        url = f"http://example.org/data/{i}"
        subject = f"_:b{i}x%d" if i % 5 == 4 else f"<{url}#%d>"
        lines = "".join(
            f"{subject % (j % 17)} <http://example.org/vocabulary#property{j % 23}> "
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
        slots = asyncio.Semaphore(IN_FLIGHT)

        async def process(item: RdfDocument) -> None:
            async with slots:
                await pipeline.process_item(item)

        await asyncio.gather(*map(process, items))
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


def bulk_oxigraph(data: Path, url: str) -> float:
    def load() -> None:
        with data.open("rb") as file:
            requests.post(
                url, data=file, headers={"Content-Type": "application/n-quads"}, timeout=600
            ).raise_for_status()

    return timed(load)


def bulk_virtuoso(data: Path, server: Virtuoso) -> float:
    script = f"ld_dir('{data.parent}', '{data.name}', 'http://example.org/none');"
    return timed(lambda: server.sql(f"{script} rdf_loader_run(); checkpoint;"))


def server_times(
    name: str, items: list[RdfDocument], data: Path, folder: Path
) -> tuple[float, float]:
    """Return the seconds of the pipeline and of the bulk path."""
    kind = Virtuoso if name == "Virtuoso" else Oxigraph
    servers = [kind(folder / f"{name}-{use}") for use in ("bulk", "pipeline")]
    bulk_url = "{}?no_transaction" if name == "Oxigraph-bulk" else "{}"
    server = servers[0]
    server.start()
    if isinstance(server, Virtuoso):
        bulk = bulk_virtuoso(data, server)
    else:
        bulk = bulk_oxigraph(data, bulk_url.format(server.gsp))
    loaded = sum(server.counts().values())
    server.kill()
    server = servers[1]
    server.start()
    settings = {
        "SEMCRAWL_STORE_URL": server.gsp,
        "SEMCRAWL_STORE_UPDATE_URL": server.update,
        "SEMCRAWL_STORE_USER": server.user,
        "SEMCRAWL_STORE_PASSWORD": server.password,
    }
    if kind is Virtuoso:
        settings |= {"SEMCRAWL_STORE_AUTH": "digest"}
    if name == "Oxigraph-bulk":
        settings["SEMCRAWL_STORE_BULK_URL"] = bulk_url.format(server.gsp)
    ours = pipeline_time(items, folder / f"job-{name}", settings)
    delivered = sum(server.counts().values())
    server.kill()
    if delivered != loaded:
        sys.exit(f"{name}: {delivered} by the pipeline, {loaded} in bulk")
    return ours, bulk


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--quads", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stores", default="embedded,Oxigraph,Oxigraph-bulk,Virtuoso")
    options = parser.parse_args()
    items = documents(options.documents, options.quads)
    total = options.documents * options.quads
    times: dict[str, tuple[list[float], list[float]]] = {}
    for number in range(options.rounds):
        top = Path(tempfile.mkdtemp(prefix="store-throughput-"))
        (top / "load").mkdir()
        data = top / "load" / "all.nq"
        data.write_bytes(b"".join(item.nquads for item in items))
        for name in options.stores.split(","):
            ours, bulk = times.setdefault(name, ([], []))
            if name == "embedded":
                bulk.append(bulk_embedded(data, top / "bulk"))
                ours.append(pipeline_time(items, top / "job", {"SEMCRAWL_STORE_URL": "embedded"}))
                continue
            found = server_times(name, items, data, top)
            ours.append(found[0])
            bulk.append(found[1])
        shutil.rmtree(top)
        print(f"round {number + 1} of {options.rounds} done", file=sys.stderr)
    print(f"{'store':<14} {'bulk, quads/s':>14} {'pipeline':>10} {'ratio':>6}")
    for name, (ours, bulk) in times.items():
        own, reference = total / statistics.median(ours), total / statistics.median(bulk)
        print(f"{name:<14} {reference:>14,.0f} {own:>10,.0f} {own / reference:>6.2f}")


if __name__ == "__main__":
    main()
