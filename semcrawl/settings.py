"""Settings of semcrawl, in Scrapy's manner.

Every setting of ours starts with ``SEMCRAWL_`` and is described by the ``#:`` comment above it
(meaning, unit); ``docs/settings.md`` is made from these comments.
"""

import os

from semcrawl.config.feedformats import FEED_EXPORTERS as FEED_EXPORTERS
from semcrawl.config.feedformats import FEED_STORAGES as FEED_STORAGES
from semcrawl.web.vocabulary import AMBIGUOUS_MEDIA_TYPES

# --- Scrapy's own settings, with our defaults

BOT_NAME = "semcrawl"
SPIDER_MODULES = ["semcrawl.spiders"]
NEWSPIDER_MODULE = "semcrawl.spiders"
COMMANDS_MODULE = "semcrawl.commands"

USER_AGENT = "semcrawl/0.1 (+https://github.com/semcrawl/semcrawl)"
ROBOTSTXT_OBEY = True
LOG_LEVEL = "INFO"
LOG_FORMATTER = "semcrawl.terminal.logformat.SparingLogFormatter"
CONCURRENT_REQUESTS = 16
CONCURRENT_ITEMS = 2
DOWNLOAD_TIMEOUT = 60
DOWNLOAD_MAXSIZE = 100 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
RETRY_GIVE_UP_LOG_LEVEL = "INFO"  # the records tell of it
DOWNLOAD_HANDLERS = {
    "http": "semcrawl.download.handler.AiohttpDownloadHandler",
    "https": "semcrawl.download.handler.AiohttpDownloadHandler",
}
# The frontier keeps the pace of every host, for all workers; the downloader adds none of its own.
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 1000
# <meta http-equiv="refresh"> is a link like others.
METAREFRESH_ENABLED = False
COOKIES_ENABLED = False
TELNETCONSOLE_ENABLED = False
REQUEST_FINGERPRINTER_CACHE_SIZE = 0

# --- What to fetch

