"""Settings of what is read and kept: images, documents, results, stores, re-visits."""

# --- Images (targets `images`)

#: Pixels that an image is wide and high at least. One that its page shows smaller is not fetched.
SEMCRAWL_IMAGES_MIN_WIDTH = 100
SEMCRAWL_IMAGES_MIN_HEIGHT = 100
#: Bytes that an image has at least, and at most.
SEMCRAWL_IMAGES_MIN_BYTES = 0
SEMCRAWL_IMAGES_MAX_BYTES = 32 * 1024 * 1024
#: Pixels of the largest image that is decoded; each takes up to four bytes of memory for a moment.
SEMCRAWL_IMAGES_MAX_PIXELS = 50_000_000
#: Media types of the images that are kept, as their bytes say.
SEMCRAWL_IMAGES_TYPES = ["image/*"]
#: An image on more pages is a logo or an advertisement, and dropped; 0 = on any number.
SEMCRAWL_IMAGES_MAX_PAGES = 10
#: Bits of 64 in which the perceptual hashes of near copies differ at most; their miniatures are
#: compared then. -1 = only images of equal bytes are copies.
SEMCRAWL_IMAGES_NEAR_BITS = 16
#: Levels of ancestors whose texts are read for an image of a page.
SEMCRAWL_IMAGES_LEVELS = 5
#: Characters that are kept of one text near an image.
SEMCRAWL_IMAGES_MAX_TEXT = 300
#: Places of images that are read of one page.
SEMCRAWL_IMAGES_PER_PAGE = 1000

# --- Reading

