"""Bodies that are neither RDF nor pages: images, and files of media types that are targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scrapy.http import Response

from semcrawl.config.targets import Targets
from semcrawl.crawl.attempt import Attempt
from semcrawl.crawl.session import CrawlSession
from semcrawl.images.imageitems import RedirectedImage
from semcrawl.images.outcomes import MAY_PASS, ImageOutcome
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import Page
from semcrawl.relevance import Ranked
from semcrawl.spiders.imagereading import ImageReading
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.spiders.leads import Leads
from semcrawl.spiders.linking import LinkFeed, LinkPolicy
from semcrawl.spiders.results import NOT_KEPT, file_of, saved_name_of
from semcrawl.web.vocabulary import Kind


@dataclass
class OtherBodies:
    """Keeps what is a target, for one spider, and follows what headers name."""

    session: CrawlSession
    policy: LinkPolicy
    feed: LinkFeed
    targets: Targets
    judge: TopicJudge
    leads: Leads
    #: the spider's queue
    queue: str
    #: where images are targets
    images: ImageReading | None = None

    async def take(self, attempt: Attempt, response: Response) -> list[Any]:
        """Keep a body that is neither RDF nor HTML if it is a target; else drop it."""
        record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
        record.real_type = str(Kind.OTHER)
        new = await self.follow_metadata(attempt, response)
        image = await self.images.decoded(attempt, response) if self.images else None
        is_kept = image is not None and image.decoded.outcome is ImageOutcome.KEPT
        is_file = self.targets.include(
            Kind.OTHER, record.content_type, url=attempt.url, name=saved_name_of(response)
        )
        if image is not None:
            record.real_type = f"image:{image.decoded.media_type.partition('/')[2]}"
            if is_kept:
                record.outcome = FetchOutcome.FETCHED_IMAGE
            else:
                record.errors = f"{image.decoded.outcome}: {image.decoded.reason}"
                if image.decoded.outcome in MAY_PASS:  # (a re-visit judges it)
                    record.relevance = attempt.link_state.near_text
        verdict = Verdict(is_file)
        if is_kept:
            verdict = self.judge.image(attempt.link_state.near_text)
            verdict.note_in(record)
            if not verdict.kept:
                record.outcome, image = FetchOutcome.OFF_TOPIC, None
        outcome = attempt.outcome(
            Kind.OTHER,
            response,
            target=verdict.target,
            duplicate=verdict.target and self.is_duplicate(attempt),
            new_links=new,
            relevance=verdict.relevance,
            gain=verdict.gain,
        )
        self.session.learn(outcome, self.queue)
        kept = self.policy.robots_tags.keeps(self.policy.robots_rules(response))
        if (is_kept or is_file) and not kept:
            record.outcome, record.errors = FetchOutcome.NOT_KEPT, NOT_KEPT
            return [record]
        is_file = is_file and verdict.kept
        items: list[Any] = [file_of(attempt, response), record] if is_file else [record]
        return items if image is None else [image, *items]

    def redirected(self, attempt: Attempt, record: FetchRecord) -> list[RedirectedImage]:
        """Return what a redirect says of the place of an image."""
        is_image = attempt.link_state.image and record.outcome is FetchOutcome.REDIRECTED
        if self.images is None or not is_image:
            return []
        return [self.images.redirected(attempt, record.final_url)]

    async def follow_metadata(self, attempt: Attempt, response: Response) -> tuple[Ranked, ...]:
        """Put in the RDF that the headers of a file, neither page nor RDF, name as its metadata."""
        links = await self.leads.of_headers(response, attempt.url)
        page = Page(attempt.url, attempt.link_state.depth)
        return await self.feed.discover(page, links) if links else ()

    def is_duplicate(self, attempt: Attempt) -> bool:
        """Whether an attempt's body was read before in this run."""
        # (links off the sites are not followed: a document there represents no other)
        if self.policy.scope.inside(attempt.url):
            self.session.intake.mirrors.gave(attempt.lease, attempt.digest)
        short = bytes.fromhex(attempt.digest[:24])
        if short in self.session.digests:
            return True
        self.session.digests.add(short)
        return False