#: Strategy that decides what is fetched next: `breadth-first`, `depth-first`, `rules`,
#: `rules-parents`, `learned` …, or the import path of a class (see strategies.md).
SEMCRAWL_RELEVANCE = "learned"
#: Which links are followed: `site` (the seeds' pay-level domains; off them only links labelled R
#: and redirectors), `parent` (any link of a page on those domains), `any`, or hosts with commas
#: between them, each perhaps with a folder (`example.org/data/`).
SEMCRAWL_SCOPE = "site"
#: Patterns; a link is followed only if its address matches one of them; empty: all. `/data/*` is
#: compared with path and query, `example.org/data/*` with host, path and query, `https://…` with
#: the whole address; `*` stands for any signs. `re:…` is a regular expression, searched for in the
#: address. Seeds and their redirects are requested in any case.
SEMCRAWL_INCLUDE: list[str] = []
#: Patterns of addresses that are not requested; waiting links obey them too.
SEMCRAWL_EXCLUDE: list[str] = []
#: Hosts that redirect persistent identifiers; followed in scope `site`.
SEMCRAWL_REDIRECTORS = [
    "w3id.org",
    "purl.org",
    "purl.oclc.org",
    "doi.org",
    "dx.doi.org",
    "n2t.net",
]
#: Requests that one run may send, robots.txt not counted; 0 = no limit.
SEMCRAWL_PAGES = 0
#: Processes of this machine that work on one job folder together (`--workers`): a number, or
#: `auto`, one for each processor.
SEMCRAWL_WORKERS: int | str = 1
#: How often each of them is started again when it dies.
SEMCRAWL_WORKER_RESTARTS = 3
#: Whether folders that are linked without their slash are requested with it at once, where the
#: server only redirects such links there: one request instead of two. An address that turns out to
#: be no folder is then requested as it was linked.
SEMCRAWL_FORESEE_SLASHES = True
#: Whether catalogues of data sets lead to links: CKAN's and OAI-PMH's answers, `data.json`, the
#: next pages of DCAT, LDP and TREE, addresses that they write as texts. What is a link in any RDF
#: (see `SEMCRAWL_RDF_LINKS`) is one without this.
SEMCRAWL_CATALOGUES = True
#: Pages of one catalogue that are followed, by all workers and runs together: addresses that differ
#: in digits and queries. 0 = any number.
SEMCRAWL_MAX_CATALOGUE_PAGES = 2000
#: Bytes above which a catalogue or a linkset that is no RDF is not read.
SEMCRAWL_CATALOGUE_MAX_SIZE = 16 * 1024 * 1024
#: Whether `Link:` headers and linksets (RFC 9264) lead to links.
SEMCRAWL_SIGNPOSTING = True
#: Whether pages that may be there as RDF as well are asked for again by type: `auto` (those that
#: say `Vary: Accept` or describe themselves, and others of a host that gave RDF so), `never`.
SEMCRAWL_NEGOTIATION = "auto"
#: Pages of one shape that are asked for so before one of them gives RDF.
SEMCRAWL_NEGOTIATION_TRIES = 2
#: Names below `/.well-known/` that are asked for once on each host that gave a target (`void`,
#: `api-catalog` …). Empty: none.
SEMCRAWL_WELL_KNOWN = ["void"]
#: What is asked of each host at most, for all workers and runs together: `requests=1000,bytes=1G,`
#: `documents=500,depth=6,rdf=1%/200` (of 200 requests or more at least 1 % must give RDF). Empty =
#: no bounds. `semcrawl limits DIR` changes it while a crawl runs.
SEMCRAWL_HOST_BUDGET = ""
#: The same for each pay-level domain.
SEMCRAWL_DOMAIN_BUDGET = ""
#: Seconds between two looks at limits that were changed, and at what other workers spent.
SEMCRAWL_LIMITS_INTERVAL = 2.0
#: Whether sitemaps lead to links: `auto` (those that a robots.txt names, else `/sitemap.xml` of the
#: hosts that seeds name), `never`, or `only` (and the links of pages do not).
SEMCRAWL_SITEMAPS = "auto"
#: Bytes of a sitemap that are read, unpacked.
SEMCRAWL_SITEMAP_MAX_SIZE = 100 * 1024 * 1024
#: Entries of a sitemap that are read.
SEMCRAWL_SITEMAP_MAX_ENTRIES = 100_000
#: Sitemaps of a host that each worker reads.
SEMCRAWL_MAX_SITEMAPS_OF_HOST = 1000
#: Requests in a row without a target after which a crawl ends, if the strategy expects less than
#: one target from as many more; 0 = never.
SEMCRAWL_PATIENCE = 0
#: Links of one pattern in one RDF document (the subjects of a dump, say) that are tried first. If
#: none of them brings RDF, a page or a target, the others are withheld. The 1st, 2nd, 4th, 8th …
#: withheld link is requested as a sample, and all come back when one brings something. 0 = none are
#: withheld.
SEMCRAWL_FAMILY_TRIES = 10
#: Paths with the same bytes on two hosts, each path with other bytes, after which the hosts count
#: as mirrors: addresses that one gave are withheld from the other. The 1st, 2nd, 4th, 8th …
#: withheld link is requested as a sample, and all come back when one gives other bytes. ``http``
#: and ``https`` of a name count as two hosts. 5 is a good number; 0 = no hosts count as mirrors.
SEMCRAWL_MIRROR_COPIES = 0
#: Links of a page that are read; later ones are ignored.
SEMCRAWL_MAX_LINKS_PER_PAGE = 10_000
#: Waiting H links become HR when the shape of their path is learned. Off in the thesis.
SEMCRAWL_PROMOTE_WAITING = True
#: Links whose extension is unknown wait in a last group instead of being dropped. Off in the
#: thesis.
SEMCRAWL_KEEP_UNLIKELY = True
#: Media types besides RDF and HTML whose bodies are always downloaded, as they may hide RDF. Empty
#: in the thesis.
SEMCRAWL_AMBIGUOUS_TYPES = sorted(AMBIGUOUS_MEDIA_TYPES)

