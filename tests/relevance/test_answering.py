"""The strategy ``learned`` and hosts that do not answer."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.relevance.learned import Learned
from semcrawl.relevance.learned.answering import NO_HOST, AnsweringHosts
from semcrawl.web.vocabulary import Kind
from tests.relevance.learning import HOME, fetch, keys, links

GONE = [f"http://gone.example/{name}/" for name in ("data", "doc", "list", "notes")]
ALIKE = "http://a.example/topics/"


def crawl_with_failures(host: str) -> Learned:
    """A crawl in which four folders of a host could not be fetched."""
    strategy = Learned()
    urls = [url.replace("gone.example", host) for url in GONE]
    fetch(strategy, HOME.url, Kind.HTML, links("http://a.example/page.html", *urls))
    fetch(strategy, "http://a.example/page.html", Kind.HTML, parent=HOME.url)
    for url in urls:
        fetch(strategy, url, None, parent=HOME.url)
    return strategy


def test_failures_of_a_host_that_never_answered_say_nothing_of_how_good_links_look():
    elsewhere, at_home = crawl_with_failures("gone.example"), crawl_with_failures("a.example")
    assert keys(elsewhere, [ALIKE])[ALIKE] < keys(at_home, [ALIKE])[ALIKE] - 0.01


def test_a_host_that_never_answered_is_left_for_later_until_it_does():
    strategy = crawl_with_failures("gone.example")
    more, fresh = "http://gone.example/topics/", "http://fresh.example/topics/"
    assert keys(strategy, [more])[more] > 0.5 * keys(strategy, [fresh])[fresh]
    doubted = keys(strategy, [more])[more]
    fetch(strategy, "http://gone.example/", Kind.HTML)
    assert keys(strategy, [more])[more] < 2 * doubted


def test_waiting_links_of_such_a_host_fall_behind():
    strategy = Learned()
    waiting = "http://gone.example/topics/"
    fetch(strategy, HOME.url, Kind.HTML, links(waiting, *GONE))
    before = -strategy._memory.table["told"][strategy._memory.table.ids[waiting]]
    for url in GONE:
        fetch(strategy, url, None, parent=HOME.url)
    assert strategy.rekeyed()[waiting] > before / 2


def test_hosts_that_do_not_answer_do_not_lift_the_restraint():
    strategy = Learned()
    urls = [f"http://host{n}.example/" for n in range(12)]
    fetch(strategy, HOME.url, Kind.HTML, links(*urls))
    for url in urls[:9]:
        fetch(strategy, url, None, parent=HOME.url)
    assert strategy.room(0) == 1
    for url in urls[:9]:
        fetch(strategy, f"{url}again", Kind.HTML)
    assert strategy.room(0) > 1000


def test_which_hosts_answer_is_kept_with_what_was_learned():
    strategy = crawl_with_failures("gone.example")
    restored = Learned()
    restored.load_state(strategy.dump_state())
    found = ["http://gone.example/topics/", ALIKE]
    assert keys(restored, found) == keys(strategy, found)


@given(st.lists(st.tuples(st.integers(0, 300), st.booleans()), max_size=40))
def test_trust_is_full_or_halved_by_every_failure_before_the_first_answer(story):
    hosts = AnsweringHosts()
    answered, failures = set(), dict.fromkeys(range(302), 0)
    for host, good in story:
        if good:
            hosts.answered(host)
            answered.add(host)
        else:
            assert hosts.failed(host) is (host in answered)
            failures[host] += 1
    expected = [1.0 if host in answered else 0.5 ** failures[host] for host in failures]
    assert hosts.trust(np.array([*failures, NO_HOST])).tolist() == [*expected, 1.0]
    assert len(hosts) == len(answered)


def test_an_explanation_tells_of_a_host_that_never_answered():
    strategy = crawl_with_failures("gone.example")
    (link,) = links("http://gone.example/topics/")
    rows = strategy.explain(HOME, link)
    assert ("against", "× 0.062 host gave nothing so far") in rows
    assert not any("gave nothing" in text for _, text in strategy.explain(HOME, links(ALIKE)[0]))


def test_hosts_named_beside_many_that_gave_nothing_lose_their_worth():
    """Those that wait, and those that are found later; not those named in other places."""
    strategy = Learned()
    listed = [f"http://h{n}.example/data.ttl" for n in range(60)]
    fetch(strategy, HOME.url, Kind.HTML, links(*listed))
    for url in listed[:40]:
        fetch(strategy, url, None, parent=HOME.url)
    moved = strategy.rekeyed()
    assert all(moved[url] > -0.2 for url in listed[40:])
    fresh = "http://fresh.example/data.ttl"
    there, elsewhere = (
        keys(strategy, [fresh], by)[fresh] for by in (HOME.url, "http://b.example/")
    )
    assert elsewhere < -0.4 < -0.2 < there
    told = strategy.explain(HOME, links(fresh)[0])
    assert ("against", "× 0.091 share of hosts named beside it that answered") in told


def test_a_list_whose_hosts_answer_is_trusted_beside_a_worse_one_of_its_site():
    strategy = Learned()
    bad = [f"http://h{n}.example/data.ttl" for n in range(20)]
    good = [f"http://g{n}.example/data.ttl" for n in range(20)]
    fetch(strategy, HOME.url, Kind.HTML, links(*bad, tag_path="html/body/ul/li/a"))
    fetch(strategy, f"{HOME.url}more", Kind.HTML, links(*good, tag_path="html/body/p/a"))
    for lost, found in zip(bad[:15], good[:15], strict=True):
        fetch(strategy, lost, None, parent=HOME.url)
        fetch(strategy, found, Kind.RDF, parent=f"{HOME.url}more")
    key = {
        place: strategy.rank(HOME, links("http://fresh.example/data.ttl", tag_path=place))[0].key
        for place in ("html/body/ul/li/a", "html/body/p/a", "html/body/div/a")
    }
    assert key["html/body/p/a"] < key["html/body/div/a"] < key["html/body/ul/li/a"]


def test_what_a_list_is_trusted_is_kept_with_what_was_learned():
    strategy = Learned()
    listed = [f"http://h{n}.example/data.ttl" for n in range(20)]
    fetch(strategy, HOME.url, Kind.HTML, links(*listed))
    for url in listed[:10]:
        fetch(strategy, url, None, parent=HOME.url)
    restored = Learned()
    restored.load_state(strategy.dump_state())
    found = ["http://fresh.example/data.ttl", "http://h0.example/more.ttl"]
    assert keys(restored, found) == keys(strategy, found)


def test_a_host_of_several_lists_is_of_the_one_that_is_trusted_most():
    """So a page that names good hosts among dead ones takes nothing from them for long."""
    hosts = AnsweringHosts()
    hosts.named([(n, "bad.example p/a") for n in range(10)], 0)
    for host in range(9):
        hosts.failed(host)
    before = hosts.trust(np.array([9])).item()
    hosts.named([(9, "good.example p/a")], 10)
    assert before < 0.5 < hosts.trust(np.array([9])).item() == 1
    hosts.named([(9, "bad.example p/a")], 10)
    assert hosts.trust(np.array([9])).item() == 1
