"""The learned strategy finds what the crawl is after early, whatever that is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harvest.runs import Run, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.rdf import Detection, Reading
from semcrawl.relevance.focus import read_focus
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.web.vocabulary import Kind
from spiders.site import handler, page, script

D = "http://d.example"
WANTED, OTHER = 15, 60
BUDGET = 40


def site(wanted: dict[str, object]) -> dict[str, object]:
    """A start page that links to news, and in between to the ``wanted`` pages."""
    paths = [f"/news/{n}" for n in range(OTHER)]
    for place, path in enumerate(wanted):
        if path.startswith("/things/"):
            paths.insert(4 * place + 3, path)
    news = {f"/news/{n}": page(head=f"<title>{n}</title>") for n in range(OTHER)}
    return {"/": page(*paths), **news, **wanted}


def crawl(folder: Path, pages: dict[str, object], targets: str) -> Run:
    with serve(DemoWeb(), handlers={"d.example": handler(pages)}) as server:
        return harvest(
            f"{D}/", "--fast", "--targets", targets, "--pages", str(BUDGET),
            folder=folder / "out", proxy=server.proxy_url,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("counting", "gains"),
    [
        ("documents", (None, None, None)),
        ("both", (0.1, None, None)),
        ("statements", (0, 0.5, None)),
    ],
)
async def test_what_a_document_is_worth_depends_on_what_counts(
    counting: str, gains: tuple[float | None, ...]
) -> None:
    """Empty, with 99 statements, and with statements in contexts that cannot be had."""
    judge = TopicJudge(read_focus({"SEMCRAWL_WORTH": counting}))
    rdf = Detection(Kind.RDF)
    missing = Reading(rdf, b"", contexts_needed=("http://contexts.example/",))
    readings = Reading(rdf, b""), Reading(rdf, b"", quads=99), missing
    for reading, gain in zip(readings, gains, strict=True):
        verdict = await judge.rdf(f"{D}/", reading, counts=True)
        assert verdict == Verdict(True, gain if gain is None else pytest.approx(gain, abs=1e-4))
        assert await judge.rdf(f"{D}/", reading, counts=False) == Verdict(False)


@pytest.mark.slow
def test_pages_with_embedded_data_come_early(tmp_path: Path) -> None:
    """… and their data is written; crawling in order of links would find half of them."""
    name = "http://v.example/name"
    things = {
        f"/things/{n}": page(head=script({"@id": f"#{n}", name: f"Thing {n}"}))
        for n in range(WANTED)
    }
    run = crawl(tmp_path, site(things), "embedded")
    asked = {record["url"] for record in run.records}
    found = {f"{D}{path}" for path in things} & asked
    assert len(found) >= 13
    written = (run.folder / "embedded.nq").read_text()
    assert all(f'"Thing {url.rpartition("/")[2]}"' in written for url in found)


@pytest.mark.slow
def test_files_of_a_media_type_come_early(tmp_path: Path) -> None:
    """Tables lie behind pages that look like all others; they are kept as files."""
    things = {f"/things/{n}": page(f"/files/{n}") for n in range(WANTED)}
    tables = {f"/files/{n}": ("text/csv", f"a,b\n1,{n}\n".encode()) for n in range(WANTED)}
    run = crawl(tmp_path, site(things | tables), "text/csv")
    lines = (run.folder / "files" / "index.jsonl").read_text().splitlines()
    kept = {json.loads(line)["url"] for line in lines}
    assert kept <= {f"{D}{path}" for path in tables}
    assert len(kept) >= 11


@pytest.mark.slow
def test_rdf_whose_context_cannot_be_had_comes_early(tmp_path: Path) -> None:
    """Without the context not one statement can be read; it is RDF all the same."""
    things = {f"/things/{n}": page(f"/files/{n}.json") for n in range(WANTED)}
    context = "http://contexts.example/tables"
    documents = {
        f"/files/{n}.json": (
            "application/json",
            json.dumps({"@context": context, "tableSchema": {"name": str(n)}}).encode(),
        )
        for n in range(WANTED)
    }
    run = crawl(tmp_path, site(things | documents), "rdf")
    outcomes = {
        record["url"]: record["outcome"]
        for record in run.records
        if record["url"].startswith(f"{D}/files/")
    }
    assert len(outcomes) >= 11
    assert set(outcomes.values()) == {"parse-error"}
