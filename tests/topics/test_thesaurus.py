"""Topics of thesauri in SKOS, and of ontologies."""

import gzip
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.errors import UsageError
from semcrawl.topics import Document, Topic, TopicOptions, about
from semcrawl.topics.contract import read_file
from semcrawl.topics.sourcefiles import made_of
from semcrawl.topics.thesaurus import Concepts
from semcrawl.topics.vocabularies import terms_in
from semcrawl.web.vocabulary import Kind

FISH = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix : <http://t.example/#> .
:animal skos:prefLabel "animals"@en ; skos:narrower :fish , :bird .
:fish skos:prefLabel "fishes"@en , "Fische"@de , "魚類"@ja ; skos:altLabel "finfish"@en ;
    skos:notation "639.2" ; skos:related :fishery .
:tuna skos:prefLabel "tuna"@en , "Thunfisch"@de ; skos:broader :fish .
:bluefin xl:prefLabel [ xl:literalForm "bluefin tuna"@en ] ; skos:broader :tuna .
:fishery skos:prefLabel "fisheries"@en ; skos:exactMatch :fishing .
:fishing skos:prefLabel "fishing industry"@en .
:bird skos:prefLabel "birds"@en .
:ocean skos:prefLabel "oceans"@en .
"""
BASE = "http://t.example/#"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "fish.ttl"
    path.write_text(FISH)
    return path


def page(text: str, language: str = "en") -> Document:
    return Document("http://a.example/", Kind.HTML, "", "", text, language)


def weights(file, chosen: str) -> dict[str, float]:
    concepts = made_of(str(file), TopicOptions(), Concepts.of)
    found = concepts.around(concepts.find(chosen), 2)
    return {iri.removeprefix(BASE): weight for iri, weight in found.items()}


@pytest.mark.parametrize(
    "chosen", ["fishes", "FISCHE", "finfish", "魚類", "639.2", BASE + "fish", "fish"]
)
def test_a_concept_is_chosen_by_label_notation_or_iri(file, chosen):
    """In any language, and by the end of its IRI."""
    assert weights(file, chosen)["fish"] == 1


def test_weights_fall_with_the_distance(file):
    """Synonyms 1, near-synonyms ½ to 1, distant ones below ½, unrelated ones none."""
    found = weights(file, "fish")
    assert found["fish"] == 1 > found["tuna"] > found["bluefin"] > 0.5
    assert 0.5 > found["animal"] > found["bird"] > 0
    assert found["fishery"] == found["fishing"] == found["animal"]
    assert "ocean" not in found


def test_texts_are_judged_by_the_labels_of_their_language(file):
    """And what is nearer counts more."""
    topic = about(f"thesaurus:{file}#fish", {})
    fishes = topic.judge(page("The finfish")).relevance
    tuna = topic.judge(page("A bluefin tuna")).relevance
    birds = topic.judge(page("birds birds birds birds")).relevance
    assert fishes > tuna > birds > 0
    assert birds < 0.5 < tuna
    assert topic.judge(page("Ein Fisch", "de")).relevance > 0.5
    assert topic.judge(page("ein Thunfisch", "")).relevance > 0.5
    assert topic.judge(page("日本の魚類", "ja")).relevance > 0.5
    assert topic.judge(page("oceans")).relevance == 0


def test_the_whole_thesaurus_may_be_the_topic(file):
    """Without a concept each of its names counts in full."""
    topic = about(f"thesaurus:{file}", {})
    assert topic.judge(page("birds")).relevance == topic.judge(page("finfish")).relevance > 0.5


def test_rdf_that_states_a_concept_is_about_it(file):
    """As the value of a property, by the weight of the concept."""
    line = f"<http://a.example/1> <http://purl.org/dc/terms/subject> <{BASE}tuna> .\n".encode()
    rdf = Document("http://a.example/", Kind.RDF, statements=lambda: [line])
    judgement = about(f"thesaurus:{file}#fish", {}).judge(rdf)
    assert judgement.relevance == pytest.approx(0.9 * 0.9)
    assert judgement.reasons == (("tuna", f"the concept {BASE}tuna"),)


def test_words_and_terms_of_links_are_near_by_weight(file):
    """A label as much as its concept, a concept's IRI too."""
    topic = about(f"thesaurus:{file}#fish", {})
    assert topic.similarity("Fishes of the sea", "en") == 1
    assert topic.similarity("Tuna", "en") == pytest.approx(0.9)
    assert topic.similarity("oceans") == 0
    assert topic.iri_similarity(BASE + "tuna") == pytest.approx(0.9)


