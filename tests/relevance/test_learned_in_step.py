"""The strategy ``learned`` of several workers: whoever read which page, all learn the same."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.crawl.learning import decode_event, encode_event
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Outcome
from semcrawl.relevance.learned import Learned
from semcrawl.relevance.learned.model import Judgement
from semcrawl.web.vocabulary import Kind

#: pages that two workers read, by number; the first ones are seeds
PAGES = [f"http://a.example/{name}" for name in ("x/y/", "z/w/", "x/1", "x/y/2", "www", "z/")]
SEEDS = 2
#: what they link to, each in words of its own
LINKS = [*PAGES, "http://www.a.example/www", "http://a.example/x/y/z.ttl", "http://b.example/q/1"]

#: who reads which page, what it links to, which of that is new to the frontier, and whether all is
#: told that was read until then
READINGS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from(range(len(PAGES))),
        st.lists(st.sampled_from(LINKS), min_size=1, unique=True),
        st.lists(st.booleans(), min_size=len(LINKS), max_size=len(LINKS)),
        st.booleans(),
    ),
    max_size=8,
)


def pair() -> tuple[Learned, Learned]:
    workers = Learned(), Learned()
    for worker in workers:
        worker.keep_in_step()
    return workers


def read(worker: Learned, number: int, urls: list[str]) -> Outcome:
    """Let a worker rank a page's links, all of which are new, and say what comes of it."""
    depth = 0 if number < SEEDS else 1
    links = [Link(url, anchor=f"page {number}", position=i) for i, url in enumerate(urls)]
    ranked = tuple(worker.rank(Page(PAGES[number], depth), links))
    parent = None if depth == 0 else PAGES[0]
    return Outcome(PAGES[number], Kind.HTML, False, PAGES[number], parent, new_links=ranked)


def tell(outcome: Outcome, teller: Learned, other: Learned) -> None:
    """Let both learn of it: who read it of its own, the other of what was sent."""
    teller.learn(outcome)
    other.learn(decode_event(encode_event(outcome)))


def test_a_link_is_what_the_page_shows_that_it_was_put_in_from() -> None:
    one, two = pair()
    tell(read(one, 0, PAGES[2:4]), one, two)
    read(one, 2, LINKS[4:])
    tell(read(two, 3, LINKS[4:]), two, one)
    assert one.dump_state() == two.dump_state()


def test_a_seed_counts_from_when_all_hear_of_it() -> None:
    one, two = pair()
    tell(read(one, 0, PAGES[2:4]), one, two)
    read(one, 1, PAGES[5:6])
    tell(read(two, 2, LINKS[-2:]), two, one)
    assert one.dump_state() == two.dump_state()


def test_a_page_read_before_a_seed_was_heard_of_is_learned_from_with_the_seed() -> None:
    one, two = pair()
    tell(read(one, 0, PAGES[2:4]), one, two)
    waiting = read(one, 2, LINKS[-2:])
    tell(read(two, 1, PAGES[5:6]), two, one)
    tell(waiting, one, two)
    assert one.dump_state() == two.dump_state()


def test_a_link_that_is_not_new_says_nothing_of_the_others_of_its_page() -> None:
    """As another address of the same page would: the other workers do not hear of it."""
    one, two = pair()
    tell(read(one, 0, PAGES[2:4]), one, two)
    outcome = read(one, 2, ["http://www.a.example/www", "http://a.example/www"])
    tell(replace(outcome, new_links=outcome.new_links[1:]), one, two)
    assert one.dump_state() == two.dump_state()


def test_links_are_learned_of_as_they_were_judged_when_their_page_was_read() -> None:
    """Whatever was learned in between: the frontier goes by what was said first."""
    one, two = pair()
    tell(read(one, 0, PAGES[2:4]), one, two)
    waiting = read(one, 2, LINKS[-1:])
    said = [r.judged for r in waiting.new_links]
    for number in (3, 1):
        tell(read(two, number, [f"http://a.example/x/{number}{i}" for i in range(5)]), two, one)
    tell(waiting, one, two)
    again = [r.judged for r in two.rank(Page(PAGES[2], 1), [Link("http://b.example/q/2")])]
    assert said != again
    for worker in (one, two):
        (known,) = worker.rank(Page(PAGES[4], 1), [Link(LINKS[-1])])
        index = said[0][Judgement._fields.index("indexes")]
        assert -known.key == pytest.approx(index)
    assert one.dump_state() == two.dump_state()


@pytest.mark.slow
@given(READINGS)
def test_what_workers_read_at_the_same_time_leaves_them_alike(
    readings: list[tuple[int, int, list[str], list[bool], bool]],
) -> None:
    """Of some links another page's worker was quicker: they are not among the new ones."""
    workers = pair()
    untold: list[tuple[int, Outcome]] = []
    for who, number, urls, news, telling in readings:
        outcome = read(workers[who], number, urls)
        new = (r for r, is_new in zip(outcome.new_links, news, strict=False) if is_new)
        untold.append((who, replace(outcome, new_links=tuple(new))))
        while telling and untold:
            who, outcome = untold.pop(0)
            tell(outcome, workers[who], workers[1 - who])
            moved = [worker.rekeyed() for worker in workers]
            assert moved[0] == moved[1]
    assert workers[0].dump_state() == workers[1].dump_state()
