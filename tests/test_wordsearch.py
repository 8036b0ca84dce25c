"""The search of bytes for several words at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.web import vocabulary
from semcrawl.web.vocabulary import WordSearch

WORDS = (b"rel", b"property", b"xhtml+rdfa")
#: words, beginnings of them, and what stands between
PARTS = st.sampled_from([*WORDS, b"re", b"prop", b"xhtml", b" ", b"=", b"\0", b"\xff"])


@given(st.lists(PARTS, max_size=30).map(b"".join), st.integers(1, 40))
def test_all_words_are_found_where_they_are(text: bytes, piece: int) -> None:
    """However a text is cut into pieces, the words are found as one by one."""
    expected = {
        (word, at) for word in WORDS for at in range(len(text)) if text.startswith(word, at)
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "_PIECE", piece)
        search = WordSearch(*WORDS)
        assert set(search.matches(text)) == expected
        assert search.found_in(text) == {word for word, _ in expected}


def test_only_the_first_of_two_words_that_overlap_is_found() -> None:
    """The second would have to be searched for by itself."""
    assert WordSearch(b"rev", b"vocab", b"rel").found_in(b"a revocable rel") == {b"rev", b"rel"}
