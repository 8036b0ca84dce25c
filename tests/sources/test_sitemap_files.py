"""Sitemap files in all their forms, and what is wrong with them."""

from __future__ import annotations

import gzip
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.sources import (
    EntryKind,
    SitemapFile,
    SitemapLimits,
    is_sitemap_name,
    links_of,
    named_sitemaps,
    read_sitemap,
)
from semcrawl.sources.sitemaps import repaired

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
SEMANTIC = 'xmlns:sc="http://sw.deri.org/2007/07/sitemapextension/scschema.xsd"'
SITEMAP = "http://a.example/sitemap.xml"


def read(body: str | bytes, **options: object) -> SitemapFile:
    data = body.encode() if isinstance(body, str) else body
    return read_sitemap([data], **options)  # type: ignore[arg-type]


def urlset(*addresses: str, more: str = "") -> str:
    urls = "".join(f"<url><loc>{address}</loc>{more}</url>" for address in addresses)
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {NS}>{urls}</urlset>'


def addresses(file: SitemapFile) -> list[str]:
    return [entry.address for entry in file.entries]


def test_a_page_has_its_date_priority_and_frequency() -> None:
    more = "<lastmod>2024-01-02T03:04:05Z</lastmod><changefreq>Weekly</changefreq>"
    (entry,) = read(urlset("http://a.example/x?a=1&amp;b=2", more=more)).entries
    assert (entry.address, entry.modified) == ("http://a.example/x?a=1&b=2", 1704164645)
    assert (entry.changes, entry.priority) == ("weekly", -1.0)


@pytest.mark.parametrize(
    ("date", "seconds"),
    [("2005", 1104537600), ("2005-01", 1104537600), ("2005-01-01", 1104537600), ("soon", 0),
     ("2005-01-01T01:00:00+01:00", 1104537600), ("0001-01-01", 0), ("9" * 50, 0)],
)  # fmt: skip
def test_dates_of_every_precision_are_read(date: str, seconds: int) -> None:
    (entry,) = read(urlset("http://a.example/", more=f"<lastmod>{date}</lastmod>")).entries
    assert entry.modified == seconds


def test_an_index_names_sitemaps() -> None:
    file = read(
        f"<sitemapindex {NS}><sitemap><loc>http://a.example/1.xml</loc></sitemap></sitemapindex>"
    )
    assert (file.form, file.entries[0].kind) == ("index", EntryKind.SITEMAP)


def test_a_semantic_sitemap_names_dumps_endpoints_and_samples() -> None:
    file = read(
        f"<urlset {NS} {SEMANTIC}><sc:dataset><sc:datasetLabel>Fish</sc:datasetLabel>"
        "<sc:dataDumpLocation>http://a.example/d.nt.gz</sc:dataDumpLocation>"
        "<sc:sampleURI>http://a.example/cod</sc:sampleURI>"
        "<sc:sparqlEndpointLocation>http://a.example/sparql</sc:sparqlEndpointLocation>"
        "</sc:dataset></urlset>"
    )
    assert [(e.kind, e.title) for e in file.entries] == [
        (EntryKind.DUMP, "Fish"), (EntryKind.SAMPLE, "Fish"), (EntryKind.ENDPOINT, "Fish"),
    ]  # fmt: skip


