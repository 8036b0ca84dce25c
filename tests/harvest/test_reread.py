"""``semcrawl reread`` gives what the harvest gave, out of its recording."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluation.test_recording import record
from spiders.site import handler, page, triples

from harvest.runs import Run, harvest, semcrawl
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.sources.negotiation import prefers_rdf

pytest.importorskip("warcio")
pytestmark = pytest.mark.slow

HTML, TURTLE = {"Content-Type": "text/html"}, {"Content-Type": "text/turtle"}
HOME = page("/a.nt", "/b.ttl", "/names.jsonld", "/thing", "/broken.ttl", "/gone.ttl", "/shy.ttl")
SITE = {
    "/": HOME,
    "/a.nt": ("application/n-triples", triples("a", 3)),
    "/b.ttl": ("text/turtle", b"[] <urn:p> [ <urn:q> 1 ], <c> ."),
    "/broken.ttl": (
        "text/turtle",
        b"@prefix a: <urn:a> .\na:b a:c 2 .\na:e a:f ] .\na:g a:h 1 .",
    ),
    "/names.jsonld": (
        "application/ld+json",
        b'{"@context": "http://d.example/context.jsonld", "@id": "#x", "label": "X"}',
    ),
    "/context.jsonld": ("application/ld+json", b'{"@context": {"label": "urn:l"}}'),
    "/data.html": (
        "text/html",
        b'<a href="/">home</a><script type="application/ld+json">'
        b'{"@context": "http://schema.org", "@id": "#t", "name": "T"}</script>',
    ),
}


def lines(folder: Path, name: str = "quads.nq") -> set[str]:
    return set((folder / name).read_text(encoding="utf-8").splitlines())


def reread(*arguments: str | Path, folder: Path) -> Run:
    return semcrawl("reread", *map(str, arguments), folder=folder)


def test_a_recording_gives_the_quads_of_its_harvest(tmp_path: Path) -> None:
    rest = handler(SITE)

    async def answer(request, out):
        if request.path == "/thing":  # a page, or RDF for those who ask for it
            asks = prefers_rdf(request.headers.get("accept", ""))
            kind = "text/turtle" if asks else "text/html"
            body = b"<#t> <urn:is> 1 ." if asks else b"<a href=/data.html>thing</a>"
            await out.whole(200, [("Content-Type", kind), ("Vary", "Accept")], body)
        else:
            await rest(request, out)

    job, out = tmp_path / "job", tmp_path / "out"
    with serve(DemoWeb(), handlers={"d.example": answer}) as server:
        run = harvest("http://d.example/", "--fast", "--record", folder=job, proxy=server.proxy_url)
    assert len(run.documents()) >= 5
    again = reread(job, "--out", out, folder=job)
    assert again.status == 0, again.err
    assert lines(out) == lines(job)
    assert lines(out, "embedded.nq") == lines(job, "embedded.nq") != set()
    piped = reread(job, "--processes", "1", folder=job)
    assert set(piped.out.splitlines()) == lines(job) | lines(job, "embedded.nq")
    assert piped.err == again.err
    topic = reread(job, "--about", "keywords:nothing of this", folder=job)
    assert (topic.status, topic.out) == (0, "")
    reread(job, "--out", job, folder=job).says_in_one_line("not empty")


def test_what_cannot_be_read_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    url = "http://a.example/x.ttl"
    path = tmp_path / "a.warc.gz"
    record(
        path,
        [
            (url, 200, TURTLE, b"<urn:a> <urn:b> <urn:old> ."),
            (url, 404, HTML, b"no"),
            (url, 200, TURTLE, b"<urn:a> <urn:b> <urn:new> ."),
            ("http://a.example/bad.ttl", 200, TURTLE, b"@prefix x: <urn:x> .\n<urn:a> <urn:b> ] ."),
            ("http://a.example/found?query=a%7Bb", 200, HTML, HOME[1]),
            ("http://a.example/n", 200, TURTLE | {"X-Robots-Tag": "noarchive"}, b"<u:a> <u:b> 1."),
        ],
    )  # fmt: skip
    (tmp_path / "b.warc.gz").write_bytes(path.read_bytes()[:-20])
    (tmp_path / "c.warc").write_bytes(b"nonsense")
    run = reread(tmp_path, "--out", tmp_path / "out", folder=tmp_path / "out")
    assert run.status == 1
    assert lines(tmp_path / "out") == {f"<urn:a> <urn:b> <urn:new> <{url}> ."}
    *told, summary = run.err.splitlines()
    assert {line.partition(": ")[0] for line in told} == {
        "http://a.example/bad.ttl", str(tmp_path / "b.warc.gz"), str(tmp_path / "c.warc")
    }  # fmt: skip
    for part in (
        "11 responses",
        "2 pages without data",
        "2 unreadable",
        "2 damaged records",
        "2 status 404",
    ):
        assert part in summary
    reread(tmp_path / "none", folder=tmp_path / "out").says_in_one_line("no WARC file")
