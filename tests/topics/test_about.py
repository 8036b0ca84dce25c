"""Values of ``SEMCRAWL_ABOUT``, and combinations of topics."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.errors import UsageError
from semcrawl.topics import Document, Judgement, Topic, TopicOptions, about, parts_of, threshold
from semcrawl.web.vocabulary import Kind

PAGE = Document("http://a.example/", Kind.HTML)


class Fixed:
    """A topic of a user: as relevant as its argument says."""

    name, needs, takes_long, knows_words = "fixed", frozenset({"text"}), False, True

    def __init__(self, number: float) -> None:
        self.number = number

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> "Fixed":
        return cls(float(argument))

    def judge(self, document: Document) -> Judgement:
        return Judgement.of(self.number, [("fixed", str(self.number))])

    def similarity(self, text: str, language: str = "") -> float:
        return self.number

    def iri_similarity(self, iri: str) -> float:
        return self.number


FIXED = f"{__name__}.Fixed"


def judged(spec: str | list[str]) -> float:
    topic = about(spec.replace("F:", f"{FIXED}:") if isinstance(spec, str) else spec, {})
    assert topic is not None
    return topic.judge(PAGE).relevance


@pytest.mark.parametrize("nothing", ["", "  ", [], [""]])
def test_nothing_is_about_anything(nothing):
    """An empty setting makes no topic."""
    assert about(nothing, {}) is None


@pytest.mark.parametrize(
    ("spec", "relevance"),
    [
        ("F:0.4", 0.4),
        ("all(F:0.4, F:0.9)", 0.4),
        ("any(F:0.4, F:0.9)", 0.9),
        ("any(F:0.1, all(F:0.6, F:0.7))", 0.6),
        ("0.5*F:1 + 0.5*F:0", 0.5),
        ("3*F:1 + F:0", 0.75),
        ("3 * any( F:1 , F:0 )  +  1*F:0", 0.75),
        ("F:2", 1.0),
        ("F:nan", 0.0),
    ],
)
def test_topics_combine(spec, relevance):
    """``all`` is the least, ``any`` the most, a sum the weighted mean."""
    assert judged(spec) == pytest.approx(relevance)


def test_of_a_list_all_hold():
    """A list setting is as relevant as the least of its topics."""
    assert judged([f"{FIXED}:0.4", f"{FIXED}:0.9"]) == 0.4


def test_a_combination_is_taken_apart_again():
    """Callers find the single topics."""
    topic = about(f"any({FIXED}:0.1, all({FIXED}:0.2, {FIXED}:0.3))", {})
    assert [part.number for part in parts_of(topic)] == [0.1, 0.2, 0.3]
    assert isinstance(topic, Topic)


def test_commas_of_an_argument_are_its_own():
    """A comma separates topics only where a topic begins behind it."""
    topic = about("all(vocabulary:foaf:,schema:Dataset, vocabulary:dcat:)", {})
    first, second = parts_of(topic)
    assert first.iri_similarity("http://schema.org/Dataset") == 1
    assert first.iri_similarity("http://xmlns.com/foaf/0.1/name") == 1
    assert second.iri_similarity("http://www.w3.org/ns/dcat#Dataset") == 1
    assert second.iri_similarity("http://schema.org/Dataset") == 0


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("keyword", "NAME:ARGUMENT|unknown topic"),
        ("vocabulari:foaf:", "did you mean vocabulary"),
        ("vocabulary:foof:", "foof: is not known; did you mean foaf:"),
        ("vocabulary:", "name terms or prefixes"),
        ("vocabulary:Dataset", "no term"),
        ("all(vocabulary:foaf:", r"a \( without its \)"),
        ("vocabulary:foaf:)", r"a \) without its \("),
        ('vocabulary:"foaf:', "quotation mark"),
        ("all()", "a topic is missing"),
        ("vocabulary:foaf: + ", "a topic is missing"),
        ("0*vocabulary:foaf: + 0*vocabulary:foaf:", "weights"),
        ("0*vocabulary:foaf:", "weights"),
        ("9" * 400 + "*vocabulary:foaf: + vocabulary:dcat:", "weights must be finite"),
        ("vocabulary:<http://a.example/a b>", "no term"),
        ("vocabulary:foaf:na|me", "no term"),
        ("ontology:HTTP://a.example/fish.owl", "cannot be fetched here"),
        ("no.such.Class:x", "cannot load"),
        ("pathlib.Path:x", "from_argument"),
        ("(" * 100 + "vocabulary:foaf:" + ")" * 100, "cannot read"),
        ("all(" * 100 + "vocabulary:foaf:" + ")" * 100, "too many parentheses"),
        ([3], "a topic is a text"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(spec, said):
    """Every wrong topic is a ``UsageError`` of one line."""
    with pytest.raises(UsageError, match=said) as caught:
        about(spec, {})
    assert "\n" not in str(caught.value)


@given(st.one_of(st.text(), st.text(alphabet='alny(),:+* ".0vocabulry;')))
def test_any_text_makes_a_topic_or_one_clear_error(text):
    """No text is met with another exception."""
    topic, told = None, ""
    try:
        topic = about(text, {})
    except UsageError as error:
        told = str(error)
    assert topic is None or isinstance(topic, Topic)
    assert len(told.splitlines()) <= 1


@pytest.mark.parametrize("value", [0, -1, 1.1, "much", "nan", None])
def test_a_threshold_is_above_0_and_at_most_1(value):
    """Other values are refused."""
    with pytest.raises(UsageError, match="SEMCRAWL_ABOUT_THRESHOLD"):
        threshold({"SEMCRAWL_ABOUT_THRESHOLD": value})
    assert threshold({"SEMCRAWL_ABOUT_THRESHOLD": "0.25"}) == 0.25
    assert threshold({}) == 0.5


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 10)), min_size=2, max_size=5))
def test_combinations_stay_between_their_parts(parts):
    """all ≤ mean ≤ any, whatever the weights, for documents and for words."""
    listed = ", ".join(f"{FIXED}:{number:.6f}" for number, _ in parts)
    mean = about(" + ".join(f"{weight:.6f}*{FIXED}:{number:.6f}" for number, weight in parts), {})
    least, most = judged(f"all({listed})"), judged(f"any({listed})")
    assert least - 1e-9 <= mean.judge(PAGE).relevance <= most + 1e-9
    assert least - 1e-9 <= mean.similarity("x") <= most + 1e-9


@given(st.floats(), st.lists(st.tuples(st.text(max_size=500), st.text(max_size=500))))
def test_judgements_are_bounded(number, reasons):
    """A number from 0 to 1, few rows, short texts."""
    judgement = Judgement.of(number, reasons)
    assert 0 <= judgement.relevance <= 1
    assert len(judgement.reasons) <= 20
    assert all(len(text) <= 200 for row in judgement.reasons for text in row)
