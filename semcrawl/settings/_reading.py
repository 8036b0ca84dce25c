"""Settings of what to read and keep: images, documents, results, stores, re-visits."""

# --- Images (targets `images`)

#: Least width and height of an image in pixels. Images that their page shows smaller are not
#: fetched.
SEMCRAWL_IMAGES_MIN_WIDTH = 100
SEMCRAWL_IMAGES_MIN_HEIGHT = 100
#: Least and most bytes of an image.
SEMCRAWL_IMAGES_MIN_BYTES = 0
SEMCRAWL_IMAGES_MAX_BYTES = 32 * 1024 * 1024
#: Most pixels of an image that is decoded; each briefly takes up to four bytes of memory.
SEMCRAWL_IMAGES_MAX_PIXELS = 50_000_000
#: Media types of images to keep, by their bytes.
SEMCRAWL_IMAGES_TYPES = ["image/*"]
#: Most pages with the same image; an image on more pages is dropped as a logo or an advertisement.
#: 0 = any number.
SEMCRAWL_IMAGES_MAX_PAGES = 10
#: Most bits of 64 in which the perceptual hashes of near copies differ. Their miniatures are then
#: compared. -1 = only images of equal bytes are copies.
SEMCRAWL_IMAGES_NEAR_BITS = 16
#: Levels of ancestors in a page whose texts are read for an image.
SEMCRAWL_IMAGES_LEVELS = 5
#: Most characters kept of one text near an image.
SEMCRAWL_IMAGES_MAX_TEXT = 300
#: Most image places read per page.
SEMCRAWL_IMAGES_PER_PAGE = 1000

# --- Reading

