"""``semcrawl diff``: statements added and removed, as RDF Patch, N-Quads and a feed."""

from __future__ import annotations

import random

import pyoxigraph as ox
import pytest

from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QuadsFile
from semcrawl.results.differences import ADDED, DELETED, difference

from .jobs import ANN, BOB, FOAF, PAGE, changed, document, gone, page, people, record

AS = "https://www.w3.org/ns/activitystreams#"
LDES, TREE = "https://w3id.org/ldes#", "https://w3id.org/tree#"
SINCE = ("--since", "1970-01-01T00:00:06")


def write(folder, *items, name="quads.nq", ledger="crawl.db"):
    file = QuadsFile(folder, name, ledger, history=True)
    file.append(items)
    file.compact()
    file.close()


@pytest.fixture
def job(tmp_path):
    """A job whose documents changed at 9, 20 and 30 seconds after the epoch."""
    write(tmp_path, *people())
    embedded = {"name": EMBEDDED_FILE, "ledger": EMBEDDED_LEDGER}
    write(tmp_path, page(), **embedded)
    record(tmp_path, FetchRecord(ANN, FetchOutcome.FETCHED_RDF, started_at=5.0))
    write(tmp_path, changed(ANN, f'<{FOAF}name> "Ann"@en', f'<{FOAF}name> "A"'), gone(BOB))
    write(tmp_path, document("http://c.example/c", "<x:p> <x:o>", fetched_at=30.0))
    more = {"format": "embedded", "fetched_at": 9.0, "content_hash": "9", "revisit": True}
    write(tmp_path, document(PAGE, '<x:p> "x"', **more), **embedded)
    return tmp_path


def rows_of(old: list[str], new: list[str]) -> list[tuple[bytes, bytes]]:
    texts = ["".join(f"{line} <http://g/> .\n" for line in lines).encode() for lines in (old, new)]
    return list(difference(lambda: iter([texts[0]]), lambda: iter([texts[1]]), 1))


def as_set(old: list[str], rows) -> ox.Dataset:
    """What a store that holds the old version has after the rows."""
    lines = {f"{line} <http://g/> .\n".encode() for line in old}
    for mark, line in rows:
        assert (line in lines) is (mark == DELETED)
        lines.symmetric_difference_update([line])
    return canonical(b"".join(lines))


def canonical(lines: bytes) -> ox.Dataset:
    found = ox.Dataset(ox.parse(lines, ox.RdfFormat.N_QUADS))
    found.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return found


def test_rows_are_a_patch_with_a_transaction_for_each_document(job, semcrawl):
    done = semcrawl("diff", job, *SINCE)
    assert done.code == 0
    blocks = done.out.split("# ")[1:]
    assert [block.split(" 1970")[0] for block in blocks] == [
        f"changed {ANN}", f"gone {BOB}", "new http://c.example/c", f"changed {PAGE}",
    ]  # fmt: skip
    for block in blocks:
        head, *patch, end = block.splitlines()[1:]
        assert (head, end) == ("TX .", "TC .")
        assert all(row[:2] in ("A ", "D ") for row in patch)
        assert list(ox.parse("\n".join(row[2:] for row in patch), ox.RdfFormat.N_QUADS))
    assert blocks[0].count("\nD ") == 4
    assert blocks[0].count("\nA ") == 1
    assert done.err.startswith(
        "since 1970-01-01T00:00:06.000Z: 1 new, 2 changed, 1 gone; 3 statements added, 8 removed"
    )


def test_added_and_removed_statements_are_plain_quads(job, semcrawl):
    added = semcrawl("diff", job, *SINCE, "--added").out
    removed = semcrawl("diff", job, *SINCE, "--removed").out
    assert len(list(ox.parse(added, ox.RdfFormat.N_QUADS))) == 3
    assert len(list(ox.parse(removed, ox.RdfFormat.N_QUADS))) == 8
    assert '"A"' in added
    assert '"A"' not in removed


def test_a_feed_has_each_change_under_a_name_that_stays(job, semcrawl):
    base = "https://me.example/feed.ttl"
    done = semcrawl("diff", job, "--since", "1970-01-01", "--feed", "--base", base)
    assert (done.code, done.err) == (0, "")
    found = ox.Store()
    found.load(done.out.encode(), ox.RdfFormat.TURTLE)
    query = f"""PREFIX as: <{AS}> PREFIX ldes: <{LDES}> PREFIX tree: <{TREE}>
    SELECT ?kind ?what ?member WHERE {{
      ?stream a ldes:EventStream ; tree:view <{base}> ; tree:member ?member ;
        ldes:timestampPath ?at ; ldes:versionOfPath ?of ; ldes:versionDeleteObject as:Delete .
      ?member a ?kind ; ?of ?what ; ?at ?time ; as:summary ?words ; as:attachment ?part .
      ?part as:mediaType "application/n-quads" ; as:name ?change ; as:content ?lines
    }} GROUP BY ?kind ?what ?member ?time ORDER BY ?time ?what"""
    changes = [
        (one["kind"].value.removeprefix(AS), one["what"].value) for one in found.query(query)
    ]
    assert changes == [
        ("Create", ANN), ("Create", PAGE), ("Create", BOB), ("Update", ANN), ("Update", PAGE),
        ("Delete", BOB), ("Create", "http://c.example/c"),
    ]  # fmt: skip
    later = semcrawl("diff", job, *SINCE, "--feed", "--base", base).out
    members = {one.subject for one in ox.parse(later, ox.RdfFormat.TURTLE)}
    names = {str(one) for one in members if "#change-" in str(one)}
    assert len(names) == 4
    assert names < {str(one["member"]) for one in found.query(query)}


