"""Settings of politeness and of the frontier."""

import os

# --- Politeness

#: Seconds between the starts of two requests to a host whose robots.txt names no crawl delay.
SEMCRAWL_CRAWL_DELAY = 1.0
#: Fetches to learn from before one more request may be in flight, up to `CONCURRENT_REQUESTS`;
#: 0 = all at once. This saves requests while the crawl has learned little. Each request that is not
#: finished after 2 seconds lets two others start.
SEMCRAWL_SLOW_START = 6
#: Requests at a time to a host.
SEMCRAWL_CONCURRENCY_PER_HOST = 1
#: Seconds between the starts of two requests to one IP address, under any names; 0 = none. It
#: applies in addition to the crawl delay, to hosts that have one. An IPv6 /48 network counts as one
#: address. Behind a proxy the address is unknown, and this does not apply.
SEMCRAWL_ADDRESS_DELAY = 0.1
#: Requests at a time to one IP address, under any names.
SEMCRAWL_CONCURRENCY_PER_ADDRESS = 8
#: Whether these two limits apply to private addresses too.
SEMCRAWL_PACE_PRIVATE_ADDRESSES = False
#: Whether to obey Crawl-delay and Request-rate of robots.txt.
SEMCRAWL_OBEY_CRAWL_DELAY = True
#: Longest crawl delay of a robots.txt that is obeyed, in seconds.
SEMCRAWL_MAX_CRAWL_DELAY = 60.0
#: Seconds after which a robots.txt is fetched again (RFC 9309: at most a day).
SEMCRAWL_ROBOTS_LIFETIME = 86_400.0
#: Approximate bytes of a worker's memory for the rules of robots.txt files. The frontier keeps all
#: files; other rules are read from there, large ones in the background.
SEMCRAWL_ROBOTS_MEMORY = 32 * 1024 * 1024
#: Seconds until a failed robots.txt (status 5xx or 429) is requested again, or longer by its
#: Retry-After. Until then nothing is requested from its host.
SEMCRAWL_ROBOTS_RETRY = 30.0
#: Longest Retry-After, in seconds, that is obeyed for a link or a robots.txt. A link with a longer
#: one is set aside. A host that answers 429 rests at most so long.
SEMCRAWL_MAX_RETRY_AFTER = 120.0
#: Network errors or refusals (429) in a row after which a host counts as down. It then rests, its
#: links wait, and one request after each rest checks whether it is back. If several hosts fail like
#: this and none answers meanwhile, our own network counts as down, and the crawl pauses. 0 = never.
SEMCRAWL_HOST_FAILURES = 4
#: Answers 403 in a row after which an address that the host served before is requested. If the host
#: refuses that too, it has blocked us, and rests. 0 = never.
SEMCRAWL_HOST_FORBIDDEN = 6
#: Seconds of the first rest. Each further rest in a row is longer by this time, and each answer
#: shortens the next rest by it.
SEMCRAWL_HOST_REST = 2.0
#: How rests grow. `even`: each failed check of a host that is down adds `SEMCRAWL_HOST_REST`.
#: `pagerank`: it adds that times the PageRank of the requested page (1 if the strategy knows none),
#: and a page is given up after four failed checks.
SEMCRAWL_HOST_REST_POLICY = "even"
#: Seconds to wait for a host that answered before, and for our own network. Then the host's links
#: are set aside as `host-down`; `semcrawl frontier DIR --requeue` brings them back.
SEMCRAWL_HOST_PATIENCE = 600.0
#: The same for a host that never answered, or only on another port or scheme (`http` but not
#: `https`). A host whose name does not exist is given up at once.
SEMCRAWL_UNTRIED_HOST_PATIENCE = 60.0
#: Seconds in which a host that gave nothing yet must accept a connection, and then send its
#: headers; down to a fifth of them while most such hosts stay silent. 0 = as `DOWNLOAD_TIMEOUT`. A
#: silent host is requested once more after `SEMCRAWL_UNTRIED_HOST_PATIENCE`, with the full time if
#: less than an eighth of `CONCURRENT_REQUESTS` waits for such hosts.
SEMCRAWL_FIRST_ANSWER_TIMEOUT = 10.0
#: Directives to obey of `robots` meta tags, `X-Robots-Tag` headers and links: `nofollow` (follow no
#: link of the page), `noarchive` (keep no copy of its data), `noindex` (the same), `rel-nofollow`
#: (follow no links with `rel=nofollow`). Empty: none.
SEMCRAWL_ROBOTS_TAGS = ["nofollow", "noarchive"]
#: Least bytes per second of an answer that has begun, headers and robots.txt included. A slower
#: answer is aborted as a `timeout`. 0 = none.
SEMCRAWL_LEAST_RATE = 100.0
#: Seconds over which this rate is measured. An answer may pause so long.
SEMCRAWL_LEAST_RATE_GRACE = 10.0
#: Largest share of `CONCURRENT_REQUESTS` for hosts that gave nothing yet, once some were found dead
#: or slow, and for one pay-level domain while links of others wait; 1 = all.
SEMCRAWL_SHARE_OF_SLOTS = 0.5
#: Weights of the queues of the spiders in one process, such as `html=3,rdf=1`: each gets its share
#: of the requests as long as links wait in it that may be requested; a queue not named weighs 1.
#: Empty: first the queue that lately gave more targets per request.
SEMCRAWL_QUEUE_SHARES: str | dict[str, float] = ""
#: Unit of politeness: `domain` (the pay-level domain, with the longest crawl delay of its hosts, at
#: least `SEMCRAWL_CRAWL_DELAY`; each user of github.io and its like counts as one, and so does an
#: IPv6 /48 network), or `host`. With `host` a site of many hosts is crawled sooner, but whoever has
#: a wildcard name in the DNS gets as many requests as they like.
SEMCRAWL_PACE_BY = "domain"
#: URL or mail address of whoever runs the crawl; shown in the user agent unless `USER_AGENT` is
#: set.
SEMCRAWL_CONTACT = ""
#: Whether hosts outside of the public internet (private and other special addresses, names such as
#: `localhost` or `nas.local`) may be requested, no matter where their links come from; `semcrawl
#: harvest --fast` sets it. By default only seeds of the command line, of spider arguments and of a
#: spider's code, and hosts in `SEMCRAWL_SCOPE`, allow such hosts; seeds from a Redis list do not.
SEMCRAWL_ALLOW_PRIVATE_ADDRESSES = False

