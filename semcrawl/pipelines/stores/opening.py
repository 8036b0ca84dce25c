"""Opens the triple store that the settings name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scrapy.settings import BaseSettings

from semcrawl.metadata.database import crawl_db_url
from semcrawl.pipelines.stores.contract import GraphStore
from semcrawl.pipelines.stores.delivery import Deliverer
from semcrawl.pipelines.stores.naming import GraphNaming
from semcrawl.pipelines.stores.oxigraph import EmbeddedStore
from semcrawl.pipelines.stores.sparql import SparqlOptions, SparqlStore
from semcrawl.settings.reader import fill, setting

#: value of ``SEMCRAWL_STORE_URL`` for a store in the job folder
EMBEDDED = "embedded"
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


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Which store documents go to, and what may be written there."""

    url: str = setting("SEMCRAWL_STORE_URL")
    update_url: str = setting("SEMCRAWL_STORE_UPDATE_URL")
    trusted: tuple[str, ...] = setting("SEMCRAWL_TRUSTED_SITES")
    embedded: bool = setting("SEMCRAWL_STORE_EMBEDDED")
    adopt: bool = setting("SEMCRAWL_STORE_ADOPT")
    metadata_url: str = setting("SEMCRAWL_METADATA_URL")

    @property
    def named(self) -> str:
        """URL of the store, or ``embedded``; empty if there is none."""
        return self.url or self.update_url


def check_store_settings(settings: BaseSettings) -> None:
    """Raise ``UsageError`` if the settings name no usable store."""
    options = fill(StoreOptions, settings)
    GraphNaming.trusting(options.trusted)
    if options.url != EMBEDDED:
        fill(SparqlOptions, settings)


def shared_ledger(settings: BaseSettings, folder: Path) -> str:
    """Return the URL of the database in which the workers of a crawl note who made which graph.

    It is that of ``SEMCRAWL_METADATA_URL``; empty without one, and for the folder's own store.
    """
    options = fill(StoreOptions, settings)
    url = options.metadata_url
    is_own = not url or url == crawl_db_url(folder)
    return "" if is_own or options.named in ("", EMBEDDED) else url


def lists_graphs_alone(settings: BaseSettings, folder: Path) -> bool:
    """Whether a job delivers to a server, and only its folder says which graphs are the crawl's."""
    server = fill(StoreOptions, settings).named
    return server not in ("", EMBEDDED) and not shared_ledger(settings, folder)


def open_deliverer(settings: BaseSettings, folder: Path) -> Deliverer:
    """Return a deliverer from the job folder to the store that the settings name.

    Raises ``UsageError`` for wrong settings, and ``StoreUnavailable`` if the embedded store cannot
    be opened. This sends nothing to a server.
    """
    options = fill(StoreOptions, settings)
    naming = GraphNaming.trusting(options.trusted)
    store: GraphStore
    is_new = False
    if options.url == EMBEDDED:
        store = embedded = EmbeddedStore(folder / EMBEDDED_FOLDER)
        is_new = embedded.is_new
    else:
        store = SparqlStore(fill(SparqlOptions, settings))
    deliverer = Deliverer(
        folder,
        store,
        embedded=options.embedded,
        naming=naming,
        adopting=options.adopt,
        batch_documents=BATCH_DOCUMENTS,
        batch_bytes=BATCH_BYTES,
        shared=shared_ledger(settings, folder),
    )
    if is_new:
        deliverer.start_again(is_new=True)
    return deliverer