# --- SPARQL endpoints

#: Which SPARQL endpoints are read: `never`; `seeds` (those that are named as seeds,
#: `sparql+https://host/sparql`, or by `--endpoint URL`); `found` (also those that RDF documents in
#: scope name by `void:sparqlEndpoint`, `sd:endpoint` or `sc:sparqlEndpointLocation`).
SEMCRAWL_ENDPOINTS = "seeds"
#: Triples of one query's answer; smaller pages are asked for where an endpoint gives fewer, or
#: takes too long.
SEMCRAWL_ENDPOINT_PAGE = 10_000
#: Triples that one endpoint may bring, by its own counts; 0 = no limit.
SEMCRAWL_ENDPOINT_TRIPLES = 10_000_000
#: Seconds to wait for the answer of a query.
SEMCRAWL_ENDPOINT_TIMEOUT = 60.0
#: Seconds after the first query to an endpoint, in one run, from which on no more are sent; the
#: others are kept for `semcrawl frontier DIR --requeue`. 0 = no limit.
SEMCRAWL_ENDPOINT_TIME = 43_200.0
#: Patterns of graph names that are left out (`*` stands for any signs); by default those in which
#: servers keep their own things.
SEMCRAWL_ENDPOINT_SKIP_GRAPHS = [
    "http://www.openlinksw.com/schemas/virtrdf#*",
    "http://localuriqaserver/*",
    "http://www.w3.org/ns/ldp#",
    "urn:virtuoso:*",
]

# --- Pings: addresses that others submit to a running crawl

#: Port on which pings are taken (a plain POST of addresses, or XML-RPC `weblogUpdates.ping`);
#: 0 = none.
SEMCRAWL_PING_PORT = 0
#: Address on which pings are taken; by default only programs of this machine can reach it.
SEMCRAWL_PING_HOST = "127.0.0.1"
#: Addresses that one caller may submit in a minute; 0 = any number.
SEMCRAWL_PING_RATE = 60.0
#: Seconds for which an address that was submitted is not taken again; after that it is visited
#: again.
SEMCRAWL_PING_INTERVAL = 3600.0
#: Whether addresses off the crawl's sites may be submitted: their sites are crawled, too.
SEMCRAWL_PING_ANY_SITE = False

# --- One spelling of a URL (the lossless rules are always on)

#: Query variables that only change the presentation; they are dropped.
SEMCRAWL_URL_DROP_PARAMETERS = ["sort", "sortby", "sort_by", "orderby", "order_by"]
#: Fetch `https:` links by `http:`.
SEMCRAWL_URL_HTTPS_TO_HTTP = False
#: Drop `www.` from host names.
SEMCRAWL_URL_DROP_WWW = False
#: Drop queries altogether.
SEMCRAWL_URL_DROP_QUERY = False
#: Names of hosts that links give by their address (`{"192.0.2.7": "example.org"}`; a mapping, or
#: JSON): such links are fetched by the name.
SEMCRAWL_URL_HOST_NAMES: dict[str, str] = {}

# --- Politeness