#: Documents that count as targets, separated by commas: `rdf` (RDF documents), `embedded` (pages
#: with embedded data), `html` (pages, whose title and text go to `pages.nq`), `images` (see
#: images.md), and media types such as `text/csv` or `text/*`, whose bodies are kept in the folder
#: `files`. Where only a topic is given, commands take what it reads: `rdf,embedded`, and `html` if
#: it reads texts (not with `new` alone).
SEMCRAWL_TARGETS = "rdf"
#: Topic of the crawl, such as `vocabulary:schema:Dataset` or `keywords:merge sort`. `all(…, …)`,
#: `any(…, …)` and `0.7*… + 0.3*…` combine topics (see topics.md). The topics of a list must all
#: match. Empty: no topic.
SEMCRAWL_ABOUT: str | list[str] = ""
#: Least relevance, above 0 and up to 1, of a document about the topic.
SEMCRAWL_ABOUT_THRESHOLD = 0.5
#: Documents to keep in the results: `relevant` (those that reach the threshold) or `all`. All
#: others are still read, learned from and recorded.
SEMCRAWL_KEEP = "relevant"
#: `soft`: follow the links of every page, the most promising first. `hard`: except those of
#: documents of the wanted kind that miss the threshold.
SEMCRAWL_FOCUS = "soft"
#: How many of the first bytes of a document's statements, and characters of its text, are judged.
SEMCRAWL_ABOUT_MAX_SIZE = 8 * 1024 * 1024
#: Most bytes of a file that defines a topic, such as an ontology, and of its statements as N-Quads.
#: A larger one is refused. An ontology at the default limit takes some 1.5 GB of memory.
SEMCRAWL_ABOUT_MAX_FILE = 256 * 1024 * 1024
#: Topic `new`: statements that a crawl remembers in its frontier for all workers and runs, each in
#: 8 bytes of Redis, up to 32 million, or some 40 bytes of `frontier.db`. The oldest are forgotten
#: first, and then count as new again.
SEMCRAWL_ABOUT_NEW_STATEMENTS = 4_000_000
#: Topic `shape`: most seconds for the check of one document.
SEMCRAWL_ABOUT_SHAPE_TIMEOUT = 10
#: Whether the topic `examples:` learns from the crawl too: the most relevant documents that it
#: judged, as many as there are samples, become good samples.
SEMCRAWL_ABOUT_RETRAIN = False
#: Number of first documents about the topic whose words widen it: texts with similar words are
#: then about it too. 0: the topic stays as it was given.
SEMCRAWL_ABOUT_WIDEN = 0
#: Topic `shape`: most bytes of memory (address space) of the process that checks.
SEMCRAWL_ABOUT_SHAPE_MEMORY = 2 * 1024 * 1024 * 1024
#: Kinds of embedded data to read from pages: `jsonld`, `microdata`, `rdfa` (includes OpenGraph),
#: `rdf` (scripts of the other RDF syntaxes, such as Turtle, and RDF/XML in inline SVG).
#: They go to `embedded.nq`. Empty: none. With the extra `semcrawl[microformats]` also
#: `microformats` (cards and events as vCard and iCalendar) and `dublin-core` (`meta` elements).
SEMCRAWL_EMBEDDED = ["jsonld", "microdata", "rdfa", "rdf"]
#: Properties whose values are links in embedded data: the presets `data` (distributions, addresses,
#: parts and the like of schema.org, with `dcat` and `void`), `dcat`, `void`, `see-also`, `foaf`,
#: and IRIs. Empty: none.
SEMCRAWL_EMBEDDED_LINKS = ["data"]
#: Properties whose values are links in RDF: `all`, the presets `see-also` (rdfs:seeAlso,
#: owl:sameAs, rdfs:isDefinedBy, owl:imports), `foaf`, `dcat`, `void`, `catalogue` (data sets,
#: files, parts of containers, further pages), and IRIs.
SEMCRAWL_RDF_LINKS = ["all"]
#: Positions in a statement whose IRIs are links: `subject` (only with `all`), `predicate`,
#: `object`, `type` (objects of rdf:type), `graph`.
SEMCRAWL_RDF_LINK_POSITIONS = ["subject", "object"]
#: Most triples of a page's RDFa, and of its Microdata.
SEMCRAWL_MAX_TRIPLES_PER_PAGE = 200_000
#: Most characters of these triples. Each may take some five bytes of memory.
SEMCRAWL_MAX_TRIPLES_SIZE_PER_PAGE = 64 * 1024 * 1024
#: Bytes above which a document is read in a thread or a process, so that the crawl continues.
SEMCRAWL_READ_IN_THREAD_ABOVE = 262_144
#: Bytes of JSON-LD, in a document or a page's scripts, above which it is read in a process, as its
#: reader keeps other threads waiting.
SEMCRAWL_READ_JSON_LD_IN_PROCESS_ABOVE = 32_768
#: Most processes per spider for documents whose parser a thread cannot stop: large pages, archives,
#: and large documents in JSON-LD and XML. They start when needed. 0 = threads only.
SEMCRAWL_READ_PROCESSES = 2
#: Most bytes of memory (address space) of each of these processes; 0 = any number. A document that
#: needs more is recorded as an error. Windows and macOS do not bound it.
SEMCRAWL_READ_MEMORY = 2 * 1024 * 1024 * 1024
#: Bytes up to which a document is read whole. A larger one is kept in a file without a name and
#: read in pieces; of a larger HTML page only the beginning is read.
SEMCRAWL_MAX_SIZE_IN_MEMORY = 32 * 1024 * 1024
#: Most bytes of an answer's headers.
SEMCRAWL_MAX_HEADERS_SIZE = 256 * 1024
#: Seconds after which the reading of a document stops. Statements read so far are kept, unless the
#: reading process had to be killed.
SEMCRAWL_MAX_READ_TIME = 900.0
#: Bytes per second that a document must be read at, beyond the first three seconds: a small one may
#: not keep others waiting for long. 0 = any rate.
SEMCRAWL_LEAST_READ_RATE = 100_000.0
#: Most bytes of N-Quads of a document; the rest is dropped.
SEMCRAWL_MAX_NQUADS_SIZE = 64 * 1024**3
#: Most errors of a document that are kept with their text; further ones are counted.
SEMCRAWL_MAX_ERRORS_KEPT = 20
#: Most bytes to which a compressed document or an archive may unpack.
SEMCRAWL_MAX_UNPACKED_SIZE = 64 * 1024**3
#: Largest ratio of unpacked to packed size, checked above 16 MiB, and of N-Quads (without their
#: graph names) to the text they come from, checked above 1 MiB.
SEMCRAWL_MAX_UNPACK_RATIO = 250.0
#: Most files read of an archive.
SEMCRAWL_MAX_ARCHIVE_MEMBERS = 10_000
#: Whether the default graph of a file in an archive is named `URL#name` instead of `URL`.
SEMCRAWL_MEMBER_GRAPHS = False
#: Most bytes to which the entities of an XML document may expand.
SEMCRAWL_MAX_ENTITY_SIZE = 4 * 1024 * 1024
#: Most levels of nesting in XML, JSON and triple terms.
SEMCRAWL_MAX_NESTING = 256
#: Base of the Skolem IRIs that replace blank nodes. Empty: they stay blank nodes.
SEMCRAWL_SKOLEM_BASE = ""
#: Hosts from which JSON-LD contexts may be fetched: names, `*.example.org`, `*` = any. Empty: none.
#: The contexts of schema.org and of the W3C are built in.
SEMCRAWL_CONTEXT_HOSTS = ["*"]
#: Most bytes of a fetched context.
SEMCRAWL_MAX_CONTEXT_SIZE = 2 * 1024 * 1024
#: Most contexts that a worker fetches in one run.
SEMCRAWL_MAX_CONTEXTS = 200
#: Most contexts that a worker fetches from one host in one run.
SEMCRAWL_MAX_CONTEXTS_OF_HOST = 50
#: Contexts that a worker fetches at a time, one from each host, at the host's pace. Documents wait
#: for them without holding slots.
SEMCRAWL_CONTEXTS_AT_A_TIME = 32
#: Seconds that a document waits for its contexts, including their hosts' crawl delays. Then it is
#: read without the missing ones.
SEMCRAWL_CONTEXT_PATIENCE = 300.0
#: Most bytes of the contexts that a document names, and of the long IRIs that they make.
SEMCRAWL_MAX_INLINED_CONTEXT_SIZE = 16 * 1024 * 1024
#: Seconds to wait for a context.
SEMCRAWL_CONTEXT_TIMEOUT = 20.0