def test_alternates_of_a_page_are_entries_with_their_type() -> None:
    link = '<xhtml:link rel="alternate" type="text/turtle" href="http://a.example/x.ttl"/>'
    body = urlset("http://a.example/x", more=link).replace(
        "<urlset", '<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    )
    page, other = read(body).entries
    assert (other.address, other.kind, other.type) == (
        "http://a.example/x.ttl", EntryKind.ALTERNATE, "text/turtle",
    )  # fmt: skip
    assert page.kind is EntryKind.URL


def test_feeds_and_lists_of_addresses_are_read_where_a_sitemap_is_expected() -> None:
    rss = (
        "<rss><channel><link>http://a.example/</link><item><link>http://a.example/i</link>"
        "<pubDate>Tue, 03 Jun 2003 09:39:21 GMT</pubDate></item></channel></rss>"
    )
    atom = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link href="/e"/>'
        '<link rel="edit" href="/edit"/><updated>2003-12-13T18:30:02Z</updated></entry></feed>'
    )
    assert addresses(read(rss)) == ["http://a.example/i"]
    assert read(rss).entries[0].modified == 1054633161
    assert addresses(read(atom)) == ["/e"]
    assert addresses(read("\ufeffhttp://a.example/1\r\nhttp://a.example/2")) == [
        "http://a.example/1", "http://a.example/2",
    ]  # fmt: skip
    for body in (rss, atom, "http://a.example/1"):
        assert not read(body, expected=False).form


@pytest.mark.parametrize("body", ["", "hello", "<html><body>x</body></html>", "{}", "\0\1\2"])
def test_what_is_no_sitemap_has_no_form(body: str) -> None:
    file = read(body)
    assert (file.form, file.entries) == ("", [])


def test_encodings_are_those_of_xml_and_unknown_ones_count_as_utf_8() -> None:
    body = urlset("http://a.example/é?a=1&amp;b=2")
    wanted = ["http://a.example/é?a=1&b=2"]
    assert addresses(read(body.replace("UTF-8", "UTF-16").encode("utf-16"))) == wanted
    assert addresses(read(body.replace("UTF-8", "ISO-8859-1").encode("latin-1"))) == wanted
    assert addresses(read(body.replace("UTF-8", "nonsense"))) == wanted


@pytest.mark.parametrize("ampersand", ["&", "&amp;", "&#38;", "&#x26;"])
def test_ampersands_are_read_however_they_are_written(ampersand: str) -> None:
    body = urlset(f"http://a.example/?a=1{ampersand}b=2", "http://a.example/\x01").encode()
    assert addresses(read(body))[0] == "http://a.example/?a=1&b=2"


WANTED = "http://a.example/g?a=1&b=é&c=<"
_CDATA = "<![CDATA[http://a.example/g?a=1&b=é&c=<]]>"
_PLAIN = "http://a.example/g?a=1&amp;b=é&amp;c=&lt;"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(urlset(_CDATA), id="CDATA"),
        pytest.param(urlset(f"\n  {_CDATA}\n"), id="CDATA with white space"),
        pytest.param(
            urlset("http://a.example/<![CDATA[g?a=1&b]]>=é<![CDATA[&c=<]]>"), id="in parts"
        ),
        pytest.param(urlset("http://a.example/g?a=1&b=&eacute;&amp;c=&lt;"), id="a name of HTML"),
        pytest.param(urlset("http://a.example/g?a=1&#38;b=&#xE9;&#x26;c=&#60;"), id="numbers"),
        pytest.param(
            urlset("http://a.example/g?<!-- & ]]> -->a=1&b=é&<?x & ?>c=&lt;"), id="comments"
        ),
        pytest.param("\n \t" + urlset(_PLAIN), id="white space before"),
        pytest.param("\ufeff\n" + urlset(_PLAIN), id="a mark before"),
        pytest.param("<br />\n<b>Warning</b>: x & y in <b>z</b>\n" + urlset(_PLAIN), id="warnings"),
        pytest.param(urlset(_PLAIN).replace(NS, ""), id="no namespace"),
        pytest.param(urlset(_PLAIN).replace("sitemaps.org", "google.com"), id="another namespace"),
        pytest.param(
            urlset(_PLAIN).replace("<url", "<s:url").replace("/url", "/s:url"), id="prefix"
        ),
        pytest.param(
            urlset(_PLAIN).replace("urlset", "URLSet").replace("loc>", "Loc>"), id="mixed case"
        ),
        pytest.param(gzip.compress(urlset(_PLAIN).encode()), id="packed"),
        pytest.param(urlset(_PLAIN).replace("UTF-8", "x").encode("utf-16-le"), id="UTF-16"),
        pytest.param(
            urlset(_PLAIN).replace("UTF-8", "x").encode("utf-16"), id="UTF-16 with a mark"
        ),
        pytest.param(urlset(_PLAIN).replace("UTF-8", "gb18030").encode("gb18030"), id="GB18030"),
        pytest.param(
            urlset(_PLAIN.replace("é", "&eacute;")).replace("UTF-8", "Shift_JIS").encode(),
            id="SJIS",
        ),
    ],
)
def test_odd_and_broken_forms(body: str | bytes) -> None:
    """An address is read whole from all that sitemaps are made of, in pieces of any size, too."""
    assert addresses(read(body)) == [WANTED]
    data = body.encode() if isinstance(body, str) else body
    for size in (1, 7, 50):
        pieces = (data[i : i + size] for i in range(0, len(data), size))
        assert addresses(read_sitemap(pieces)) == [WANTED]


