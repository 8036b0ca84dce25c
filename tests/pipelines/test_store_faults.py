"""Stores that are killed, sick, refuse or are not where one asks: nothing is lost."""

from __future__ import annotations

import pytest

from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.results.stores.contract import StoreUnavailable
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.sparql import SparqlOptions, SparqlStore

from .deliveries import counts_for_store, deliver, fill, options_of
from .documents import document, rows, url_of


@pytest.mark.slow
def test_a_server_killed_in_the_middle_gets_everything_once(job, server):
    file = QuadsFile(job)
    fill(file)
    deliverer = Deliverer(job, SparqlStore(options_of(server, "gsp update")), batch_documents=7)
    deliverer.step()
    server.kill()
    with pytest.raises(StoreUnavailable, match=r"Connection (refused|aborted)|closed connection"):
        deliverer.step()
    server.start()
    deliver(deliverer, server)
    assert server.counts() == counts_for_store(job)
    deliverer.close()
    file.close()


@pytest.mark.parametrize("protocol", ["gsp", "update", "gsp update", "gsp update bulk"])
def test_a_document_that_a_store_refuses_is_recorded_and_the_rest_goes_on(job, oxigraph, protocol):
    file = QuadsFile(job)
    bad = document("bad", "1")
    bad.nquads = bad.nquads.replace(b"<http://example.org/p>", b"<http://example.org/p q>")
    file.append([document("a", "1"), document("b", "1"), bad, document("c", "1")])
    deliverer = Deliverer(job, SparqlStore(options_of(oxigraph, protocol)))
    (refused,) = deliver(deliverer)
    assert refused.url == url_of("bad")
    assert refused.error.startswith("HTTP 400")
    assert "\n" not in refused.error
    assert set(oxigraph.counts()) == {url_of(name) for name in "abc"}
    assert rows(job, "SELECT url, revision FROM refusal") == [(url_of("bad"), 3)]
    deliverer.close()
    file.close()


def test_a_store_that_answers_500_for_a_while_gets_everything_in_the_end(job, fake):
    file = QuadsFile(job)
    file.append([document(name, "1") for name in "abc"])
    url = f"http://127.0.0.1:{fake.server_port}/store"
    deliverer = Deliverer(job, SparqlStore(SparqlOptions(gsp_url=url)))
    fake.sick = 500
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match=rf"^{url}: HTTP 500$"):
            deliverer.step()
    fake.sick = 0
    assert deliver(deliverer) == []
    assert set(fake.graphs) == {url_of(name) for name in "abc"}
    deliverer.close()
    file.close()


def test_a_wrong_url_of_a_running_server_keeps_everything_waiting(job, fake):
    file = QuadsFile(job)
    file.append([document("a", "1")])
    url = f"http://127.0.0.1:{fake.server_port}/sparql"
    deliverer = Deliverer(job, SparqlStore(SparqlOptions(update_url=url)))
    with pytest.raises(StoreUnavailable, match="HTTP 501"):
        deliverer.step()
    assert deliverer.waiting() == 1
    deliverer.close()
    file.close()
