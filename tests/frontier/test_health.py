"""Failures and answers show the health of hosts, and of our own network."""

from __future__ import annotations

import pytest

from semcrawl.crawl.healthsigns import FailureCounts, FruitlessHosts, HealthOptions, Sign

A, B = "a.example", "b.example"


class Hosts:
    """Rows with a clock that the test turns on; a host is down after three failures."""

    def __init__(self, **options: int) -> None:
        self.now = 1000.0
        self.counts = FailureCounts(HealthOptions(**{"failures": 3, "forbidden": 4, **options}))

    def fail(self, host: str, times: int = 1, *, scheme: str = "http", known: bool = False) -> Sign:
        signs = [self.counts.failed(host, f"{scheme}://{host}", known=known) for _ in range(times)]
        return signs[-1]

    def answer(self, host: str, status: int = 200, *, scheme: str = "http") -> Sign:
        return self.counts.answered(host, f"{scheme}://{host}", status, self.now)


@pytest.fixture
def hosts() -> Hosts:
    return Hosts()


def test_a_host_is_down_after_so_many_failures_in_a_row_and_no_other_is(hosts: Hosts) -> None:
    assert hosts.fail(A, 2) is Sign.NOTHING
    assert hosts.fail(B) is Sign.NOTHING
    assert hosts.fail(A) is Sign.SILENT


def test_any_answer_ends_the_row(hosts: Hosts) -> None:
    for status in (200, 404, 500, 403):
        hosts.fail(A, 2)
        hosts.answer(A, status)
        assert hosts.fail(A, 2) is Sign.NOTHING
        hosts.answer(A)


def test_refusals_count_but_those_that_come_together_once(hosts: Hosts) -> None:
    """Requests in flight together are refused together."""
    for _ in range(5):
        assert hosts.answer(A, 429) is Sign.NOTHING
        hosts.now += 0.5
    hosts.now += 1.0
    hosts.answer(A, 429)
    hosts.now += 1.0
    assert hosts.answer(A, 429) is Sign.REFUSING


def test_a_server_that_fails_beside_another_of_its_host_is_down_alone(hosts: Hosts) -> None:
    """Until the other one fails as well."""
    hosts.answer(A, scheme="http")
    assert hosts.fail(A, 4, scheme="https") is Sign.SERVER
    assert hosts.counts.is_served_by_another(A, f"https://{A}")
    assert not hosts.counts.is_served_by_another(A, f"http://{A}")
    assert hosts.fail(A, scheme="http") is Sign.SILENT


def test_a_server_that_never_answers_is_down_however_often_others_of_its_host_do(
    hosts: Hosts,
) -> None:
    """The hosts of a domain take turns: the answers of one say nothing of the others."""
    for _ in range(2):
        assert hosts.fail(A, scheme="https") is Sign.NOTHING
        hosts.answer(A, scheme="http")
    assert hosts.fail(A, scheme="https") is Sign.SERVER


def test_when_known_hosts_fail_together_with_no_answer_between_it_is_our_network(
    hosts: Hosts,
) -> None:
    hosts.answer(A)
    hosts.answer(B)
    assert hosts.fail(A, known=True) is Sign.NOTHING
    assert hosts.fail(B, known=True) is Sign.NOTHING
    assert hosts.fail(B, known=True) is Sign.NETWORK
    hosts.answer(A)
    assert hosts.fail(B, known=True) is Sign.SILENT


def test_hosts_that_never_answered_say_nothing_of_our_network(hosts: Hosts) -> None:
    assert {hosts.fail(f"h{n}.example") for n in range(20)} == {Sign.NOTHING}
    assert hosts.fail(A, 3, known=True) is Sign.SILENT


def test_servers_that_never_answered_say_nothing_of_our_network(hosts: Hosts) -> None:
    """Two sites have ``http`` only, say."""
    for host in (A, B):
        hosts.answer(host)
    for _ in range(5):
        for host in (A, B):
            sign = hosts.fail(host, scheme="https", known=True)
            assert sign in (Sign.NOTHING, Sign.SERVER)


def test_a_host_that_forbids_so_much_in_a_row_is_suspect_and_less_so_when_acquitted(
    hosts: Hosts,
) -> None:
    assert [hosts.answer(A, 403) for _ in range(4)] == [Sign.NOTHING] * 3 + [Sign.BLOCKING]
    hosts.counts.acquit(A)
    assert [hosts.answer(A, 403) for _ in range(8)] == [Sign.NOTHING] * 7 + [Sign.BLOCKING]
    hosts.answer(A, 404)
    assert hosts.answer(A, 403) is Sign.NOTHING


def test_all_of_it_can_be_switched_off() -> None:
    hosts = Hosts(failures=0, forbidden=0)
    assert hosts.fail(A, 20, known=True) is Sign.NOTHING
    assert {hosts.answer(A, status) for status in (429, 403) * 20} == {Sign.NOTHING}


def test_most_hosts_give_nothing_when_many_more_gave_nothing_than_something() -> None:
    """It is said once, and of hosts: one that gives nothing a hundred times is one."""
    fruitless, known = FruitlessHosts(), {f"good{n}.example" for n in range(5)}
    assert not any(fruitless.met("h.example", known) for _ in range(100))
    assert not any(fruitless.met(f"good{n}.example", known) for n in range(5))
    said = [fruitless.met(f"h{n}.example", known) for n in range(60)]
    assert said.index(True) == 4 * len(known) - 2
    assert said.count(True) == 1


def test_hosts_that_gave_something_later_are_none_that_give_nothing() -> None:
    fruitless = FruitlessHosts()
    hosts = [f"h{n}.example" for n in range(100)]
    assert not any(fruitless.met(host, set(hosts[:n])) for n, host in enumerate(hosts))