def test_a_folder_without_history_says_so(tmp_path, semcrawl):
    file = QuadsFile(tmp_path)
    file.append(people())
    file.close()
    done = semcrawl("diff", tmp_path)
    assert done.code == 2
    assert done.complaint == f"{tmp_path} keeps no history: harvest with --history first"


def test_wrong_words_are_refused(job, semcrawl):
    assert semcrawl("diff", job, "--since", "monday").complaint.startswith("--since must be")
    assert semcrawl("diff", job, "--base", "http://x/").complaint == "--base needs --feed"
    assert "give --since DATE" in semcrawl("diff", job).complaint


@pytest.mark.slow
def test_former_statements_are_not_taken_for_present_ones(job, semcrawl, tmp_path_factory):
    present = (job / "quads.nq").read_bytes() + (job / EMBEDDED_FILE).read_bytes()
    assert semcrawl("check", job).out.startswith(f"{job} is sound: 4 documents")
    count = "SELECT (count(*) AS ?n) { ?s ?p ?o }"
    lines = present.count(b"\n")
    assert semcrawl("query", job, count, "--csv").out.split() == ["n", f"{lines}"]
    merged = tmp_path_factory.mktemp("merged") / "out"
    assert semcrawl("merge", job, "--out", merged).code == 0
    assert (merged / "quads.nq").read_bytes() + (merged / EMBEDDED_FILE).read_bytes() == present
    assert not list(merged.glob("*history*"))


def test_a_damaged_history_is_told(job, semcrawl):
    path = job / "history.db"
    content = bytearray(path.read_bytes())
    content[100:] = bytes(len(content) - 100)
    for log in job.glob("history.db-*"):
        log.unlink()
    path.write_bytes(content)
    assert "history.db" in semcrawl("diff", job, *SINCE).complaint
    done = semcrawl("check", job)
    assert done.code == 1
    assert "history.db" in done.err
    assert semcrawl("check", job).code == 0


NODES = ['_:a <x:p> "1"', "_:a <x:q> _:b", '_:b <x:p> "2"', '<x:s> <x:p> "_:a"']


@pytest.mark.parametrize(
    ("new", "count"),
    [
        (['_:n1 <x:p> "1"', "_:n1 <x:q> _:a", '_:a <x:p> "2"', '<x:s> <x:p> "_:a"'], 0),
        (['_:n1 <x:p> "1"', "_:n1 <x:q> _:a", '_:a <x:p> "3"', '<x:s> <x:p> "_:a"'], 4),
        (['_:a <x:p> "1"', "_:a <x:q> _:b", '_:b <x:p> "3"', '<x:s> <x:p> "_:a"'], 2),
        (['_:n1 <x:p> "1"', "_:n1 <x:q> _:n2", '_:n2 <x:p> "2"', '<x:s> <x:p> "_:n1"'], 2),
        ([*NODES, '_:c <x:p> "1"'], 1),
        ([], 4),
    ],
)
def test_blank_nodes_are_compared_by_what_is_said_of_them(new, count):
    rows = rows_of(NODES, new)
    assert len(rows) == count
    whole = "".join(f"{line} <http://g/> .\n" for line in new).encode()
    assert as_set(NODES, rows) == canonical(whole)


def test_any_two_versions_differ_by_a_patch_that_makes_one_into_the_other():
    chance = random.Random(7)
    for _ in range(150):
        nodes = [f"_:n{n}" for n in range(chance.randrange(1, 7))]
        terms = [*nodes, "<x:a>", '"1"']
        old = sorted(
            {
                f"{chance.choice(nodes)} <x:{chance.choice('pq')}> {chance.choice(terms)}"
                for _ in range(chance.randrange(1, 12))
            }
        )
        names = dict(zip(nodes, chance.sample(nodes, len(nodes)), strict=True))
        new = [" ".join(names.get(word, word) for word in line.split(" ")) for line in old]
        assert rows_of(old, new) == []
        new = sorted({*new[chance.randrange(2) :], f'{nodes[0]} <x:p> "new"'})
        rows = rows_of(old, new)
        whole = "".join(f"{line} <http://g/> .\n" for line in new).encode()
        assert as_set(old, rows) == canonical(whole)


def test_large_versions_are_compared_in_passes(monkeypatch):
    monkeypatch.setattr("semcrawl.results.differences._IN_MEMORY", 100)
    old = b"".join(f'<x:s> <x:p> "{n}" .\n'.encode() for n in range(100))
    new = old.replace(b'"7"', b'"seven"')
    rows = list(difference(lambda: iter([old]), lambda: iter([new]), len(old) + len(new)))
    assert rows == [(DELETED, b'<x:s> <x:p> "7" .\n'), (ADDED, b'<x:s> <x:p> "seven" .\n')] or (
        sorted(rows) == [(ADDED, b'<x:s> <x:p> "seven" .\n'), (DELETED, b'<x:s> <x:p> "7" .\n')]
    )


def test_documents_with_other_labels_give_no_rows(tmp_path, semcrawl):
    lines = (
        '_:x1 <x:p> "1" <http://a.example/ann> .\n',
        '_:y1 <x:p> "1" <http://a.example/ann> .\n',
    )
    write(tmp_path, RdfDocument(ANN, nquads=lines[0].encode(), quads=1, fetched_at=5.0))
    again = {"fetched_at": 9.0, "revisit": True, "content_hash": "other"}
    write(tmp_path, RdfDocument(ANN, nquads=lines[1].encode(), quads=1, **again))
    done = semcrawl("diff", tmp_path, *SINCE)
    assert (done.code, done.out) == (0, "")
    assert "0 changed" in done.err
