"""Unchanged bodies are recorded as revisits, which readers take for what was there before."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from semcrawl.pipelines.warc import WarcExtension
from semcrawl.pipelines.warcrecords import RecordedResponse, Unchanged, responses_in

pytest.importorskip("warcio")

from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

URL = "http://a.example/a.ttl"
BODY = b'<http://a.example/a> <http://a.example/p> "1" .\n'
REVISIT = "http://netpreserve.org/warc/1.1/revisit/"


def record(folder: Path, *answers: tuple[int, bytes], accept: str = "text/turtle") -> None:
    """Record answers of an address, as one run does."""
    settings = {"SEMCRAWL_WARC": True, "SEMCRAWL_JOBDIR": str(folder)}
    extension = WarcExtension(get_crawler(settings_dict=settings))
    for status, body in answers:
        request = Request(URL, headers={"Accept": accept})
        headers = {"Content-Type": "text/turtle"}
        response = Response(URL, status, headers, body, request=request, ip_address="10.0.0.1")
        extension.write(response, request)
    extension.close()


def records(folder: Path) -> list:
    found = []
    for path in sorted(folder.glob("*.warc.gz"), key=lambda one: one.stat().st_mtime_ns):
        with path.open("rb") as file:
            for one in ArchiveIterator(file, check_digests="raise"):
                one.body = one.content_stream().read()
                if one.rec_type in ("response", "revisit"):
                    found.append(one)
    return found


def kinds(folder: Path) -> list[str]:
    profile = "WARC-Profile"
    return [
        (one.rec_headers.get_header(profile) or one.rec_type).removeprefix(REVISIT)
        for one in records(folder)
    ]


def test_what_has_not_changed_refers_to_what_was_recorded(tmp_path):
    record(tmp_path, (200, BODY))
    record(tmp_path, (304, b""), (200, BODY), (200, b"# other\n"), (200, BODY))
    assert kinds(tmp_path) == [
        "response", "server-not-modified", "identical-payload-digest", "response", "response",
    ]  # fmt: skip
    first, not_modified, same, *_ = (one.rec_headers for one in records(tmp_path))
    for one in (not_modified, same):
        assert one.protocol == "WARC/1.1"
        assert one.get_header("WARC-Refers-To") == first.get_header("WARC-Record-ID")
        assert one.get_header("WARC-Refers-To-Target-URI") == URL
        assert one.get_header("WARC-Refers-To-Date") == first.get_header("WARC-Date")
    digest = "WARC-Payload-Digest"
    assert same.get_header(digest) == first.get_header(digest)
    assert not_modified.get_header(digest) is None
    assert [one.http_headers.get_statuscode() for one in records(tmp_path)][:3] == [
        "200", "304", "200",
    ]  # fmt: skip
    assert [len(one.body) for one in records(tmp_path)][1:3] == [0, 0]


def test_warcio_finds_the_files_valid(tmp_path, capsys):
    record(tmp_path, (200, BODY), (200, BODY), (304, b""))
    files = [str(path) for path in tmp_path.glob("*.warc.gz")]
    checker = Checker(Namespace(inputs=files, verbose=True, func=None))
    checker.process_all()
    assert not checker.exit_value
    assert "fail" not in capsys.readouterr().out


def test_readers_take_them_for_unchanged(tmp_path):
    record(tmp_path, (200, BODY), (200, BODY), (304, b""))
    (path,) = tmp_path.glob("*.warc.gz")
    found = list(responses_in(path))
    assert [type(one) for one in found] == [RecordedResponse, Unchanged, Unchanged]
    assert found[0].date > 0


def test_other_forms_of_an_address_are_told_apart(tmp_path):
    record(tmp_path, (200, BODY))
    record(tmp_path, (200, BODY), (304, b""), accept="text/html")
    assert kinds(tmp_path) == ["response", "response", "server-not-modified"]
    names = [one.rec_headers for one in records(tmp_path)]
    assert names[2].get_header("WARC-Refers-To") == names[1].get_header("WARC-Record-ID")


def test_what_is_not_there_any_more_is_recorded_again(tmp_path):
    record(tmp_path, (200, BODY))
    for path in tmp_path.glob("*.warc.gz"):
        path.unlink()
    record(tmp_path, (304, b""), (200, BODY))
    assert kinds(tmp_path) == ["response", "response"]
    (tmp_path / "recorded.db").write_bytes(b"nonsense " * 1000)
    for log in tmp_path.glob("recorded.db-*"):
        log.unlink()
    record(tmp_path, (200, BODY), (200, BODY))
    assert kinds(tmp_path)[2] == "response"


def test_errors_and_empty_bodies_are_recorded_as_they_are(tmp_path):
    record(tmp_path, (200, b""), (200, b""), (404, BODY), (404, BODY))
    assert kinds(tmp_path) == ["response"] * 4
