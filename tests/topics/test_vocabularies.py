"""Topics of classes, properties and vocabularies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.topics import Document, about
from semcrawl.web.vocabulary import Kind

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
FOAF, SCHEMA = "http://xmlns.com/foaf/0.1/", "http://schema.org/"


def rdf(*triples: str) -> Document:
    lines = [f"{triple} <http://a.example/d> .\n".encode() for triple in triples]
    return Document("http://a.example/d", Kind.RDF, statements=lambda: lines)


PERSON = rdf(
    f"<http://a.example/1> <{RDF_TYPE}> <{FOAF}Person>",
    f'<http://a.example/1> <{FOAF}name> "schema:Dataset <{SCHEMA}Dataset> "',
    "<http://a.example/1> <http://purl.org/dc/terms/date> <http://a.example/2>",
    f"<{SCHEMA}Dataset> <http://purl.org/dc/terms/date> <{SCHEMA}Dataset>",
)


@pytest.mark.parametrize(
    ("spec", "relevance"),
    [
        ("vocabulary:foaf:", 1),
        ("vocabulary-share:foaf:", 0.5),
        ("vocabulary:foaf:Person", 1),
        ("vocabulary-share:foaf:Person", 0.25),
        ("vocabulary-share:foaf:Person,dcterms:", 0.75),
        ("vocabulary:foaf:Agent", 0),
        ("vocabulary:schema:Dataset", 0),
        ("vocabulary:<http://xmlns.com/foaf/0.1/name>", 1),
        ("vocabulary:https://xmlns.com/foaf/0.1/name", 1),
    ],
)
def test_statements_that_use_a_term_count(spec, relevance):
    """A term counts as property or as class, in http and https, and nowhere else."""
    assert about(spec, {}).judge(PERSON).relevance == relevance


def test_the_reasons_name_the_terms():
    """Each term comes with its statements, the most used first."""
    reasons = about("vocabulary:dcterms:,foaf:", {}).judge(PERSON).reasons
    assert reasons[0] == ("dcterms:date", "2 of 4 statements")
    assert {what for what, _ in reasons} == {"dcterms:date", "foaf:Person", "foaf:name"}
    assert about("vocabulary:skos:", {}).judge(PERSON).reasons == (
        ("vocabulary", "none of 4 statements uses it"),
    )


def test_a_bounded_part_is_read():
    """Of a document without end the first bytes are judged, whole lines of them."""
    line = f'<http://a.example/1> <{FOAF}name> "x" .\n'.encode()
    read = []

    def statements():
        while True:
            read.append(line)
            yield line

    endless = Document("http://a.example/", Kind.RDF, statements=statements)
    topic = about("vocabulary-share:foaf:", {"SEMCRAWL_ABOUT_MAX_SIZE": "10000"})
    assert topic.judge(endless).relevance == 1
    assert len(read) <= 10_000 // len(line) + 1


@pytest.mark.parametrize(
    ("text", "similarity"),
    [
        ("Datasets of the city", 1),
        ("A Dataset", 1),
        ("Data catalog", 1),
        ("datacatalog", 1),
        ("catalog", 0.25),
        ("Fish of the city", 0),
    ],
)
def test_words_of_terms_are_near(text, similarity):
    """A text that names a term is as near as can be, one with some of its words a little."""
    assert about("vocabulary:schema:Dataset,schema:DataCatalog", {}).similarity(text) == similarity


def test_properties_around_links_are_near():
    """A term is near, another one of its vocabulary half as near."""
    topic = about("vocabulary:foaf:knows,skos:", {})
    assert topic.iri_similarity(FOAF + "knows") == 1
    assert topic.iri_similarity(FOAF + "topic") == 0.5
    assert topic.iri_similarity("http://www.w3.org/2004/02/skos/core#broader") == 1
    assert topic.iri_similarity(SCHEMA + "knows") == 0


names = st.sampled_from([FOAF + "name", FOAF + "Person", SCHEMA + "name", RDF_TYPE])
triples = st.lists(st.tuples(names, names), max_size=12)


@given(triples, st.integers(1, 5))
def test_the_share_is_what_a_reader_of_statements_counts(pairs, size):
    """However the statements are cut into pieces."""
    lines = [f"_:b <{p}> <{o}> .\n".encode() for p, o in pairs]
    pieces = [b"".join(lines[n : n + size]) for n in range(0, len(lines), size)]
    document = Document("http://a.example/", Kind.RDF, statements=lambda: pieces)
    hits = sum(p.startswith(FOAF) or (p == RDF_TYPE and o.startswith(FOAF)) for p, o in pairs)
    share = about("vocabulary-share:foaf:", {}).judge(document).relevance
    assert share == pytest.approx(hits / len(pairs) if pairs else 0)
    assert about("vocabulary:foaf:", {}).judge(document).relevance == (hits > 0)


@pytest.mark.parametrize(
    ("namespace", "text", "similarity"),
    [
        ("https://example.org/2026/cargo/ontology#", "Cargo", 1),
        ("http://example.org/id/dataset/images.csv#", "All images", 1),
        ("http://example.org/fish/v2/", "Fish", 1),
        ("http://example.org/ontology#", "ontology", 0),
        ("http://xmlns.com/foaf/0.1/", "foaf", 1),
    ],
)
def test_a_vocabulary_without_a_known_prefix_has_the_name_of_its_address(
    namespace, text, similarity
):
    assert about(f"vocabulary:<{namespace}>", {}).similarity(text) == similarity


def page(markup: str) -> Document:
    return Document("http://a.example/", Kind.HTML, markup=markup.encode())


@pytest.mark.parametrize(
    ("spec", "markup", "named"),
    [
        ("foaf:Person", "<pre>me a foaf:Person .</pre>", "foaf:Person"),
        ("foaf:Person", "<pre>me a foaf:Personal .</pre>", ""),
        ("foaf:Person", "<pre>me a foaf:name, xfoaf:Person .</pre>", ""),
        ("foaf:Person", "<b>foaf:</b><i class='x'>Person</i>", "foaf:Person"),
        ("foaf:", "<code>foaf:knows</code>", "foaf:knows"),
        ("foaf:", "<p>FOAF: people</p>", ""),
        ("foaf:", '<a href="https://xmlns.com/foaf/0.1/">', "https://xmlns.com/foaf/0.1/"),
        ("schema:Dataset", 'itemtype="https://schema.org/WebPage"', ""),
        ("schema:Dataset", "&lt;http://schema.org/Dataset&gt;", "http://schema.org/Dataset"),
        ("<http://example.org/ns/cargo#Piece>", '"@type": "cargo:Piece"', "cargo:Piece"),
        ("<http://example.org/ns/cargo#>", "\xff cargo:Piece.", "cargo:Piece"),
    ],
)
def test_a_page_that_names_a_term_is_near(spec, markup, named):
    """By its IRI or its short name, whole, whatever colours it; below the usual threshold."""
    judgement = about(f"vocabulary:{spec}", {}).judge(page(markup))
    assert judgement.relevance == (0.4 if named else 0)
    assert judgement.reasons[0][1] == (
        f"the page names {named}" if named else "none of 0 statements uses it"
    )


def test_a_bounded_part_of_a_page_is_looked_at():
    topic = about("vocabulary:foaf:", {"SEMCRAWL_ABOUT_MAX_SIZE": "100"})
    assert topic.judge(page(" " * 80 + "foaf:name")).relevance == 0.4
    assert topic.judge(page(" " * 120 + "foaf:name")).relevance == 0


@given(st.text(alphabet="foaf:Person<>/ .-", max_size=200))
def test_any_page_is_looked_through(markup):
    """The short name is found wherever it stands as a whole word, and nowhere else."""
    known = about("vocabulary:foaf:Person", {}).judge(page(f"{markup} foaf:Person {markup}"))
    assert known.relevance == 0.4
    without = markup.replace("foaf:", "")
    assert about("vocabulary:foaf:Person", {}).judge(page(without)).relevance == 0


_WORDS = st.sampled_from("alpha beta gamma delta epsilon".split())


@given(
    st.lists(st.lists(_WORDS, min_size=1, max_size=3), min_size=1, max_size=8),
    st.lists(_WORDS, max_size=6),
)
def test_a_text_is_as_near_as_the_term_with_the_largest_share_of_its_words(names, words):
    """However many terms there are, only those with a word of the text are compared."""
    terms = ",".join(f"<http://a.example/v#{'-'.join(name)}>" for name in names)
    shares = [len({*words} & {*name}) / len({*name}) for name in names]
    best = max(shares)
    expected = 1 if best == 1 else best / 2
    assert about(f"vocabulary:{terms}", {}).similarity(" ".join(words)) == pytest.approx(expected)
