"""Settings of what is fetched: scope, patterns, budgets, other sources, the spelling of URLs."""

from semcrawl.web.vocabulary import AMBIGUOUS_MEDIA_TYPES

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
#: Seconds between two looks at limits that were changed, at what other workers spent, and on
#: re-visits at sitemaps that they read.
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
#: Triples of one query's answer; smaller pages are requested where an endpoint gives fewer, or
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