#: Kinds of documents that count as targets: `rdf` (RDF documents), `embedded` (pages with embedded
#: data), `html` (pages, whose title and text go to `pages.nq`), `images` (see images.md), and media
#: types such as `text/csv` or `text/*`, whose bodies are kept in the folder `files`; several with
#: commas.
SEMCRAWL_TARGETS = "rdf"
#: What the crawl is about: a topic such as `vocabulary:schema:Dataset` or `keywords:merge sort`;
#: `all(…, …)`, `any(…, …)` and `0.7*… + 0.3*…` combine topics (see topics.md). Of a list, all hold.
#: Empty: about anything.
SEMCRAWL_ABOUT: str | list[str] = ""
#: Relevance, above 0 and up to 1, from which a document counts as about it.
SEMCRAWL_ABOUT_THRESHOLD = 0.5
#: What goes to the results: `relevant` (documents that reach the threshold) or `all`. The others
#: are read, learned from and recorded in either case.
SEMCRAWL_KEEP = "relevant"
#: `soft`: links of every page are followed, the most promising first. `hard`: not those of
#: documents of the wanted kind that miss the threshold.
SEMCRAWL_FOCUS = "soft"
#: Bytes of a document's statements, and characters of its text, that are judged: the first ones.
SEMCRAWL_ABOUT_MAX_SIZE = 8 * 1024 * 1024
#: Topic `new`: statements that a crawl remembers in its frontier, for all workers and runs: 8 bytes
#: of Redis each, up to 32 million, or some 40 bytes of `frontier.db`. Of more, old ones are
#: forgotten and count as new again.
SEMCRAWL_ABOUT_NEW_STATEMENTS = 4_000_000
#: Topic `shape`: seconds that the check of one document may take.
SEMCRAWL_ABOUT_SHAPE_TIMEOUT = 10
#: Topic `shape`: bytes of memory, address space, that the process which checks may have.
SEMCRAWL_ABOUT_SHAPE_MEMORY = 2 * 1024 * 1024 * 1024
#: Kinds of data that are read out of pages: `jsonld`, `microdata`, `rdfa` (OpenGraph among it).
#: They go to `embedded.nq`. Empty: none. With the extra `semcrawl[microformats]` also
#: `microformats` (cards and events as vCard and iCalendar) and `dublin-core` (`meta` elements).
SEMCRAWL_EMBEDDED = ["jsonld", "microdata", "rdfa"]
#: Properties whose values are links in the data that a page holds: the presets `data`
#: (distributions, addresses, parts and the like of schema.org, with `dcat` and `void`), `dcat`,
#: `void`, `see-also`, `foaf`, and IRIs. Empty: none.
SEMCRAWL_EMBEDDED_LINKS = ["data"]
#: Properties whose values are links in RDF: `all`, the presets `see-also` (rdfs:seeAlso,
#: owl:sameAs, rdfs:isDefinedBy, owl:imports), `foaf`, `dcat`, `void`, `catalogue` (data sets and
#: files, parts of containers, further pages), and IRIs.
SEMCRAWL_RDF_LINKS = ["all"]
#: Places in a statement whose IRIs are links: `subject` (with `all` only), `predicate`, `object`,
#: `type` (objects of rdf:type), `graph`.
SEMCRAWL_RDF_LINK_POSITIONS = ["subject", "object"]
#: Most triples of a page's RDFa, and of its Microdata.
SEMCRAWL_MAX_TRIPLES_PER_PAGE = 200_000
#: Bytes above which a document is read in a thread or a process, so that the crawl goes on.
SEMCRAWL_READ_IN_THREAD_ABOVE = 262_144
#: Bytes of JSON-LD, in a document or in a page's scripts, above which it is read in a process: its
#: contexts may take time in proportion to the square of their size.
SEMCRAWL_READ_JSON_LD_IN_PROCESS_ABOVE = 32_768
#: Most processes of a spider for reading documents that no thread can stop: large pages, archives,
#: and large documents of JSON-LD and XML. They start when needed; 0: threads only.
SEMCRAWL_READ_PROCESSES = 2
#: Bytes up to which a document is read as a whole; larger ones wait in a file without a name, and
#: are read piece by piece. Of a larger HTML page the beginning is read.
SEMCRAWL_MAX_SIZE_IN_MEMORY = 32 * 1024 * 1024
#: Bytes of headers that an answer may have.
SEMCRAWL_MAX_HEADERS_SIZE = 256 * 1024
#: Seconds after which the reading of a document is cut off. Its statements until then count, unless
#: the process that reads it had to be ended.
SEMCRAWL_MAX_READ_TIME = 900.0
#: Bytes of N-Quads after which a document is cut off.
SEMCRAWL_MAX_NQUADS_SIZE = 64 * 1024**3
#: Errors of a document that are kept with their text; the others are counted.
SEMCRAWL_MAX_ERRORS_KEPT = 20
#: Bytes that a compressed document or an archive may unpack to.
SEMCRAWL_MAX_UNPACKED_SIZE = 64 * 1024**3
#: Ratio of unpacked to packed size that it may reach (from 16 MiB on).
SEMCRAWL_MAX_UNPACK_RATIO = 250.0
#: Files of an archive that are looked at.
SEMCRAWL_MAX_ARCHIVE_MEMBERS = 10_000
#: Whether the default graph of a file in an archive is named `URL#name` instead of `URL`.
SEMCRAWL_MEMBER_GRAPHS = False
#: Bytes that the entities of an XML document may grow to.
SEMCRAWL_MAX_ENTITY_SIZE = 4 * 1024 * 1024
#: Levels of nesting in XML, JSON and triple terms.
SEMCRAWL_MAX_NESTING = 256
#: IRI under which blank nodes get IRIs (Skolem IRIs); empty: they stay blank nodes.
SEMCRAWL_SKOLEM_BASE = ""
#: Hosts that JSON-LD contexts may be fetched from: names, `*.example.org`, `*` = any. Empty: none.
#: The contexts of schema.org and of the W3C need no fetch.
SEMCRAWL_CONTEXT_HOSTS = ["*"]
#: Bytes of a fetched context.
SEMCRAWL_MAX_CONTEXT_SIZE = 2 * 1024 * 1024
#: Contexts that a worker fetches in one run.
SEMCRAWL_MAX_CONTEXTS = 200
#: Those among them that may be of one host.
SEMCRAWL_MAX_CONTEXTS_OF_HOST = 50
#: Contexts that a worker fetches at a time, one from each host. They are fetched beside the crawl,
#: at their hosts' pace; the document that names them waits for them outside the slots.
SEMCRAWL_CONTEXTS_AT_A_TIME = 32
#: Seconds that a document waits for its contexts, their hosts' crawl delays included; then it is
#: read without the missing ones.
SEMCRAWL_CONTEXT_PATIENCE = 300.0
#: Bytes that contexts may add to a document.
SEMCRAWL_MAX_INLINED_CONTEXT_SIZE = 16 * 1024 * 1024
#: Seconds to wait for a context.
SEMCRAWL_CONTEXT_TIMEOUT = 20.0

# --- Looking

#: Progress on standard error: `auto` (live on a terminal, else lines), `live`, `lines`, `off`.
#: `semcrawl harvest` sets `auto`.
SEMCRAWL_PROGRESS = "off"
#: Seconds between two progress lines.
SEMCRAWL_PROGRESS_INTERVAL = 5.0
#: Folder in which each process keeps a heartbeat for health checks: `python -m
#: semcrawl.machine.heartbeats FOLDER` says whether all make progress. Empty: none.
SEMCRAWL_HEARTBEATS = ""
#: Seconds between two heartbeats.
SEMCRAWL_HEARTBEAT_INTERVAL = 10.0
#: Seconds without progress after which a process counts as stuck. More than
#: `SEMCRAWL_MAX_READ_TIME` and `DOWNLOAD_TIMEOUT` together, and than `SEMCRAWL_REDIS_PATIENCE`, or
#: a worker counts as stuck that waits for a large document or for its Redis.
SEMCRAWL_HEARTBEAT_PATIENCE = 1200.0

