"""Topics that sample texts describe."""

import pytest

from semcrawl.errors import UsageError
from semcrawl.topics import Document, TopicOptions, about, examples
from semcrawl.topics.examples import Examples
from semcrawl.topics.sourcefiles import Sample, samples_of
from semcrawl.web.vocabulary import Kind

TUNA = (
    "Tuna are fish of the open ocean. Fisheries catch tuna with nets and long lines in the ocean."
)
COD = (
    "The cod is a fish of the cold ocean. Fisheries of the north catch cod with nets and trawlers."
)
SALMON = "Salmon are fish that return to rivers. Fisheries catch salmon with nets along the coast."
SHARK = "Sharks hunt fish in the ocean. Some fisheries catch sharks with nets and lines."
CODE = (
    "A compiler reads a program and writes machine code. The parser of the compiler builds a tree."
)
MUSIC = "The orchestra plays a symphony. Violins and trumpets are instruments of an orchestra."
FOOD = "Bake the bread in an oven. Flour, water and salt make a dough, which rests for an hour."


def page(text: str, title: str = "", language: str = "en") -> Document:
    return Document("http://a.example/", Kind.HTML, title, "", text, language)


def samples(*texts: str) -> list[Sample]:
    return [Sample(text, language="en") for text in texts]


def learned(good=(TUNA, COD, SALMON), bad=()) -> Examples:
    return Examples(samples(*good), samples(*bad), TopicOptions())


def test_texts_like_the_examples_are_relevant_and_others_are_not():
    """At the usual threshold, without any tuning."""
    topic = learned()
    assert topic.judge(page(SHARK)).relevance > 0.5
    assert all(topic.judge(page(text)).relevance < 0.1 for text in (CODE, MUSIC, FOOD))
    assert topic.judge(page("")).relevance == 0


def test_a_single_example_is_enough():
    """The one text that is there is relevant itself, and what is like it more than what is not."""
    topic = learned(good=[TUNA])
    assert topic.judge(page(TUNA)).relevance == 1
    assert topic.judge(page(SHARK)).relevance > 5 * topic.judge(page(CODE)).relevance


def test_a_word_of_the_topic_in_a_text_on_something_else_does_not_count_much():
    """The density of the topic's words decides as well."""
    topic = learned()
    mixed = f"{MUSIC} {CODE} {FOOD} " * 20 + "fish ocean fisheries"
    assert topic.judge(page(mixed)).relevance < 0.2


def test_bad_examples_push_away_what_is_like_them():
    """Words that both have count less."""
    cooking = page("Cook the fish in an oven. Salt and butter make a sauce for the fish.")
    bad = ["Cook the fish with salt and butter.", "Fry the fish in butter, serve with sauce.", FOOD]
    without, with_bad = learned(), learned(bad=bad)
    assert with_bad.similarity("fish", "en") < without.similarity("fish", "en")
    assert with_bad.judge(cooking).relevance < 0.5 < with_bad.judge(page(SHARK)).relevance


def test_what_all_pages_of_a_site_say_is_learned_from_the_first_ones():
    """Without bad examples: its navigation counts less and less."""
    frame = "Home of the harbour library, catalogue, opening hours, membership, contact, imprint."
    topic = learned(good=[f"{frame} {text}" for text in (TUNA, COD, SALMON)])
    before = topic.judge(page(f"{frame} {CODE}")).relevance
    for n in range(60):
        topic.judge(page(f"{frame} {(CODE, MUSIC, FOOD)[n % 3]}"))
    after = topic.judge(page(f"{frame} {CODE}")).relevance
    assert after < 0.7 * before
    assert topic.judge(page(f"{frame} {SHARK}")).relevance > 0.5 > after


def test_what_was_learned_does_not_change_for_ever():
    """After the background is full a document is judged the same each time."""
    topic = learned()
    for n in range(topic.BACKGROUND):
        topic.judge(page(f"{(CODE, MUSIC, FOOD)[n % 3]} {n}"))
    first = topic.judge(page(SHARK))
    for _ in range(20):
        topic.judge(page(MUSIC))
    assert topic.judge(page(SHARK)) == first


def test_title_words_count_more():
    """A title on the topic makes a text more relevant than the same words in the text do."""
    topic = learned()
    text = f"{FOOD} {MUSIC}"
    with_title = topic.judge(page(text, title="Fisheries of the ocean")).relevance
    assert with_title > topic.judge(page(f"{text} Fisheries of the ocean")).relevance


def test_the_reasons_are_the_strongest_words():
    """As they are compared: stems, with their part in it."""
    reasons = dict(learned().judge(page(SHARK)).reasons)
    assert {"fish", "fisheri", "catch"} <= reasons.keys()
    assert all(why.endswith("% of the likeness") for why in reasons.values())


