"""Settings of what to fetch: scope, patterns, budgets, other sources, normalisation of URLs."""

from semcrawl.web.vocabulary import AMBIGUOUS_MEDIA_TYPES

# --- What to fetch

#: Strategy that chooses the next link: `breadth-first`, `depth-first`, `rules`, `rules-parents`,
#: `learned` …, or the import path of a class (see strategies.md).
SEMCRAWL_RELEVANCE = "learned"
#: Links to follow: `site` (on the seeds' pay-level domains; off them only links labelled R and
#: redirectors), `parent` (all links of pages on those domains), `any`, or a list of hosts separated
#: by commas, each with or without a folder (`example.org/data/`).
SEMCRAWL_SCOPE = "site"
#: Patterns of addresses to follow; empty: all. `/data/*` is matched with path and query,
#: `example.org/data/*` with host, path and query, `https://…` with the whole address. `*` matches
#: any characters. `re:…` is a regular expression that is searched in the address. Seeds and their
#: redirects are always requested.
SEMCRAWL_INCLUDE: list[str] = []
#: Patterns of addresses not to request, including links that already wait.
SEMCRAWL_EXCLUDE: list[str] = []
#: Hosts that redirect persistent identifiers. The scope `site` includes them.
SEMCRAWL_REDIRECTORS = [
    "w3id.org",
    "purl.org",
    "purl.oclc.org",
    "doi.org",
    "dx.doi.org",
    "n2t.net",
]
#: Most requests of one run, robots.txt not counted; 0 = no limit.
SEMCRAWL_PAGES = 0
#: Processes on this machine that share one job folder (`--workers`): a number, or `auto` for one
#: per processor.
SEMCRAWL_WORKERS: int | str = 1
#: How often each of these processes is restarted when it dies.
SEMCRAWL_WORKER_RESTARTS = 3
#: Whether to request folders that are linked without their slash with it at once, where the server
#: redirects such links: one request instead of two. An address that turns out not to be a folder is
#: then requested as linked.
SEMCRAWL_FORESEE_SLASHES = True
#: Whether links of pages are told apart (up, down, across, out, foreign), and the pages that they
#: are on (hub, index, content, other), as further evidence for the strategy `learned`.
SEMCRAWL_LINK_KINDS = False
#: Whether to follow the links of catalogues: CKAN, OAI-PMH, `data.json`, the next pages of DCAT,
#: LDP and TREE, and addresses written as literals. It does not affect the links of all RDF
#: (`SEMCRAWL_RDF_LINKS`).
SEMCRAWL_CATALOGUES = True
#: Most pages of one catalogue, for all workers and runs together. Its pages are addresses that
#: differ in digits and queries. 0 = any number.
SEMCRAWL_MAX_CATALOGUE_PAGES = 2000
#: Largest catalogue or linkset to read, in bytes, if it is not RDF.
SEMCRAWL_CATALOGUE_MAX_SIZE = 16 * 1024 * 1024
#: Whether to follow `Link:` headers and linksets (RFC 9264).
SEMCRAWL_SIGNPOSTING = True
#: Whether to request pages again as RDF, by content negotiation, and addresses that gave nothing
#: with another `Accept` header: `auto` (pages that send `Vary: Accept` or describe themselves,
#: others of a host that gave RDF this way; 406 and the like), `never`.
SEMCRAWL_NEGOTIATION = "auto"
#: Pages of one shape to request again before one of them gives what was asked for.
SEMCRAWL_NEGOTIATION_TRIES = 2
#: Values with which search forms are filled, by label (a mapping, or JSON), such as `{"search":
#: ["water", "soil"], "format": ["*"]}`. A label is a field's name or words of its label; `*` labels
#: any field for words, and as a value stands for all choices of a list. Only GET forms of the
#: page's own origin without personal fields are filled. Empty: none.
SEMCRAWL_FORMS: dict[str, list[str]] = {}
#: Most addresses of filled forms of one host, for each worker.
SEMCRAWL_FORM_REQUESTS = 50
#: Names below `/.well-known/` to request once on each host that gave a target (`void`,
#: `api-catalog` …). Empty: none.
SEMCRAWL_WELL_KNOWN = ["void"]
#: Limits per host, for all workers and runs together, such as
#: `requests=1000,bytes=1G,documents=500,depth=6,rdf=1%/200` (from 200 requests on, at least 1 %
#: must give RDF). Empty = none. `semcrawl limits DIR` changes them while a crawl runs.
SEMCRAWL_HOST_BUDGET = ""
#: The same limits per pay-level domain.
SEMCRAWL_DOMAIN_BUDGET = ""
#: Seconds after which a worker reads changed limits and the requests that other workers have spent,
#: and in a re-visit the sitemaps that they have read.
SEMCRAWL_LIMITS_INTERVAL = 2.0
#: Whether to read sitemaps: `auto` (those that robots.txt names, else `/sitemap.xml` of the seeds'
#: hosts), `never`, or `only` (and follow no links of pages).
SEMCRAWL_SITEMAPS = "auto"
#: Most unpacked bytes to read of a sitemap.
SEMCRAWL_SITEMAP_MAX_SIZE = 100 * 1024 * 1024
#: Most entries to read of a sitemap.
SEMCRAWL_SITEMAP_MAX_ENTRIES = 100_000
#: Most sitemaps of a host per worker.
SEMCRAWL_MAX_SITEMAPS_OF_HOST = 1000
#: Requests in a row without a target after which a crawl ends, if the strategy expects less than
#: one target from the same number of further requests; 0 = never.
SEMCRAWL_PATIENCE = 0
#: Links of one pattern in one RDF document, such as the subjects of a dump, that are tried first.
#: If none of them gives RDF, a page or a target, the others are withheld. The 1st, 2nd, 4th, 8th …
#: withheld link is requested as a sample, and all come back when one gives something. 0 = withhold
#: none.
SEMCRAWL_FAMILY_TRIES = 10
#: Number of paths, all with different content, that must have the same bytes on two hosts until the
#: hosts count as mirrors. Then addresses that one gave are withheld on the other. The 1st, 2nd,
#: 4th, 8th … withheld link is requested as a sample, and all come back when one gives other bytes.
#: ``http`` and ``https`` of a name count as two hosts. 5 is a good number; 0 = no mirrors.
SEMCRAWL_MIRROR_COPIES = 0
#: Most links of a page; later ones are ignored.
SEMCRAWL_MAX_LINKS_PER_PAGE = 10_000
#: Whether waiting links labelled H become HR when the shape of their path is learned. Off in the
#: thesis.
SEMCRAWL_PROMOTE_WAITING = True
#: Whether links with an unknown extension wait in a last group instead of being dropped. Off in the
#: thesis.
SEMCRAWL_KEEP_UNLIKELY = True
#: Media types besides RDF and HTML whose bodies are always downloaded, as they may be RDF. Empty in
#: the thesis.
SEMCRAWL_AMBIGUOUS_TYPES = sorted(AMBIGUOUS_MEDIA_TYPES)