#: Seconds between the starts of two requests to a host whose robots.txt does not say.
SEMCRAWL_CRAWL_DELAY = 1.0
#: Fetches that the crawl learns from before one more request may be in flight, up to
#: `CONCURRENT_REQUESTS`; 0 = all at once. This saves requests while the crawl has learned little.
SEMCRAWL_SLOW_START = 6
#: Requests at a time to a host.
SEMCRAWL_CONCURRENCY_PER_HOST = 1
#: Seconds between the starts of two requests to one address, under whatever names; 0 = addresses
#: have no pace. It holds beside the pace of hosts, for hosts that have a crawl delay. An IPv6
#: network of 64 bits counts as one address. Behind a proxy the address is unknown, and this does
#: not apply.
SEMCRAWL_ADDRESS_DELAY = 0.1
#: Requests at a time to one address, under whatever names.
SEMCRAWL_CONCURRENCY_PER_ADDRESS = 8
#: Whether private addresses have such a pace, too.
SEMCRAWL_PACE_PRIVATE_ADDRESSES = False
#: Whether Crawl-delay and Request-rate of robots.txt are obeyed.
SEMCRAWL_OBEY_CRAWL_DELAY = True
#: Longest crawl delay that a robots.txt is granted, seconds.
SEMCRAWL_MAX_CRAWL_DELAY = 60.0
#: Seconds for which a robots.txt holds (RFC 9309: not more than a day); then it is read again.
SEMCRAWL_ROBOTS_LIFETIME = 86_400.0
#: Bytes that the rules of robots.txt files may take in a worker's memory, about. The frontier has
#: all files; other rules are read from there, large ones beside the crawl.
SEMCRAWL_ROBOTS_MEMORY = 128 * 1024 * 1024
#: Seconds until a robots.txt is requested again that its server failed to give (status 5xx or 429);
#: longer if its Retry-After says so. Until then nothing is requested there.
SEMCRAWL_ROBOTS_RETRY = 30.0
#: Longest Retry-After, in seconds, that is obeyed for a link or a robots.txt. A link whose server
#: asks for more is kept aside. A host that answers 429 rests so long at most.
SEMCRAWL_MAX_RETRY_AFTER = 120.0
#: Network errors or refusals (429) in a row, without another answer in between, after which a host
#: is down: it rests and its links wait, while one request after each rest asks whether it is back.
#: If several hosts fail so and none answers in between, our own network is down, and the crawl
#: pauses. 0 = never.
SEMCRAWL_HOST_FAILURES = 4
#: Answers 403 in a row after which a host is asked for an address that it gave before. If it
#: refuses that too, it has blocked us, and rests. 0 = never.
SEMCRAWL_HOST_FORBIDDEN = 6
#: Seconds of the first rest. Each further one in a row is longer by that much, and each answer
#: shortens the next one by it.
SEMCRAWL_HOST_REST = 2.0
#: What the length of a rest hangs on. `even`: each failed check of a host that is down adds
#: `SEMCRAWL_HOST_REST`. `pagerank`: that times the PageRank of the page that was asked for (1 where
#: the strategy knows none), and a page is given up after four failed checks.
SEMCRAWL_HOST_REST_POLICY = "even"
#: Seconds to wait for a host that answered before, and for our own network; then the host's links
#: are set aside as `host-down` (`semcrawl frontier DIR --requeue` brings them back).
SEMCRAWL_HOST_PATIENCE = 600.0
#: The same for a host that never answered, or only by another server: by `http` and not by `https`,
#: say. (One whose name does not exist is not waited for.)
SEMCRAWL_UNTRIED_HOST_PATIENCE = 60.0
#: Wishes of pages that are obeyed, from `robots` meta tags, `X-Robots-Tag` headers and links:
#: `nofollow` (no link of the page is followed), `noarchive` (no copy of its data is kept),
#: `noindex` (the same), `rel-nofollow` (links with `rel=nofollow` are not followed). Empty: none.
SEMCRAWL_ROBOTS_TAGS = ["nofollow", "noarchive"]
#: Least bytes per second of an answer that has begun, headers and robots.txt included. A slower one
#: is cut off as a `timeout`. 0 = none.
SEMCRAWL_LEAST_RATE = 100.0
#: Seconds over which that rate is measured; an answer that has begun may pause so long.
SEMCRAWL_LEAST_RATE_GRACE = 10.0
#: Share of `CONCURRENT_REQUESTS` that hosts which gave nothing yet may hold, once some were found
#: dead or slow, and that one pay-level domain may hold as long as links of others wait; 1 = all.
SEMCRAWL_SHARE_OF_SLOTS = 0.5
#: Unit of politeness: `host`, or `domain` (pay-level domain, with the longest delay that one of its
#: hosts asks for, and `SEMCRAWL_CRAWL_DELAY` at least).
SEMCRAWL_PACE_BY = "host"
#: URL or mail address of those who run the crawl; shown in the user agent, unless `USER_AGENT` is
#: set.
SEMCRAWL_CONTACT = ""
#: Whether hosts that are not of the public internet (private and other special addresses, names
#: such as `localhost` or `nas.local`) may be asked, from any source; `semcrawl harvest --fast` sets
#: it. By default only seeds of the command line, of spider arguments and of a spider's own code,
#: and hosts of `SEMCRAWL_SCOPE`, name such hosts; seeds from a Redis list do not.
SEMCRAWL_ALLOW_PRIVATE_ADDRESSES = False

