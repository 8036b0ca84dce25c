"""Small worlds for the tests."""

from __future__ import annotations

import re

from semcrawl.lab.worlds import RDF_XML, BuiltWorld, SiteBuilder


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


class Copied(BuiltWorld):
    """Its pages below ``/copy/`` do not say their own address."""

    def body(self, url: str) -> bytes:
        """Render the page."""
        return re.sub(rb"<p>/copy/\d+/</p>", b"", super().body(url))


def twins(count: int = 20, *, host: str = "twins.example") -> BuiltWorld:
    """Folders with the same index, whose links lead to other pages in each; and some others."""
    site = SiteBuilder(host)
    home = site.page("/", "Home")
    for number in range(count):
        copy = site.page(f"/copy/{number}/", "Index")
        other = site.page(f"/other/{number}/", f"Other {number}")
        site.link(home, copy, f"Copy {number}")
        site.link(home, other, f"Other {number}")
        for place in range(5):
            site.page(f"/copy/{number}/{place}", f"Page {number} {place}")
            page = site.page(f"/other/{number}/{place}", f"Page {number} {place}")
            site.link(copy, str(place), f"Page {place}")
            site.link(other, str(place), f"Page {place}")
            if (number + place) % 2:
                site.link(page, site.rdf(f"/other/{number}/{place}.rdf"), "Data")
    return Copied("twins", host, site.documents)


def winding(redirects: int, host: str = "winding.example") -> BuiltWorld:
    """A page that links to a row of so many redirects, one to the next."""
    site = SiteBuilder(host)
    site.link(site.page("/"), site.moved("/0", "/1"))
    for number in range(1, redirects):
        site.moved(f"/{number}", f"/{number + 1}")
    site.page(f"/{redirects}")
    return site.build("winding")