# --- SPARQL endpoints

#: SPARQL endpoints to read: `never`; `seeds` (those given as seeds, `sparql+https://host/sparql`,
#: or by `--endpoint URL`); `found` (also those that RDF documents in scope name by
#: `void:sparqlEndpoint`, `sd:endpoint` or `sc:sparqlEndpointLocation`).
SEMCRAWL_ENDPOINTS = "seeds"
#: Triples per page of an endpoint. Smaller pages are requested if it gives fewer or takes too long.
SEMCRAWL_ENDPOINT_PAGE = 10_000
#: Most triples of one endpoint, by its own counts; 0 = no limit.
SEMCRAWL_ENDPOINT_TRIPLES = 10_000_000
#: Seconds to wait for the answer to a query.
SEMCRAWL_ENDPOINT_TIMEOUT = 60.0
#: Seconds after the first query of a run to an endpoint during which further ones are sent. The
#: rest is kept for `semcrawl frontier DIR --requeue`. 0 = no limit.
SEMCRAWL_ENDPOINT_TIME = 43_200.0
#: Patterns of graph names to leave out (`*` matches any characters); by default the system graphs
#: of servers.
SEMCRAWL_ENDPOINT_SKIP_GRAPHS = [
    "http://www.openlinksw.com/schemas/virtrdf#*",
    "http://localuriqaserver/*",
    "http://www.w3.org/ns/ldp#",
    "urn:virtuoso:*",
]

# --- Pings: addresses that others submit to a running crawl

#: Port for pings (a plain POST of addresses, or XML-RPC `weblogUpdates.ping`); 0 = none.
SEMCRAWL_PING_PORT = 0
#: Address to listen on for pings; by default only programs on this machine can reach it.
SEMCRAWL_PING_HOST = "127.0.0.1"
#: Addresses that one caller may submit per minute; 0 = any number.
SEMCRAWL_PING_RATE = 60.0
#: Seconds for which a submitted address is not accepted again; later pings re-visit it.
SEMCRAWL_PING_INTERVAL = 3600.0
#: Whether addresses off the crawl's sites are accepted; their sites are then crawled too.
SEMCRAWL_PING_ANY_SITE = False

# --- One spelling of a URL (the lossless rules are always on)

#: Query variables to drop, as they only change the presentation.
SEMCRAWL_URL_DROP_PARAMETERS = ["sort", "sortby", "sort_by", "orderby", "order_by"]
#: Whether to fetch `https:` links by `http:`.
SEMCRAWL_URL_HTTPS_TO_HTTP = False
#: Whether to drop `www.` from host names.
SEMCRAWL_URL_DROP_WWW = False
#: Whether to drop queries.
SEMCRAWL_URL_DROP_QUERY = False
#: Names of hosts that links give as IP addresses (`{"192.0.2.7": "example.org"}`; a mapping, or
#: JSON). Such links are fetched by the name.
SEMCRAWL_URL_HOST_NAMES: dict[str, str] = {}
