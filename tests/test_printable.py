"""Texts of sites and users have no effect on terminals, log files and databases."""

import logging
from dataclasses import fields
from pathlib import Path

import pytest
from harvest.runs import harvest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.utils.test import get_crawler

from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from semcrawl.logformat import SparingLogFormatter
from semcrawl.metadata.records import document_row, fetch_row
from semcrawl.printable import printable
from semcrawl.terminal import complain, error_handler, table_console


async def empty(request: Request, out: Stream) -> None:
    await out.whole(200, [("Content-Type", "text/html")], b"<p>nothing")


EVIL = "a\x1b]0;title\x07\x1b[31m\x9b2J\x00\u202eb"
SHOWN = "a\\x1b]0;title\\x07\\x1b[31m\\x9b2J\\x00\\u202eb"


def is_safe(text: str) -> bool:
    return not any(sign in text for sign in "\x1b\x07\x9b\0\u202e")


def test_characters_that_terminals_act_on_are_shown():
    assert printable(EVIL) == SHOWN
    assert printable("größe\tx\n✓ 漢字") == "größe\tx\n✓ 漢字"


@given(st.text())
def test_printable_text_stays_as_it_is(text):
    assert printable(printable(text)) == printable(text)
    assert is_safe(printable(text))


def test_every_text_of_a_record_is_stored_without_them():
    """Whatever field of a record or a document a site can fill."""
    texts = {
        field.name: EVIL for field in fields(FetchRecord) if field.type in ("str", "str | None")
    }
    extra = dict.fromkeys(("spider", "worker", "etag", "last_modified", "content_hash"), EVIL)
    record = FetchRecord(**{**texts, "outcome": FetchOutcome.FETCHED_HTML, "extra": extra,
                            "rules": (EVIL,)})  # fmt: skip
    texts = {
        field.name: EVIL for field in fields(RdfDocument) if field.type in ("str", "str | None")
    }
    document = RdfDocument(**{**texts, "members": (EVIL,), "rules": (EVIL,)})
    for row in (fetch_row(record), document_row(document)):
        found = {name: value for name, value in row.items() if isinstance(value, str)}
        assert len(found) > 8
        assert all(is_safe(value) for value in found.values())
    assert fetch_row(record)["errors"] == SHOWN


def test_log_lines_and_what_commands_say(capsys):
    SparingLogFormatter.from_crawler(get_crawler())
    record = logging.getLogger("x").makeRecord("x", 40, "f", 1, "from %s", (EVIL,), None)
    assert record.getMessage() == f"from {SHOWN}"
    assert is_safe(error_handler().format(record))
    complain(EVIL)
    assert capsys.readouterr().err == f"semcrawl: {SHOWN}\n"


@pytest.mark.parametrize(
    "text", ["x[/b]", "[red]x[/red]", "[link=http://a.org]x", ":rocket:", EVIL]
)
def test_tables_show_texts_as_they_stand(text, capsys):
    from rich.table import Table

    console = table_console()
    table = Table(title=text)
    table.add_row(text)
    console.print(table)
    console.print(text)
    shown = capsys.readouterr().out
    assert shown.count(printable(text)) == 3
    assert is_safe(shown)


@pytest.mark.slow
def test_a_folder_may_have_any_name(tmp_path: Path):
    with serve(DemoWeb(), handlers={"d.example": empty}) as server:
        folder = tmp_path / "x[/b]:rocket:[red]"
        run = harvest("http://d.example/", "--fast", folder=folder, proxy=server.proxy_url)
    assert run.status == 0
    assert "Traceback" not in run.err
    assert folder.name in run.out
