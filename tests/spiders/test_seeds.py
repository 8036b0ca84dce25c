"""Seeds as users and other programs write them, and the links that one spider hands another."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.errors import UsageError
from semcrawl.links import FoundBy, Link, Page
from semcrawl.spiders.seeds import Planted, by_page, hand_over, read_planted, read_seeds


def test_seeds_are_parted_by_commas_or_white_space_and_each_is_taken_once() -> None:
    assert read_seeds(" http://a.org,http://A.org/ http://b.org/x,y ") == [
        "http://a.org/",
        "http://b.org/x,y",
    ]


def test_a_file_of_seeds_has_one_on_each_line_and_may_have_comments(tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    file.write_text("\ufeff# mine\nhttp://a.org/\n\n  http://b.org/\t\n  # the rest\n")
    assert read_seeds(f"@{file}") == ["http://a.org/", "http://b.org/"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_of_seeds_may_be_what_windows_calls_unicode(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes("# fish\r\nhttp://a.org/\r\nhttp://b.org/\r\n".encode(encoding))
    assert read_seeds(f"@{file}") == ["http://a.org/", "http://b.org/"]


def test_a_wrong_line_of_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes(b"\xef\xbb\xbf# seeds\r\n\r\nhttp://a.org/\r\na b\r\n")
    with pytest.raises(UsageError, match=r"seeds\.txt, line 4: not an http or https URL: 'a b'"):
        read_seeds(f"@{file}")


def test_what_holds_no_seed_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    file.write_text("# nothing\n")
    for wrong in (f"@{file}", f"@{tmp_path}/none", "ftp://a.org/", ""):
        with pytest.raises(UsageError, match=r"\A[^\n]+\Z"):
            read_seeds(wrong)


def test_a_password_in_an_address_is_refused_and_not_shown() -> None:
    for seed in ("http://me:secret@a.org/x", "sparql+https://me:secret@a.org/sparql"):
        with pytest.raises(UsageError, match="HTTPAUTH_USER") as refused:
            read_seeds(seed)
        assert "secret" not in str(refused.value)
    assert read_seeds("http://a.org/~me@home http://a.org/?mail=me@a.org")


words = st.just("a") | st.text(max_size=20)
elements = st.sampled_from(["a", "link", "header", "rdf"])
links = st.builds(
    Link, st.just("http://a.org/x"), elements, words, words, words, words, words, words, words,
    predicate=words, index=st.sampled_from(["", "index.html"]), found_by=st.sampled_from(FoundBy),
)  # fmt: skip
pages = st.builds(Page, st.just("http://a.org/"), st.integers(0, 9), st.booleans())


@given(links, pages, st.sets(words), st.integers(0, 5))
def test_a_link_handed_over_arrives_whole(
    link: Link, page: Page, roots: set[str], barren: int
) -> None:
    [raw] = hand_over(page, [link], roots, barren)
    assert read_planted(raw) == Planted(link, page, tuple(sorted(roots)), barren)


def test_a_bare_address_in_a_list_is_a_seed_that_remembers_its_index() -> None:
    seed = Link("http://a.org/", element="seed", index="index.html")
    assert read_planted(" http://A.org/index.html\n") == Planted(seed)


def test_so_do_those_in_json() -> None:
    url = '"url": "http://A.org/index.html"'
    seed = Link("http://a.org/", element="seed", index="index.html")
    assert read_planted(f"{{{url}}}") == Planted(seed)
    link = Link("http://a.org/", index="index.html")
    parent = '"meta": {"parent": "http://a.org/x"}'
    assert read_planted(f"{{{url}, {parent}}}") == Planted(link, Page("http://a.org/x", 0))


@pytest.mark.parametrize("meta", ["", ', "meta": null', ', "meta": {"depth": 3}'])
def test_json_without_a_parent_is_a_seed(meta: str) -> None:
    """As scrapy-redis's own producers write it."""
    planted = read_planted(f' {{"url": "http://a.org/x"{meta}}}')
    assert planted == Planted(Link("http://a.org/x", element="seed"))


def test_json_with_nothing_but_a_parent_is_a_link_of_its_page() -> None:
    """Seeds of other programs need no more than a URL."""
    planted = read_planted('{"url": "http://a.org/x", "meta": {"parent": "http://a.org/"}}')
    assert planted == Planted(Link("http://a.org/x"), Page("http://a.org/", 0))


def test_texts_of_a_list_are_bounded() -> None:
    raw = '{"url": "http://a.org/x", "meta": {"parent": "p", "link": {"anchor": "%s"}}}'
    assert len(read_planted(raw % ("long" * 1000)).link.anchor) == 1000


@pytest.mark.parametrize(
    "raw",
    [
        "", "{", "{}", '{"url": 5}', '{"url": "http://a/", "meta": 3}',
        '{"url": "http://a/", "meta": {"parent": "http://[x"}}',
        '{"url": "http://a/", "meta": {"parent": "http://b:x/"}}',
    ],
)  # fmt: skip
def test_what_is_no_seed_is_refused(raw: str) -> None:
    with pytest.raises(UsageError):
        read_planted(raw)


def test_links_are_sorted_by_their_pages_in_the_order_of_the_list() -> None:
    one, two, three = (Link(f"http://a.org/{n}") for n in "123")
    page = Page("http://a.org/")
    planted = [Planted(one, page), Planted(two), Planted(three, page), Planted(two, page, (), 1)]
    assert list(by_page(planted).items()) == [
        ((page, 0), [one, three]),
        ((None, 0), [two]),
        ((page, 1), [two]),
    ]