@given(
    st.lists(
        st.sampled_from(
            [
                "<![CDATA[",
                "]]>",
                "]",
                "<!--",
                "-->",
                "<?",
                "?>",
                "&",
                "amp;",
                "#38;",
                "eacute;",
                "nonsense;",
                "<",
                ">",
                "x",
                "&" + "a" * 40,
            ]
        )
    ),
    st.data(),
)
def test_references_are_repaired_in_pieces_as_in_the_whole(
    parts: list[str], data: st.DataObject
) -> None:
    """Where a piece ends makes no difference."""
    text = "".join(parts)
    cut = data.draw(st.integers(0, len(text)))
    assert "".join(repaired([text[:cut], text[cut:]])) == "".join(repaired([text]))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lists_of_addresses_in_wide_encodings(encoding: str, end: str) -> None:
    text = f"http://a.example/é{end}{end} https://a.example/b {end}"
    wanted = ["http://a.example/é", "https://a.example/b"]
    assert addresses(read(text.encode(encoding))) == wanted
    assert addresses(read(gzip.compress(text.encode(encoding)))) == wanted


def test_a_document_type_is_refused_and_no_entity_is_expanded() -> None:
    bomb = (
        '<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">'
        '<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://a/&b;&x;</loc></url></urlset>'
    )
    file = read(bomb)
    assert (file.form, file.entries) == ("", [])
    assert "DOCTYPE" in file.faults[0]


def test_a_bomb_is_read_up_to_the_limit() -> None:
    packed = gzip.compress(b"<urlset>" + b" " * 20_000_000)
    assert len(packed) < 30_000
    file = read(packed, limits=SitemapLimits(bytes=1_000_000))
    assert file.faults == ["it has more than 1,000,000 bytes; the rest is not read"]


def test_more_entries_than_the_limit_are_left_out_and_told_of() -> None:
    file = read(
        urlset(*map("http://a.example/{}".format, range(20))), limits=SitemapLimits(entries=5)
    )
    assert len(file.entries) == 5
    assert "more than 5 entries" in file.faults[0]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (gzip.compress(urlset("http://a.example/" + "x" * 999).encode())[:-20], "cut off"),
        (b"\x1f\x8bnonsense", "compression is broken"),
        ("<urlset>" + "<a>" * 99, "nested too deep"),
        ("<!--" + "x" * 99_999, "no element"),
    ],
    ids=["cut off", "broken", "nested", "no element"],
)
def test_what_is_broken_is_told_in_a_line(body: str | bytes, fault: str) -> None:
    assert fault in " ".join(read(body).faults)


def test_entries_before_a_fault_are_kept() -> None:
    body = urlset("http://a.example/1", "http://a.example/2")
    assert addresses(read(body[:-20])) == ["http://a.example/1"]


@given(st.binary(max_size=300), st.integers(1, 50))
def test_no_bytes_in_whatever_pieces_raise(body: bytes, size: int) -> None:
    def pieces(data: bytes) -> Iterable[bytes]:
        return (data[i : i + size] for i in range(0, len(data), size))

    for data in (body, b"<urlset><url><loc>" + body, gzip.compress(body)):
        read_sitemap(pieces(data))


