"""One spelling for every URL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.web import urls as module
from semcrawl.web.hosts import join_url
from semcrawl.web.urls import (
    Normalisation,
    dropped_index,
    extension_of,
    normalise,
    resolve,
    segments,
)

paths = st.lists(
    st.sampled_from(
        [
            "a",
            "B",
            "index.html",
            "..",
            ".",
            "",
            "é",
            "%2f",
            "%7e",
            "%69ndex.html",
            "x.rdf",
            "~u",
            "a b",
        ]
    ),
    max_size=5,
).map(lambda parts: "/" + "/".join(parts))
queries = st.sampled_from(["", "?", "?a=1", "?sort=name&b=2", "?a=", "?%c3", "?x"])
urls = st.builds(
    lambda scheme, host, path, query, part: f"{scheme}://{host}{path}{query}{part}",
    st.sampled_from(["http", "HTTPS", "https"]),
    st.sampled_from(["a.org", "A.ORG", "www.a.org:80", "a.org:8080", "[::1]:443", "münchen.de"]),
    paths,
    queries,
    st.sampled_from(["", "#", "#part"]),
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:8080/", "http://example.org:8080/"),
        ("http://example.org:443/a", "http://example.org:443/a"),
        ("https://example.org:80/a", "https://example.org:80/a"),
        ("http://example.org/a#part", "http://example.org/a"),
        ("http://example.org/a/index.html", "http://example.org/a/"),
        ("http://example.org/a/index.html?x=1", "http://example.org/a/index.html?x=1"),
        ("http://example.org/default.aspx", "http://example.org/"),
        ("http://example.org/Index.html", "http://example.org/Index.html"),
        ("http://example.org/index.php", "http://example.org/index.php"),
        ("http://example.org/%2fa%c3%a9", "http://example.org/%2Fa%C3%A9"),
        ("http://example.org/%7ea/%69%6edex.html", "http://example.org/~a/"),
        ("http://example.org/%2e%2e/a?x=%7e%26", "http://example.org/%2E%2E/a?x=~%26"),
        ("http://example.org/é", "http://example.org/%C3%A9"),
        ("http://example.org/a b", "http://example.org/a%20b"),
        ("http://example.org/?", "http://example.org/"),
        ("http://example.org/?a=&b=1", "http://example.org/?a=&b=1"),
        ("http://example.org/x?rdf=", "http://example.org/x?rdf="),
        ("http://example.org/x?a&b=&&=c&", "http://example.org/x?a&b=&&=c&"),
        ("http://example.org/x?a=&sort=&b", "http://example.org/x?a=&b"),
        ("http://example.org/?sort=name&b=1", "http://example.org/?b=1"),
        ("http://example.org/dir/?C=N;O=D", "http://example.org/dir/"),
        ("http://example.org./", "http://example.org/"),
        ("http://example.org/a/../b/./c", "http://example.org/b/c"),
        ("http://example.org/../..", "http://example.org/"),
        ("http://example.org/a/..", "http://example.org/"),
        ("http://[::1]/", "http://[::1]/"),
    ],
)
def test_lossless_rules_always_hold(url, expected):
    """The rules that lose nothing are applied by default."""
    assert normalise(url) == expected


@pytest.mark.parametrize(
    "url",
    ["", "a/b", "ftp://a.org/", "mailto:a@b.c", "http://", "http:///a", "http://a:b/", "http://[x/",
     "javascript:void(0)", "http://a.org/" + "x" * 5000, "http://" + "a" * 300 + "/",
     "http://a b/", "http://a%20b.org/", "http://%61.org/?x=%31", "http://xn--\ufffd/", "http://./",
     "http://a..org/", "http://A" + "a" * 63 + ".org/", "http://" + "a" * 64 + ".org/",
     "http://a." + "b" * 64 + "/", "http://" + "a." * 130 + "org/"],
)  # fmt: skip
def test_what_is_no_web_address_is_none(url):
    """Anything but a usable http or https URL gives None."""
    assert normalise(url) is None


def test_lossy_rules_are_options():
    """The rules that may lose something are off until asked for."""
    url = "https://www.example.org/a?b=1"
    assert normalise(url) == url
    every = Normalisation(https_to_http=True, drop_www=True, drop_query=True)
    assert normalise(url, every) == "http://example.org/a"
    assert normalise("https://a.org:8443/", every) == "https://a.org:8443/"


def test_hosts_known_by_their_address_get_their_name():
    options = Normalisation(names={"192.0.2.7": "a.org", "2001:db8::1": "b.org"})
    assert normalise("http://192.0.2.7/x", options) == "http://a.org/x"
    assert normalise("http://192.0.2.7:8080/?a=%31", options) == "http://a.org:8080/?a=1"
    assert normalise("http://[2001:DB8::1]/", options) == "http://b.org/"
    assert normalise("http://192.0.2.70/", options) == "http://192.0.2.70/"
    assert resolve("http://192.0.2.7/x/", "y", options) == "http://a.org/x/y"


def test_an_exact_address_keeps_its_path_and_query():
    exact = Normalisation(exact=True)
    assert normalise("HTTP://A.org:80/x/../d/index.html?a=&sort=b#c", exact) == (
        "http://a.org/d/index.html?a=&sort=b"
    )
    assert resolve("http://a.org/", "/index.html", exact) == "http://a.org/index.html"


@pytest.mark.parametrize(
    ("reference", "index"),
    [
        ("index.html", "index.html"),
        ("/a/index.htm#top", "index.htm"),
        ("http://a.org/default.asp", "default.asp"),
        ("/a/", ""),
        ("/a/myindex.html", ""),
        ("index.html?page=2", ""),
    ],
)
def test_the_index_that_normalising_drops(reference: str, index: str):
    assert dropped_index(reference) == index
    if index:
        assert f"{resolve('http://a.org/b/', reference)}".endswith("/")


@given(urls)
def test_normalising_twice_changes_nothing(url):
    """A normalised URL is its own normal form."""
    once = normalise(url)
    assert once is None or normalise(once) == once


@given(st.text(max_size=60))
def test_no_text_makes_it_fail(text):
    """Any text gives a URL or None, alone and as a reference."""
    assert normalise(text) is None or normalise(text).startswith("http")
    found = resolve("http://a.org/x/y?z", text)
    assert found is None or found.startswith(("http://", "https://"))


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("c", "http://a.org/x/c"),
        ("../c.rdf", "http://a.org/c.rdf"),
        ("/c", "http://a.org/c"),
        ("//b.org/c", "http://b.org/c"),
        ("?q=2", "http://a.org/x/y?q=2"),
        (" \n/c\t", "http://a.org/c"),
        ("#part", None),
        ("", None),
        ("mailto:a@b.c", None),
        ("javascript:go()", None),
        ("data:text/plain,x", None),
        ("http://[", None),
        (r"..\data\x.rdf", "http://a.org/data/x.rdf"),
        (r"\data\x?path=C:\y", "http://a.org/data/x?path=C:%5Cy"),
        (r"\\b.org\c", "http://b.org/c"),
        (r"http:\\b.org\c", "http://b.org/c"),
        (r"/c#\d", "http://a.org/c"),
    ],
)
def test_references_are_resolved_against_the_page(reference, expected):
    """A reference becomes absolute; what leads nowhere is no link."""
    assert resolve("http://a.org/x/y?q=1", reference) == expected


@pytest.mark.parametrize(
    ("path", "extension"),
    [
        ("/a.RDF", "rdf"), ("/dump.nt.gz", "nt"), ("/all.gz", "gz"), ("/v1.0", ""), ("/a", ""),
        ("/a.b/c", ""), ("/.hidden", ""), ("/a.", ""), ("/dump.nt.tar.gz", "nt"),
        ("/dump-1.2.gz", "gz"),
    ],
)  # fmt: skip
def test_the_extension_that_tells_the_type(path, extension):
    """Compression is looked through; versions are no extensions."""
    assert extension_of(path) == extension


def test_segments():
    """A path's empty segments do not count."""
    assert segments("/a//b.html") == ("a", "b.html")


