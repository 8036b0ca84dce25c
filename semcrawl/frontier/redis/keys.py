"""The key schema of the frontier."""

from __future__ import annotations

from dataclasses import dataclass, field

#: format of the keys; frontiers of another format are refused
FORMAT_VERSION = 6
#: name of a crawl that is given none: on a server of its own, or a worker's
DEFAULT_NAME = "semcrawl"


@dataclass(frozen=True, slots=True)
class Keys:
    """Names of the frontier's keys. All start with ``{prefix}:``, the braces being a hash tag.

    Fixed keys:

    ========== ====== ======================================================================
    meta       hash   format, created, options (msgpack map); seq, takes (numbers given out);
                      seen, buckets (table of the seen set), bloom (its size), bloomed,
                      passing (digests in it; in both); done, expired, dropped (totals for
                      displays); dead (hosts found so, the first ones); chunks (numbers
                      given out); left (links left out), leftfull (there were more); server (the
                      run of it that had the keys last), epoch (how often that was another
                      one); of a shard crawl (a name unlike all others), shard (its number),
                      shards (of how many), whole (all of them were opened)
    queues     set    queues that ever held links
    values     hash   group → value
    pace       hash   host → ``delay concurrency``, delay in µs, where not the default
    cooling    zset   host → server time in µs until which it may not be asked
    lease      hash   lease id → msgpack of queue, host, group, key, member, worker
    errands    zset   worker, NUL, errand, NUL, host: requests that are no link's, by the server
                      time in µs at which they are void
    turns      hash   host → virtual time of its next turn (with fairness)
    yield      hash   host → ``fetches targets barren``, barren ones being those in a row
    rest       hash   host → server time in µs until which it rests (barren, down, or asked to)
    down       hash   host → ``since till rest why`` (times in µs), for hosts that do not answer
                      or block us: asked by one link at a time after each rest
    rests      hash   host → how long its last rest was (µs), shrinking as it answers
    good       hash   host → an address that it gave
    state      hash   name → blob; ``NAME:event`` → last event read before
    lefthosts  hash   reason and host → links left out
    withholding set   names of families of which links are withheld, and of mirrors
    bodies     hash   path → origins and bodies that it gave, or that are being asked for
    pairs      hash   two origins → bodies that both gave by one path, or X: they are no mirrors
    origins    hash   origin's name → its URL
    mirrored   set    names of pairs of origins that are mirrors
    copies     hash   path → withheld links that a mirror is being asked for
    leftfirst  hash   reason and host → the first of them
    said       string table of statements that documents made, in buckets of four: of each a
                      part of its hash (5 bytes) and of its document's (3), the newest first
    barrier    string number of times that a worker waited for replicas
    charter    string folders, seeds and scope of the crawl, as JSON (on a shared server)
    members    zset   worker → server time in µs until which it counts as alive
    replies    hash   worker:slot → number of its last call, reply (for repeated calls)
    lists      set    lists of seeds that any were taken from
    events     stream events between workers: fields ``w`` (who), and ``e`` (outcome) with ``q``
                      (queue of the links it brought) or ``t`` (links that were taken)
    ========== ====== ======================================================================

    Keys of a queue ``Q``:

    ========== ====== ======================================================================
    hosts:Q    hash   host → links waiting, for hosts that have any
    labels:Q   hash   label → links waiting (delayed ones included)
    groups:Q   hash   group → ``L`` place host (on one host), or ``G`` place (on several)
    order:Q    zset   groups with waiting links, by value
    front:Q    zset   hosts that may be asked, by minus the value of their best local group,
                      then turn and place of its first link
    filed:Q    hash   host → turn and place under which it stands in front:Q
    global:Q   zset   groups on several hosts, in the same order
    leases:Q   zset   lease id → server time in µs at which it runs out
    failed:Q   hash   sequence number → msgpack of host, group, key, member
    delayed:Q  zset   id of a given-back link → server time in µs from which it waits again
    ========== ====== ======================================================================

    Keys of parts:

    ================ ====== ================================================================
    wait:Q:HOST/GRP  list   the last waiting links, up to 64, in order: key (8 sortable bytes)
                            and member: sequence number (6), tries (1), length of label (1),
                            label, blob (msgpack of URL, payload); with 128 added to tries,
                            the number (6) of the first lost take
    more:Q:HOST/GRP  zset   chunks of those before: greatest place, number of the chunk
    chunk:NUMBER     list   such a chunk, up to 64 links
    local:Q:HOST     zset   groups found on this host only, by minus value, then place
    spread:Q:GRP     zset   hosts of a global group, by turn and place, parked ones left out
    place:Q:GRP      hash   host → turn and place in spread:, or empty when parked
    parked:HOST      set    ``Q:GRP`` left until the host may be asked again
    busy:HOST        hash   downloads under way: lease id or errand → 0 (start not reported yet), 1
                            (no delay), or the server time in µs of its start; errands that
                            wait for their turn: ``w`` and their number in line
    seen:N           hash   digest (10 bytes) → sequence number and key of the link (and a byte
                            if the Bloom filter has it too), or nothing; bucket N
    family:NAME      hash   a family of links: document, pattern; useful, barren, unknown (answers);
                            of a pair of mirrors: their origins, in the same places; mirror;
                            checked (links withheld when two of them were asked for);
                            met (its links met since it is barren); led, only (digests of where
                            the last one led, and the first useful one)
    withheld:NAME    hash   its withheld links: sequence number → msgpack of queue, host, group,
                            key, member
    left:N           hash   digest of a link left out → reason and host; bucket N of 8192
    bloom:N          string 2²⁰ bits of the Bloom filter (with exact_limit)
    robots:ORIGIN    string robots.txt (msgpack), as long as it holds
    address:A        string server times in µs of the next free turn of address A, and of its last
    at:A             zset   requests under way to A, by server time in µs at which they are void
    reserved:HOST    string server time in µs of a host's turn at its address, and the address
    claim:NAME       string worker that claims NAME (an origin's robots.txt, to ask for it)
    pending:LIST     zset   worker, NUL, seed: seeds that a worker took from LIST and has not
                            put in yet, by time to come back
    ================ ====== ================================================================

    A *place* is the key as 8 sortable bytes and the sequence number; a *turn* is 8 bytes.
    """

    prefix: str
    root: str = field(init=False)

    def __post_init__(self) -> None:
        """Work out the root."""
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
