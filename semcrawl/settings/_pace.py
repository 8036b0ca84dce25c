"""Settings of politeness and of the frontier."""

import os

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
#: Seconds in which a host that gave nothing yet must be connected to, and must then answer with its
#: headers; down to a fifth of them while most such hosts keep silent. 0 = those of
#: `DOWNLOAD_TIMEOUT`. One that was silent is asked once more, when
#: `SEMCRAWL_UNTRIED_HOST_PATIENCE` is over, and has the full time then if less than an eighth of
#: `CONCURRENT_REQUESTS` waits for such hosts.
SEMCRAWL_FIRST_ANSWER_TIMEOUT = 10.0
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
#: Seconds for which a worker believes what it saw of the best links of a shard. A worker without
#: links believes five times as long, at most, that a shard has none ready.
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