# --- Frontier

#: Redis server of the frontier and the seed lists (`redis://host:6379/0`), by default the
#: environment variable of that name; or several servers, over which the frontier is sharded
#: (`redis://a,b,c`), or some nodes of a Redis Cluster (`redis+cluster://a:7000,b:7000`). Empty = no
#: server: the frontier is the file `frontier.db` in the job folder, which a few processes of one
#: machine may share.
REDIS_URL = os.environ.get("REDIS_URL", "")
#: Job folder: results, records, frontier. Empty = `JOBDIR`, else the current folder (of `semcrawl
#: harvest` and of projects with the add-on: the folder `harvest`).
SEMCRAWL_JOBDIR = ""
#: Name of the crawl: prefix of all its keys in Redis. Empty: `semcrawl harvest` with a `REDIS_URL`
#: names its crawl by its job folder (`harvest-1a2b3c4d`: the folder's name, and a hash of host and
#: path); all other crawls are named `semcrawl`.
SEMCRAWL_CRAWL_NAME = ""
#: Number of shards of a frontier on Redis, divided by hosts; a crawl keeps the number that it
#: begins with. 0 = as many as `REDIS_URL` names servers, or as its cluster has primaries.
SEMCRAWL_FRONTIER_SHARDS = 0
#: Links that a take may draw from one shard although older links of the same value and key wait in
#: another. So it asks one shard if many links are alike. 0 = first in, first out over all shards.
SEMCRAWL_FRONTIER_AHEAD = 16
#: Seconds for which a worker trusts what it knows of a shard's best links, and for which few links
#: to a shard may wait for more. A worker without links trusts at most twice as long that a shard
#: has none ready.
SEMCRAWL_FRONTIER_GLANCE = 0.15
#: Whether a run joins the crawl of its name even if the crawl belongs to another folder or has
#: other seeds; `semcrawl harvest --join NAME` sets it.
SEMCRAWL_JOIN = False
#: Whether a run that joins running workers may shorten the crawl delay and raise the number of
#: requests at a time for all of them. Otherwise it may only do the opposite.
SEMCRAWL_LOOSEN_PACE = False
#: Seconds after which an unfinished leased link goes back into the frontier.
SEMCRAWL_LEASE_TIME = 120.0
#: Most links that a process may hold, including those whose results are being written (at least
#: `CONCURRENT_REQUESTS`). Only these may be fetched again after a `kill -9`.
SEMCRAWL_MAX_LEASES = 256
#: Order among hosts whose best links have equal values: `off` (first in, first out), `equal` (hosts
#: in turn), `yield` (in turn, richer hosts more often).
SEMCRAWL_FAIRNESS = "off"
#: Fetches in a row without a target after which a host rests; 0 = never (SWSE's penalty).
SEMCRAWL_PENALTY_AFTER = 0
#: Seconds of this rest.
SEMCRAWL_PENALTY_TIME = 600.0
#: Documents in a row without a target after which a path is not followed further; 0 = never
#: (BioCrawler's dynamic depth).
SEMCRAWL_DYNAMIC_DEPTH = 0
#: Most links out of scope, excluded or too deep to remember, so that the summary counts each once
#: (some 50 bytes each in Redis). Beyond that, it says "at least". 0 = count none.
SEMCRAWL_MAX_LEFT_OUT = 1_000_000
#: Most waiting links; beyond that, the last ones of the worst group are dropped; 0 = no limit.
SEMCRAWL_MAX_WAITING = 0
#: URLs that the seen set keeps exactly. Later ones go to a Bloom filter, which needs a tenth of the
#: memory and sometimes takes a new URL for a seen one. 0 = all are exact, as they always are on
#: disk, without a `REDIS_URL`.
SEMCRAWL_SEEN_EXACT = 0
#: Capacity of this filter in URLs; fixed when a crawl begins.
SEMCRAWL_SEEN_CAPACITY = 1_000_000_000
#: Share of new URLs that the filter, when full, takes for seen ones; fixed when a crawl begins.
SEMCRAWL_SEEN_ERROR = 1e-6
#: Seconds to wait for an unreachable Redis or an unwritable `frontier.db` before the crawl ends.
SEMCRAWL_REDIS_PATIENCE = 300.0
