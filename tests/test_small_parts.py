"""Scope, seeds, payloads, shares and the console."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from semcrawl.console import table_console
from semcrawl.errors import UsageError
from semcrawl.fetchfilter import body_wanted
from semcrawl.frontier.contract import Entry
from semcrawl.frontier.payload import LinkMemo
from semcrawl.frontier.shares import QueueShares
from semcrawl.links import Link, Page
from semcrawl.relevance import Label
from semcrawl.scope import Scope
from semcrawl.spiders.retrying import retry_after
from semcrawl.spiders.seeds import hand_over, read_planted, read_seeds


def test_scope_site_keeps_to_the_seeds_domains():
    """Off the site only links labelled R and redirectors are followed."""
    scope = Scope.parse("site")
    scope.add_seed("http://www.a.org/x")
    assert scope.allows("http://data.a.org/", label_r=False)
    assert scope.allows("http://b.org/x", label_r=True)
    assert scope.allows("https://w3id.org/x", label_r=False)
    assert not scope.allows("http://b.org/x", label_r=False)


def test_scope_of_hosts_and_folders():
    """A list of hosts, each perhaps with a folder."""
    scope = Scope.parse("a.org/data/,b.org")
    assert scope.inside("http://a.org/data/x")
    assert scope.inside("http://www.b.org/")
    assert not scope.inside("http://a.org/x")
    for text in ("", ",", "a b!"):
        with pytest.raises(UsageError):
            Scope.parse(text)


def test_seeds_from_text_and_file(tmp_path):
    """URLs with commas or a file; each once, under its normal form; anything else is refused."""
    assert read_seeds("http://a.org,http://A.org/ http://b.org/x,y") == [
        "http://a.org/", "http://b.org/x,y",
    ]  # fmt: skip
    file = tmp_path / "seeds"
    file.write_text("\ufeff# mine\nhttp://a.org/\n\nhttp://b.org/\n")
    assert read_seeds(f"@{file}") == ["http://a.org/", "http://b.org/"]
    file.write_text("# nothing\n")
    for wrong in (f"@{file}", f"@{tmp_path}/none", "ftp://a.org/", ""):
        with pytest.raises(UsageError, match=r"\A[^\n]+\Z"):
            read_seeds(wrong)


words = st.text(max_size=20)
links = st.builds(Link, st.just("http://a.org/x"), anchor=words, title=words, before=words)


@given(links, st.integers(0, 9), st.booleans(), st.integers(0, 5))
def test_a_link_handed_over_arrives_whole(link, depth, rdf, barren):
    """What one spider writes into the other's list is read back."""
    page = Page("http://a.org/", depth, rdf)
    [raw] = hand_over(page, [link], {"a.org"}, barren)
    planted = read_planted(raw)
    assert (planted.link, planted.page) == (link, page)
    assert (planted.roots, planted.barren) == (("a.org",), barren)


@pytest.mark.parametrize("raw", ["", "{", "{}", '{"url": 5}', '{"url": "http://a/", "meta": 3}'])
def test_what_is_no_seed_is_refused(raw):
    """Nonsense in a seed list gives a usage error."""
    with pytest.raises(UsageError):
        read_planted(raw)


@given(st.builds(LinkMemo, st.none() | words, st.integers(0, 9), retries=st.integers(0, 3)))
def test_a_memo_is_unpacked_as_it_was_packed(memo):
    """Nothing of a memo is lost in the frontier."""
    entry = Entry("http://a/", "a", "html", "H", 0.0, memo.pack(), str(memo.label))
    assert LinkMemo.unpack(entry) == memo


def test_the_queue_that_pays_is_served_first():
    """Yields decide the order of the queues."""
    shares = QueueShares()
    assert shares.order(["rdf", "html"]) == ["html", "rdf"]
    for _ in range(20):
        shares.note("rdf", target=True)
        shares.note("html", target=False)
    assert shares.order(["html", "rdf"]) == ["rdf", "html"]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-3", None),
    ],
)
def test_how_long_a_server_wants_to_be_left_alone(value: str, seconds: float | None):
    assert retry_after(value) == seconds


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
