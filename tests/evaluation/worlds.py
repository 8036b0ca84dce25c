"""Small worlds for the tests."""

from __future__ import annotations

from semcrawl.evaluation.built import RDF_XML, BuiltWorld, SiteBuilder


def members(count: int = 12, *, with_rdf: int = 9, host: str = "members.example") -> BuiltWorld:
    """A list of members, most with RDF; news beside it; a redirect, a dead link, a trap."""
    site = SiteBuilder(host)
    home = site.page("/", "Home")
    news = site.page("/news", "News")
    listing = site.page("/members/", "Members")
    site.link(home, news)
    site.link(home, site.moved("/everybody", "/members/"), "Everybody")
    site.link(home, site.moved("/away", "http://elsewhere.example/"), "Away")
    site.link(home, site.error("/gone"), "Gone")
    for number in range(count):
        page = site.page(f"/members/{number}", f"Member {number}")
        site.link(listing, page)
        site.link(page, listing)
        if number < with_rdf:
            site.alternate(page, site.rdf(f"/members/{number}.rdf"), RDF_XML)
    site.link(listing, home)
    for number in range(count):
        site.link(news, site.page(f"/news/{number}", f"News {number}"))
    plain = site.other("/data.xml", "application/xml")
    hidden = site.rdf("/hidden.xml", "application/xml")
    site.link(news, plain, "Data")
    site.link(news, hidden, "More data")
    return site.build("members")


def barren(host: str = "barren.example") -> BuiltWorld:
    """Two pages and nothing else."""
    site = SiteBuilder(host)
    site.link(site.page("/"), site.page("/other"))
    return site.build("barren")
