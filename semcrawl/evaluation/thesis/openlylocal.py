"""Domain 2: local councils and their members, many with fully labelled RDF twins.

Every RDF document has the extension ``.rdf`` and a ``link`` element with type and title
``application/rdf+xml``. The lists of the site have 500 links each.
"""

from __future__ import annotations

from semcrawl.evaluation.built import RDF_XML, BuiltWorld, Document, SiteBuilder

HOST = "openlylocal.example"

_COUNCILS, _WITH_MEMBERS, _MEMBERS_EACH = 434, 56, 37
#: Chance that a member has RDF: always in the councils listed first, rarely in others.
_MEMBER_RDF = 693 / 1225
_FIRST_COUNCILS, _OTHER_COUNCIL_RDF = 33, 0.06
#: Data files with an unknown extension per page; their chances to exist, and to be a page.
_DATA_OF_MEMBER, _DATA_THERE, _DATA_IS_PAGE = 794 / 1225, 650 / 860, 3 / 650
_RDF = 1256
_STATUS = {"success": 6840, "redirect": 197, "refused": 11, "error": 700}


def build(seed: int = 0) -> BuiltWorld:
    """Build the site."""
    site = SiteBuilder(HOST, seed)
    home = site.page("/", "Openly local")
    index = site.page("/councils", "Councils")
    site.link(home, index)
    # a member in the news: the first page with a twin that a crawler finds
    featured = site.page("/members/1", "Member 1")
    _data(site, featured, "xml")
    site.alternate(featured, site.rdf("/members/1.rdf"), title=RDF_XML)
    site.link(home, featured)
    example = site.moved("/id/example", "/councils/example.rdf")
    site.rdf("/councils/example.rdf")
    site.link(home, example, "Example")
    lists = [site.page(f"/{name}", name.capitalize()) for name in ("wards", "meetings", "minutes")]
    plain = [site.page(f"/info/{name}") for name in _INFORMATION]
    for page in (*lists, *plain):
        site.link(home, page)

    members = iter(range(2, 1 << 20))
    twins = 2
    for number in range(1, _COUNCILS + 1):
        council = site.page(f"/councils/{number}", f"Council {number}")
        site.link(index, council)
        likely = number <= _FIRST_COUNCILS or site.random.random() < _OTHER_COUNCIL_RDF
        if likely and twins < _RDF:
            site.alternate(council, site.rdf(f"/councils/{number}.rdf"), title=RDF_XML)
            twins += 1
        _data(site, council, "xml")
        _data(site, council, "json")
        if number <= _WITH_MEMBERS:
            for _ in range(_MEMBERS_EACH):
                twins += _member(site, council, next(members), twins < _RDF)
    while twins < _RDF:
        # the remaining ones belong to members of the last council
        twins += _member(site, council, next(members), True, sure=True)
    _fill(site, lists, plain)
    return site.build("openlylocal")


_INFORMATION = (
    "about", "news", "contact", "faq", "terms", "privacy", "team", "blog", "thanks", "statistics",
)  # fmt: skip


def _member(
    site: SiteBuilder, council: Document, number: int, may_have_rdf: bool, sure: bool = False
) -> bool:
    """Add a member's page; return whether it has RDF."""
    page = site.page(f"/members/{number}", f"Member {number}")
    site.link(council, page)
    chance = site.random.random()
    has_rdf = may_have_rdf and (sure or chance < _MEMBER_RDF)
    if has_rdf:
        site.alternate(page, site.rdf(f"/members/{number}.rdf"), title=RDF_XML)
    if site.random.random() < _DATA_OF_MEMBER:
        _data(site, page, "xml")
    return has_rdf


def _data(site: SiteBuilder, page: Document, extension: str) -> None:
    """Link a data file; some are gone, a few are pages."""
    path = f"{page.path}.{extension}"
    if site.random.random() >= _DATA_THERE:
        target = site.error(path)
    elif site.random.random() < _DATA_IS_PAGE:
        target = site.page(path)
    else:
        target = site.other(path, f"application/{extension}")
    site.link(page, target, extension.upper())


def _fill(site: SiteBuilder, lists: list[Document], plain: list[Document]) -> None:
    """Add pages without RDF, redirects and errors until each status has its count."""
    marks = site.shuffled(site.missing(_STATUS))
    listed, rest = marks[: 500 * len(lists)], marks[500 * len(lists) :]
    pages: list[Document] = []
    for number, status in enumerate(listed):
        page = lists[number // 500]
        site.item(page, f"{page.path}/{number}", status, pages)
    for number, status in enumerate(rest):
        site.item(pages[number % len(pages)], f"/documents/{number}", status)
    for page in plain:
        site.link(page, "/", "Home")
