"""The settings of semcrawl: each is declared here, once.

A row says what a setting is called, its default (whose type is the setting's), its bounds and what
it does. :mod:`semcrawl.settings.reader` reads and checks settings by these rows, fills objects of
options from them, and ``docs/settings.md`` is made of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Any

from semcrawl.web.vocabulary import AMBIGUOUS_MEDIA_TYPES


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting."""

    name: str
    #: its type is the setting's
    default: Any
    #: the sentences of the documentation
    says: str
    #: ``s``, ``bytes``, ``pixels`` …
    unit: str = ""
    #: bounds of a number
    low: float = 0
    high: float = inf
    #: all values of a closed set
    words: tuple[str, ...] = ()
    #: whether values of several types are given on as they are
    plain: bool = False
    #: whether it is one of the few that most users set
    first: bool = False
    #: whether it is never shown or written
    secret: bool = False


#: settings by the heading of the documentation below which they stand
PAGES: Mapping[str, tuple[Setting, ...]] = {
    "What to fetch": (
        Setting(
            "SEMCRAWL_RELEVANCE",
            "learned",
            "Strategy that chooses the next link: `breadth-first`, `depth-first`, `rules`, "
            "`rules-parents`, `learned` …, or the import path of a class (see strategies.md).",
        ),
        Setting(
            "SEMCRAWL_SCOPE",
            "site",
            "Links to follow: `site` (on the seeds' pay-level domains; off them only links "
            "labelled R and redirectors), `parent` (all links of pages on those domains), `any`, "
            "or a list of hosts separated by commas, each with or without a folder "
            "(`example.org/data/`).",
            first=True,
        ),
        Setting(
            "SEMCRAWL_INCLUDE",
            [],
            "Patterns of addresses to follow; empty: all. `/data/*` is matched with path and "
            "query, `example.org/data/*` with host, path and query, `https://…` with the whole "
            "address. `*` matches any characters. `re:…` is a regular expression that is searched "
            "in the address. Seeds and their redirects are always requested.",
            plain=True,
        ),
        Setting(
            "SEMCRAWL_EXCLUDE",
            [],
            "Patterns of addresses not to request, including links that already wait.",
            plain=True,
            first=True,
        ),
        Setting(
            "SEMCRAWL_REDIRECTORS",
            [
                "w3id.org",
                "purl.org",
                "purl.oclc.org",
                "doi.org",
                "dx.doi.org",
                "n2t.net",
            ],
            "Hosts that redirect persistent identifiers. The scope `site` includes them.",
        ),
        Setting(
            "SEMCRAWL_PAGES",
            0,
            "Most requests of one run, robots.txt not counted; 0 = no limit.",
            first=True,
        ),
        Setting(
            "SEMCRAWL_WORKERS",
            1,
            "Processes on this machine that share one job folder (`--workers`): a number, or "
            "`auto` for one per processor.",
            plain=True,
            first=True,
        ),
        Setting(
            "SEMCRAWL_FORESEE_SLASHES",
            True,
            "Whether to request folders that are linked without their slash with it at once, where "
            "the server redirects such links: one request instead of two. An address that turns "
            "out not to be a folder is then requested as linked.",
        ),
        Setting(
            "SEMCRAWL_LINK_KINDS",
            False,
            "Whether links of pages are told apart (up, down, across, out, foreign), and the pages "
            "that they are on (hub, index, content, other), as further evidence for the strategy "
            "`learned`.",
        ),
        Setting(
            "SEMCRAWL_CATALOGUES",
            True,
            "Whether to follow the links of catalogues: CKAN, OAI-PMH, `data.json`, the next pages "
            "of DCAT, LDP and TREE, and addresses written as literals. It does not affect the "
            "links of all RDF (`SEMCRAWL_RDF_LINKS`).",
        ),
        Setting(
            "SEMCRAWL_MAX_CATALOGUE_PAGES",
            2000,
            "Most pages of one catalogue, for all workers and runs together. Its pages are "
            "addresses that differ in digits and queries. 0 = any number.",
        ),
        Setting(
            "SEMCRAWL_SIGNPOSTING",
            True,
            "Whether to follow `Link:` headers and linksets (RFC 9264).",
        ),
        Setting(
            "SEMCRAWL_NEGOTIATION",
            "auto",
            "Whether to request pages again as RDF, by content negotiation, and addresses that "
            "gave nothing with another `Accept` header: `auto` (pages that send `Vary: Accept` or "
            "describe themselves, others of a host that gave RDF this way; 406 and the like), "
            "`never`.",
            words=("auto", "never"),
        ),
        Setting(
            "SEMCRAWL_FORMS",
            {},
            "Values with which search forms are filled, by label (a mapping, or JSON), such as "
            '`{"search": ["water", "soil"], "format": ["*"]}`. A label is a field\'s name or words '
            "of its label; `*` labels any field for words, and as a value stands for all choices "
            "of a list. Only GET forms of the page's own origin without personal fields are "
            "filled. Empty: none.",
            plain=True,
        ),
        Setting(
            "SEMCRAWL_WELL_KNOWN",
            ["void"],
            "Names below `/.well-known/` to request once on each host that gave a target (`void`, "
            "`api-catalog` …). Empty: none.",
        ),
        Setting(
            "SEMCRAWL_HOST_BUDGET",
            "",
            "Limits per host, for all workers and runs together, such as "
            "`requests=1000,bytes=1G,documents=500,depth=6,rdf=1%/200` (from 200 requests on, at "
            "least 1 % must give RDF). Empty = none. `semcrawl limits DIR` changes them while a "
            "crawl runs.",
        ),
        Setting(
            "SEMCRAWL_DOMAIN_BUDGET",
            "",
            "The same limits per pay-level domain.",
        ),
        Setting(
            "SEMCRAWL_SITEMAPS",
            "auto",
            "Whether to read sitemaps: `auto` (those that robots.txt names, else `/sitemap.xml` of "
            "the seeds' hosts), `never`, or `only` (and follow no links of pages).",
            words=("auto", "never", "only"),
        ),
        Setting(
            "SEMCRAWL_PATIENCE",
            0,
            "Requests in a row without a target after which a crawl ends, if the strategy expects "
            "less than one target from the same number of further requests; 0 = never.",
        ),
        Setting(
            "SEMCRAWL_WORTH",
            "both",
            "What counts in a crawl without a topic: `documents`, even empty ones; `statements`, "
            "so that a document is worth the logarithm of their number; or `both`, where an empty "
            "document is worth a tenth. The strategy `learned` goes by it.",
            words=("documents", "statements", "both"),
        ),
        Setting(
            "SEMCRAWL_FAMILY_TRIES",
            10,
            "Links of one pattern in one RDF document, such as the subjects of a dump, that are "
            "tried first. If none of them gives RDF, a page or a target, the others are withheld. "
            "The 1st, 2nd, 4th, 8th … withheld link is requested as a sample, and all come back "
            "when one gives something. 0 = withhold none.",
        ),
        Setting(
            "SEMCRAWL_MAX_LINKS_PER_PAGE",
            10_000,
            "Most links of a page; later ones are ignored.",
            low=1,
        ),
        Setting(
            "SEMCRAWL_PROMOTE_WAITING",
            True,
            "Whether waiting links labelled H become HR when the shape of their path is learned. "
            "Off in the thesis.",
        ),
        Setting(
            "SEMCRAWL_KEEP_UNLIKELY",
            True,
            "Whether links with an unknown extension wait in a last group instead of being "
            "dropped. Off in the thesis.",
        ),
        Setting(
            "SEMCRAWL_AMBIGUOUS_TYPES",
            sorted(AMBIGUOUS_MEDIA_TYPES),
            "Media types besides RDF and HTML whose bodies are always downloaded, as they may be "
            "RDF. Empty in the thesis.",
        ),
    ),
    "Pages that need a browser (needs `semcrawl[browser]` and Chromium)": (
        Setting(
            "SEMCRAWL_BROWSER",
            "never",
            "Pages that are read after their scripts have run in Chromium: `never`; `hosts` (those "
            "of `SEMCRAWL_BROWSER_HOSTS`); `auto` (also others that have scripts and next to no "
            "text, or whose scripts name JSON-LD).",
            words=("never", "hosts", "auto"),
        ),
        Setting(
            "SEMCRAWL_BROWSER_HOSTS",
            [],
            "Hosts whose pages always go through the browser, or patterns of their addresses as in "
            "`SEMCRAWL_INCLUDE`.",
        ),
        Setting(
            "SEMCRAWL_BROWSER_TIMEOUT",
            60.0,
            "Seconds for one page in the browser, with the waits for what its scripts ask for. A "
            "page that is busy for longer is read as it is then.",
            unit="s",
            low=1,
        ),
    ),
    "SPARQL endpoints": (
        Setting(
            "SEMCRAWL_ENDPOINTS",
            "seeds",
            "SPARQL endpoints to read: `never`; `seeds` (those given as seeds, "
            "`sparql+https://host/sparql`, or by `--endpoint URL`); `found` (also those that RDF "
            "documents in scope name by `void:sparqlEndpoint`, `sd:endpoint` or "
            "`sc:sparqlEndpointLocation`).",
            words=("never", "seeds", "found"),
        ),
        Setting(
            "SEMCRAWL_ENDPOINT_PAGE",
            10_000,
            "Triples per page of an endpoint. Smaller pages are requested if it gives fewer or "
            "takes too long.",
            low=1,
        ),
        Setting(
            "SEMCRAWL_ENDPOINT_TRIPLES",
            10_000_000,
            "Most triples of one endpoint, by its own counts; 0 = no limit.",
        ),
    ),
    "Pings: addresses that others submit to a running crawl": (
        Setting(
            "SEMCRAWL_PING_PORT",
            0,
            "Port for pings (a plain POST of addresses); 0 = none.",
        ),
        Setting(
            "SEMCRAWL_PING_HOST",
            "127.0.0.1",
            "Address to listen on for pings; by default only programs on this machine can reach "
            "it.",
        ),
        Setting(
            "SEMCRAWL_PING_ANY_SITE",
            False,
            "Whether addresses off the crawl's sites are accepted; their sites are then crawled "
            "too.",
        ),
    ),
    "One spelling of a URL (the lossless rules are always on)": (
        Setting(
            "SEMCRAWL_URL_DROP_PARAMETERS",
            ["sort", "sortby", "sort_by", "orderby", "order_by"],
            "Query variables to drop, as they only change the presentation.",
        ),
        Setting(
            "SEMCRAWL_URL_RULES",
            [],
            "Further rules: `https-to-http` (fetch `https:` links by `http:`), `drop-www` (drop "
            "`www.` from host names), `drop-query` (drop queries). Empty: none.",
        ),
        Setting(
            "SEMCRAWL_URL_HOST_NAMES",
            {},
            'Names of hosts that links give as IP addresses (`{"192.0.2.7": "example.org"}`; a '
            "mapping, or JSON). Such links are fetched by the name.",
        ),
    ),
    "Politeness": (
        Setting(
            "SEMCRAWL_CRAWL_DELAY",
            1.0,
            "Seconds between the starts of two requests to a host whose robots.txt names no crawl "
            "delay.",
            unit="s",
            high=1_000_000,
            first=True,
        ),
        Setting(
            "SEMCRAWL_SLOW_START",
            6,
            "Fetches to learn from before one more request may be in flight, up to "
            "`CONCURRENT_REQUESTS`; 0 = all at once. This saves requests while the crawl has "
            "learned little. Each request that is not finished after 2 seconds lets two others "
            "start.",
        ),
        Setting(
            "SEMCRAWL_CONCURRENCY_PER_HOST",
            1,
            "Requests at a time to a host.",
            low=1,
        ),
        Setting(
            "SEMCRAWL_ADDRESS_DELAY",
            0.1,
            "Seconds between the starts of two requests to one IP address, under any names; 0 = "
            "none. It applies in addition to the crawl delay, to hosts that have one. An IPv6 /48 "
            "network counts as one address. Behind a proxy the address is unknown, and this does "
            "not apply.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_PACE_PRIVATE_ADDRESSES",
            False,
            "Whether these two limits apply to private addresses too.",
        ),
        Setting(
            "SEMCRAWL_MAX_CRAWL_DELAY",
            60.0,
            "Longest Crawl-delay or Request-rate of a robots.txt that is obeyed, in seconds; "
            "0 = obey none.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_MAX_RETRY_AFTER",
            120.0,
            "Longest Retry-After, in seconds, that is obeyed for a link or a robots.txt. A link "
            "with a longer one is set aside. A host that answers 429 rests at most so long, and no "
            "retry waits longer of its own.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_HOST_FAILURES",
            4,
            "Network errors or refusals (429) in a row after which a host counts as down. It then "
            "rests, its links wait, and one request after each rest checks whether it is back. If "
            "several hosts fail like this and none answers meanwhile, our own network counts as "
            "down, and the crawl pauses. 0 = never.",
        ),
        Setting(
            "SEMCRAWL_HOST_FORBIDDEN",
            6,
            "Answers 403 in a row after which an address that the host served before is requested. "
            "If the host refuses that too, it has blocked us, and rests. 0 = never.",
        ),
        Setting(
            "SEMCRAWL_HOST_REST_POLICY",
            "even",
            "How rests grow. `even`: each failed check of a host that is down adds "
            "two seconds. `pagerank`: it adds that times the PageRank of the requested "
            "page (1 if the strategy knows none), and a page is given up after four failed checks.",
            words=("even", "pagerank"),
        ),
        Setting(
            "SEMCRAWL_HOST_PATIENCE",
            600.0,
            "Seconds to wait for a host that answered before, and for our own network. Then the "
            "host's links are set aside as `host-down`; `semcrawl frontier DIR --requeue` brings "
            "them back.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_UNTRIED_HOST_PATIENCE",
            60.0,
            "The same for a host that never answered, or only on another port or scheme (`http` "
            "but not `https`). A host whose name does not exist is given up at once.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_FIRST_ANSWER_TIMEOUT",
            10.0,
            "Seconds in which a host that gave nothing yet must accept a connection, and then send "
            "its headers; down to a fifth of them while most such hosts stay silent. 0 = as "
            "`DOWNLOAD_TIMEOUT`. A silent host is requested once more after "
            "`SEMCRAWL_UNTRIED_HOST_PATIENCE`, with the full time if less than an eighth of "
            "`CONCURRENT_REQUESTS` waits for such hosts.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_ROBOTS_TAGS",
            ["nofollow", "noarchive"],
            "Directives to obey of `robots` meta tags, `X-Robots-Tag` headers and links: "
            "`nofollow` (follow no link of the page), `noarchive` (keep no copy of its data), "
            "`noindex` (the same), `rel-nofollow` (follow no links with `rel=nofollow`). Empty: "
            "none.",
        ),
        Setting(
            "SEMCRAWL_LEAST_RATE",
            100.0,
            "Least bytes per second of an answer that has begun, headers and robots.txt included. "
            "A slower answer is aborted as a `timeout`. 0 = none.",
            unit="bytes/s",
        ),
        Setting(
            "SEMCRAWL_QUEUE_SHARES",
            "",
            "Weights of the queues of the spiders in one process, such as `html=3,rdf=1`: each "
            "gets its share of the requests as long as links wait in it that may be requested; a "
            "queue not named weighs 1. Empty: first the queue that lately gave more targets per "
            "request.",
            plain=True,
        ),
        Setting(
            "SEMCRAWL_PACE_BY",
            "domain",
            "Unit of politeness: `domain` (the pay-level domain, with the longest crawl delay of "
            "its hosts, at least `SEMCRAWL_CRAWL_DELAY`; each user of github.io and its like "
            "counts as one, and so does an IPv6 /48 network), or `host`. With `host` a site of "
            "many hosts is crawled sooner, but whoever has a wildcard name in the DNS gets as many "
            "requests as they like.",
            words=("host", "domain"),
        ),
        Setting(
            "SEMCRAWL_CONTACT",
            "",
            "URL or mail address of whoever runs the crawl; shown in the user agent unless "
            "`USER_AGENT` is set.",
            first=True,
        ),
        Setting(
            "SEMCRAWL_LOGINS",
            "",
            "What hosts are told to let the crawl in: a TOML file that only its owner may read, or "
            "a table that names where its secrets are (see starts.md). Empty: nothing.",
            plain=True,
        ),
        Setting(
            "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES",
            False,
            "Whether hosts outside of the public internet (private and other special addresses, "
            "names such as `localhost` or `nas.local`) may be requested, no matter where their "
            "links come from; `semcrawl harvest --fast` sets it. By default only seeds of the "
            "command line, of spider arguments and of a spider's code, and hosts in "
            "`SEMCRAWL_SCOPE`, allow such hosts; seeds from a Redis list do not.",
        ),
    ),
    "Frontier": (
        Setting(
            "REDIS_URL",
            "",
            "Redis server of the frontier and the seed lists (`redis://host:6379/0`), by default "
            "the environment variable of that name; or several servers, over which the frontier is "
            "sharded (`redis://a,b,c`), or some nodes of a Redis Cluster "
            "(`redis+cluster://a:7000,b:7000`). Empty = no server: the frontier is the file "
            "`frontier.db` in the job folder, which a few processes of one machine may share.",
        ),
        Setting(
            "SEMCRAWL_JOBDIR",
            "",
            "Job folder: results, records, frontier. Empty = `JOBDIR`, else the current folder (of "
            "`semcrawl harvest` and of projects with the add-on: the folder `harvest`).",
            first=True,
        ),
        Setting(
            "SEMCRAWL_CRAWL_NAME",
            "",
            "Name of the crawl: prefix of all its keys in Redis. Empty: `semcrawl harvest` with a "
            "`REDIS_URL` names its crawl by its job folder (`harvest-1a2b3c4d`: the folder's name, "
            "and a hash of host and path); all other crawls are named `semcrawl`.",
        ),
        Setting(
            "SEMCRAWL_FRONTIER_SHARDS",
            0,
            "Number of shards of a frontier on Redis, divided by hosts; a crawl keeps the number "
            "that it begins with. 0 = as many as `REDIS_URL` names servers, or as its cluster has "
            "primaries.",
            high=1024,
        ),
        Setting(
            "SEMCRAWL_JOIN",
            False,
            "Whether a run joins the crawl of its name even if the crawl belongs to another folder "
            "or has other seeds; `semcrawl harvest --join NAME` sets it.",
        ),
        Setting(
            "SEMCRAWL_LOOSEN_PACE",
            False,
            "Whether a run that joins running workers may shorten the crawl delay and raise the "
            "number of requests at a time for all of them. Otherwise it may only do the opposite.",
        ),
        Setting(
            "SEMCRAWL_LEASE_TIME",
            120.0,
            "Seconds after which an unfinished leased link goes back into the frontier.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_MAX_LEASES",
            256,
            "Most links that a process may hold, including those whose results are being written "
            "(at least `CONCURRENT_REQUESTS`). Only these may be fetched again after a `kill -9`.",
        ),
        Setting(
            "SEMCRAWL_FAIRNESS",
            "off",
            "Order among hosts whose best links have equal values: `off` (first in, first out), "
            "`equal` (hosts in turn), `yield` (in turn, richer hosts more often).",
            words=("off", "equal", "yield"),
        ),
        Setting(
            "SEMCRAWL_PENALTY_AFTER",
            0,
            "Fetches in a row without a target after which a host rests; 0 = never (SWSE's "
            "penalty).",
        ),
        Setting(
            "SEMCRAWL_PENALTY_TIME",
            600.0,
            "Seconds of this rest.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_DYNAMIC_DEPTH",
            0,
            "Documents in a row without a target after which a path is not followed further; 0 = "
            "never (BioCrawler's dynamic depth).",
        ),
        Setting(
            "SEMCRAWL_MAX_WAITING",
            0,
            "Most waiting links; beyond that, the last ones of the worst group are dropped; 0 = no "
            "limit.",
        ),
        Setting(
            "SEMCRAWL_SEEN_EXACT",
            0,
            "URLs that the seen set keeps exactly. Later ones go to a Bloom filter, which needs a "
            "tenth of the memory and sometimes takes a new URL for a seen one. 0 = all are exact, "
            "as they always are on disk, without a `REDIS_URL`.",
        ),
        Setting(
            "SEMCRAWL_REDIS_PATIENCE",
            300.0,
            "Seconds to wait for an unreachable Redis or an unwritable `frontier.db` before the "
            "crawl ends.",
            unit="s",
        ),
    ),
    "Images (targets `images`)": (
        Setting(
            "SEMCRAWL_IMAGES_MIN_WIDTH",
            100,
            "Least width and height of an image in pixels. Images that their page shows smaller "
            "are not fetched.",
            unit="pixels",
        ),
        Setting(
            "SEMCRAWL_IMAGES_MIN_HEIGHT",
            100,
            "Least width and height of an image in pixels. Images that their page shows smaller "
            "are not fetched.",
            unit="pixels",
        ),
        Setting(
            "SEMCRAWL_IMAGES_TYPES",
            ["image/*"],
            "Media types of images to keep, by their bytes.",
        ),
        Setting(
            "SEMCRAWL_IMAGES_MAX_PAGES",
            10,
            "Most pages with the same image; an image on more pages is dropped as a logo or an "
            "advertisement. 0 = any number.",
        ),
    ),
    "Reading": (
        Setting(
            "SEMCRAWL_TARGETS",
            "rdf",
            "Documents that count as targets, separated by commas: `rdf` (RDF documents), "
            "`embedded` (pages with embedded data), `html` (pages, whose title and text go to "
            "`pages.nq`), `images` (see images.md), and media types such as `text/csv` or "
            "`text/*`, whose bodies are kept in the folder `files`. Where only a topic is given, "
            "commands take what it reads: `rdf,embedded`, and `html` if it reads texts (not with "
            "`new` alone).",
            first=True,
        ),
        Setting(
            "SEMCRAWL_ABOUT",
            "",
            "Topic of the crawl, such as `vocabulary:schema:Dataset` or `keywords:merge sort`. "
            "`all(…, …)`, `any(…, …)` and `0.7*… + 0.3*…` combine topics (see topics.md). The "
            "topics of a list must all match. Empty: no topic.",
            plain=True,
            first=True,
        ),
        Setting(
            "SEMCRAWL_ABOUT_THRESHOLD",
            0.5,
            "Least relevance, above 0 and up to 1, of a document about the topic.",
            high=1,
        ),
        Setting(
            "SEMCRAWL_KEEP",
            "relevant",
            "Documents to keep in the results: `relevant` (those that reach the threshold) or "
            "`all`. All others are still read, learned from and recorded.",
            words=("relevant", "all"),
        ),
        Setting(
            "SEMCRAWL_FOCUS",
            "soft",
            "`soft`: follow the links of every page, the most promising first. `hard`: except "
            "those of documents of the wanted kind that miss the threshold.",
            words=("soft", "hard"),
        ),
        Setting(
            "SEMCRAWL_ABOUT_MAX_SIZE",
            8 * 1024 * 1024,
            "How many of the first bytes of a document's statements, and characters of its text, "
            "are judged.",
            unit="bytes",
            low=1,
        ),
        Setting(
            "SEMCRAWL_ABOUT_SHAPE_TIMEOUT",
            10,
            "Topic `shape`: most seconds for the check of one document.",
            unit="s",
            low=1,
        ),
        Setting(
            "SEMCRAWL_ABOUT_RETRAIN",
            False,
            "Whether the topic `examples:` learns from the crawl too: the most relevant documents "
            "that it judged, as many as there are samples, become good samples.",
        ),
        Setting(
            "SEMCRAWL_ABOUT_WIDEN",
            0,
            "Number of first documents about the topic whose words widen it: texts with similar "
            "words are then about it too. 0: the topic stays as it was given.",
            high=1000,
        ),
        Setting(
            "SEMCRAWL_EMBEDDED",
            ["jsonld", "microdata", "rdfa", "rdf"],
            "Kinds of embedded data to read from pages: `jsonld`, `microdata`, `rdfa` (includes "
            "OpenGraph), `rdf` (scripts of the other RDF syntaxes, such as Turtle, and RDF/XML in "
            "inline SVG). They go to `embedded.nq`. Empty: none. With the extra "
            "`semcrawl[microformats]` also `microformats` (cards and events as vCard and "
            "iCalendar) and `dublin-core` (`meta` elements).",
        ),
        Setting(
            "SEMCRAWL_EMBEDDED_LINKS",
            ["data"],
            "Properties whose values are links in embedded data: the presets `data` "
            "(distributions, addresses, parts and the like of schema.org, with `dcat` and `void`), "
            "`dcat`, `void`, `see-also`, `foaf`, and IRIs. Empty: none.",
        ),
        Setting(
            "SEMCRAWL_RDF_LINKS",
            ["all"],
            "Properties whose values are links in RDF: `all`, the presets `see-also` "
            "(rdfs:seeAlso, owl:sameAs, rdfs:isDefinedBy, owl:imports), `foaf`, `dcat`, `void`, "
            "`catalogue` (data sets, files, parts of containers, further pages), and IRIs.",
        ),
        Setting(
            "SEMCRAWL_RDF_LINK_POSITIONS",
            ["subject", "object"],
            "Positions in a statement whose IRIs are links: `subject` (only with `all`), "
            "`predicate`, `object`, `type` (objects of rdf:type), `graph`.",
        ),
        Setting(
            "SEMCRAWL_READ_PROCESSES",
            2,
            "Most processes per spider for documents whose parser a thread cannot stop: large "
            "pages, archives, and large documents in JSON-LD and XML. They start when needed. 0 = "
            "threads only.",
        ),
        Setting(
            "SEMCRAWL_READ_MEMORY",
            2 * 1024 * 1024 * 1024,
            "Most bytes of memory (address space) of each of these processes; 0 = any number. A "
            "document that needs more is recorded as an error. Windows and macOS do not bound it.",
            unit="bytes",
        ),
        Setting(
            "SEMCRAWL_MAX_SIZE_IN_MEMORY",
            32 * 1024 * 1024,
            "Bytes up to which a document is read whole. A larger one is kept in a file without a "
            "name and read in pieces; of a larger HTML page only the beginning is read.",
            unit="bytes",
            low=1,
        ),
        Setting(
            "SEMCRAWL_MAX_HEADERS_SIZE",
            256 * 1024,
            "Most bytes of an answer's headers.",
            unit="bytes",
        ),
        Setting(
            "SEMCRAWL_MAX_READ_TIME",
            900.0,
            "Seconds after which the reading of a document stops. Statements read so far are kept, "
            "unless the reading process had to be killed.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_LEAST_READ_RATE",
            100_000.0,
            "Bytes per second that a document must be read at, beyond the first three seconds: a "
            "small one may not keep others waiting for long. 0 = any rate.",
            unit="bytes/s",
        ),
        Setting(
            "SEMCRAWL_MEMBER_GRAPHS",
            False,
            "Whether the default graph of a file in an archive is named `URL#name` instead of "
            "`URL`.",
        ),
        Setting(
            "SEMCRAWL_SKOLEM_BASE",
            "",
            "Base of the Skolem IRIs that replace blank nodes. Empty: they stay blank nodes.",
        ),
        Setting(
            "SEMCRAWL_CONTEXT_HOSTS",
            ["*"],
            "Hosts from which JSON-LD contexts may be fetched: names, `*.example.org`, `*` = any. "
            "Empty: none. The contexts of schema.org and of the W3C are built in.",
        ),
    ),
    "Progress and health": (
        Setting(
            "SEMCRAWL_PROGRESS",
            "off",
            "Progress on standard error: `auto` (live on a terminal, else lines), `live`, `lines`, "
            "`off`. `semcrawl harvest` sets `auto`.",
            words=("auto", "live", "lines", "off"),
        ),
        Setting(
            "SEMCRAWL_HEARTBEATS",
            "",
            "Folder in which each process keeps a heartbeat for health checks: `python -m "
            "semcrawl.heartbeats FOLDER` reports whether all make progress. Empty: none.",
        ),
        Setting(
            "SEMCRAWL_HEARTBEAT_PATIENCE",
            1200.0,
            "Seconds without progress after which a process counts as stuck. Choose more than "
            "`SEMCRAWL_MAX_READ_TIME` and `DOWNLOAD_TIMEOUT` together, and more than "
            "`SEMCRAWL_REDIS_PATIENCE`; else a worker that waits for a large document or for Redis "
            "counts as stuck.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_LOG_AS",
            "text",
            "Form of the log: `text`, or `json`, one object per line (time in UTC, level, logger, "
            "message, process; spider, address and error where they are known).",
            words=("text", "json"),
        ),
        Setting(
            "SEMCRAWL_LOG_SIZE",
            0,
            "Size of a log file above which it is renamed `….1` and a new one begins; five are "
            "kept. 0 = any size.",
            unit="bytes",
        ),
    ),
    "Results": (
        Setting(
            "SEMCRAWL_METADATA_URL",
            "",
            "Database of the crawl metadata (SQLAlchemy URL); empty = `crawl.db` in the job "
            "folder.",
        ),
        Setting(
            "SEMCRAWL_METADATA_PATIENCE",
            60.0,
            "Seconds to wait for an unreachable metadata database.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_SYNC_INTERVAL",
            0.0,
            "Seconds between two calls that bring `quads.nq` to the disk for certain; 0: with each "
            "batch of documents, before the ledger lists them. After a power loss the lines of the "
            "last seconds may be missing: `semcrawl check` names their documents, and the next run "
            "reads them again.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_HISTORY",
            False,
            "Whether re-visits keep the statements that they replace, compressed, in `history.db` "
            "(and `embedded-history.db`) of the job folder: `semcrawl diff` tells what was added "
            "and removed.",
        ),
        Setting(
            "SEMCRAWL_KEEP_ATTEMPTS",
            0.0,
            "Days that records of attempts are kept; each run deletes older ones at its end. Of "
            "each address the first record stays, and the last one with each outcome. 0 = all are "
            "kept.",
            unit="days",
        ),
        Setting(
            "SEMCRAWL_RECORD_LINKS",
            False,
            "Whether `crawl.db` keeps the links of each page with their words, compressed, some 2 "
            "KB for a hundred links: `semcrawl report` and `why` then name all pages that lead to "
            "an address.",
        ),
        Setting(
            "SEMCRAWL_WARC",
            False,
            "Whether to keep raw responses as WARC files in the job folder (needs "
            "`semcrawl[warc]`).",
        ),
    ),
    "Triple stores": (
        Setting(
            "SEMCRAWL_STORE_URL",
            "",
            "Triple store: `embedded` (pyoxigraph, in the job folder) or the URL of a SPARQL 1.1 "
            "Graph Store Protocol endpoint. Empty: none.",
            first=True,
        ),
        Setting(
            "SEMCRAWL_STORE_UPDATE_URL",
            "",
            "URL of a SPARQL 1.1 Update endpoint of the triple store, with or without "
            "`SEMCRAWL_STORE_URL`.",
        ),
        Setting(
            "SEMCRAWL_STORE_BULK_URL",
            "",
            "URL of the triple store that accepts N-Quads of many graphs in a POST (Oxigraph: "
            "`http://host:7878/store?no_transaction`), in addition to `SEMCRAWL_STORE_UPDATE_URL`. "
            "New documents go there. Empty: none.",
        ),
        Setting(
            "SEMCRAWL_STORE_QUERY_URL",
            "",
            "URL of a SPARQL 1.1 query endpoint of the triple store, where semcrawl checks which "
            "graphs exist, so as not to change foreign ones. Empty: semcrawl derives it from the "
            "other endpoints, or checks graph by graph by the Graph Store Protocol.",
        ),
        Setting(
            "SEMCRAWL_TRUSTED_SITES",
            [],
            "Hosts and pay-level domains whose documents may write graphs of any name in the "
            "triple store. Other documents write only graphs named by their address, below it or "
            "on their host; their other graphs are renamed. Foreign graphs are never written.",
        ),
        Setting(
            "SEMCRAWL_STORE_ADOPT",
            False,
            "Whether documents replace graphs of their address that another harvest or user has "
            "made in the triple store. Otherwise these stay, and the documents' own graphs get "
            "other names.",
        ),
        Setting(
            "SEMCRAWL_STORE_EMBEDDED",
            True,
            "Whether embedded data goes to the triple store too, one graph per page.",
        ),
        Setting(
            "SEMCRAWL_STORE_PROVENANCE",
            False,
            "Whether the triple store is also told where each document comes from, in the graph "
            "`urn:semcrawl:provenance`. A server needs `SEMCRAWL_STORE_UPDATE_URL` for it.",
        ),
        Setting(
            "SEMCRAWL_STORE_USER",
            "",
            "User and password of the triple store.",
        ),
        Setting(
            "SEMCRAWL_STORE_PASSWORD",
            "",
            "User and password of the triple store.",
            secret=True,
        ),
        Setting(
            "SEMCRAWL_STORE_AUTH",
            "basic",
            "HTTP authentication at the triple store: `basic` or `digest`.",
            words=("basic", "digest"),
        ),
    ),
    "Re-visits": (
        Setting(
            "SEMCRAWL_REVISIT",
            False,
            "Whether to re-visit the documents, pages and kept images of the job folder that are "
            "due; `semcrawl harvest --revisit` sets it.",
        ),
        Setting(
            "SEMCRAWL_REVISIT_POLICY",
            "proportional",
            "Frequency of re-visits: `uniform` (all documents equally often) or `proportional` "
            "(more often documents that change often and rich ones).",
            words=("uniform", "proportional"),
        ),
        Setting(
            "SEMCRAWL_REVISIT_INTERVAL",
            0.0,
            "Mean seconds between two visits of a document; 0 = all are due, only their order "
            "matters.",
            unit="s",
        ),
        Setting(
            "SEMCRAWL_REVISIT_BY_LASTMOD",
            True,
            "Whether a re-visit skips addresses that a sitemap calls unchanged (`lastmod`) since "
            "the last visit.",
        ),
    ),
    "Strategies by links: PageRank, RW": (
        Setting(
            "SEMCRAWL_PAGERANK_UPDATES",
            500,
            "The same strategies: most links over which rank is passed on after each page; with "
            "weights, also links that are weighted again. More links make ranks exact sooner and "
            "cost more CPU.",
            low=1,
        ),
        Setting(
            "SEMCRAWL_RW_THRESHOLD",
            0.5,
            "Strategies `relevance-weighting`, `ipagerank` and `domain-score`: least similarity to "
            "the topic (0 to 1) of a word of a link that counts (c).",
            high=1,
        ),
        Setting(
            "SEMCRAWL_RW_PRUNE",
            False,
            "Strategies `relevance-weighting` and `ipagerank`: whether to drop links without a "
            "word that reaches the threshold. Otherwise they wait behind the others.",
        ),
        Setting(
            "SEMCRAWL_DOMAIN_TEMPERATURE",
            0.1,
            "Strategy `domain-score`: temperature of the softmax over domains. A domain whose "
            "score is better by this much is drawn e times as often. A low temperature draws only "
            "the best domain.",
            low=0.005,
            high=1000,
        ),
        Setting(
            "SEMCRAWL_DOMAIN_GROUPS",
            3,
            "Strategy `domain-score`: number of random domains linking to a page whose mean is its "
            "score, if no page of its own domain links to it.",
            low=1,
            high=1000,
        ),
    ),
    "Randomness and the learned model": (
        Setting(
            "SEMCRAWL_RANDOM_SEED",
            0,
            "Seed of the strategies that draw random numbers (`random`, ties of `learned`).",
            low=-(1 << 63),
            high=(1 << 63) - 1,
        ),
        Setting(
            "SEMCRAWL_MODEL",
            "",
            "Strategy `learned`: file with the model of another crawl to start with, written by "
            "`semcrawl frontier --export-model`. Empty: none.",
        ),
        Setting(
            "SEMCRAWL_LEARNED_OPTIONS",
            {},
            "Strategy `learned`: constants of the model by name (a mapping, or JSON): the fields "
            "of `LearnedOptions` in `semcrawl/relevance/learned/options.py`.",
            plain=True,
        ),
    ),
    "Image search": (
        Setting(
            "SEMCRAWL_IMAGE_QUERIES_KEPT",
            True,
            "Whether `semcrawl images` keeps queries in `images.db`, to suggest them later, and "
            "clicks on what they found, by which later answers are ordered.",
        ),
    ),
}