# --- Frontier

#: Redis server of the frontier and of the seed lists (`redis://host:6379/0`), by default the
#: environment variable of that name; or several, on which the frontier is in shards
#: (`redis://a,b,c`), or some nodes of a Redis Cluster (`redis+cluster://a:7000,b:7000`). Empty = no
#: server: links wait in the file `frontier.db` of the job's folder, which a few processes of one
#: machine may share.
REDIS_URL = os.environ.get("REDIS_URL", "")
#: Folder of the job: results, records, frontier. Empty = `JOBDIR`, else the current folder
#: (`semcrawl harvest`: the folder `harvest`).
SEMCRAWL_JOBDIR = ""
#: Name of the crawl: prefix of all its keys in Redis. Empty: `semcrawl harvest` on a `REDIS_URL`
#: names its crawl by its job folder (`harvest-1a2b3c4d`: the folder's name, and a hash of host and
#: path), everything else is named `semcrawl`.
SEMCRAWL_CRAWL_NAME = ""
#: Number of shards into which a frontier on Redis is cut by hosts; a crawl keeps the number that it
#: begins with. 0 = as many as `REDIS_URL` names servers, or as its cluster has primaries.
SEMCRAWL_FRONTIER_SHARDS = 0
#: Links that a take may draw from one shard though links of the same value and key, which came in
#: before them, wait in another: so it asks one shard where many are alike. 0 = first in, first out
#: over all shards.
SEMCRAWL_FRONTIER_AHEAD = 16
#: Seconds for which a worker believes what it saw of the best links of a shard.
SEMCRAWL_FRONTIER_GLANCE = 0.05
#: Whether a run joins the crawl of its name even if that belongs to another folder or has other
#: seeds; `semcrawl harvest --join NAME` sets it.
SEMCRAWL_JOIN = False
#: Whether a run that joins others at work may shorten the crawl delay and raise the number of
#: requests at a time, for all of them. Otherwise it may only do the opposite.
SEMCRAWL_LOOSEN_PACE = False
#: Seconds after which a leased link that is not finished goes back.
SEMCRAWL_LEASE_TIME = 120.0
#: Most links that a process may hold, those included whose results are being written (at least
#: `CONCURRENT_REQUESTS`). Only these may be fetched again after a `kill -9`.
SEMCRAWL_MAX_LEASES = 256
#: Order among hosts whose best links are of equal value: `off` (the first link in),
#: `equal` (hosts in turn), `yield` (in turn, richer hosts more often).
SEMCRAWL_FAIRNESS = "off"
#: Fetches in a row without a target after which a host rests; 0 = never (SWSE's penalty).
SEMCRAWL_PENALTY_AFTER = 0
#: Seconds of that rest.
SEMCRAWL_PENALTY_TIME = 600.0
#: Documents in a row without a target after which a path is not followed further; 0 = never
#: (BioCrawler's dynamic depth).
SEMCRAWL_DYNAMIC_DEPTH = 0
#: Links out of scope, excluded, or too deep that are remembered, so that the summary counts each
#: once (some 50 bytes each in Redis). Beyond, it says "at least". 0 = none are counted.
SEMCRAWL_MAX_LEFT_OUT = 1_000_000
#: Most waiting links; beyond, the last ones of the worst group are dropped; 0 = no limit.
SEMCRAWL_MAX_WAITING = 0
#: URLs that the seen set keeps exactly. Later ones go to a Bloom filter, which needs a tenth of the
#: memory and sometimes takes a new URL for a seen one. 0 = all are exact. (Without a `REDIS_URL`
#: all are exact: they are on disk.)
SEMCRAWL_SEEN_EXACT = 0
#: Capacity of that filter in URLs; fixed when a crawl begins.
SEMCRAWL_SEEN_CAPACITY = 1_000_000_000
#: Share of new URLs that the filter, when full, takes for seen ones; fixed when a crawl begins.
SEMCRAWL_SEEN_ERROR = 1e-6
#: Seconds to wait for a Redis that went away, or a `frontier.db` that cannot be written, before the
#: crawl ends.
SEMCRAWL_REDIS_PATIENCE = 300.0

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

