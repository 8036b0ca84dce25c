"""Reads bodies that are neither RDF nor pages: files whose media types are targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scrapy.http import Response

from semcrawl.config.targets import Targets
from semcrawl.crawl.attempt import Attempt
from semcrawl.crawl.houseparts import CrawlPart
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.session import CrawlSession
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import Page, Reason
from semcrawl.reading.answer import Answer
from semcrawl.relevance import Ranked
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.spiders.leads import Leads
from semcrawl.spiders.linking import LinkFeed
from semcrawl.spiders.results import NOT_KEPT, file_of, note_unread, saved_name_of
from semcrawl.web.vocabulary import Kind


@dataclass
class OtherBodies:
    """Keeps bodies that are targets, for one spider, and follows links in headers."""

    session: CrawlSession
    policy: LinkPolicy
    feed: LinkFeed
    targets: Targets
    judge: TopicJudge
    leads: Leads
    #: the spider's queue
    queue: str
    #: the part of a house whose targets the crawl looks for, if there is one
    part: CrawlPart | None = None

    async def take(self, attempt: Attempt, response: Response, answer: Answer) -> list[Any]:
        """Return the items of a body: its record, and its content if it is a target.

        The record says so if it is RDF in a format that is not read.
        """
        record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
        record.real_type = str(Kind.OTHER)
        note_unread(record, answer.detection.unread if answer.detection is not None else None)
        new = await self.follow_headers(attempt, answer)
        found = await self.part.of_body(attempt, response) if self.part is not None else None
        item = found.item if found is not None else None
        is_file = self.targets.include(
            Kind.OTHER, record.content_type, url=attempt.url, name=saved_name_of(response)
        )
        verdict, is_kept = Verdict(is_file), False
        if found is not None:
            record.real_type, record.errors = found.real_type, found.fault
            if found.may_pass:  # a re-visit needs it to judge the body
                record.relevance = attempt.link_state.near_text
            if found.outcome is not None:
                record.outcome, is_kept = found.outcome, True
                verdict = self.judge.near(attempt.link_state.near_text)
                verdict.note_in(record)
                if not verdict.kept:
                    record.outcome, item = FetchOutcome.OFF_TOPIC, None
        duplicate = verdict.target and self.is_duplicate(attempt)
        outcome = verdict.outcome(attempt, Kind.OTHER, response, new, duplicate=duplicate)
        self.session.learn(outcome, self.queue)
        kept = self.policy.robots_tags.keeps(answer.rules)
        if (is_kept or is_file) and not kept:
            record.outcome, record.errors = FetchOutcome.NOT_KEPT, NOT_KEPT
            return [record]
        is_file = is_file and verdict.kept
        items: list[Any] = [file_of(attempt, response), record] if is_file else [record]
        return items if item is None else [item, *items]

    def redirected(self, attempt: Attempt, record: FetchRecord) -> list[Any]:
        """Return the item that a house makes of a redirect; empty if there is none."""
        if self.part is None or record.outcome is not FetchOutcome.REDIRECTED:
            return []
        item = self.part.redirected(attempt, record.final_url)
        return [] if item is None else [item]

    async def follow_headers(self, attempt: Attempt, answer: Answer) -> tuple[Ranked, ...]:
        """Follow the links in the headers of a file; return the new ones."""
        page = Page(attempt.url, attempt.link_state.depth)
        if not answer.is_followed:
            self.feed.leave_out(page, answer.links, Reason.NOFOLLOW)
            return ()
        links = await self.leads.bounded(attempt.url, answer.links)
        return await self.feed.discover(page, links) if links else ()

    def is_duplicate(self, attempt: Attempt) -> bool:
        """Whether this run has read the same body before."""
        short = bytes.fromhex(attempt.digest[:24])
        if short in self.session.digests:
            return True
        self.session.digests[short] = True
        return False