def test_words_of_links_are_near_by_their_weight():
    """The strongest words are 1, others less, foreign ones 0."""
    topic = learned()
    assert topic.similarity("All about fisheries", "en") == 1
    assert topic.similarity("All about fisheries") == 1
    assert 0 < topic.similarity("trawlers") <= 1
    assert topic.similarity("symphony") == topic.similarity("the of and") == 0


@pytest.mark.slow
def test_a_folder_is_read(tmp_path):
    """Texts, pages and RDF in it and in its folders, not hidden or binary ones."""
    (tmp_path / "a.txt").write_text(f"Tuna\n\n{TUNA}")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/b.html").write_text(
        f'<html lang="en"><title>Cod</title><script>var x</script><h1>The cod</h1><p>{COD}</html>'
    )
    (tmp_path / "c.ttl").write_text(
        f'<#s> <http://purl.org/dc/terms/description> "{SALMON}"@en ;'
        ' <http://www.w3.org/2000/01/rdf-schema#label> "Salmon"@en .'
    )
    (tmp_path / ".hidden").write_text(MUSIC)
    (tmp_path / "d.bin").write_bytes(b"\x00\x01\x02")
    found = samples_of(str(tmp_path), TopicOptions())
    assert [(one.title, one.headings) for one in found] == [
        ("Tuna", ""), ("", "Salmon"), ("Cod", "The cod"),
    ]  # fmt: skip
    assert "var x" not in found[2].text
    topic = about(f"examples:{tmp_path}", {})
    assert topic.judge(page(SHARK)).relevance > 0.5 > topic.judge(page(MUSIC)).relevance


def test_bad_ones_have_a_minus(tmp_path):
    """Files with commas between them, or URLs that the caller reads."""
    texts = {"http://a.example/t": TUNA, "http://a.example/c": COD, "http://a.example/m": MUSIC}
    spec = "examples:http://a.example/t,http://a.example/c,-http://a.example/m"
    topic = about(spec, {}, lambda name: texts[name].encode())
    assert topic.similarity("ocean") > 0
    assert topic.similarity("orchestra") == 0


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "holds no text"),
        ({"a.txt": " \n"}, "holds no text"),
        ({"a.bin": "\0"}, "holds no text"),
        ({"a.txt": "the of and"}, "no word"),
    ],
)
def test_a_folder_without_examples_is_told(tmp_path, files, said):
    """One line for each way in which nothing can be learned."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=said):
        about(f"examples:{tmp_path}", {})


def test_what_is_not_there_is_told(tmp_path):
    """A file that is missing, a URL that nobody can fetch, no name at all."""
    for spec in (
        f"examples:{tmp_path}/x.txt",
        "examples:http://a.example/x",
        "examples:",
        "examples:-x",
    ):
        with pytest.raises(UsageError):
            about(spec, {})


def test_a_language_without_a_stemmer_is_told_once(caplog):
    """Words count as they are written, and the topic works."""
    examples._warn_unstemmed.cache_clear()
    text = "マグロは海の魚です。漁業は網でマグロを捕ります。"
    for _ in range(2):
        topic = Examples([Sample(text, language="ja")], [], TopicOptions())
    assert [r.message for r in caplog.records] == [
        "about: examples: no stemmer for ja: words count as they are written"
    ]
    assert topic.judge(page("日本のマグロ漁業", language="ja")).relevance > 0.2
    assert topic.judge(page("今日の天気は晴れ", language="ja")).relevance < 0.1


def test_samples_that_do_not_say_their_language_are_looked_at():
    """German texts are compared by German stems."""
    text = "Die Fischerei fängt Fische im Meer mit Netzen. Viele Fischer leben am Meer."
    topic = Examples([Sample(text)], [], TopicOptions())
    assert topic.similarity("Meere", "de") == 1


def test_it_learns_from_the_best_finds_if_it_may():
    """Words that only the crawl's finds have count then; without the setting they never do."""
    finds = (
        "Mackerel are fish of the ocean. Fisheries catch mackerel with nets from purse seiners.",
        "Fisheries of the ocean catch mackerel, a fish of large shoals, with nets of seiners.",
        "In the ocean fisheries catch mackerel with nets. This fish swims in shoals near seiners.",
    )
    relevances = []
    for settings in ({}, {"SEMCRAWL_ABOUT_RETRAIN": "True"}):
        topic = Examples(
            samples(TUNA, COD, SALMON), samples(CODE, MUSIC), TopicOptions(settings=settings)
        )
        for text in finds * 6:
            topic.judge(page(text))
        relevances.append(topic.judge(page("Seiners look for shoals of mackerel.")).relevance)
    assert relevances[1] > 2 * relevances[0]
    assert topic.judge(page(CODE)).relevance < 0.3


def test_retraining_is_on_or_off():
    """Anything else is refused."""
    with pytest.raises(UsageError, match="SEMCRAWL_ABOUT_RETRAIN"):
        Examples(samples(TUNA), [], TopicOptions(settings={"SEMCRAWL_ABOUT_RETRAIN": "perhaps"}))
