"""Words of texts in any language, and phrases in them."""

import unicodedata

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from semcrawl.topics.phrases import PhraseFinder
from semcrawl.topics.texts import stop_words, words_of


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("Don't stop: 12.5 foo_bar", "", ["don", "t", "stop", "12", "5", "foo", "bar"]),
        ("Überfischung der Meere", "de", ["uberfisch", "der", "meer"]),
        ("Überfischung", "", ["überfischung"]),
        ("sorted sorting", "en-GB", ["sort", "sort"]),
        ("sorted sorting", "xx", ["sorted", "sorting"]),
        ("sorted C0012", "en", ["sort", "c0012"]),
        ("日本の漁業 data", "ja", ["日本", "本の", "の漁", "漁業", "data"]),
        ("魚", "ja", ["魚"]),
        ("PDF形式", "", ["pdf", "形式"]),
        ("प्रकाशन", "", ["प्रकाशन"]),
        ("한국어 텍스트", "ko", ["한국어", "텍스트"]),
        ("ﬁsh ＦＩＳＨ", "", ["fish", "fish"]),
        ("", "en", []),
    ],
)
def test_texts_are_cut_into_words(text, language, words):
    """By spaces and signs, by bigrams where a script has no spaces; stems where there are any."""
    assert words_of(text, language) == [unicodedata.normalize("NFKC", word) for word in words]


def test_thai_words_have_no_spaces():
    """Bigrams of letters, each with its marks."""
    assert words_of("ปลาทะเล") == ["ปล", "ลา", "าท", "ทะ", "ะเ", "เล"]


@given(st.text(), st.sampled_from(["", "en", "de", "ja", "ar", "tr", "?"]))
@example("\u1082", "")  # a mark without its letter
def test_words_hold_letters_and_digits_only(text, language):
    """Whatever the text; and its case does not matter."""
    words = words_of(text, language)
    assert all(word and not any(c.isspace() for c in word) for word in words)
    assert words_of(text.casefold(), language) == words


pieces = st.sampled_from(
    [
        *"aBİKkjIſßéÅΣς<=>.\u0338\u0301\u0307\u030c\u0344\u212a\u00a0\u2028\ufb01\ufdfaà",
        "word ",
        " Über",
        "x" * 9,
    ]
)


@given(st.one_of(st.text(), st.lists(pieces, max_size=40).map("".join)))
@example("word " * 9 + "<\u0338é")
@example("word " * 9 + "a\ud800b é")
def test_words_are_the_runs_of_letters_of_the_folded_text(text):
    """However few of its signs are beyond ASCII; (scripts without spaces are left out here)."""
    plain = regex.sub(
        r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]", "", text
    )
    folded = unicodedata.normalize("NFKC", plain).casefold()
    if max(folded, default="") < "\u0e00":
        assert words_of(plain) == regex.findall(r"[\p{L}\p{M}\p{N}]+", folded)
        assert words_of("word " * 99 + plain)[99:] == words_of(plain)


def test_stop_words_are_known_for_many_languages():
    """As stems; for an unknown language there are none."""
    assert {"the", "of"} <= stop_words("en")
    assert {"und", "der"} <= stop_words("de")
    assert stop_words("tlh") == frozenset()


@pytest.mark.slow
def test_a_text_of_very_many_words_is_stemmed_in_part():
    """A page made to cost time costs a bounded part of it."""
    text = " ".join(f"x{n}running" for n in range(30_000))
    words = words_of(text, "en")
    assert words[0] == "x0run"
    assert words[-1] == "x29999running"
    assert len(words) == 30_000


letters = st.lists(st.sampled_from("abc"), max_size=30)


@given(letters, st.sets(st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(tuple)))
def test_phrases_are_found_where_they_stand(words, phrases):
    """One after the other, the longest at each place, none over another."""
    expected: dict[tuple[str, ...], int] = {}
    place = 0
    while place < len(words):
        fitting = [p for p in phrases if tuple(words[place : place + len(p)]) == p]
        if fitting:
            longest = max(fitting, key=len)
            expected[longest] = expected.get(longest, 0) + 1
            place += len(longest)
        else:
            place += 1
    assert dict(PhraseFinder(dict.fromkeys(phrases)).count(words)) == expected
