"""Workers of one crawl own the graphs of a store together, over a database that they share."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.sparql import SparqlStore

from .deliveries import options_of
from .documents import document, url_of

WORKERS = 3


@pytest.mark.slow
def test_three_nights_whoever_reads_a_document_there_is_one_graph_of_it(
    tmp_path: Path, oxigraph
) -> None:
    """Each night other workers read the documents: changed, added and gone ones."""
    shared = f"sqlite:///{tmp_path / 'all.db'}"
    chance = random.Random(1)
    site = {f"d{n}": n % 4 + 1 for n in range(24)}
    read: set[str] = set()
    for night in range(1, 4):
        files, deliverers = [], []
        for number in range(WORKERS):
            folder = tmp_path / f"m{number}"
            folder.mkdir(exist_ok=True)
            files.append(QuadsFile(folder, shared=shared))
            store = SparqlStore(options_of(oxigraph, "gsp update"))
            deliverers.append(Deliverer(folder, store, shared=shared))
        for name in sorted({*site, *read}):
            file = chance.choice(files)
            if name in site:
                item = document(name, *(f"{night} {n}" for n in range(site[name])))
                file.append(
                    [
                        replace(
                            item,
                            content_hash=f"{night}",
                            revisit=name in read,
                            fetched_at=1000.0 * night,
                        )
                    ]
                )
            else:
                record = FetchRecord(
                    url_of(name), FetchOutcome.HTTP_ERROR, status=404,
                    started_at=1000.0 * night, revisit=True,
                )  # fmt: skip
                file.append([record])
        for deliverer in deliverers:
            while (step := deliverer.step()) is not None:
                assert not (step.refused)
                assert not (step.renamed)
                assert not (step.damaged)
        assert oxigraph.counts() == {url_of(name): count for name, count in site.items()}
        for each in (*files, *deliverers):
            each.close()
        read |= set(site)
        for name in chance.sample(sorted(site), 5):
            del site[name]
        for name in chance.sample(sorted(site), 5):
            site[name] += 1
        site[f"new{night}"] = 2


def test_graphs_that_a_folder_made_alone_are_taken_over(tmp_path: Path, oxigraph) -> None:
    """A crawl that gets a shared database later keeps the graphs that it has made."""
    first, second = tmp_path / "m1", tmp_path / "m2"
    for folder in (first, second):
        folder.mkdir()

    def deliver(folder: Path, value: str, shared: str) -> int:
        file = QuadsFile(folder, shared=shared)
        item = document("a", value)
        file.append([replace(item, content_hash=value, revisit=True, fetched_at=float(value))])
        deliverer = Deliverer(folder, SparqlStore(options_of(oxigraph, "gsp")), shared=shared)
        renamed = 0
        while (step := deliverer.step()) is not None:
            renamed += step.renamed
        deliverer.close()
        file.close()
        return renamed

    shared = f"sqlite:///{tmp_path / 'all.db'}"
    assert deliver(first, "1000", "") == 0
    assert deliver(first, "2000", shared) == 0
    assert deliver(second, "3000", shared) == 0
    assert oxigraph.counts() == {url_of("a"): 1}
