"""A re-visited document replaces its old lines; one that is gone loses them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.metadata.history import Written
from semcrawl.pipelines import quadsfile
from semcrawl.pipelines.quads import QuadsFilePipeline
from semcrawl.pipelines.quadsfile import QuadsFile

from .documents import document, rows, url_of


def visit(name: str, outcome: FetchOutcome, status: int, at: float = 2000.0) -> FetchRecord:
    return FetchRecord(url_of(name), outcome, status=status, started_at=at, revisit=True)


@pytest.fixture
def file(tmp_path):
    file = QuadsFile(tmp_path)
    file.append([document("a", "1", "2"), document("b", "1"), document("c", "1")])
    yield file
    file.close()


def test_other_content_replaces_and_same_content_does_not(file, tmp_path):
    again = [
        document("a", "new", revisit=True, fetched_at=2000.0),
        document("b", "1", revisit=True, fetched_at=2000.0, etag='"e2"'),
    ]
    assert file.append(again) == [Written.REPLACED, Written.UNCHANGED]
    assert file.compact() == len(document("a", "1", "2").nquads)
    expected = b"".join(d.nquads for d in (document("b", "1"), document("c", "1"), again[0]))
    assert (tmp_path / "quads.nq").read_bytes() == expected
    assert rows(tmp_path, "SELECT visits, changes, etag, revision FROM document ORDER BY url") == [
        (2, 1, "", 4),
        (2, 0, '"e2"', 2),
        (1, 0, "", 3),
    ]


def test_not_modified_counts_as_a_visit_and_writes_nothing(file, tmp_path):
    before = (tmp_path / "quads.nq").read_bytes()
    assert file.append([visit("a", FetchOutcome.NOT_MODIFIED, 304)]) == [Written.UNCHANGED]
    assert file.compact() == 0
    assert (tmp_path / "quads.nq").read_bytes() == before
    assert rows(tmp_path, "SELECT visits, last_seen_at FROM document WHERE id = 1") == [(2, 2000.0)]


@pytest.mark.parametrize(
    ("outcome", "status", "gone"),
    [
        (FetchOutcome.HTTP_ERROR, 404, True),
        (FetchOutcome.HTTP_ERROR, 410, True),
        (FetchOutcome.REDIRECTED, 301, True),
        (FetchOutcome.FETCHED_HTML, 200, True),
        (FetchOutcome.HTTP_ERROR, 503, False),
        (FetchOutcome.REDIRECTED, 302, False),
        (FetchOutcome.TIMEOUT, None, False),
        (FetchOutcome.ROBOTS_DENIED, None, False),
        (FetchOutcome.PARSE_ERROR, 200, False),
    ],
)
def test_only_what_is_surely_gone_is_taken_out(file, tmp_path, outcome, status, gone):
    written = file.append([visit("a", outcome, status)])
    assert written == [Written.GONE if gone else Written.NOTHING]
    file.compact()
    assert (b"example.org/a" in (tmp_path / "quads.nq").read_bytes()) is not gone


@pytest.mark.parametrize("together", [True, False])
def test_a_visit_that_is_made_again_after_a_crash_counts_once(file, tmp_path, together):
    """Its results had been written when the worker was killed, before it could say so."""
    found = document("a", "new", revisit=True, fetched_at=2000.0)
    left = visit("b", FetchOutcome.HTTP_ERROR, 404)
    same = visit("c", FetchOutcome.NOT_MODIFIED, 304)
    items = [found, left, same]
    if together:
        written = file.append([*items, *items])
    else:
        written = [*file.append(items), *file.append(items)]
    assert written[:3] == [Written.REPLACED, Written.GONE, Written.UNCHANGED]
    assert written[3:] == [Written.UNCHANGED, Written.NOTHING, Written.NOTHING]
    query = "SELECT visits, changes, first_seen_at, last_seen_at FROM document ORDER BY url"
    assert rows(tmp_path, query) == [
        (2, 1, 1000.0, 2000.0),
        (2, 1, 1000.0, 2000.0),
        (2, 0, 1000.0, 2000.0),
    ]


def test_a_record_that_comes_late_takes_nothing_out(file, tmp_path):
    """The document was read after the attempt that found nothing had begun."""
    late = visit("a", FetchOutcome.HTTP_ERROR, 404, at=900.0)
    assert file.append([late]) == [Written.NOTHING]
    assert rows(tmp_path, "SELECT visits, gone_at FROM document WHERE id = 1") == [(1, None)]


def test_a_gone_document_that_comes_back_is_written_again(file, tmp_path):
    file.append([visit("a", FetchOutcome.HTTP_ERROR, 404)])
    file.compact()
    back = document("a", "1", "2", revisit=True, fetched_at=3000.0)
    assert file.append([back]) == [Written.REPLACED]
    assert (tmp_path / "quads.nq").read_bytes().endswith(back.nquads)


def test_a_first_visit_says_nothing_of_known_documents(file):
    record = visit("a", FetchOutcome.HTTP_ERROR, 404)
    record.revisit = False
    assert file.append([record]) == [Written.NOTHING]


def test_a_writer_goes_on_after_another_one_compacted(file, tmp_path):
    other = QuadsFile(tmp_path)
    file.append([visit("a", FetchOutcome.HTTP_ERROR, 404)])
    file.compact()
    other.append([document("d", "1")])
    other.close()
    file.append([document("e", "1")])
    lines = (tmp_path / "quads.nq").read_bytes()
    assert lines == b"".join(document(n, "1").nquads for n in "bcde")


@pytest.mark.parametrize("committed", [True, False])
def test_a_crash_in_a_compaction_is_mended(file, tmp_path, monkeypatch, committed):
    """Before the commit the old file counts, after it the copy."""
    file.append([visit("a", FetchOutcome.HTTP_ERROR, 404)])

    def crash(*args):
        raise KeyboardInterrupt

    if committed:
        finish, calls = quadsfile.finish_compaction, []

        def crash_at_second(path, end):
            calls.append(end)
            return crash() if len(calls) == 2 else finish(path, end)

        monkeypatch.setattr(quadsfile, "finish_compaction", crash_at_second)
    else:
        real = quadsfile.compact
        monkeypatch.setattr(quadsfile, "compact", lambda *args: (real(*args), crash()))
    with pytest.raises(KeyboardInterrupt):
        file.compact()
    monkeypatch.undo()
    assert (tmp_path / ".quads.nq.compact").exists()
    again = QuadsFile(tmp_path)
    again.compact()
    again.append([document("d", "1")])
    again.close()
    assert not (tmp_path / ".quads.nq.compact").exists()
    data = (tmp_path / "quads.nq").read_bytes()
    assert data == b"".join(document(n, "1").nquads for n in "bcd")


async def test_the_pipeline_compacts_when_the_spider_closes(file, tmp_path):
    pipeline = QuadsFilePipeline(tmp_path)
    pipeline.open_spider()
    await pipeline.process_item(visit("a", FetchOutcome.HTTP_ERROR, 404))
    await pipeline.close_spider()
    data = (tmp_path / "quads.nq").read_bytes()
    assert data == document("b", "1").nquads + document("c", "1").nquads


STEPS = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.one_of(st.none(), st.lists(st.sampled_from("123"), max_size=3, unique=True)),
        st.booleans(),
    ),
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_the_file_always_holds_the_last_version_of_what_is_there(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("job")
    file = QuadsFile(folder)
    expected: dict[str, list[str]] = {}
    for at, (name, values, compact) in enumerate(steps, 2000):
        if values is None:
            file.append([visit(name, FetchOutcome.HTTP_ERROR, 404, at)])
            expected.pop(name, None)
        else:
            file.append([document(name, *values, revisit=True, fetched_at=float(at))])
            expected[name] = values
        if compact:
            file.compact()
            file.close()
            file = QuadsFile(folder)
    file.compact()
    file.close()
    lines = b"".join(document(n, *v).nquads for n, v in expected.items()).splitlines()
    assert sorted((folder / "quads.nq").read_bytes().splitlines()) == sorted(lines)