@given(st.integers(1, 40))
def test_pieces_make_no_difference(size: int) -> None:
    body = urlset(*(f"http://a.example/{n}?x=1&amp;y={n}" for n in range(5))).encode()
    pieces = (body[i : i + size] for i in range(0, len(body), size))
    assert read_sitemap(pieces).entries == read(body).entries


def test_links_are_absolute_each_once_and_of_hosts_that_may_be_listed() -> None:
    file = read(
        urlset("/rel", "http://a.example/rel", "http://b.example/x", "javascript:x", SITEMAP)
    )
    links, odd = links_of(file.entries, SITEMAP, lambda url: "//a.example/" in url)
    assert [link.url for link in links] == ["http://a.example/rel"]
    assert odd == {"relative": 2, "no address": 1, "of other hosts": 1}


def test_dumps_and_endpoints_of_data_sets_may_be_on_other_hosts() -> None:
    parts = "".join(
        f"<sc:{name}>http://b.example/{name}</sc:{name}>"
        for name in ("dataDumpLocation", "sparqlEndpointLocation", "sampleURI")
    )
    named = 'xmlns:sc="http://sw.deri.org/2007/07/sitemapextension/scschema.xsd"'
    file = read(f"<urlset {named}><sc:dataset>{parts}</sc:dataset></urlset>".encode())
    links, odd = links_of(file.entries, SITEMAP, lambda url: "//a.example/" in url)
    assert [link.url.rpartition("/")[2] for link in links] == [
        "dataDumpLocation",
        "sparqlEndpointLocation",
    ]
    assert odd == {"of other hosts": 1}


def test_what_a_sitemap_says_of_an_address_are_its_cues() -> None:
    more = "<lastmod>2024-01-02</lastmod><priority>0.8</priority><changefreq>daily</changefreq>"
    file = read(urlset("http://a.example/x", more=more))
    (link,), _ = links_of(file.entries, SITEMAP, lambda url: True, now=1704412800.0)
    assert link.cues == "modified:7-days priority:0.8 changes:daily"
    assert (link.element, link.tag_path, str(link.found_by)) == (
        "sitemap",
        "sitemap/url",
        "sitemap",
    )


def test_robots_name_sitemaps_in_lines_of_their_own() -> None:
    robots = (
        b"User-agent: *\r\nsitemap : http://a.example/1.xml # x\rSITEMAP:/2.xml\n#Sitemap: /3\n"
    )
    assert named_sitemaps(robots) == ["http://a.example/1.xml", "/2.xml"]


def test_names_of_sitemaps() -> None:
    assert is_sitemap_name("http://a.example/x/sitemap-news.xml.gz?x=1")
    assert not is_sitemap_name("http://a.example/sitemap/")


def test_lists_of_resourcesync_lead_to_lists_and_their_documents_have_types() -> None:
    """Deleted documents are left out."""
    rs = 'xmlns:rs="http://www.openarchives.org/rs/terms/"'
    body = (
        f'<urlset {NS} {rs}><rs:md capability="capabilitylist"/><rs:ln rel="up" href="/up"/>'
        '<url><loc>http://a.example/list.xml</loc><rs:md capability="resourcelist"/></url>'
        '<url><loc>http://a.example/1</loc><rs:md change="created" type="text/turtle"/>'
        '<rs:ln rel="describedby" href="/1.rdf" type="application/rdf+xml"/>'
        '<rs:ln rel="duplicate" href="/copy"/></url>'
        '<url><loc>http://a.example/2</loc><rs:md change="deleted"/></url></urlset>'
    )
    assert [(entry.address, entry.kind, entry.type) for entry in read(body).entries] == [
        ("http://a.example/list.xml", EntryKind.SITEMAP, ""),
        ("http://a.example/1", EntryKind.URL, "text/turtle"),
        ("/1.rdf", EntryKind.ALTERNATE, "application/rdf+xml"),
    ]
