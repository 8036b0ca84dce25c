"""Domain 4: an artist's archive, where each work has an RDF twin.

Depths of URLs and RDF documents as in the thesis's depth table: 0: 1/0, 1: 20/0, 2: 133/0,
3: 2043/35, 4: 2665/1191, 5: 605/1, 6: 508/0, 7: 47/0, 8: 28/0, 9: 3/0.
"""

from __future__ import annotations

from semcrawl.evaluation.built import BuiltWorld, Document, SiteBuilder

HOST = "rossettiarchive.example"

#: Depth 2: pages of recent additions and lists of works by year.
_RECENT, _YEARS = 4, 8
#: Depth 3: works in those lists, and the share of them that fails or has no RDF.
_WORKS, _NO_PAGE, _NO_RDF, _RDF_FAILS = 1010, 3, 11, 7
#: Depth 2: people with a profile in RDF, which has no file extension.
_PEOPLE = 31
_RDF_AT_4 = 1191
_URLS_AT = {3: 2043, 4: 2665, 5: 605, 6: 508, 7: 47, 8: 28, 9: 3}
_REDIRECTS, _REFUSED, _ERRORS = 32, 5, 140

_SECTIONS = (
    "about", "pictures", "texts", "news", "exhibits", "teaching", "letters", "contact", "editions",
    "partners", "press", "places", "software", "sources", "visitors", "library", "reviews",
    "services",
)  # fmt: skip


def build(seed: int = 0) -> BuiltWorld:
    """Build the site."""
    site = SiteBuilder(HOST, seed)
    home = site.page("/", "Archive")
    works = site.page("/works", "Works")
    sections = [site.page(f"/{name}", name.capitalize()) for name in _SECTIONS]
    people = site.page("/people", "People")
    for page in (works, *sections, people):
        site.link(home, page)

    recent = [_work(site, works, number) for number in range(_RECENT)]
    for number, page in enumerate(recent):
        site.alternate(page, site.rdf(f"/work/{number}.rdf"))
    years = [site.page(f"/works/year/{1848 + n}") for n in range(_YEARS)]
    for page in years:
        site.link(works, page)
    topics = _topics(site, sections)
    profiles = [site.page(f"/people/person-{n}") for n in range(_PEOPLE)]
    for page in profiles:
        site.link(people, page)

    twins = _list_works(site, years)
    leaves = _collections(site, topics, _RDF_AT_4 - twins)
    for page in profiles:
        site.alternate(page, site.rdf(f"{page.path}/foaf"))
    _fill(site, topics, leaves)
    return site.build("rossettiarchive")


def _work(site: SiteBuilder, listed_on: Document, number: int) -> Document:
    page = site.page(f"/work/{number}", f"Work {number}")
    site.link(listed_on, page)
    return page


def _topics(site: SiteBuilder, sections: list[Document]) -> list[Document]:
    """Spread the other pages of depth 2 over the sections, five per section."""
    topics = []
    for section in sections:
        for number in range(5):
            page = site.page(f"{section.path}/topic/{number}")
            site.link(section, page)
            topics.append(page)
    return topics


def _list_works(site: SiteBuilder, years: list[Document]) -> int:
    """List the works; return how many RDF twins there are."""
    numbers = list(range(_RECENT, _RECENT + _WORKS))
    odd = site.random.sample(numbers, _NO_PAGE + _NO_RDF + _RDF_FAILS)
    no_page = set(odd[:_NO_PAGE])
    no_rdf = set(odd[_NO_PAGE : _NO_PAGE + _NO_RDF])
    fails = set(odd[_NO_PAGE + _NO_RDF :])
    twins = 0
    for number in numbers:
        listed_on = years[(number - _RECENT) * _YEARS // _WORKS]
        if number in no_page:
            site.link(listed_on, site.error(f"/work/{number}"), "Work")
            continue
        page = _work(site, listed_on, number)
        site.link(page, site.other(f"/work/{number}.bib", "text/x-bibtex"), "BibTeX")
        if number in fails:
            site.alternate(page, site.error(f"/work/{number}.rdf", 500))
        elif number not in no_rdf:
            site.alternate(page, site.rdf(f"/work/{number}.rdf"))
            twins += 1
    return twins


def _collections(site: SiteBuilder, topics: list[Document], count: int) -> list[Document]:
    """Add collections with RDF twins to the last topics; return pages of depth 3."""
    pages = []
    for number in range(count):
        page = site.page(f"/collection/{number}")
        site.link(topics[-1 - number % 5], page)
        site.alternate(page, site.rdf(f"/collection/{number}.rdf"))
        pages.append(page)
    return pages


def _fill(site: SiteBuilder, topics: list[Document], collections: list[Document]) -> None:
    """Add pages without RDF until every depth has its count of URLs."""
    works = _WORKS
    rdf_at_3 = _RECENT + _PEOPLE
    have = {3: rdf_at_3 + works + len(collections), 4: _RDF_AT_4 + _RDF_FAILS}
    have[4] += works - _NO_PAGE  # the BibTeX files
    failing = _NO_PAGE + _RDF_FAILS
    odd = (
        [(303, f"http://elsewhere.example/{n}") for n in range(_REDIRECTS)]
        + [(403, "")] * _REFUSED
        + [(404, "")] * (_ERRORS - failing)
    )
    parents: list[Document] = topics
    for depth, total in _URLS_AT.items():
        count = total - have.get(depth, 0)
        pages: list[Document] = []
        # errors and redirects are spread over the two broad depths without twins
        share = odd[: len(odd) // 2] if depth == 3 else odd[len(odd) // 2 :] if depth == 4 else []
        marks: list[tuple[int, str]] = [*share, *[(200, "")] * (count - len(share))]
        if depth == 5:
            marks.pop()
        site.random.shuffle(marks)
        for number, (status, location) in enumerate(marks):
            parent = parents[number * len(parents) // len(marks)]
            path = f"/archive/{depth}/item-{number}"
            if status == 200:
                target = site.page(path, f"Item {depth}.{number}")
                pages.append(target)
            elif status == 303:
                target = site.moved(path, location)
            else:
                target = site.error(path, status)
            site.link(parent, target, f"Item {depth}.{number}")
        if depth == 5:
            site.alternate(parents[-1], site.rdf("/archive/index.rdf"))
        parents = pages