#: settings by name
TABLE: Mapping[str, Setting] = MappingProxyType(
    {row.name: row for rows in PAGES.values() for row in rows}
)

#: bounds that are constants, by the options that hold them
_CONSTANTS = {
    "AddressLimits": ("SEMCRAWL_CONCURRENCY_PER_ADDRESS",),
    "ContextRules": (
        "SEMCRAWL_CONTEXTS_AT_A_TIME",
        "SEMCRAWL_CONTEXT_PATIENCE",
        "SEMCRAWL_CONTEXT_TIMEOUT",
        "SEMCRAWL_MAX_CONTEXTS",
        "SEMCRAWL_MAX_CONTEXTS_OF_HOST",
        "SEMCRAWL_MAX_CONTEXT_SIZE",
    ),
    "EndpointOptions": (
        "SEMCRAWL_ENDPOINT_SKIP_GRAPHS",
        "SEMCRAWL_ENDPOINT_TIME",
        "SEMCRAWL_ENDPOINT_TIMEOUT",
    ),
    "FrontierOptions": (
        "SEMCRAWL_FRONTIER_AHEAD",
        "SEMCRAWL_FRONTIER_GLANCE",
        "SEMCRAWL_SEEN_CAPACITY",
        "SEMCRAWL_SEEN_ERROR",
    ),
    "HealthOptions": ("SEMCRAWL_HOST_REST",),
    "ImageOptions": (
        "SEMCRAWL_IMAGES_MAX_BYTES",
        "SEMCRAWL_IMAGES_MAX_PIXELS",
        "SEMCRAWL_IMAGES_MIN_BYTES",
        "SEMCRAWL_IMAGES_NEAR_BITS",
    ),
    "IndexOptions": (
        "SEMCRAWL_IMAGE_CLASSES",
        "SEMCRAWL_IMAGE_CLASS_NEARNESS",
        "SEMCRAWL_IMAGE_PICTURE_SHARE",
    ),
    "LeadOptions": (
        "SEMCRAWL_CATALOGUE_MAX_SIZE",
        "SEMCRAWL_NEGOTIATION_TRIES",
    ),
    "PlaceOptions": (
        "SEMCRAWL_IMAGES_LEVELS",
        "SEMCRAWL_IMAGES_MAX_TEXT",
        "SEMCRAWL_IMAGES_PER_PAGE",
    ),
    "ReadOptions": (
        "SEMCRAWL_MAX_ARCHIVE_MEMBERS",
        "SEMCRAWL_MAX_ENTITY_SIZE",
        "SEMCRAWL_MAX_ERRORS_KEPT",
        "SEMCRAWL_MAX_INLINED_CONTEXT_SIZE",
        "SEMCRAWL_MAX_NESTING",
        "SEMCRAWL_MAX_NQUADS_SIZE",
        "SEMCRAWL_MAX_TRIPLES_PER_PAGE",
        "SEMCRAWL_MAX_TRIPLES_SIZE_PER_PAGE",
        "SEMCRAWL_MAX_UNPACKED_SIZE",
        "SEMCRAWL_MAX_UNPACK_RATIO",
    ),
    "Reader": ("SEMCRAWL_READ_IN_THREAD_ABOVE", "SEMCRAWL_READ_JSON_LD_IN_PROCESS_ABOVE"),
    "RobotsRules": (
        "SEMCRAWL_ROBOTS_LIFETIME",
        "SEMCRAWL_ROBOTS_RETRY",
    ),
    "SessionOptions": (
        "SEMCRAWL_MAX_LEFT_OUT",
        "SEMCRAWL_ROBOTS_MEMORY",
        "SEMCRAWL_SHARE_OF_SLOTS",
    ),
    "SitemapLimits": (
        "SEMCRAWL_SITEMAP_MAX_ENTRIES",
        "SEMCRAWL_SITEMAP_MAX_SIZE",
    ),
    "SitemapRules": ("SEMCRAWL_MAX_SITEMAPS_OF_HOST",),
    "SparqlOptions": (
        "SEMCRAWL_STORE_CONNECTIONS",
        "SEMCRAWL_STORE_PUT_ABOVE",
        "SEMCRAWL_STORE_TIMEOUT",
        "SEMCRAWL_STORE_UPDATE_QUADS",
    ),
    "LivenessOptions": ("SEMCRAWL_HEARTBEAT_INTERVAL",),
    "PingOptions": ("SEMCRAWL_PING_RATE",),
    "FormTable": ("SEMCRAWL_FORM_REQUESTS",),
    "DomainOptions": ("SEMCRAWL_DOMAIN_LEARNING_RATE",),
    "LinkRankOptions": (
        "SEMCRAWL_PAGERANK_LINKS",
        "SEMCRAWL_PAGERANK_DAMPING",
    ),
    "TransferOptions": ("SEMCRAWL_LEAST_RATE_GRACE",),
    "its module": (
        "SEMCRAWL_ABOUT_MAX_FILE",
        "SEMCRAWL_ABOUT_NEW_STATEMENTS",
        "SEMCRAWL_ABOUT_SHAPE_MEMORY",
        "SEMCRAWL_INDEXED_TERMS",
        "SEMCRAWL_PING_INTERVAL",
        "SEMCRAWL_LASTMOD_CHECKS",
        "SEMCRAWL_LIMITS_INTERVAL",
        "SEMCRAWL_PROGRESS_INTERVAL",
        "SEMCRAWL_STORE_CLOSE_TIMEOUT",
        "SEMCRAWL_WARC_SIZE",
        "SEMCRAWL_WORKER_RESTARTS",
    ),
}

#: what replaces settings of earlier versions, by their names
FORMER: Mapping[str, str] = MappingProxyType(
    {name: f"it is a constant of {of}" for of, names in _CONSTANTS.items() for name in names}
    | {
        "SEMCRAWL_OBEY_CRAWL_DELAY": "SEMCRAWL_MAX_CRAWL_DELAY=0 does this",
        "SEMCRAWL_URL_DROP_QUERY": "SEMCRAWL_URL_RULES=drop-query does this",
        "SEMCRAWL_URL_DROP_WWW": "SEMCRAWL_URL_RULES=drop-www does this",
        "SEMCRAWL_URL_HTTPS_TO_HTTP": "SEMCRAWL_URL_RULES=https-to-http does this",
    }
)
