"""The key schema of the frontier."""

from __future__ import annotations

from dataclasses import dataclass, field

#: format of the keys; frontiers of another format are refused
FORMAT_VERSION = 6
#: default name of a crawl
DEFAULT_NAME = "semcrawl"


@dataclass(frozen=True, slots=True)
class Keys:
    """Names of the frontier's keys. All start with ``{prefix}:``, the braces being a hash tag.

    Fixed keys:

    ========== ====== ======================================================================
    meta       hash   format, created, options (msgpack map); seq, takes (last numbers given
                      out); seen, buckets (size of the seen set and of its table), bloom (size of
                      the filter), bloomed, passing (digests in it; in both); done, expired,
                      dropped (totals for displays); dead (number of hosts found dead); chunks
                      (last number given out); left (links left out), leftfull (there were
                      more); server (last run id that had the keys), epoch (number of changes of
                      run); of a shard also crawl (the crawl's unique id), shard (its number),
                      shards (how many there are), whole (all of them were opened)
    queues     set    queues that ever held links
    values     hash   group → value
    pace       hash   host → ``delay concurrency``, delay in µs, where not the default
    cooling    zset   host → server time in µs until which it may not be asked
    lease      hash   lease id → msgpack of queue, host, group, key, member, worker
    errands    zset   worker, NUL, errand, NUL, host, by the server time in µs at which the
                      errand is void
    turns      hash   host → virtual time of its next turn (with fairness)
    yield      hash   host → ``fetches targets barren``, the last being consecutive
    rest       hash   host → server time in µs until which it rests (barren, down, or asked to)
    down       hash   host → ``since till rest why`` (times in µs), for hosts that do not answer
                      or block us; after each rest one link is a probe
    rests      hash   host → length of its last rest (µs), which shrinks as it answers
    good       hash   host → a URL that it served
    state      hash   name → blob; ``NAME:event`` → last event read before
    lefthosts  hash   reason and host → links left out
    withholding set   names of families, and pairs of mirrors, with withheld links
    bodies     hash   path → for each origin its name and that of its body, or that it is being
                      asked for
    pairs      hash   two origins → bodies that both gave by one path, or X: they are no mirrors
    origins    hash   origin's name → its URL
    mirrored   set    names of pairs of origins that are mirrors
    copies     hash   path → withheld links whose copy is being fetched from a mirror
    leftfirst  hash   reason and host → the first link left out
    said       string table of documents' statements, in buckets of four entries: a part of the
                      statement's hash (5 bytes) and of its document's (3), the newest first
    barrier    string number of times that a worker waited for replicas
    charter    string folders, seeds and scope of the crawl, as JSON (on a shared server)
    members    zset   worker → server time in µs until which it counts as active
    replies    hash   worker:slot → number of its last call, reply (for repeated calls)
    lists      set    lists of seeds from which any were taken
    events     stream events between workers: fields ``w`` (who), and ``e`` (outcome) with ``q``
                      (queue of its new links) or ``t`` (taken links)
    ========== ====== ======================================================================

    Keys of a queue ``Q``:

    ========== ====== ======================================================================
    hosts:Q    hash   host → number of waiting links, if there are any
    labels:Q   hash   label → number of waiting and delayed links
    groups:Q   hash   group → ``L`` place host (on one host), or ``G`` place (on several)
    order:Q    zset   groups with waiting links, by value
    front:Q    zset   hosts that may be asked, by minus the value of their best local group,
                      then turn and place of its first link
    filed:Q    hash   host → turn and place of its entry in front:Q
    global:Q   zset   groups on several hosts, in the same order
    leases:Q   zset   lease id → server time in µs at which it expires
    failed:Q   hash   sequence number → msgpack of host, group, key, member
    delayed:Q  zset   id of a given-back link → server time in µs from which it waits again
    ========== ====== ======================================================================

    Keys of parts:

    ================ ====== ================================================================
    wait:Q:HOST/GRP  list   the last chunk of waiting links, up to 64, in order: key (8 sortable
                            bytes) and member: sequence number (6), tries (1), length of label
                            (1), label, blob (msgpack of URL, payload); with 128 added to
                            tries, the number (6) of the first lost take
    more:Q:HOST/GRP  zset   the earlier chunks: greatest place, number of the chunk
    chunk:NUMBER     list   an earlier chunk, up to 64 links
    local:Q:HOST     zset   groups with links on this host only, by minus value, then place
    spread:Q:GRP     zset   hosts of a global group, without parked ones, by turn and place
    place:Q:GRP      hash   host → turn and place in spread:, or empty when parked
    parked:HOST      set    ``Q:GRP`` in which the host is parked until it may be asked again
    busy:HOST        hash   downloads in flight: lease id or errand → 0 (start not reported yet), 1
                            (no delay), or the server time in µs of its start; errands that
                            wait for their turn: ``w`` and their number in the queue
    seen:N           hash   digest (10 bytes) → sequence number and key of the link (and a byte
                            if the Bloom filter has it too), or nothing; bucket N
    family:NAME      hash   a family of links: document, pattern; useful, barren, unknown (numbers
                            of answers); of a pair of mirrors: their origins as document and
                            pattern; mirror; checked (number of withheld links when two were
                            checked); met (its links met since it is barren); led, only (digests
                            of the last redirect's target, and of the first useful one)
    withheld:NAME    hash   its withheld links: sequence number → msgpack of queue, host, group,
                            key, member
    left:N           hash   digest of a link left out → reason and host; bucket N of 8192
    bloom:N          string 2²⁰ bits of the Bloom filter (with exact_limit)
    robots:ORIGIN    string robots.txt (msgpack), until it expires
    address:A        string server times in µs of address A's next free turn and of its last turn
    at:A             zset   requests in flight to A, by server time in µs at which they are void
    reserved:HOST    string server time in µs of a host's turn at its address, and the address
    claim:NAME       string worker that claims NAME (for example to fetch a robots.txt)
    pending:LIST     zset   worker, NUL, seed: seeds that a worker took from LIST and has not
                            finished, by the time at which they return
    ================ ====== ================================================================

    A *place* is the key as 8 sortable bytes and the sequence number; a *turn* is 8 bytes.
    """

    prefix: str
    root: str = field(init=False)

    def __post_init__(self) -> None:
        """Check the prefix and set the root."""
        if not self.prefix or "{" in self.prefix or "}" in self.prefix:
            raise ValueError(f"a key prefix is not empty and has no braces: {self.prefix!r}")
        object.__setattr__(self, "root", "{" + self.prefix + "}:")

    @property
    def meta(self) -> str:
        """The key that carries the version stamp."""
        return self.root + "meta"

    def __getitem__(self, name: str) -> str:
        """Name of a key below the root."""
        return self.root + name
