"""JSON-LD contexts in headers, as pages, as links and in the budget."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from harvest.runs import Run, asked, harvest, logged

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from spiders.site import HTML, JSON_LD, page

pytestmark = pytest.mark.slow

D, C = "http://d.example", "http://c.example"
JSON = "application/json"
CONTEXT_REL = 'rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"'
CONTEXT = json.dumps(
    {"@context": {"id": "@id", "type": "@type", "@vocab": "http://v.example/"}}
).encode()
ENTITY = b'[{"id": "urn:e:1", "type": "Tide", "level": 3}]'

Answer = tuple[int, list[tuple[str, str]], bytes]


def ok(kind: str, body: bytes, *headers: tuple[str, str]) -> Answer:
    return 200, [("Content-Type", kind), *headers], body


def document(context: str, name: str) -> bytes:
    return json.dumps({"@context": context, "id": f"urn:{name}", "label": name}).encode()


def crawl(
    folder: Path, answers: dict[str, Answer], *options: str
) -> tuple[Run, Counter[str], list[dict[str, str]]]:
    """Crawl from the page ``/``; addresses are host and path."""

    async def answer(request: Request, out: Stream) -> None:
        found = answers.get(request.host + request.path)
        if found is None:
            await out.whole(404, [("Content-Type", "text/plain")], b"")
        else:
            await out.whole(*found)

    log = folder / "log.jsonl"
    hosts = {"d.example": answer, "c.example": answer}
    with serve(DemoWeb(), handlers=hosts, log=log) as server:
        run = harvest(
            *(f"{D}/", "--fast", "--scope", "d.example,c.example", *options),
            folder=folder / "out",
            proxy=server.proxy_url,
        )
    run.is_calm()
    sent = asked(log)
    for robots in ("d.example/robots.txt", "c.example/robots.txt"):
        del sent[robots]
    return run, sent, logged(log)


def test_an_ngsi_ld_broker_gives_rdf(tmp_path: Path) -> None:
    """Its JSON names the context in a header; the context itself is no target."""
    answers = {
        "d.example/": ok(*page("/ngsi-ld/v1/entities/")),
        "d.example/ngsi-ld/v1/entities/": ok(
            JSON, ENTITY, ("Link", f"<{C}/core.jsonld>; {CONTEXT_REL}")
        ),
        "c.example/core.jsonld": ok(JSON_LD, CONTEXT),
    }
    run, sent, _ = crawl(tmp_path, answers)
    assert run.documents() == {f"{D}/ngsi-ld/v1/entities/": 2}
    text = "".join(run.quads)
    assert "<urn:e:1> <http://v.example/level>" in text
    assert sent["c.example/core.jsonld"] == 1
    assert run.outcomes()[f"{C}/core.jsonld"] == ["fetched-context"]


def test_two_contexts_in_headers_are_an_error(tmp_path: Path) -> None:
    links = [("Link", f"<{C}/{name}>; {CONTEXT_REL}") for name in ("a", "b")]
    answers = {"d.example/": ok(*page("/rdf/e")), "d.example/rdf/e": ok(JSON, ENTITY, *links)}
    run, _sent, _ = crawl(tmp_path, answers)
    (record,) = [each for each in run.records if each["url"] == f"{D}/rdf/e"]
    assert record["outcome"] == "parse-error"
    assert "2 Link headers name a context" in record["errors"]


@pytest.mark.parametrize("kind", [HTML, "text/plain", ""])
def test_a_context_that_is_a_page_leads_to_its_json_ld(tmp_path: Path, kind: str) -> None:
    """As schema.org's does; the redirect before it is followed, too."""
    link = ("Link", '</context.jsonld>; rel="alternate"; type="application/ld+json"')
    answers = {
        "d.example/": ok(*page("/a.jsonld")),
        "d.example/a.jsonld": ok(JSON_LD, document(f"{C}/vocab", "a")),
        "c.example/vocab": (302, [("Location", "/vocab/")], b""),
        "c.example/vocab/": ok(kind, page()[1], link),
        "c.example/context.jsonld": ok(JSON_LD, CONTEXT),
    }
    run, sent, _ = crawl(tmp_path, answers)
    assert run.documents() == {f"{D}/a.jsonld": 1}
    assert sent["c.example/context.jsonld"] == 1


def test_a_context_is_fetched_once_as_context_and_as_link(tmp_path: Path) -> None:
    """Whether a document or a link comes first; in neither case is it a target."""
    answers = {
        "d.example/": ok(*page("/first.jsonld", "/b/a.jsonld", "/b/after.jsonld", "/c")),
        "d.example/first.jsonld": ok(JSON_LD, CONTEXT),
        "d.example/b/a.jsonld": ok(JSON_LD, document(f"{D}/first.jsonld", "a")),
        "d.example/b/after.jsonld": ok(JSON_LD, document(f"{D}/second.jsonld", "after")),
        "d.example/c": ok(*page("/c/d")),
        "d.example/c/d": ok(*page("/second.jsonld")),
        "d.example/second.jsonld": ok(JSON_LD, CONTEXT),
    }
    run, sent, _ = crawl(tmp_path, answers, "-s", "CONCURRENT_REQUESTS=1")
    assert set(sent.values()) == {1}
    assert set(run.documents()) == {f"{D}/b/a.jsonld", f"{D}/b/after.jsonld"}
    assert run.summary["targets"] == 2


def test_contexts_count_for_the_budget(tmp_path: Path) -> None:
    names = [f"/{number}.jsonld" for number in range(20)]
    answers = {"d.example/": ok(*page(*names))}
    for number, name in enumerate(names):
        answers[f"d.example{name}"] = ok(JSON_LD, document(f"{C}/{number}", str(number)))
        answers[f"c.example/{number}"] = ok(JSON_LD, CONTEXT)
    run, sent, _ = crawl(
        tmp_path, answers, "--pages", "11", "-s", "CONCURRENT_REQUESTS=1",
        "-s", "SEMCRAWL_MAX_LEASES=1",
    )  # fmt: skip
    # a document that is fetched gets its context, even beyond the budget
    assert 11 <= sent.total() <= 13
    assert 4 <= len(run.documents()) <= 7