# --- Strategies by links: PageRank, RW

#: The strategies with PageRank in them (`pagerank`, `weighted-pagerank`, `ipagerank`,
#: `domain-score`): the share of a page's rank that goes on along its links (d), 0 to 0.999.
SEMCRAWL_PAGERANK_DAMPING = 0.85

#: The same strategies: links over which rank is passed on after each page, at most; with weights
#: also links that are weighed again. More make ranks exact sooner and cost more CPU.
SEMCRAWL_PAGERANK_UPDATES = 500

#: The same strategies: links of fetched pages that are held in memory, some 300 bytes each with
#: their addresses. Those of the pages fetched first are forgotten.
SEMCRAWL_PAGERANK_LINKS = 1_000_000

#: Strategies `relevance-weighting`, `ipagerank` and `domain-score`: similarity to the topic (0 to
#: 1) below which no word of a link counts (c).
SEMCRAWL_RW_THRESHOLD = 0.5

#: Strategies `relevance-weighting` and `ipagerank`: whether links none of whose words reaches the
#: threshold are dropped. Otherwise they wait behind the others.
SEMCRAWL_RW_PRUNE = False

#: Strategy `domain-score`: temperature of the softmax over domains. One whose score is better by so
#: much is drawn e times as often; a small one takes the best domain only.
SEMCRAWL_DOMAIN_TEMPERATURE = 0.1

#: Strategy `domain-score`: learning rate of the weights of a domain's score, 0 to 0.5; after n
#: outcomes it is less by 1/√n.
SEMCRAWL_DOMAIN_LEARNING_RATE = 0.1

#: Strategy `domain-score`: domains that link to a page, chosen at random, whose mean is its score
#: where no page of its own domain links to it.
SEMCRAWL_DOMAIN_GROUPS = 3

# --- Chance

#: Seed of the strategies that use chance (`random`, ties of `learned`).
SEMCRAWL_RANDOM_SEED = 0

#: Strategy `learned`: a file with the weights of another crawl, to start from (`semcrawl frontier
#: --export-model` writes it); empty: none.
SEMCRAWL_MODEL = ""

#: Strategy `learned`: constants of the model by name (a mapping, or JSON): the fields of
#: `LearnedOptions` in `semcrawl/relevance/learned/options.py`.
SEMCRAWL_LEARNED_OPTIONS: dict[str, object] = {}

# --- Search of images

#: Query classes that near texts of images are grouped into, at most.
SEMCRAWL_IMAGE_CLASSES = 800

#: Cosine (0 to 1) with the centre of a query class from which on a text or a query belongs to it.
SEMCRAWL_IMAGE_CLASS_NEARNESS = 0.6

#: Share (0 to 1) of the probability of an image's class that its picture gives; its texts give the
#: rest.
SEMCRAWL_IMAGE_PICTURE_SHARE = 0.4

#: Whether queries to `semcrawl images` are kept in `images.db`, to be offered again.
SEMCRAWL_IMAGE_QUERIES_KEPT = True
