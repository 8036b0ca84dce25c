"""The strategy ``learned`` before it has learned anything: what speaks for and against a link."""

import pytest

from semcrawl.links import Link, Page
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
        Link(f"{SITE}/feed", type="application/atom+xml"),
        Link(f"{SITE}/x", rel="shortcut icon"),
        Link(f"{SITE}/all.ttl.sha256"),
        Link(f"{SITE}/all.owl.asc"),
        Link(f"{SITE}/sparql/query.rq"),
        Link("mailto:x"),
    ],
)
def test_useless_links_are_never_asked_for(link: Link) -> None:
    assert Learned().rank(HOME, [link])[0].group is None


def test_feeds_are_asked_for_where_rdf_is_wanted() -> None:
    """RSS 1.0 is RDF, and what version a feed has only a look inside tells."""
    feed = Link(f"{SITE}/news.xml", rel="alternate", type="application/rss+xml")
    assert Learned().rank(HOME, [feed])[0].group == "a.example"
    tables = Learned(LearnedOptions(targets="text/csv"))
    assert tables.rank(HOME, [feed])[0].group is None


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
