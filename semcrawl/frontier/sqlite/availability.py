"""The availability of hosts, and their turns."""

from __future__ import annotations

from semcrawl.frontier.sqlite.transaction import Host, Transaction

#: turn of untried hosts, which come last
LATER = 1e308
#: time without a probe that does not count as being down (µs)
STOOD_STILL = 180_000_000


def pace(t: Transaction, host: Host) -> tuple[int, int]:
    """Return the crawl delay (µs) and concurrency of a host."""
    delay = t.options["delay"] if host.delay is None else host.delay
    concurrency = t.options["concurrency"] if host.concurrency is None else host.concurrency
    return int(delay), int(concurrency)


def available(t: Transaction, host: Host) -> bool:
    """Whether a link of the host may be taken now."""
    if host.cooling is not None and host.cooling > t.now:
        return False
    if host.busy == 0:
        return True
    if host.busy >= pace(t, host)[1] or host.since is not None:
        return False
    return host.lined == 0


def cool(t: Transaction, host: Host, till: int) -> None:
    """Let a host cool until a time, and until its rest is over."""
    if host.rest is not None:
        if host.rest > t.now:
            till = max(till, host.rest)
        else:
            host.rest = None
    host.cooling = till if till > t.now else None
    t.touch(host)


def rest_until(t: Transaction, host: Host, till: int) -> None:
    """Let a host rest at least until a time, whatever its pace."""
    if till > (host.rest or 0):
        host.rest = till
        t.touch(host)


def untried(host: Host) -> bool:
    """Whether a host gave nothing yet."""
    return host.good is None


def turn(t: Transaction, host: Host) -> float:
    """Return the virtual time of a host's next turn: start-time fair queueing."""
    # once some hosts were found dead, untried hosts come last
    if t.totals["dead"] > 1 and untried(host):
        return LATER
    if t.options["fairness"] == "off":
        return 0.0
    return float(t.totals["turn"] if host.turn is None else host.turn)


def move_turn(t: Transaction, host: Host) -> None:
    """Move a host's turn after a take, the further the less it yields."""
    if t.options["fairness"] == "off":
        return
    now = max(host.turn or 0.0, float(t.totals["turn"]))
    weight = 1.0
    if t.options["fairness"] == "yield":
        weight = (host.targets + 1) / (host.fetches + 2)
    t.set_total("turn", now)
    host.turn = now + 1 / weight
    t.touch(host)
