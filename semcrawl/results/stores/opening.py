"""Opens the triple store that the settings name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from semcrawl.config.logins import read_logins
from semcrawl.errors import UsageError
from semcrawl.metadata.database import crawl_db_url
from semcrawl.pipelines.quads import EMBEDDED_STORE, StoreOptions, shared_ledger
from semcrawl.results.stores.contract import GraphStore
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.naming import GraphNaming
from semcrawl.results.stores.oxigraph import EmbeddedStore
from semcrawl.results.stores.sparql import SparqlOptions, SparqlStore
from semcrawl.settings.reader import fill

#: lock file of the one process that delivers from a job folder
STORE_LOCK = ".store.lock"
#: message about graphs that could not get their documents' addresses as names
RENAMED_WORDS = (
    "{:,} documents have other graph names in the store than their addresses, as somebody else made"
    " graphs of these names (SEMCRAWL_STORE_ADOPT would replace those)"
)
#: folder of that store
EMBEDDED_FOLDER = "store"
#: most documents, and bytes of N-Quads, of a batch; large, as parallel requests must all end before
#: the next batch
BATCH_DOCUMENTS, BATCH_BYTES = 5000, 32 << 20


def check_store_settings(settings: BaseSettings) -> None:
    """Raise ``UsageError`` if the settings name no usable store."""
    options = fill(StoreOptions, settings)
    if options.provenance and options.url != EMBEDDED_STORE and not options.update_url:
        raise UsageError("SEMCRAWL_STORE_PROVENANCE needs SEMCRAWL_STORE_UPDATE_URL")
    GraphNaming.trusting(options.trusted)
    if options.url != EMBEDDED_STORE:
        fill(SparqlOptions, settings)


def with_login(options: SparqlOptions, settings: Mapping[str, Any]) -> SparqlOptions:
    """Return the options with the user whom ``SEMCRAWL_LOGINS`` names, unless they name one."""
    login = read_logins(settings).of(options.gsp_url or options.update_url)
    if options.user or login is None:
        return options
    return replace(options, user=login.user, password=login.password)


def open_deliverer(settings: BaseSettings, folder: Path) -> Deliverer:
    """Return a deliverer from the job folder to the store that the settings name.

    Raises ``UsageError`` for wrong settings, and ``StoreUnavailable`` if the embedded store cannot
    be opened. This sends nothing to a server.
    """
    check_store_settings(settings)
    options = fill(StoreOptions, settings)
    naming = GraphNaming.trusting(options.trusted)
    store: GraphStore
    is_new = False
    if options.url == EMBEDDED_STORE:
        store = embedded = EmbeddedStore(folder / EMBEDDED_FOLDER)
        is_new = embedded.is_new
    else:
        store = SparqlStore(with_login(fill(SparqlOptions, settings), settings))
    deliverer = Deliverer(
        folder,
        store,
        embedded=options.embedded,
        naming=naming,
        adopting=options.adopt,
        batch_documents=BATCH_DOCUMENTS,
        batch_bytes=BATCH_BYTES,
        shared=shared_ledger(settings, folder),
        records=(options.metadata_url or crawl_db_url(folder)) if options.provenance else "",
    )
    if is_new:
        deliverer.start_again(is_new=True)
    return deliverer
