"""Whatever is done to it, the frontier behaves like the few lines that its contract comes to."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
from backends import Backend, ShardedBackend
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from semcrawl.frontier import Entry, FrontierOptions, Lease

T = TypeVar("T")
QUEUES = ["html", "rdf"]
CONCURRENCY = 3
_numbers = itertools.count()

hosts = st.sampled_from([f"h{n}" for n in range(3)])
groups = st.sampled_from([f"g{n}" for n in range(3)])
keys = st.sampled_from([0.0, -0.0, 1.0, -1.5, 1e-9])
entries = st.builds(
    lambda n, host, queue, group, key, label: Entry(
        f"http://{host}/{n}", host, queue, group, key, {}, label
    ),
    st.integers(0, 40),
    hosts,
    st.sampled_from(QUEUES),
    groups,
    keys,
    st.sampled_from(["", "R", "H"]),
)


@dataclass
class Known:
    """A link of the model."""

    entry: Entry
    sequence: int
    key: float
    tries: int = 0


class FrontierMachine(RuleBasedStateMachine):
    """A frontier beside a model of it that keeps its links in one dictionary."""

    backend: Backend

    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        # (the lists in which links wait are short: so there are many)
        options = FrontierOptions(delay=0, concurrency=CONCURRENCY, chunk=2, glance=0)
        self.frontier = self.backend.frontier(f"model{next(_numbers)}", "w", options)
        self.run(self.frontier.open())
        self.seen: dict[str, Entry] = {}
        self.waiting: dict[str, Known] = {}
        self.leased: dict[str, Known] = {}
        self.busy: set[str] = set()
        self.values: dict[str, float] = {}
        self.sequence = 0

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(call)

    def teardown(self) -> None:
        self.run(self.frontier.close())
        self.loop.close()

    @rule(batch=st.lists(entries, max_size=20))
    def add(self, batch: list[Entry]) -> None:
        new = []
        for entry in batch:
            new.append(entry.url not in self.seen)
            if new[-1]:
                self.seen[entry.url] = entry
                self.waiting[entry.url] = Known(entry, self.sequence, entry.key)
            self.sequence += 1
        assert self.run(self.frontier.add(batch)) == new

    @rule(target=leases, queues=st.sampled_from([["html"], ["rdf"], QUEUES]))
    def take(self, queues: list[str]) -> Any:
        return self._take(queues)

    def _take(self, queues: list[str]) -> Lease | None:
        taken = self.run(self.frontier.take(1, queues))
        in_use = Counter(self.leased[id_].entry.host for id_ in self.busy)
        ready = [
            link
            for link in self.waiting.values()
            if link.entry.queue in queues and in_use[link.entry.host] < CONCURRENCY
        ]
        if not ready:
            assert taken == []
            return None
        best = min(ready, key=self._place)
        (lease,) = taken
        link = best
        if isinstance(self.backend, ShardedBackend) and not self.backend.in_order:
            # one that is like the best, and the first of its own host
            link = self.waiting[lease.entry.url]
            of_host = [other for other in ready if other.entry.host == link.entry.host]
            assert self._place(link)[:2] == self._place(best)[:2]
            assert link is min(of_host, key=self._place)
        assert (lease.entry.url, lease.entry.key, lease.tries) == (
            link.entry.url,
            link.key,
            link.tries,
        )
        self.leased[lease.id] = self.waiting.pop(link.entry.url)
        self.busy.add(lease.id)
        return lease

    def _place(self, link: Known) -> tuple[float, float, int]:
        return -self.values.get(link.entry.group, 0), link.key, link.sequence

    @rule(lease=leases)
    def release(self, lease: Lease | None) -> None:
        if lease is not None:
            self.run(self.frontier.release([lease]))
            self.busy.discard(lease.id)

    @rule(lease=consumes(leases))
    def done(self, lease: Lease | None) -> None:
        if lease is not None:
            self.run(self.frontier.end([lease]))
            del self.leased[lease.id]
            self.busy.discard(lease.id)

    @rule(lease=consumes(leases))
    def give_back(self, lease: Lease | None) -> None:
        if lease is not None:
            self.run(self.frontier.give_back([lease]))
            known = self.leased.pop(lease.id)
            self.busy.discard(lease.id)
            known.tries += 1
            self.waiting[lease.entry.url] = known

    @rule(
        values=st.dictionaries(groups, st.sampled_from([-1.0, 0.0, 0.5, 2.0]), max_size=3),
    )
    def set_values(self, values: dict[str, float]) -> None:
        self.run(self.frontier.set_values(values))
        self.values.update(values)

    @rule(batch=st.lists(st.tuples(entries, keys), max_size=10))
    def rekey(self, batch: list[tuple[Entry, float]]) -> None:
        # a strategy speaks of links as they were added
        known = [(self.seen[e.url], key) for e, key in batch if e.url in self.seen]
        self.run(self.frontier.rekey(known))
        for entry, key in known:
            if entry.url in self.waiting:
                self.waiting[entry.url].key = key

    @rule(queues=st.sampled_from([["html"], QUEUES]))
    def count(self, queues: list[str]) -> None:
        counts = self.run(self.frontier.counts(queues, []))
        links = [k.entry for k in self.waiting.values() if k.entry.queue in queues]
        assert counts.waiting == len(links)
        assert counts.waiting_by_label == Counter(entry.label for entry in links)
        assert counts.seen == len(self.seen)
        assert counts.leased == sum(k.entry.queue in queues for k in self.leased.values())
        assert counts.hosts == len({(entry.queue, entry.host) for entry in links})

    @invariant()
    def sums_agree_with_structures(self) -> None:
        assert self.run(self.frontier.inspector.audit()) == []


@pytest.mark.slow
def test_the_frontier_does_as_its_model(backend: Backend) -> None:
    """``make many`` tries fifteen times as many examples."""
    machine = type("Machine", (FrontierMachine,), {"backend": backend})
    run_machine(
        machine,
        settings=settings(
            max_examples=settings.default.max_examples // 2,
            stateful_step_count=40,
            suppress_health_check=list(HealthCheck),
        ),
    )