# --- Progress and health

#: Progress on standard error: `auto` (live on a terminal, else lines), `live`, `lines`, `off`.
#: `semcrawl harvest` sets `auto`.
SEMCRAWL_PROGRESS = "off"
#: Seconds between two progress lines.
SEMCRAWL_PROGRESS_INTERVAL = 5.0
#: Folder in which each process keeps a heartbeat for health checks: `python -m
#: semcrawl.machine.heartbeats FOLDER` reports whether all make progress. Empty: none.
SEMCRAWL_HEARTBEATS = ""
#: Seconds between two heartbeats.
SEMCRAWL_HEARTBEAT_INTERVAL = 10.0
#: Seconds without progress after which a process counts as stuck. Choose more than
#: `SEMCRAWL_MAX_READ_TIME` and `DOWNLOAD_TIMEOUT` together, and more than
#: `SEMCRAWL_REDIS_PATIENCE`; else a worker that waits for a large document or for Redis counts as
#: stuck.
SEMCRAWL_HEARTBEAT_PATIENCE = 1200.0

# --- Results

#: Database of the crawl metadata (SQLAlchemy URL); empty = `crawl.db` in the job folder.
SEMCRAWL_METADATA_URL = ""
#: Seconds to wait for an unreachable metadata database.
SEMCRAWL_METADATA_PATIENCE = 60.0
#: Seconds between two calls that bring `quads.nq` to the disk for certain; 0: with each batch of
#: documents, before the ledger lists them. After a power loss the lines of the last seconds may be
#: missing: `semcrawl check` names their documents, and the next run reads them again.
SEMCRAWL_SYNC_INTERVAL = 0.0
#: Most classes and properties of a document that `crawl.db` indexes for `semcrawl find`. 0 = no
#: index while crawling; the first `find` makes it.
SEMCRAWL_INDEXED_TERMS = 1000
#: Whether `crawl.db` keeps the links of each page with their words, compressed, some 2 KB for a
#: hundred links: `semcrawl report` and `why` then name all pages that lead to an address.
SEMCRAWL_RECORD_LINKS = False
#: Whether to keep raw responses as WARC files in the job folder (needs `semcrawl[warc]`).
SEMCRAWL_WARC = False
#: Bytes after which the next WARC file begins.
SEMCRAWL_WARC_SIZE = 1 << 30

