"""Opens the triple store that the settings name."""

from __future__ import annotations

from pathlib import Path

from scrapy.settings import BaseSettings

from semcrawl.errors import UsageError
from semcrawl.metadata.database import crawl_db_url
from semcrawl.pipelines.stores.contract import GraphStore
from semcrawl.pipelines.stores.delivery import Deliverer
from semcrawl.pipelines.stores.naming import GraphNaming
from semcrawl.pipelines.stores.oxigraph import EmbeddedStore
from semcrawl.pipelines.stores.sparql import SparqlOptions, SparqlStore

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


def check_store_settings(settings: BaseSettings) -> None:
    """Raise ``UsageError`` if the settings name no usable store."""
    GraphNaming.trusting(settings.getlist("SEMCRAWL_TRUSTED_SITES"))
    if settings.get("SEMCRAWL_STORE_URL") != EMBEDDED:
        sparql_options(settings)


def sparql_options(settings: BaseSettings) -> SparqlOptions:
    """Read the options of a server; raise ``UsageError`` for wrong settings."""
    try:
        timeout = settings.getfloat("SEMCRAWL_STORE_TIMEOUT", 300.0)
        limit = settings.getint("SEMCRAWL_STORE_UPDATE_QUADS", 20_000)
        put_above = settings.getint("SEMCRAWL_STORE_PUT_ABOVE", 20_000)
        connections = settings.getint("SEMCRAWL_STORE_CONNECTIONS", 4)
    except ValueError as error:
        names = "SEMCRAWL_STORE_TIMEOUT, _UPDATE_QUADS, _PUT_ABOVE or _CONNECTIONS"
        raise UsageError(f"{names}: {error}") from None
    return SparqlOptions(
        gsp_url=settings.get("SEMCRAWL_STORE_URL") or "",
        update_url=settings.get("SEMCRAWL_STORE_UPDATE_URL") or "",
        query_url=settings.get("SEMCRAWL_STORE_QUERY_URL") or "",
        bulk_url=settings.get("SEMCRAWL_STORE_BULK_URL") or "",
        user=settings.get("SEMCRAWL_STORE_USER") or "",
        password=settings.get("SEMCRAWL_STORE_PASSWORD") or "",
        auth=settings.get("SEMCRAWL_STORE_AUTH") or "basic",
        timeout=timeout,
        update_limit=limit,
        put_above=put_above,
        connections=connections,
    )


def shared_ledger(settings: BaseSettings, folder: Path) -> str:
    """Return the URL of the database in which the workers of a crawl note who made which graph.

    It is that of ``SEMCRAWL_METADATA_URL``; empty without one, and for the folder's own store.
    """
    url = str(settings.get("SEMCRAWL_METADATA_URL") or "")
    store = settings.get("SEMCRAWL_STORE_URL") or settings.get("SEMCRAWL_STORE_UPDATE_URL")
    is_own = not url or url == crawl_db_url(folder)
    return "" if is_own or not store or store == EMBEDDED else url


def lists_graphs_alone(settings: BaseSettings, folder: Path) -> bool:
    """Whether a job delivers to a server, and only its folder says which graphs are the crawl's."""
    server = settings.get("SEMCRAWL_STORE_URL") or settings.get("SEMCRAWL_STORE_UPDATE_URL")
    return bool(server) and server != EMBEDDED and not shared_ledger(settings, folder)


def open_deliverer(settings: BaseSettings, folder: Path) -> Deliverer:
    """Return a deliverer from the job folder to the store that the settings name.

    Raises ``UsageError`` for wrong settings, and ``StoreUnavailable`` if the embedded store cannot
    be opened. This sends nothing to a server.
    """
    naming = GraphNaming.trusting(settings.getlist("SEMCRAWL_TRUSTED_SITES"))
    store: GraphStore
    is_new = False
    if settings.get("SEMCRAWL_STORE_URL") == EMBEDDED:
        store = embedded = EmbeddedStore(folder / EMBEDDED_FOLDER)
        is_new = embedded.is_new
    else:
        store = SparqlStore(sparql_options(settings))
    deliverer = Deliverer(
        folder,
        store,
        embedded=settings.getbool("SEMCRAWL_STORE_EMBEDDED", True),
        naming=naming,
        adopting=settings.getbool("SEMCRAWL_STORE_ADOPT"),
        batch_documents=BATCH_DOCUMENTS,
        batch_bytes=BATCH_BYTES,
        shared=shared_ledger(settings, folder),
    )
    if is_new:
        deliverer.start_again(is_new=True)
    return deliverer
