"""Makes items from an attempt and the reading of its body."""

from __future__ import annotations

import re
import time
from http import HTTPStatus

from scrapy.http import Response

from semcrawl.config.targets import saved_name
from semcrawl.crawl.attempt import ENDED, RECEIVED, Attempt, content_type, header
from semcrawl.frontier.contract import WaitingLink
from semcrawl.frontier.links import LinkState
from semcrawl.items import (
    EMBEDDED,
    FetchedFile,
    FetchOutcome,
    FetchRecord,
    RdfDocument,
    TopicPage,
)
from semcrawl.links.pagetexts import PageContent
from semcrawl.metadata.records import errors_text
from semcrawl.rdf import Reading
from semcrawl.relevance.contract import Outcome
from semcrawl.web.bodies import body_file
from semcrawl.web.vocabulary import Kind, UnreadFormat

#: error text of a record whose data may not be kept
NOT_KEPT = "it asks robots to keep no copy"
#: a range of bytes: first, last, and the size of the document (RFC 9110, section 14.4)
_RANGE = re.compile(r"\s*bytes\s+(\d{1,18})-(\d{1,18})/(\d{1,18}|\*)\s*\Z", re.I)


def document_of(attempt: Attempt, response: Response, reading: Reading) -> RdfDocument:
    """Return the item for the quads of a body."""
    syntax = EMBEDDED if reading.embedded else str(reading.detection.format or "")
    return RdfDocument(
        url=attempt.url,
        request_url=attempt.link_url,
        parent_url=attempt.link_state.parent,
        depth=attempt.link_state.depth,
        label=str(attempt.link_state.label),
        rules=attempt.link_state.rules,
        format=syntax,
        content_type=content_type(response),
        bytes=int(attempt.meta.get(RECEIVED, len(response.body))),
        quads=reading.quads,
        errors=reading.errors,
        error_count=reading.error_count,
        redirects=attempt.link_state.redirects,
        etag=header(response, b"ETag"),
        last_modified=header(response, b"Last-Modified"),
        content_hash=attempt.digest,
        fetched_at=float(attempt.meta.get(ENDED) or time.time()),
        nquads=reading.nquads,
        spool=reading.spool,
        revisit=attempt.link_state.revisit,
        members=tuple(member.name for member in reading.members),
        found_by=attempt.link_state.way,
    )


def file_of(attempt: Attempt, response: Response) -> FetchedFile:
    """Return the item for a body that is kept as it is."""
    return FetchedFile(
        url=attempt.url,
        body=response.body,
        large=body_file(attempt.meta),
        request_url=attempt.link_url,
        parent_url=attempt.link_state.parent,
        content_type=content_type(response),
        content_hash=attempt.digest,
        fetched_at=float(attempt.meta.get(ENDED) or time.time()),
        saved_name=saved_name_of(response),
    )


def record_of(attempt: Attempt, response: Response, reading: Reading) -> FetchRecord:
    """Return the record of an RDF document; a parse error if it gave no quads."""
    lost = reading.error_count > 0 and reading.quads == 0
    outcome = FetchOutcome.PARSE_ERROR if lost else FetchOutcome.FETCHED_RDF
    record = attempt.record(outcome, response)
    record.real_type = f"{Kind.RDF}:{reading.detection.format or ''}"
    record.quads = reading.quads
    record.errors = errors_of(reading)
    return record


def record_of_unsent(link: WaitingLink, reason: str) -> FetchRecord:
    """Return the record of a link that is set aside because its host was down for long."""
    state = LinkState.unpack(link.entry)
    return FetchRecord(
        link.entry.url,
        FetchOutcome.HOST_DOWN,
        link.entry.url,
        state.parent,
        state.depth,
        str(state.label),
        state.rules,
        errors=reason,
        started_at=time.time(),
        revisit=state.revisit,
        found_by=state.way,
    )


def outcome_of_unsent(link: WaitingLink) -> Outcome:
    """Return the outcome of a link that is set aside: its host gave nothing."""
    state, url = LinkState.unpack(link.entry), link.entry.url
    return Outcome(
        url=url,
        kind=None,
        target=False,
        final_url=url,
        parent=state.parent,
        depth=state.depth,
        label=state.label,
        rules=state.rules,
        group=link.entry.group,
        family=state.family,
    )


def topic_page_of(
    attempt: Attempt,
    response: Response,
    content: PageContent,
    record: FetchRecord,
    about: str,
) -> TopicPage:
    """Return the item for a page that is kept; ``about``: the topic, as the user gave it."""
    return TopicPage(
        url=attempt.url,
        title=content.title,
        text=content.text,
        language=content.language,
        about=about,
        relevance=record.relevance,
        reasons=record.reasons,
        request_url=attempt.link_url,
        parent_url=attempt.link_state.parent,
        depth=attempt.link_state.depth,
        label=str(attempt.link_state.label),
        content_type=content_type(response),
        bytes=record.bytes,
        content_hash=attempt.digest,
        etag=header(response, b"ETag"),
        last_modified=header(response, b"Last-Modified"),
        fetched_at=float(attempt.meta.get(ENDED) or time.time()),
        revisit=attempt.link_state.revisit,
    )


def note_unread(record: FetchRecord, unread: UnreadFormat | None) -> None:
    """Note in the record of a body that it is RDF in a format that is not read."""
    if unread is not None:
        record.real_type = f"{Kind.OTHER}:{unread.value}"
        record.errors = f"{unread.value} is not read"


def errors_of(reading: Reading) -> str:
    """Return one line with the number of errors and the first of them."""
    return errors_text(reading.error_count, reading.errors)


def missing_part(response: Response) -> str:
    """Return what a response of status 206 lacks; empty if the document is all there.

    No range was asked for. What comes without a ``Content-Range`` may lack anything.
    """
    if response.status != HTTPStatus.PARTIAL_CONTENT:
        return ""
    found = _RANGE.match(header(response, b"Content-Range"))
    if found is None:
        return "status 206 without a range: perhaps not the whole document"
    first, last, size = int(found[1]), int(found[2]), found[3]
    if not first and size.isdigit() and last + 1 >= int(size):
        return ""
    whole = f"{int(size):,}" if size.isdigit() else "an unknown number"
    return f"status 206: bytes {first:,} to {last:,} of {whole} only"


def begins_later(response: Response) -> bool:
    """Whether the beginning of the document is missing, without which nothing of it is certain."""
    partial = response.status == HTTPStatus.PARTIAL_CONTENT
    found = _RANGE.match(header(response, b"Content-Range")) if partial else None
    return found is not None and int(found[1]) > 0


def saved_name_of(response: Response) -> str:
    """Return the file name of the ``Content-Disposition`` header; empty if there is none."""
    return saved_name(header(response, b"Content-Disposition"))
