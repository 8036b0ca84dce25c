"""``semcrawl check``: no damage is silent, and after one more run everything is there again."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.harvest.runs import Run, harvest
from tests.loopback import web

from .conftest import Done
from .jobs import ANN, add, people
from .test_damage import flip, place

DOCUMENTS = 12


def answer(path: str, _query: object) -> tuple[int, str, bytes]:
    """A start page that links to pages with data, each of which links to RDF and to a file."""
    name = path.lstrip("/").partition(".")[0]
    number = name[1:]
    if path == "/":
        links = "".join(f'<a href="p{n}.html">page {n}</a> ' for n in range(DOCUMENTS))
        return 200, "text/html", f"<html><body>{links}</body></html>".encode()
    if not number.isdecimal() or int(number) >= DOCUMENTS:
        return 404, "text/plain", b"no"
    if name.startswith("p"):
        data = f'{{"@context": {{"n": "http://v.example/n"}}, "@id": "#it", "n": "{number}"}}'
        text = (
            f'<html><head><script type="application/ld+json">{data}</script></head><body>'
            f'<a href="d{number}.ttl">RDF</a> <a href="f{number}.pdf">file</a></body></html>'
        )
        return 200, "text/html", text.encode()
    if name.startswith("d"):
        lines = (f'<#it> <http://v.example/p{n}> "{number} {n}" .\n' for n in range(20))
        return 200, "text/turtle", "".join(lines).encode()
    return 200, "application/pdf", b"%PDF-1.4 " + number.encode() * 3000


OPTIONS = ("--fast", "-s", "SEMCRAWL_TARGETS=rdf,application/pdf", "-s", "SEMCRAWL_EMBEDDED=jsonld")


@pytest.fixture(scope="module")
def harvested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A job folder, and the site that it came from."""
    with web(answer) as site:
        folder = tmp_path_factory.mktemp("check") / "job"
        run = harvest(f"{site}/", *OPTIONS, "--record", folder=folder)
        assert run.status == 0, run.err
        content(folder)
        yield folder, site


def content(folder: Path) -> tuple[int, int, int]:
    """Assert that all is there; return the numbers of lines and files."""
    quads = set((folder / "quads.nq").read_bytes().splitlines())
    embedded = set((folder / "embedded.nq").read_bytes().splitlines())
    files = {path.read_bytes() for path in (folder / "files").glob("*.pdf")}
    found = len(quads), len(embedded), len(files)
    assert found == (20 * DOCUMENTS, DOCUMENTS, DOCUMENTS)
    return found


def bit(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def block(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    at = chance.randrange(max(1, len(data) - 512))
    data[at : at + 512] = chance.randbytes(min(512, len(data) - at))
    path.write_bytes(data)


def cut(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(1, len(data))])


def zeros(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    at = chance.randrange(max(1, len(data) // 4096)) * 4096
    data[at : at + 4096] = bytes(len(data[at : at + 4096]))
    path.write_bytes(data)


def head(path: Path, _chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[:200] = bytes(len(data[:200]))
    path.write_bytes(data)


def empty(path: Path, _chance: random.Random) -> None:
    path.write_bytes(b"")


FILES = (
    "quads.nq", "embedded.nq", "crawl.db", "embedded.db", "frontier.db", "files/*.pdf",
    "files/index.jsonl", "summary.json", "*.warc.gz",
)  # fmt: skip
#: SQLite has no checksums: a changed text of a row that nothing is compared with is not noticed
DATABASES = ("crawl.db", "embedded.db", "frontier.db")
Damage = Callable[[Path, random.Random], None]


def calm(run: Run | Done) -> None:
    assert "Traceback" not in run.out + run.err, run.err


#: each kind of damage to each file with ``DAMAGES=all`` (``make many``); else two kinds to each,
#: each kind three times
DAMAGES = (bit, block, cut, zeros, head, empty)
CASES = [
    pytest.param(name, damage, id=f"{name}-{damage.__name__}")
    for i, name in enumerate(FILES)
    for j, damage in enumerate(DAMAGES)
    if i % 3 == j % 3 or os.environ.get("DAMAGES") == "all"
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "damage"), CASES)
def test_no_damage_is_silent_and_one_run_brings_everything_back(
    harvested: tuple[Path, str], tmp_path: Path, name: str, damage: Damage, semcrawl
) -> None:
    """Commands tell in a line, ``check`` names the file, and a run has all that was there."""
    whole, site = harvested
    folder = tmp_path / "job"
    shutil.copytree(whole, folder)
    chance = random.Random(f"{name} {damage.__name__}")
    path = sorted(folder.glob(name))[0]
    before = path.read_bytes()
    damage(path, chance)
    assert path.read_bytes() != before
    for command in (("profile", folder), ("query", folder, "ASK {}")):
        calm(semcrawl(*command))
    check = semcrawl("check", folder)
    calm(check)
    if name not in DATABASES or damage in (cut, head, empty):
        assert check.code == 1, (check.out, check.err)
        assert path.name in check.err
    seeds = [f"{site}/"] if "the seeds are lost" in check.err else []
    again = harvest(*seeds, *OPTIONS, folder=folder)
    calm(again)
    content(folder)
    second = semcrawl("check", folder)
    if ".warc" not in name:
        assert second.code == 0, second.err
    assert semcrawl("profile", folder).code == 0


def test_a_sound_folder_is_said_to_be_so(semcrawl, job):
    done = semcrawl("check", job)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{job} is sound: 3 documents\n"


def test_what_is_no_job_folder_is_refused(semcrawl, tmp_path):
    done = semcrawl("check", tmp_path)
    assert done.code == 2
    assert "is not a job folder" in done.complaint


def test_a_lost_document_stays_told_of_until_it_is_read_again(semcrawl, tmp_path):
    add(tmp_path, *people())
    flip(tmp_path / "quads.nq", place(tmp_path, ANN)[0] + 30)
    for _ in range(2):
        done = semcrawl("check", tmp_path)
        assert done.code == 1
        assert "the lines of 1 documents are lost" in done.err


def test_a_ledger_that_was_emptied_never_costs_the_lines(semcrawl, tmp_path):
    """SQLite takes an empty file for a new database: every reader refuses it instead."""
    add(tmp_path, *people())
    lines = (tmp_path / "quads.nq").read_bytes()
    (tmp_path / "crawl.db").write_bytes(b"")
    done = semcrawl("profile", tmp_path)
    assert done.code == 1
    assert "semcrawl check" in done.complaint
    assert (tmp_path / "quads.nq").read_bytes() == lines
