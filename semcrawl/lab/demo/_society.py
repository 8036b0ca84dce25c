"""www: the society's main site, with the remains of old sites.

It has frames, an image map, tag soup, redirect chains, dead links and a forbidden part.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import RdfFormat

from semcrawl.lab.demo.model import (
    PLACES,
    Host,
    Prose,
    ResourceKind,
    Response,
    Statement,
    alternate,
    link,
    listing,
    paragraphs,
    slug,
)

HOST = "www.demo.example"
SITE = "Saltmarsh Field Society"

_SOUP = """<HTML><HEAD><TITLE>Links we like</TITLE><META NAME=author CONTENT=Otis>
<BODY BGCOLOR=#ffffcc><CENTER><H1>Links we like</H2>
<TABLE><TR><TD><P>Otis collects these by hand<BR><P>
<A HREF=/soup/birds.n3>list of birds<I> in N3</A></I><LI>second item without a list
<A HREF="/news/"><B>News<A HREF='/about/'>about us</B></A>
<FONT COLOR=red>& unescaped ampersands &copy 1999 <A HREF="mailto:otis@demo.example">Otis</A>
<a href="javascript:history.back()">back</a> <a href="#top">top</a> <a href="">empty</a>
<a href="http://[broken">broken</a> <a href="ftp://ftp.demo.example/pub/">files</a>
<!-- <a href="/commented-out.ttl">hidden</a> --><TD></TABLE><!-- not closed"""


def build(prose: Prose, crawl_delay: float) -> Host:
    """Build the host."""
    host = Host(HOST, site=SITE, crawl_delay=crawl_delay, disallow=["/private/", "/cgi-bin/"])
    news = list(_news(host, prose))
    host.html("/news/", "News", listing(link(f"/news/{n}.html", title) for n, title in news))
    _home(host, prose, news)
    _about(host, prose)
    _places(host, prose)
    _old_site(host)
    _files(host, prose)
    return host


def _home(host: Host, prose: Prose, news: list[tuple[int, str]]) -> None:
    content = paragraphs([prose.paragraph(), prose.paragraph()]) + listing(
        [
            link("/about/", "About the society"),
            link("http://members.demo.example/", "Member directory"),
            link("http://data.demo.example/", "Data catalogue"),
            link("http://vocab.demo.example/", "The words we use"),
            link("http://blog.demo.example/", "Field notes"),
            link("http://archive.demo.example/", "Archive"),
            link("/map.html", "Map of our places"),
            link("/old", "The old web site"),
            link("/links.html", "Links we like"),
            link("/minutes/2019.html", "Minutes of 2019"),
            link("/minutes/2020.html", "Minutes of 2020"),
            link("/board/", "Board room"),
            link("/private/", "For wardens only"),
            link("/cgi-bin/search.pl", "Search"),
            link("http://tide.observatory.example/", "Our friends at the observatory"),
            *(link(f"/news/{number}.html", title) for number, title in news[:3]),
        ]
    )
    host.html("/", "Welcome", content, head=alternate("/.well-known/void", "text/turtle", "VoID"))


def _news(host: Host, prose: Prose) -> Iterator[tuple[int, str]]:
    for number in range(1, 13):
        title = prose.title()
        more = link("/news/", "All news")
        host.html(
            f"/news/{number}.html", title, paragraphs([prose.paragraph(), prose.paragraph()]) + more
        )
        yield number, title


def _about(host: Host, prose: Prose) -> None:
    society = host.url("/about/society#society")
    host.html(
        "/about/",
        "About the society",
        paragraphs([prose.paragraph(4)])
        + listing(
            [
                link("/contact.php", "Contact"),
                link("/downloads/annual-report", "Annual report"),
                link("/downloads/logo.png", "Logo"),
                link("http://w3id.org/saltmarsh/licence", "Licence of our data"),
                link("http://tide.observatory.example/stations.ttl", "Tide stations"),
                link("/news", "News"),
            ]
        ),
        # found in the header only
        headers=[("Link", '</about/society>; rel="describedby"; type="text/turtle"')],
    )
    statements: list[Statement] = [
        (society, "rdf:type", "foaf:Organization"),
        (society, "foaf:name", SITE),
        (society, "foaf:homepage", host.url("/")),
        (society, "dcterms:description", prose.sentence()),
    ]
    host.rdf("/about/society", statements, RdfFormat.TURTLE)
    host.html(
        "/contact.php", "Contact", paragraphs(["Write to the clerk, Quay 1.", prose.sentence()])
    )
    host.redirect("/news", "/news/", 301)
    void = host.url("/.well-known/void#web")
    host.rdf(
        "/.well-known/void",
        [
            (void, "rdf:type", "void:Dataset"),
            (void, "dcterms:title", "Everything the society publishes"),
            (void, "void:vocabulary", "http://vocab.demo.example/ns/"),
            (void, "dcterms:publisher", society),
        ],
        RdfFormat.TURTLE,
    )
    licence = host.url("/licence.ttl")
    host.rdf(
        "/licence.ttl",
        [
            (licence, "rdf:type", "dcterms:LicenseDocument"),
            (licence, "dcterms:title", "Use it, and say where you found it"),
        ],
        RdfFormat.TURTLE,
    )


def _places(host: Host, prose: Prose) -> None:
    areas = []
    for number, place in enumerate(PLACES[:6]):
        path = f"/places/{slug(place)}.ttl"
        subject = host.url(path) + "#place"
        statements: list[Statement] = [
            (subject, "rdf:type", "sfs:Place"),
            (subject, "rdfs:label", place),
            (subject, "rdfs:comment", prose.sentence()),
            (subject, "sfs:latitude", f"53.{prose.number(1000, 9999)}"),
        ]
        host.rdf(path, statements, RdfFormat.TURTLE)
        areas.append(
            f'<area shape="circle" coords="{40 * number},60,12" href="{path}" alt="{place}">'
        )
    host.html(
        "/map.html",
        "Map of our places",
        '<img src="/map.png" usemap="#places" alt="map"><map name="places">\n'
        + "\n".join(areas)
        + '\n</map><iframe src="/tides.html" title="tides"></iframe>',
    )
    host.html(
        "/tides.html", "Tides today", paragraphs([prose.sentence()]) + link("/tides.rdf", "as data")
    )
    gauge = host.url("/tides.rdf#gauge")
    host.rdf(
        "/tides.rdf",
        [(gauge, "rdf:type", "sfs:Gauge"), (gauge, "sfs:height", prose.number(10, 400))],
        RdfFormat.RDF_XML,
    )


def _old_site(host: Host) -> None:
    """Add a chain of redirects to a frame set, a refreshing page, and tag soup."""
    host.redirect("/old", "/old/", 301)
    host.redirect("/old/", "/home.asp?lang=en", 302)
    host.redirect("/home.asp?lang=en", "/archive/", 307)
    frames = (
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Frameset//EN"><html><head>'
        "<title>Old site</title></head><frameset cols='20%,80%'><frame src='menu.html'>"
        "<frame src='content.html'></frameset></html>"
    )
    host.body("/archive/", ResourceKind.HTML, frames.encode(), "text/html")
    host.html(
        "/archive/menu.html",
        "Menu",
        listing([link("1999.rdf", "1999"), link("moved.html", "News"), link("gone.htm", "Guests")]),
    )
    host.html("/archive/content.html", "Welcome to our home page", "<p>Best viewed at 800×600.</p>")
    host.html(
        "/archive/moved.html",
        "We have moved",
        "<p>One moment please.</p>",
        head='<meta http-equiv="Refresh" content="3; URL=2001.html">\n',
    )
    host.html("/archive/2001.html", "Our new page", link("2001.owl", "the first ontology"))
    for year, syntax in ((1999, "1999.rdf"), (2001, "2001.owl")):
        subject = host.url(f"/archive/{syntax}#year")
        host.rdf(
            f"/archive/{syntax}",
            [(subject, "rdf:type", "sfs:Season"), (subject, "dcterms:date", str(year))],
            RdfFormat.RDF_XML,
        )
    host.dead("/archive/gone.htm", 410)
    host.body("/links.html", ResourceKind.HTML, _SOUP.encode(), "text/html")
    birds = host.url("/soup/birds.n3")
    host.rdf(
        "/soup/birds.n3",
        [(f"{birds}#{name}", "rdfs:label", name) for name in ("curlew", "redshank", "dunlin")],
        RdfFormat.N3,
    )


def _files(host: Host, prose: Prose) -> None:
    """Add other files, dead links, and addresses that robots.txt forbids."""
    host.body("/style.css", ResourceKind.OTHER, b"body { font-family: serif }\n", "text/css")
    host.body("/map.png", ResourceKind.OTHER, _PNG, "image/png")
    host.body("/downloads/logo.png", ResourceKind.OTHER, _PNG, "image/png")
    report = b"%PDF-1.4\n" + prose.paragraph(60).encode() + b"\n%%EOF\n"
    host.body("/downloads/annual-report", ResourceKind.OTHER, report, "application/pdf")
    host.dead("/minutes/2019.html")
    host.dead("/minutes/2020.html", 501)
    forbidden = Response(403, (("Content-Type", "text/plain"),), b"Members of the board only.\n")
    host.put("/board/", ResourceKind.DEAD, ("", forbidden))
    host.html("/private/", "Wardens", link("/private/keys.rdf", "Keys in RDF"))
    host.rdf(
        "/private/keys.rdf",
        [(host.url("/private/keys.rdf#1"), "rdfs:label", "Under the third stone")],
        RdfFormat.RDF_XML,
    )
    host.html("/cgi-bin/search.pl", "Search", "<form><input name=q></form>")


_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154"
    "789c6360606060000000050001a5f645400000000049454e44ae426082"
)