# --- Results

#: Database of the crawl metadata (SQLAlchemy URL); empty = `crawl.db` in the job's folder.
SEMCRAWL_METADATA_URL = ""
#: Seconds to wait for a metadata database that went away.
SEMCRAWL_METADATA_PATIENCE = 60.0
#: Most classes and properties of a document that `crawl.db` indexes for `semcrawl find`; 0: no
#: index while crawling, and the first `find` makes it.
SEMCRAWL_INDEXED_TERMS = 1000
#: Whether raw responses are kept as WARC files in the job's folder (needs `semcrawl[warc]`).
SEMCRAWL_WARC = False
#: Bytes after which the next WARC file is begun.
SEMCRAWL_WARC_SIZE = 1 << 30

# --- Triple stores

#: Triple store: `embedded` (pyoxigraph, in the job folder) or the URL of a SPARQL 1.1 Graph
#: Store Protocol endpoint. Empty: none.
SEMCRAWL_STORE_URL = ""

#: URL of a SPARQL 1.1 Update endpoint of the triple store, alone or beside `SEMCRAWL_STORE_URL`.
SEMCRAWL_STORE_UPDATE_URL = ""

#: URL of the triple store that takes N-Quads of many graphs in a POST (Oxigraph:
#: `http://host:7878/store?no_transaction`), beside `SEMCRAWL_STORE_UPDATE_URL`: new documents go
#: there. Empty: none.
SEMCRAWL_STORE_BULK_URL = ""

#: URL of a SPARQL 1.1 query endpoint of the triple store, where semcrawl asks which graphs exist,
#: so as not to touch foreign ones. Empty: found beside the other endpoints, or graph by graph by
#: the Graph Store Protocol.
SEMCRAWL_STORE_QUERY_URL = ""

#: Hosts and pay-level domains whose documents may write graphs of any name in the triple store.
#: Other documents write the graphs of their address, below it and on their host; their statements
#: on other graphs go to graphs of their own. Foreign graphs are never written.
SEMCRAWL_TRUSTED_SITES: list[str] = []

#: Whether graphs under the addresses of documents that are in the triple store already, made by
#: another harvest or by hand, are replaced by these documents. Otherwise they stay, and the
#: documents' own graphs get other names.
SEMCRAWL_STORE_ADOPT = False

#: Whether the data embedded in pages go to the triple store too, each page a graph.
SEMCRAWL_STORE_EMBEDDED = True

#: User and password of the triple store.
SEMCRAWL_STORE_USER = ""
SEMCRAWL_STORE_PASSWORD = ""

#: Login at the triple store: `basic` or `digest`.
SEMCRAWL_STORE_AUTH = "basic"

#: Seconds without a byte from the triple store until it counts as away.
SEMCRAWL_STORE_TIMEOUT = 300.0

#: Seconds that a closing spider waits for a triple store that is away; the rest stays in the job
#: folder for the next delivery.
SEMCRAWL_STORE_CLOSE_TIMEOUT = 60.0

#: Statements in one request to the Update endpoint.
SEMCRAWL_STORE_UPDATE_QUADS = 20_000

#: Statements above which a document goes by the Graph Store Protocol, where there is an endpoint
#: of either kind.
SEMCRAWL_STORE_PUT_ABOVE = 20_000

#: Documents that go by the Graph Store Protocol at a time. (Virtuoso's own loader gets two
#: requests at a time, or one.)
SEMCRAWL_STORE_CONNECTIONS = 4

# --- Re-visits

#: Ask again for the documents, pages and kept images of the job folder that are due; `semcrawl
#: harvest --revisit` sets it.
SEMCRAWL_REVISIT = False

#: Frequency of re-visits: `uniform` (all documents equally often) or `proportional` (documents that
#: change often, and rich ones, more often).
SEMCRAWL_REVISIT_POLICY = "proportional"

#: Mean seconds between two visits of a document; 0 = all are due, only the order counts.
SEMCRAWL_REVISIT_INTERVAL = 0.0

#: Whether a re-visit leaves out what its sitemap calls unchanged (`lastmod`) since the last visit.
SEMCRAWL_REVISIT_BY_LASTMOD = True

#: Share of these that is asked for nevertheless, the first of each host among them. When one did
#: change, its host's sitemaps are believed no more. 0 = none is asked for.
SEMCRAWL_LASTMOD_CHECKS = 0.1
