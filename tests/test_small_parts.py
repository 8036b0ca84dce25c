"""Payloads, shares, the fetch filter and the console."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

import semcrawl
from semcrawl.config import extras
from semcrawl.crawl.dispatch import QueueTurns
from semcrawl.crawl.options import SessionOptions
from semcrawl.errors import UsageError
from semcrawl.frontier.contract import Entry
from semcrawl.frontier.links import LinkState
from semcrawl.relevance import Label
from semcrawl.relevance.rules import body_wanted
from semcrawl.settings.reader import fill
from semcrawl.terminal import table_console
from semcrawl.web.vocabulary import FoundBy

words = st.text(max_size=20)


rules = st.lists(st.sampled_from(["ex1", "an2", "ty3"]), max_size=3).map(tuple)


@given(
    st.builds(
        LinkState, st.none() | words, st.integers(0, 9), st.sampled_from(Label), rules,
        st.lists(words, max_size=3).map(tuple), st.integers(0, 3), words, words, st.booleans(),
        st.integers(0, 9), words, words, found_by=st.none() | st.sampled_from(FoundBy),
    )
)  # fmt: skip
def test_a_memo_is_unpacked_as_it_was_packed(state):
    """Nothing of a state is lost in the frontier."""
    entry = Entry("http://a/", "a", "html", "H", 0.0, state.pack(), str(state.label))
    unpacked = LinkState.unpack(entry)
    assert unpacked.way is state.way
    assert replace(unpacked, found_by=None) == replace(state, found_by=None)


@pytest.mark.parametrize(
    ("payload", "way"),
    [
        ({"d": 0}, FoundBy.SEED),
        ({"d": 1, "p": "http://a/"}, FoundBy.LINK),
        ({"d": 0, "again": True}, FoundBy.LINK),
        ({"d": 1, "p": "http://a/", "b": 9999}, FoundBy.LINK),
        ({"d": 1, "p": "http://a/", "b": "odd"}, FoundBy.LINK),
    ],
)
def test_an_entry_that_names_no_way_was_found_as_usual(payload, way):
    """Frontiers of older and of newer versions are read."""
    assert LinkState.unpack(Entry("http://a/x", "a", "html", "H", 0.0, payload)).way is way


def test_the_usual_way_takes_no_room_in_the_frontier():
    assert LinkState().pack() == LinkState(found_by=FoundBy.SEED).pack() == {"d": 0}
    parent = "http://a/"
    assert LinkState(parent).pack() == LinkState(parent, found_by=FoundBy.LINK).pack()


def test_the_queue_that_pays_is_served_first():
    """Yields decide the order of the queues."""
    shares = QueueTurns()
    assert shares.order(["rdf", "html"]) == ["html", "rdf"]
    for _ in range(20):
        shares.note("rdf", target=True)
        shares.note("html", target=False)
    assert shares.order(["html", "rdf"]) == ["rdf", "html"]


def test_queues_with_shares_get_them_whatever_they_yield():
    """Also with room for many at once; what one of them lacks goes to the other."""
    turns = QueueTurns({"html": 3, "rdf": 1})
    for _ in range(20):
        turns.note("rdf", target=True)
    for room, waiting in ((1, {"html", "rdf"}), (7, {"html", "rdf"}), (5, {"rdf"})):
        given = Counter()
        for _ in range(100):
            left = room
            for queue, most in turns.turns(["html", "rdf"], room):
                taken = min(most, left) if queue in waiting else 0
                left -= taken
                given[queue] += taken
                for _ in range(taken):
                    turns.give(queue)
            assert left == 0
        if len(waiting) == 2:
            assert given["html"] == pytest.approx(75 * room, abs=5)


@pytest.mark.parametrize("given", ["html", "html=x", "=1", "html=-1", {"html": "inf"}])
def test_wrong_shares_are_refused(given):
    with pytest.raises(UsageError, match="SEMCRAWL_QUEUE_SHARES must be weights"):
        fill(SessionOptions, {"SEMCRAWL_QUEUE_SHARES": given})
    assert fill(SessionOptions, {"SEMCRAWL_QUEUE_SHARES": "html=3, rdf=1"}).queue_shares == {
        "html": 3,
        "rdf": 1,
    }


def test_the_fetch_filter():
    """RDF, HTML, unknown and doubtful types pass; others only for links labelled R."""
    assert body_wanted("text/turtle", Label.H)
    assert body_wanted("", Label.H)
    assert body_wanted("application/force-download", Label.H)
    assert body_wanted("text/x-turtle", Label.H, frozenset())
    assert body_wanted("image/png", Label.R)
    assert not body_wanted("image/png; x", Label.H)
    assert not body_wanted("text/xml", Label.H, frozenset())


def test_a_table_in_a_pipe_breaks_no_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "http://example.org/" + "long/" * 40
    for columns, whole in ((None, True), ("60", False)):
        monkeypatch.delenv("COLUMNS", raising=False)
        if columns:
            monkeypatch.setenv("COLUMNS", columns)
        table = Table("link", "label")
        table.add_row(url, "R")
        table_console().print(table)
        assert (url in capsys.readouterr().out) == whole


def test_what_installs_an_optional_part_from_a_checkout_and_from_an_index(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = Path(semcrawl.__file__).parents[1]
    assert extras.install_hint("warc") == f'pip install "{root}[warc]"'
    monkeypatch.setattr(semcrawl, "__file__", str(tmp_path / "semcrawl" / "__init__.py"))
    assert extras.install_hint("warc").startswith('pip install "semcrawl[warc]"')
    assert '".[warc]"' in extras.install_hint("warc")