def test_a_file_in_quotes_may_hold_any_sign(file):
    odd = file.with_name("fish, new (#2).ttl")
    odd.write_bytes(file.read_bytes())
    topic = about(f'all(thesaurus:"{odd}"#tuna, vocabulary:foaf:)', {})
    assert topic.similarity("Tuna", "en") == 1
    assert topic.similarity("Tuna", "en") == about(f"thesaurus:{file}#tuna", {}).similarity("Tuna")


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("", "name a file in SKOS"),
        ("{file}#fishs", "no concept 'fishs'; did you mean"),
        ("{folder}/none.ttl", "cannot read"),
        ("{folder}/page.ttl", "cannot be read as RDF"),
        ("{folder}/foaf.ttl", "no thesaurus"),
        ("http://a.example/fish.ttl", "cannot be fetched here"),
    ],
)
def test_what_is_no_thesaurus_or_no_concept_is_told(file, argument, said):
    """In one line that names it."""
    (file.parent / "page.ttl").write_text("<html><p>no data</p></html>")
    (file.parent / "foaf.ttl").write_text("<#a> <http://xmlns.com/foaf/0.1/name> 'A' .")
    with pytest.raises(UsageError, match=said) as caught:
        about(f"thesaurus:{argument.format(file=file, folder=file.parent)}", {})
    assert "\n" not in str(caught.value)


names = st.sampled_from("abcdef")
edges = st.lists(st.tuples(names, st.sampled_from(["narrower", "broader", "related"]), names))


@given(edges)
def test_weights_keep_to_their_bands_in_any_graph(triples):
    """Circles end; what a narrower way leads to is at least ½, all else less."""
    concepts = Concepts()
    below: dict[str, set[str]] = {}
    for one, name, other in triples:
        down = {"narrower": "near", "broader": "distant", "related": "distant"}[name]
        up = {"narrower": "distant", "broader": "near", "related": "distant"}[name]
        concepts.relations[one].append((other, down))
        concepts.relations[other].append((one, up))
        if name == "narrower":
            below.setdefault(one, set()).add(other)
        if name == "broader":
            below.setdefault(other, set()).add(one)
    reached, waiting = {"a"}, ["a"]
    while waiting:
        for other in below.get(waiting.pop(), set()) - reached:
            reached.add(other)
            waiting.append(other)
    found = concepts.around(["a"], 2)
    assert found["a"] == 1
    assert {concept for concept, weight in found.items() if weight > 0.5} == reached
    assert all(0 < weight <= 1 for weight in found.values())


OWL = (
    """
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <http://o.example/ns#> .
<http://o.example/ns> a owl:Ontology .
:Fish a owl:Class ; rdfs:subClassOf :Animal .
:Animal a rdfs:Class .
"""
    + "".join(f":p{n} a owl:ObjectProperty .\n" for n in range(20))
    + """
<http://purl.org/dc/terms/title> a owl:AnnotationProperty .
"""
)


def test_the_terms_of_an_ontology_make_a_vocabulary(tmp_path):
    """Those of its own namespace, not those that it borrows."""
    path = tmp_path / "o.owl.ttl"
    path.write_text(OWL)
    topic = about(f"ontology:{path}", {})
    assert topic.iri_similarity("http://o.example/ns#Fish") == 1
    assert topic.iri_similarity("http://purl.org/dc/terms/title") == 0
    assert topic.similarity("fish") == 1
    line = b"<http://a.example/1> <http://o.example/ns#p3> <http://a.example/2> .\n"
    rdf = Document("http://a.example/", Kind.RDF, statements=lambda: [line])
    assert topic.judge(rdf).relevance == 1


def test_an_ontology_is_read_as_bytes_that_the_caller_fetched():
    """A URL is the caller's to fetch; its type is found in the content."""
    topic = about("ontology:https://o.example/ns", {}, lambda url: OWL.encode())
    assert topic.iri_similarity("http://o.example/ns#p7") == 1


def test_what_is_no_ontology_is_told(tmp_path):
    """A file that declares nothing."""
    path = tmp_path / "x.ttl"
    path.write_text("<#a> <http://xmlns.com/foaf/0.1/name> 'A' .")
    with pytest.raises(UsageError, match="declares no class"):
        about(f"ontology:{path}", {})
    with pytest.raises(UsageError, match="name a file"):
        about("ontology:", {})
    assert terms_in([]) == set()


def bound(monkeypatch, most):
    """Let the files of topics have at most so many bytes."""
    made = TopicOptions.from_settings.__func__

    def smaller(cls, settings, read=None):
        options = made(cls, settings, read or partial(read_file, most=most))
        return replace(options, max_file=most)

    monkeypatch.setattr(TopicOptions, "from_settings", classmethod(smaller))


