"""Crawls of servers that choose by the ``Accept`` header, each in its own way."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from harvest.runs import Run, harvest, logged
from sources.rules import RULES, Rule

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Handler, Request, Stream
from spiders.site import page

pytestmark = pytest.mark.slow

TRIES = "bound:config.options:LeadOptions.tries"
TYPES = {
    "turtle": "text/turtle",
    "rdfxml": "application/rdf+xml",
    "jsonld": "application/ld+json",
    "ntriples": "application/n-triples",
    "trig": "application/trig",
}
D = "http://d.example"
IMPORTS = "<http://www.w3.org/2002/07/owl#imports>"


def document(syntax: str, name: str) -> bytes:
    """One statement about ``name`` in a syntax."""
    subject, label = f"{D}/{name}", "http://v.example/label"
    if syntax == "rdfxml":
        return (
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
            f'xmlns:v="http://v.example/"><rdf:Description rdf:about="{subject}">'
            f"<v:label>{name}</v:label></rdf:Description></rdf:RDF>"
        ).encode()
    if syntax == "jsonld":
        return f'{{"@id": "{subject}", "{label}": "{name}"}}'.encode()
    return f'<{subject}> <{label}> "{name}" .\n'.encode()


class Answer:
    """Answers at one address by a rule, itself or after a redirect."""

    def __init__(self, name: str, rule: Rule, *, redirects: bool, varies: bool = True) -> None:
        self.name, self.rule = name, rule
        self.redirects, self.varies = redirects, varies

    async def give(self, accept: str, out: Stream) -> None:
        what = self.rule(accept)
        headers = [("Vary", "Accept")] if self.varies else []
        if self.redirects and (what in TYPES or what in ("page", "none")):
            await out.whole(303, [*headers, ("Location", f"/{self.name}/as/{what}")], b"")
        else:
            await self.give_document(what, headers, out)

    async def give_document(self, what: str, headers: list[tuple[str, str]], out: Stream) -> None:
        if what in TYPES:
            body = document(what, self.name)
            await out.whole(200, [*headers, ("Content-Type", TYPES[what])], body)
        elif what == "page":
            kind, body = page(body=f"About {self.name}")
            await out.whole(200, [*headers, ("Content-Type", kind)], body)
        elif what == "nothing":
            await out.whole(200, headers, b"")
        else:
            status = 404 if what == "none" else int(what)
            await out.whole(status, headers, b"")


def handler(answers: dict[str, Answer], start: bytes, kind: str) -> Handler:
    async def answer(request: Request, out: Stream) -> None:
        accept = dict(request.headers).get("accept", "")
        _, name, *rest = request.path.split("/")
        if request.path == "/start":
            await out.whole(200, [("Content-Type", kind)], start)
        elif name in answers and rest[:1] == ["as"]:
            await answers[name].give_document(rest[1], [], out)
        elif name in answers:
            await answers[name].give(accept, out)
        else:
            await out.whole(404, [("Content-Type", "text/plain")], b"")

    return answer


def crawl(
    folder: Path, answers: dict[str, Answer], *options: str, as_page: bool = False
) -> tuple[Run, list[tuple[str, str]]]:
    """Crawl from RDF that imports all addresses, or from a page that links to them.

    Return the run, and path and ``Accept`` header of each request.
    """
    if as_page:
        kind, start = page(*(f"/{name}" for name in answers))
    else:
        kind = "text/turtle"
        start = "".join(f"<> {IMPORTS} <{D}/{name}> .\n" for name in answers).encode()
    log = folder / "log.jsonl"
    hosts = {"d.example": handler(answers, start, kind)}
    with serve(DemoWeb(), handlers=hosts, log=log) as server:
        run = harvest(
            *(f"{D}/start", "--fast", *options), folder=folder / "out", proxy=server.proxy_url
        )
    run.is_calm()
    sent = [(line["path"], line.get("accept", "")) for line in logged(log)]
    return run, [each for each in sent if each[0] != "/robots.txt"]


@pytest.mark.parametrize("redirects", [False, True], ids=["itself", "by redirects"])
def test_servers_of_all_shapes_give_their_rdf(tmp_path: Path, *, redirects: bool) -> None:
    """RDF that other RDF names is found, whatever the rules of its server.

    The hosts' bound for requests in vain is raised, as all shapes are on one host.
    """
    names = {f"n{number}x": shape for number, shape in enumerate(RULES)}
    answers = {
        name: Answer(name, RULES[shape][0], redirects=redirects) for name, shape in names.items()
    }
    run, _sent = crawl(tmp_path, answers, f"{TRIES}=100")
    text = "".join(run.quads)
    missing = [shape for name, shape in names.items() if f'"{name}"' not in text]
    assert not missing


@pytest.mark.parametrize("redirects", [False, True], ids=["itself", "by redirects"])
def test_pages_of_servers_of_all_shapes_lead_to_their_rdf(
    tmp_path: Path, *, redirects: bool
) -> None:
    """The RDF of addresses that pages link to is found, as they say that they vary by type."""
    names = {f"n{number}x": shape for number, shape in enumerate(RULES)}
    answers = {
        name: Answer(name, RULES[shape][0], redirects=redirects) for name, shape in names.items()
    }
    run, _sent = crawl(tmp_path, answers, f"{TRIES}=100", as_page=True)
    text = "".join(run.quads)
    missing = [shape for name, shape in names.items() if f'"{name}"' not in text]
    assert not missing


def test_requests_in_vain_are_bounded_recorded_and_counted(tmp_path: Path) -> None:
    """A host that refuses every type costs a few requests more, and its links stay not found."""
    answers = {f"n{n}x": Answer(f"n{n}x", lambda _: "406", redirects=False) for n in range(30)}
    run, sent = crawl(tmp_path, answers, "-s", "SEMCRAWL_FAMILY_TRIES=0")
    again = Counter(each["errors"] for each in run.records if "asked again" in each["errors"])
    assert len(sent) == 1 + 30 + again.total()
    # addresses of one shape: two tries
    assert again == {
        "HTTP status 406; asked again for Turtle alone": 2,
        "HTTP status 406; asked again for a page": 2,
    }
    assert {each["outcome"] for each in run.records if "/n" in each["url"]} == {"http-error"}


def test_where_it_helps_all_addresses_are_asked_again(tmp_path: Path) -> None:
    rule = RULES["the header is the type, or else 406"][0]
    answers = {f"n{n}x": Answer(f"n{n}x", rule, redirects=False) for n in range(20)}
    run, sent = crawl(tmp_path, answers)
    assert len(run.documents()) == 21
    assert len(sent) == 1 + 2 * 20


def test_an_address_without_rdf_gives_its_page_in_the_end(tmp_path: Path) -> None:
    """Turtle alone is asked for, then a page; the links of the page are followed."""
    only_page = RULES["the header is the type, or else 406"][0]

    def rule(accept: str) -> str:
        return "page" if accept.startswith("text/html") else only_page(accept + "x")

    run, sent = crawl(tmp_path, {"n1x": Answer("n1x", rule, redirects=False)})
    assert [record["status"] for record in run.records if "n1x" in record["url"]] == [406, 406, 200]
    accepts = [accept for path, accept in sent if path == "/n1x"]
    assert accepts[1] == "text/turtle"
    assert accepts[2].startswith("text/html")


@pytest.mark.parametrize(
    "option",
    [("-s", "SEMCRAWL_NEGOTIATION=never"), (f"{TRIES}=0",)],
)
def test_who_wants_no_negotiation_asks_once(tmp_path: Path, option: tuple[str, ...]) -> None:
    answers = {name: Answer(name, lambda _: "406", redirects=False) for name in ("a", "b")}
    _run, sent = crawl(tmp_path, answers, *option)
    assert [path for path, _ in sent] == ["/start", "/a", "/b"]


def test_a_page_without_evidence_is_only_a_page(tmp_path: Path) -> None:
    """RDF named it, a page came, and nothing says that the address has another form."""
    answers = {"a": Answer("a", lambda _: "page", redirects=False, varies=False)}
    _run, sent = crawl(tmp_path, answers)
    asked = [path for path, _ in sent if path != "/"]  # the folder that the page is in
    assert asked == ["/start", "/a"]


def test_an_empty_document_of_an_rdf_type_is_an_answer(tmp_path: Path) -> None:
    class Empty(Answer):
        async def give(self, accept: str, out: Stream) -> None:
            await out.whole(200, [("Content-Type", "text/turtle")], b"")

    _run, sent = crawl(tmp_path, {"a": Empty("a", lambda _: "", redirects=False)})
    assert [path for path, _ in sent] == ["/start", "/a"]


def test_pages_that_name_themselves_as_rdf_are_asked_for_that_type(tmp_path: Path) -> None:
    """In an element or a header; servers that compare the whole header get the type's name."""
    names = {
        "/a/turtle": ("element", "turtle"),
        "/b/old.html": ("element", "rdfxml"),
        "/c/view.php": ("header", "jsonld"),
        "/d/header": ("header", "ntriples"),
    }
    accepted: dict[str, list[str]] = {path: [] for path in names}

    async def answer(request: Request, out: Stream) -> None:
        path = request.path
        if path == "/start":
            kind, body = page(*names)
        elif path not in names:
            return await out.whole(404, [("Content-Type", "text/plain")], b"")
        else:
            where, syntax = names[path]
            accept = dict(request.headers).get("accept", "")
            accepted[path].append(accept)
            if accept == TYPES[syntax]:
                kind, body = TYPES[syntax], document(syntax, path[1:])
            else:
                mark = f'rel="alternate" type="{TYPES[syntax]}"'
                name = path.rpartition("/")[2]
                head = f'<link {mark} href="{name}"><link rel="canonical" href="{path}">'
                kind, body = page("#top", path, head=head if where == "element" else "")
                links = [("Link", f"<{path}>; {mark}")] if where == "header" else []
                return await out.whole(200, [("Content-Type", kind), *links], body)
        return await out.whole(200, [("Content-Type", kind)], body)

    with serve(DemoWeb(), handlers={"d.example": answer}) as server:
        run = harvest(f"{D}/start", "--fast", folder=tmp_path / "out", proxy=server.proxy_url)
    run.is_calm()
    assert len(run.quads) == len(names)
    for path, (_, syntax) in names.items():
        assert accepted[path][0].startswith("text/html")
        assert accepted[path][1:] == [TYPES[syntax]]