@given(
    urls,
    st.lists(
        st.sampled_from(
            [
                "/",
                "a",
                "B-1",
                ".",
                "..",
                "x.html",
                "index.html",
                "?q=1",
                "#f",
                "//",
                "%2f",
                "é",
                " ",
            ]
        ),
        min_size=1,
        max_size=5,
    ).map("".join),
)
def test_usual_references_take_no_short_cut_that_shows(base, reference):
    """Resolving gives the result of joining and normalising."""
    reference = reference.strip()
    if reference:
        try:
            joined = None if reference.startswith("#") else join_url(base, reference)
        except ValueError:
            joined = None
        expected = None if joined is None else normalise(joined)
        assert resolve(base, reference) == expected


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [
        (" \t\n\x01x.ttl\x1f \r\n", "http://a.org/d/x.ttl"),
        ("x\n.t\ttl", "http://a.org/d/x.ttl"),
        ("/a\\b?c\\d", "http://a.org/a/b?c%5Cd"),
        ("\\\\b.org\\x", "http://b.org/x"),
        ("//b.org/x", "http://b.org/x"),
        ("/\\b.org/x", "http://b.org/x"),
        ("http:x.ttl", "http://a.org/d/x.ttl"),
        ("http:/x.ttl", "http://a.org/x.ttl"),
        ("https:b.org/x", "https://b.org/x"),
        ("https:/b.org/x", "https://b.org/x"),
        ("http:///b.org/x", "http://b.org/x"),
        ("HtTpS://B.org:443/x", "https://b.org/x"),
        ("x;", "http://a.org/d/x;"),
        (";v=1", "http://a.org/d/;v=1"),
        ("../../../x", "http://a.org/x"),
        ("%2E%2e/x", "http://a.org/x"),
        ("?", "http://a.org/d/p"),
        ("?rdf=", "http://a.org/d/p?rdf="),
        ("x|{y}^`", "http://a.org/d/x%7C%7By%7D%5E%60"),
        ("//", None),
        ("https://", None),
        ("data:text/turtle,%3Ca%3E", None),
        (" javascript:void(0)", None),
        ("java\nscript:void(0)", None),
        ("blob:http://a.org/x", None),
        ("#x", None),
    ],
)
def test_references_are_resolved_as_browsers_do(reference: str, wanted: str | None) -> None:
    """The rules are those of the URL Standard."""
    assert resolve("http://a.org/d/p?q#f", reference) == wanted


def test_cached_references_belong_to_their_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full cache is emptied, and pages that are being read go on with theirs."""
    monkeypatch.setattr(module, "_MOST_CACHED", 3)
    monkeypatch.setattr(module, "_CACHE", module._Cache())
    one, two = module.Resolver("http://one.example/a/b"), module.Resolver("https://two.example/")
    for _ in range(2):
        for path in ("/x", "/y.html", "/z/"):
            assert one.resolve(path) == f"http://one.example{path}"
            assert two.resolve(path) == f"https://two.example{path}"
    assert set(two.cached) <= {"/x", "/y.html", "/z/"}
    assert module.Resolver("http://one.example:81/").resolve("/x") == "http://one.example:81/x"


def test_dots_at_the_end_of_a_base_name_a_folder():
    assert resolve("http://a.org/a/..", "b") == "http://a.org/b"
    assert resolve("http://a.org/a/.", "b") == resolve("http://a.org/a/c", "b")