@pytest.mark.parametrize(("most", "what"), [(100, "has more than 100"), (1700, "of N-Quads")])
def test_a_file_beyond_the_bound_is_refused(tmp_path, monkeypatch, most, what):
    """Whether the file is too large, or the statements that it gives."""
    path = tmp_path / "o.ttl"
    path.write_text(OWL)
    assert 100 < path.stat().st_size < 1700
    bound(monkeypatch, most)
    with pytest.raises(UsageError, match=what):
        about(f"ontology:{path}", {})


def test_a_packed_file_is_unpacked_up_to_the_bound(tmp_path, monkeypatch):
    path = tmp_path / "o.ttl.gz"
    path.write_bytes(gzip.compress(OWL.encode() + b" " * 20_000))
    bound(monkeypatch, 10_000)
    with pytest.raises(UsageError, match=r"more than 10000 bytes unpacked"):
        about(f"ontology:{path}", {})


@pytest.mark.slow
def test_a_file_that_takes_a_while_says_so(tmp_path, caplog):
    path = tmp_path / "o.ttl"
    path.write_text(OWL + " " * (17 << 20))
    about(f"ontology:{path}", {})
    assert caplog.messages == [f"about: {path} has 17 MB and takes a while"]


def of_notes(tmp_path, *notes: str) -> Topic:
    """A concept without a telling name, of which this is said."""
    said = "".join(f' ; skos:{name} "{text}"@en' for name, text in zip(NOTES, notes, strict=False))
    (tmp_path / "notes.ttl").write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        f'<urn:7> a skos:Concept ; skos:prefLabel "Class 7"@en ; skos:notation "7" {said} .'
    )
    topic = about(f"thesaurus:{tmp_path / 'notes.ttl'}#7", {})
    assert topic is not None
    return topic


NOTES = ("definition", "example", "scopeNote", "note")
SAID = (
    "Fish of the open ocean that fisheries catch with nets, with long lines and with trawlers "
    "of the deep sea, as far as quotas of the coastal states allow it.",
    "Fisheries of the north catch cod and herring with nets; trawlers land the fish in harbours of "
    "the coast, where quotas are counted by the states.",
    "The catch of fish by fisheries on the ocean and along the coast: nets, lines, trawlers and "
    "the quotas of states that fish in these seas.",
    "Not for fish that is bred in ponds. Use for the catch of wild fish with nets from the ocean "
    "by fisheries and by trawlers of coastal states.",
)
LIKE = "Trawlers of coastal fisheries catch fish with nets in the ocean until quotas are full."


def test_what_a_thesaurus_says_of_a_concept_are_sample_texts(tmp_path):
    """A text that names no concept is relevant when it is like them, and says why."""
    topic = of_notes(tmp_path, *SAID)
    judgement = topic.judge(Document("http://a.example/", Kind.HTML, text=LIKE, language="en"))
    assert judgement.relevance >= 0.5
    assert judgement.reasons[0][0] == "like"
    bread = "Bake the bread in an oven. Flour, water and salt make a dough."
    assert topic.judge(Document("", Kind.HTML, text=bread, language="en")).relevance < 0.3


def test_few_sample_texts_order_and_keep_nothing(tmp_path):
    topic = of_notes(tmp_path, SAID[0])
    relevance = topic.judge(Document("", Kind.HTML, text=LIKE, language="en")).relevance
    assert 0.1 < relevance <= 0.4


def test_a_note_without_a_word_of_a_subject_is_left_alone(tmp_path):
    topic = of_notes(tmp_path, "17")
    assert topic.judge(Document("", Kind.HTML, text=LIKE, language="en")).relevance == 0


def test_the_example_of_fisheries_finds_them_in_several_languages():
    """The thesaurus that the documentation walks with."""
    file = Path(__file__).parents[2] / "examples" / "fisheries.ttl"
    topic = about(f"thesaurus:{file}#fisheries", {})
    texts = {
        "en": "Trawlers landed 300 tonnes of cod in the harbour, within the quota of the fleet.",
        "de": "Die Fischerei fängt Hering mit Schleppnetzen.",
        "fr": "Les chalutiers débarquent le hareng dans le port.",
    }
    for language, text in texts.items():
        assert topic.judge(Document("", Kind.HTML, text=text, language=language)).relevance > 0.5
    bread = Document("", Kind.HTML, text="Flour, water and salt make a dough.", language="en")
    assert topic.judge(bread).relevance < 0.2