# --- Triple stores

#: Triple store: `embedded` (pyoxigraph, in the job folder) or the URL of a SPARQL 1.1 Graph
#: Store Protocol endpoint. Empty: none.
SEMCRAWL_STORE_URL = ""

#: URL of a SPARQL 1.1 Update endpoint of the triple store, with or without `SEMCRAWL_STORE_URL`.
SEMCRAWL_STORE_UPDATE_URL = ""

#: URL of the triple store that accepts N-Quads of many graphs in a POST (Oxigraph:
#: `http://host:7878/store?no_transaction`), in addition to `SEMCRAWL_STORE_UPDATE_URL`. New
#: documents go there. Empty: none.
SEMCRAWL_STORE_BULK_URL = ""

#: URL of a SPARQL 1.1 query endpoint of the triple store, where semcrawl checks which graphs exist,
#: so as not to change foreign ones. Empty: semcrawl derives it from the other endpoints, or checks
#: graph by graph by the Graph Store Protocol.
SEMCRAWL_STORE_QUERY_URL = ""

#: Hosts and pay-level domains whose documents may write graphs of any name in the triple store.
#: Other documents write only graphs named by their address, below it or on their host; their other
#: graphs are renamed. Foreign graphs are never written.
SEMCRAWL_TRUSTED_SITES: list[str] = []

#: Whether documents replace graphs of their address that another harvest or user has made in the
#: triple store. Otherwise these stay, and the documents' own graphs get other names.
SEMCRAWL_STORE_ADOPT = False

#: Whether embedded data goes to the triple store too, one graph per page.
SEMCRAWL_STORE_EMBEDDED = True

#: User and password of the triple store.
SEMCRAWL_STORE_USER = ""
SEMCRAWL_STORE_PASSWORD = ""

#: HTTP authentication at the triple store: `basic` or `digest`.
SEMCRAWL_STORE_AUTH = "basic"

#: Seconds without a byte from the triple store until it counts as unreachable.
SEMCRAWL_STORE_TIMEOUT = 300.0

#: Seconds that a closing spider waits for an unreachable triple store. The rest stays in the job
#: folder for the next delivery.
SEMCRAWL_STORE_CLOSE_TIMEOUT = 60.0

#: Most statements in one request to the Update endpoint.
SEMCRAWL_STORE_UPDATE_QUADS = 20_000

#: Statements above which a document is sent by the Graph Store Protocol, if there are endpoints of
#: both kinds.
SEMCRAWL_STORE_PUT_ABOVE = 20_000

#: Documents sent at a time by the Graph Store Protocol. Virtuoso's own loader gets at most two
#: requests at a time.
SEMCRAWL_STORE_CONNECTIONS = 4

# --- Re-visits

#: Whether to re-visit the documents, pages and kept images of the job folder that are due;
#: `semcrawl harvest --revisit` sets it.
SEMCRAWL_REVISIT = False

#: Frequency of re-visits: `uniform` (all documents equally often) or `proportional` (more often
#: documents that change often and rich ones).
SEMCRAWL_REVISIT_POLICY = "proportional"

#: Mean seconds between two visits of a document; 0 = all are due, only their order matters.
SEMCRAWL_REVISIT_INTERVAL = 0.0

#: Whether a re-visit skips addresses that a sitemap calls unchanged (`lastmod`) since the last
#: visit.
SEMCRAWL_REVISIT_BY_LASTMOD = True

#: Share of these that is fetched nevertheless, including the first of each host. Once one has
#: changed, its host's sitemaps are no longer trusted. 0 = none.
SEMCRAWL_LASTMOD_CHECKS = 0.1
