"""The strategy ``learned`` before it has learned anything: what speaks for and against a link."""

import pytest

from semcrawl.links import Link, Page
from semcrawl.relevance import Label
from semcrawl.relevance.learned import Learned, LearnedOptions
from semcrawl.web.vocabulary import Kind
from tests.relevance.learning import HOME, fetch, keys, links

SITE = "http://a.example"
EVEN = LearnedOptions(jitter=0.0)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Link(f"{SITE}/x", rel="alternate"), Link(f"{SITE}/x")),
        (Link(f"{SITE}/x", anchor="as text/turtle"), Link(f"{SITE}/x", anchor="as turtle text")),
        (Link(f"{SITE}/x", title="as text/turtle"), Link(f"{SITE}/x", title="as turtle text")),
        (Link(f"{SITE}/x", anchor="our ontology"), Link(f"{SITE}/x", anchor="our office")),
        (Link(f"{SITE}/x", before="our ontology"), Link(f"{SITE}/x", before="our office")),
        (Link(f"{SITE}/x/foaf"), Link(f"{SITE}/foaf/x")),
        (Link(f"{SITE}/foaf/x"), Link(f"{SITE}/food/x")),
        (Link(f"{SITE}/%66oaf"), Link(f"{SITE}/food")),
        (Link(f"{SITE}/x/"), Link(f"{SITE}/x")),
        (Link(f"{SITE}/x/index.html"), Link(f"{SITE}/x/y.html")),
        (Link(f"{SITE}/x"), Link(f"{SITE}/x/y")),
        (Link(f"{SITE}/x"), Link(f"{SITE}/x?y=1")),
        (Link(f"{SITE}/datasets"), Link(f"{SITE}/dates")),
        (Link(f"{SITE}/OntologyDocs/x"), Link(f"{SITE}/DeontologyDocs/x")),
        (Link(f"{SITE}/x", anchor="Ontologien"), Link(f"{SITE}/x", anchor="Odontologia")),
        (Link(f"{SITE}/x/index-en.html"), Link(f"{SITE}/x/y-en.html")),
        (Link(f"{SITE}/x", anchor="Daten herunterladen"), Link(f"{SITE}/x", anchor="Impressum")),
        (Link(f"{SITE}/x", anchor="SHACL shapes"), Link(f"{SITE}/x", anchor="our dataset")),
        (Link(f"{SITE}/x/"), Link(f"{SITE}/x/", element="folder", tag_path="folder")),
        (Link(f"{SITE}/x"), Link(f"{SITE}/login")),
        (Link(f"{SITE}/x.nt.gz"), Link(f"{SITE}/x.yz.gz")),
        (Link(f"{SITE}/x.json"), Link(f"{SITE}/x.odd")),
        (Link(f"{SITE}/login"), Link(f"{SITE}/x.xml", type="application/rss+xml")),
        (Link(f"{SITE}/x.rdf", type="application/rss+xml"), Link(f"{SITE}/x")),
        (Link(f"{SITE}/x.ttl"), Link(f"{SITE}/x.ttl.html")),
        (Link(f"{SITE}/ttl"), Link(f"{SITE}/.ttl.html/x")),
    ],
)
def test_what_speaks_for_a_link(better: Link, worse: Link) -> None:
    for_it, against = (Learned(EVEN).rank(HOME, [link])[0] for link in (better, worse))
    assert for_it.key < against.key


@pytest.mark.parametrize(
    "link",
    [
        Link(f"{SITE}/folder/?C=N;O=D"),
        Link(f"{SITE}/folder/?N=A"),
        Link(f"{SITE}/feed", type="application/json+oembed"),
        Link(f"{SITE}/x", rel="shortcut icon"),
        Link(f"{SITE}/all.ttl.sha256"),
        Link(f"{SITE}/all.owl.asc"),
        Link(f"{SITE}/sparql/query.rq"),
        Link("mailto:x"),
    ],
)
def test_useless_links_are_never_asked_for(link: Link) -> None:
    assert Learned().rank(HOME, [link])[0].group is None


@pytest.mark.parametrize("media", ["application/rss+xml", "application/atom+xml"])
def test_feeds_are_asked_for_late_as_lists(media: str) -> None:
    """They list documents, and RSS 1.0 is RDF, which only a look inside tells."""
    feed = Link(f"{SITE}/news.xml", "link", rel="alternate", type=media)
    data = Link(f"{SITE}/data.xml", "link", rel="alternate")
    for options in (LearnedOptions(), LearnedOptions(targets="text/csv")):
        listed, other = Learned(options).rank(HOME, [feed, data])
        assert (listed.group, listed.label) == ("a.example", Label.H)
        assert listed.key > other.key


def test_of_several_seeds_on_a_host_the_folder_above_all_is_home() -> None:
    strategy = Learned(EVEN)
    for seed in ("a/b/c/d/", "a/x/"):
        strategy.rank(Page(f"{SITE}/{seed}"), [])
    key = keys(strategy, [f"{SITE}/{path}/y" for path in ("a/b", "a/x", "a", "z")], f"{SITE}/a/x/")
    ways = [key[f"{SITE}/{path}/y"] for path in ("a/b", "a/x", "a", "z")]
    assert ways[0] == ways[1]
    assert max(ways[:3]) < ways[3] - 0.05


def test_sure_targets_out_of_the_seeds_folder_come_after_those_in_it() -> None:
    strategy = Learned(EVEN)
    found = links(f"{SITE}/a/home/x.ttl", f"{SITE}/b/other/x.ttl")
    inside, out = fetch(strategy, f"{SITE}/a/home/", Kind.HTML, found)
    assert inside.key < out.key - 0.2


def test_user_names_in_addresses_make_no_other_host() -> None:
    ranked = Learned().rank(HOME, links(f"{SITE}/x", "http://user@a.example/y"))
    assert ranked[0].group == ranked[1].group == "a.example"


@pytest.mark.parametrize("element", ["catalogue", "rdf", "embedded", "linkset"])
def test_the_word_of_data_about_a_format_decides(element: str) -> None:
    """Not that of an anchor, nor against an extension, nor where the format is wanted."""

    def group(type_: str, url: str = "download/1", named: str = element, targets: str = "rdf"):
        link = Link(f"{SITE}/{url}", named, type=type_)
        return Learned(LearnedOptions(targets=targets)).rank(HOME, [link])[0].group

    for type_ in ("text/csv", "application/pdf", "application/vnd.ms-excel", "image/png"):
        assert group(type_) is None
    for type_ in ("application/zip", "application/json", "text/turtle", "text/html", "", "odd"):
        assert group(type_)
    assert group("text/csv", "data.ttl")
    assert group("text/csv", named="a")
    assert group("application/vnd.example.rdf-patch")
    assert group("text/csv", targets="rdf,text/csv")
