"""The topic ``new``: what no earlier document said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.errors import UsageError
from semcrawl.rdf import read
from semcrawl.topics import Document, Judgement, Remembering, Topic, about, parts_of
from semcrawl.topics.novelty import LocalMemory, statement_hashes
from semcrawl.web.vocabulary import Kind

TURTLE = """@prefix f: <http://xmlns.com/foaf/0.1/> .
<http://a.example/1> f:name "A \\"b\\""@en ; f:knows [ f:name "B" ; f:age 7 ] , [ f:name "C" ] .
"""
XML = """<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:f="http://xmlns.com/foaf/0.1/">
<r:Description r:about="http://a.example/1"><f:knows><r:Description><f:name>C</f:name></r:Description>
</f:knows><f:name xml:lang="en">A "b"</f:name><f:knows><r:Description><f:age
 r:datatype="http://www.w3.org/2001/XMLSchema#integer">7</f:age><f:name>B</f:name></r:Description>
</f:knows></r:Description></r:RDF>"""


def document(url: str, *lines: bytes) -> Document:
    return Document(url, Kind.RDF, statements=lambda: lines)


def kept(topic: Topic, document: Document) -> Judgement:
    """Judge a document as a crawl does, which keeps what is decided by at least a half."""
    judgement = topic.judge(document)
    if judgement.deciding >= 0.5:
        judgement.keep()
    return judgement


def test_one_graph_in_two_syntaxes_is_new_once():
    """Graph names and labels of blank nodes make no difference."""
    topic = about("new", {})
    first, second = (
        kept(topic, document(url, read(body.encode(), url, content_type).nquads))
        for url, body, content_type in (
            ("http://a.example/1.ttl", TURTLE, "text/turtle"),
            ("http://a.example/1.rdf", XML, "application/rdf+xml"),
        )
    )
    assert first.relevance == 1
    assert first.reasons == (("new", "6 of 6 distinct statements"),)
    assert second.relevance == 0


def test_the_share_of_new_statements_is_the_relevance():
    """A line that is there twice counts once; a document without statements is not new."""
    a, b, c = (
        b"<http://a.example/%d> <http://a.example/p> <http://a.example/o> .\n" % n for n in range(3)
    )
    topic = about("new:", {})
    assert kept(topic, document("http://a.example/a", a, a, b)).relevance == 1
    assert kept(topic, document("http://a.example/b", b, c)).relevance == 0.5
    assert kept(topic, document("http://a.example/c", a, b, c)).relevance == 0
    assert kept(topic, document("http://a.example/d")).relevance == 0


def test_a_single_new_statement_keeps_a_document_and_only_kept_ones_are_remembered():
    """What a dropped document says is new again; a share below the threshold drops nothing."""
    a, b, c, d = (
        b"<http://a.example/%d> <http://a.example/p> <http://a.example/o> .\n" % n for n in range(4)
    )
    topic = about("new", {})
    assert topic.judge(document("http://a.example/dropped", a, b, c)).relevance == 1
    assert kept(topic, document("http://a.example/a", a, b, c)).relevance == 1
    one_of_four = kept(topic, document("http://a.example/b", a, b, c, d))
    assert (one_of_four.relevance, one_of_four.deciding) == (0.25, 1)
    assert kept(topic, document("http://a.example/c", a, d)).deciding == 0
    both = about(f"all({__name__}.Half:, new)", {})
    assert kept(both, document("http://a.example/a", a, b, c)).deciding == 0.6
    assert kept(both, document("http://a.example/b", a, b, c, d)).deciding == 0.6
    assert kept(both, document("http://a.example/c", a, d)).deciding == 0


def test_a_document_that_is_too_large_to_be_judged_whole_is_kept():
    """What lies beyond the first bytes may be new."""
    known = b"<http://a.example/1> <http://a.example/p> <http://a.example/o> .\n"
    topic = about("new", {"SEMCRAWL_ABOUT_MAX_SIZE": 100})
    for url in ("http://a.example/a", "http://a.example/b"):
        judgement = kept(topic, document(url, known + known.replace(b"1", b"2")))
        assert judgement.deciding == 1
    assert judgement.relevance == 0
    assert kept(topic, document("http://a.example/c", known)).deciding == 0


def said(name: str, statements: int) -> Document:
    """A document of so many statements, all its own."""
    own = b'<http://a.example/%s> <http://p.example/> "%d" .\n'
    lines = (own % (name.encode(), n) for n in range(statements))
    return document(f"http://a.example/{name}", *lines)


def test_a_crawl_wins_more_with_more_new_statements():
    """Twice the usual logarithm counts whole, the usual one half; what is known takes its share."""
    topic = about("new", {})
    assert kept(topic, said("a", 20)).worth == 0.5
    small, large, known, none = (
        kept(topic, each)
        for each in (said("b", 2), said("c", 2000), said("c", 2000), document("http://a.example/"))
    )
    assert 0 < small.worth < 0.5 < large.worth < 1
    assert small.relevance == large.relevance == known.relevance == 1
    assert none.worth == 0
    again = Document("http://a.example/d", Kind.RDF, statements=said("c", 2000).statements)
    assert kept(topic, again).worth == 0


def test_a_combination_with_it_hands_its_worth_on():
    """Of two topics the crawl wins what the lesser one wins."""
    other = f"{__name__}.Half"
    both = about(f"all({other}:, new)", {})
    first, second = kept(both, said("a", 3)), kept(both, said("b", 3000))
    assert (first.relevance, first.worth) == (0.6, 0.5)
    assert (second.relevance, second.worth) == (0.6, 0.6)
    assert about(f"any({other}:, new)", {}).judge(said("a", 3)).worth == 0.6
    assert about(f"{other}:", {}).judge(said("a", 3)).worth is None


class Half:
    """A topic that takes everything to be 0.6 relevant."""

    name, needs, takes_long, knows_words = "half", frozenset({"statements"}), False, False

    @classmethod
    def from_argument(cls, argument, options):
        return cls()

    def judge(self, document: Document) -> Judgement:
        return Judgement.of(0.6)

    def similarity(self, text: str, language: str = "") -> float:
        return 0.0

    def iri_similarity(self, iri: str) -> float:
        return 0.0


def test_a_document_that_is_judged_again_keeps_what_is_its_own():
    """A re-visit, or a repetition after a crash, does not make it old."""
    line = b"<http://a.example/1> <http://a.example/p> <http://a.example/o> .\n"
    topic = about("new", {})
    assert kept(topic, document("http://a.example/a", line)).relevance == 1
    assert kept(topic, document("http://a.example/a", line)).relevance == 1
    assert kept(topic, document("http://a.example/b", line)).relevance == 0
    assert kept(topic, document("http://a.example/b", line)).relevance == 0


def test_it_knows_no_words_and_leaves_them_to_others():
    """In a combination the other topics speak of links."""
    topic = about("all(vocabulary:foaf:, new)", {})
    assert topic.similarity("foaf") == 1
    assert not about("new", {}).knows_words
    assert topic.needs == {"statements", "markup"}


def test_workers_may_share_a_memory():
    """Topics share their memory, inside combinations too."""
    memory = LocalMemory(100)
    line = b"<http://a.example/1> <http://a.example/p> <http://a.example/o> .\n"
    one, other = about("new", {}), parts_of(about("all(vocabulary:foaf:, new)", {}))[1]
    for topic in (one, other):
        assert isinstance(topic, Remembering)
        topic.remember_in(memory)
    assert kept(one, document("http://a.example/a", line)).relevance == 1
    assert kept(other, document("http://a.example/b", line)).relevance == 0


def test_an_argument_is_refused():
    with pytest.raises(UsageError, match="no argument"):
        about("new:foaf", {})


terms = st.sampled_from([b"<http://a.example/1>", b"<http://a.example/2>", b"_:a", b"_:b", b"_:c"])
values = terms | st.sampled_from([b'"x"', b'"x y \\" z"@en', b'"1"^^<http://t>'])
graphs = st.lists(st.tuples(terms, terms.filter(lambda t: t[:1] == b"<"), values), max_size=10)


@given(graphs, st.permutations([b"_:x", b"_:y", b"_:z"]), st.randoms())
def test_hashes_do_not_depend_on_order_labels_and_graph_names(triples, labels, random):
    """Isomorphic graphs have the same statements."""
    renamed = dict(zip([b"_:a", b"_:b", b"_:c"], labels, strict=True))
    lines = [b" ".join(triple) + b" .\n" for triple in triples]
    others = [
        b" ".join(renamed.get(term, term) for term in triple) + b" <http://g.example/> .\n"
        for triple in triples
    ]
    random.shuffle(others)
    hashes = statement_hashes(lines)
    assert hashes == statement_hashes([b"".join(others)])
    ground = {t for t in triples if not t[0].startswith(b"_:") and not t[2].startswith(b"_:")}
    assert len(ground) <= len(hashes) <= len(set(triples))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 50), unique=True)), max_size=12)
)
def test_the_memory_knows_what_others_said(documents):
    """As a dictionary without bounds does, as long as there is room."""
    spread = 0x9E3779B97F4A7C15
    memory, first = LocalMemory(4096), {}
    for number, statements in documents:
        hashes = [(n + 1) * spread % 2**64 for n in statements]
        new = memory.add(number, hashes)
        assert new == [first.setdefault(one, number) == number for one in hashes]


def test_a_full_memory_forgets_and_stays_as_large():
    """Its table does not grow; the latest statements are known."""
    memory = LocalMemory(1000)
    size = memory._table.nbytes
    for start in range(0, 100_000, 1000):
        hashes = [((n + 1) * 0x9E3779B97F4A7C15) % 2**64 for n in range(start, start + 1000)]
        memory.add(start, hashes)
    assert memory._table.nbytes == size == 8 * 1024
    assert sum(memory.add(1, hashes[-100:])) < 60
