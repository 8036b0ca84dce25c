"""The embedded store holds what quads.nq holds."""

from __future__ import annotations

import sqlite3
from urllib.parse import quote

from scrapy.settings import Settings

from semcrawl.commands.load import Command
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QuadsFile
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.opening import open_deliverer
from semcrawl.results.stores.oxigraph import EmbeddedStore
from tests.inprocess import exit_status

from .deliveries import change, counts_for_store, counts_of_embedded, deliver, fill
from .documents import document, url_of


def test_the_embedded_store_holds_what_the_file_holds(job):
    file = QuadsFile(job)
    for work in (fill, change):
        work(file)
        deliverer = Deliverer(job, EmbeddedStore(job / "store"), batch_documents=7)
        assert deliver(deliverer) == []
        assert deliverer.waiting() == 0
        deliverer.close()
        file.compact()
        assert counts_of_embedded(job / "store") == counts_for_store(job)
    file.close()


def test_a_document_of_very_many_graphs_arrives_whole(job):
    graphs = [url_of(f"page{number}") for number in range(1300)]
    dump = document("dump")
    dump.nquads = b"".join(document("dump", "a", "b", graph=graph).nquads for graph in graphs)
    file = QuadsFile(job)
    file.append([dump, document("page7", "from the page itself")])
    deliverer = Deliverer(job, EmbeddedStore(job / "store"))
    assert deliver(deliverer) == []
    deliverer.close()
    file.close()
    expected = dict.fromkeys(graphs, 2)
    expected[graphs[7]] = 1
    expected[f"{url_of('dump')}#graph={quote(graphs[7], safe='')}"] = 2
    expected[url_of("dump")] = 1  # tells of that one
    assert counts_of_embedded(job / "store") == expected


def test_what_is_gone_is_not_told_of_as_delivered(job, capsys):
    file = QuadsFile(job)
    fill(file)
    change(file)
    file.close()
    assert exit_status(Command(), str(job), "--store", "embedded") == 0
    with sqlite3.connect(job / "crawl.db") as ledger:
        left = "SELECT count(*), sum(quads) FROM document WHERE gone_at IS NULL"
        documents, quads = ledger.execute(left).fetchone()
    told = (
        f"{documents} documents with {quads:,} quads delivered, 1 that are gone removed, 0 refused"
    )
    assert capsys.readouterr().out.startswith(told)


def test_what_is_gone_is_counted_beside_data_embedded_in_pages(job, capsys):
    file, embedded = QuadsFile(job), QuadsFile(job, EMBEDDED_FILE, EMBEDDED_LEDGER)
    for each in (file, embedded):
        fill(each)
        change(each)
        each.close()
    assert exit_status(Command(), str(job), "--store", "embedded") == 0
    assert "delivered, 2 that are gone removed, 0 refused" in capsys.readouterr().out


def test_a_new_embedded_store_is_filled_from_the_start(job):
    file = QuadsFile(job)
    fill(file)
    settings = Settings({"SEMCRAWL_STORE_URL": "embedded"})
    for folder in (job / "store", job / "moved"):
        deliverer = open_deliverer(settings, job)
        deliver(deliverer)
        deliverer.close()
        assert counts_of_embedded(job / "store") == counts_for_store(job)
        (job / "store").rename(job / f"old-{folder.name}")
    file.close()
