import json
import tarfile

import pytest

from semcrawl.errors import UsageError
from semcrawl.lab.worlds import FolderSite, FolderWorld
from semcrawl.lab.worldsets import load_sites
from semcrawl.web.vocabulary import Kind

RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "site"
    (root / "sub" / ".git").mkdir(parents=True)
    (root / "index.html").write_text('<a href="https://a.example/data/x.ttl">x</a>')
    (root / "page.html").write_text("<html></html>")
    (root / "x.ttl").write_text("@prefix a: <urn:a> .")
    (root / "feed.xml").write_text("<feed/>")
    (root / "foaf.xml").write_text(RDF)
    (root / "noext").write_text(RDF)
    (root / "x.json").write_text('{"@context": {}}')
    (root / "turtle.owl").write_text("@prefix a: <urn:a> .")
    (root / "page.owl").write_text("<!DOCTYPE html><html></html>")
    (root / "sub" / "index.htm").write_text("sub")
    (root / "sub" / ".git" / "config").write_text("secret")
    (tmp_path / "outside.ttl").write_text("@prefix a: <urn:a> .")
    return root


def world(folder, **options):
    return FolderWorld(FolderSite("a.example", folder, base="/data/", **options))


def kind(world, path):
    answer = world.fetch(f"http://a.example/data/{path}")
    return answer.status, answer.kind, answer.content_type.partition(";")[0]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", (200, Kind.HTML, "text/html")),
        ("page", (200, Kind.HTML, "text/html")),
        ("page.owl", (200, Kind.HTML, "text/html")),
        ("x.ttl", (200, Kind.RDF, "text/turtle")),
        ("feed.xml", (200, Kind.OTHER, "application/xml")),
        ("foaf.xml", (200, Kind.RDF, "application/xml")),
        ("noext", (200, Kind.RDF, "application/rdf+xml")),
        ("x.json", (200, Kind.RDF, "application/json")),
        ("turtle.owl", (200, Kind.RDF, "text/turtle")),
        ("nothing", (404, None, "text/html")),
        ("sub/.git/config", (404, None, "text/html")),
        ("../outside.ttl", (404, None, "text/html")),
        ("%2e%2e/outside.ttl", (404, None, "text/html")),
        ("a%00b", (404, None, "text/html")),
    ],
)
def test_what_a_file_is(folder, path, expected):
    assert kind(world(folder), path) == expected


def test_a_directory_is_asked_for_with_a_slash(folder):
    answer = world(folder).fetch("http://a.example/data/sub")
    assert (answer.status, answer.location) == (301, "http://a.example/data/sub/")
    assert world(folder).body("http://a.example/data/sub/") == b"sub"


@pytest.mark.parametrize("path", ["sub", "nothing", "a%00b", "../outside.ttl"])
def test_what_serves_no_file_has_no_body(folder, path):
    assert world(folder).body(f"http://a.example/data/{path}") == b""


def test_what_is_no_folder_has_no_page_below_it(folder):
    assert kind(world(folder), "page/")[0] == 404
    assert kind(world(folder), "/x.ttl")[0] == 200
    assert world(folder).fetch("http://a.example/data").kind is Kind.HTML
    assert world(folder).fetch("http://a.example/other").status == 404


def test_queries_are_ignored_and_the_document_is_the_same(folder):
    one = world(folder).fetch("http://a.example/data/x.ttl?v=1")
    two = world(folder).fetch("http://www.a.example/data/x.ttl")
    assert one.document == two.document == "x.ttl"


def test_aliases_lead_into_the_folder(folder):
    site = world(folder, aliases=(("w3id.example/x/", ""), ("w3id.example/x/s/", "sub/")))
    assert site.hosts == {"a.example", "www.a.example", "w3id.example"}
    assert site.fetch("http://w3id.example/x/x.ttl").kind is Kind.RDF
    assert site.body("http://w3id.example/x/s/") == b"sub"
    assert site.body("http://w3id.example/x/s") == b"sub"
    assert site.fetch("http://w3id.example/y").status == 404


def test_content_types_can_be_overridden(folder):
    site = world(folder, types={".xml": "text/xml"})
    assert kind(site, "foaf.xml") == (200, Kind.RDF, "text/xml")


def test_own_https_links_become_http(folder):
    assert b'"http://a.example/data/x.ttl"' in world(folder).body("http://a.example/data/")


def test_a_list_of_sites_reads_folders_and_archives(folder, tmp_path):
    with tarfile.open(tmp_path / "packed.tar.xz", "w:xz") as tar:
        tar.add(folder, "packed")
    sites = [
        {"host": "a.example", "root": "site", "base": "/x/", "start": "page.html"},
        {"host": "b.example", "archive": "packed.tar.xz", "aliases": ["c.example/y/=sub/"]},
    ]
    path = tmp_path / "sites.json"
    path.write_text(json.dumps({"sites": sites}))
    for _ in range(2):  # the second time it is unpacked already
        one, two = load_sites(path)
        assert one.starts == ("http://a.example/x/page.html",)
        assert two.fetch("http://b.example/").kind is Kind.HTML
        assert two.body("http://c.example/y/") == b"sub"
        assert two.name == "packed"


GOOD = '{"host": "a", "root": "site"}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "JSON"),
        ("[]", "sites"),
        ("{}", "sites"),
        ('{"sites": []}', "sites"),
        ('{"sites": {"a": 1}}', "sites"),
        ('{"sites": [GOOD, "a"]}', "site 2"),
        ('{"sites": [GOOD, {"root": "site"}]}', "site 2: 'host'"),
        ('{"sites": [{"host": "a"}]}', "site 1: 'root'"),
        ('{"sites": [{"host": 5, "root": "site"}]}', "site 1: 'host'"),
        ('{"sites": [{"host": "a", "root": "nowhere"}]}', "nowhere"),
        ('{"sites": [{"host": "a", "archive": "nowhere.tar"}]}', "nowhere.tar"),
        ('{"sites": [{"host": "a", "archive": "site/x.ttl"}]}', "site 1: file could not be opened"),
        ('{"sites": [{"host": "a", "root": "site", "aliases": "b/"}]}', "site 1: 'aliases'"),
        ('{"sites": [{"host": "a", "root": "site", "types": [".x"]}]}', "site 1: 'types'"),
    ],
)
def test_a_bad_list_is_refused_in_one_line(folder, text, reason):
    path = folder.parent / "sites.json"
    path.write_text(text.replace("GOOD", GOOD))
    with pytest.raises(UsageError) as caught:
        load_sites(path)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
