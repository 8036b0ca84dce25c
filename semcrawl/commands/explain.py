"""``semcrawl explain``: show how a strategy ranks the links of one page."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from scrapy.settings import BaseSettings

from semcrawl.commandline import OneLineErrors, print_json
from semcrawl.commands._explainspiders import (
    RULE_MEANINGS,
    EndpointSpider,
    ExplainSpider,
    PageSpider,
    RankedLink,
    rank_page,
    reason,
    topic_weights,
)
from semcrawl.commands._harvestoptions import add_about_options, take_about_options
from semcrawl.config.options import (
    BrowserOptions,
    EndpointOptions,
    LeadOptions,
    ReaderOptions,
    answer_reader,
)
from semcrawl.crawl.attempt import header_values
from semcrawl.crawl.topicfiles import fetch_topic_files
from semcrawl.errors import SemcrawlError, UsageError, os_errors_as
from semcrawl.links import Link, Page
from semcrawl.printable import printable
from semcrawl.reading.answer import Answer, Form, Received
from semcrawl.reading.reader import discard
from semcrawl.relevance import Label, Relevance, load_strategy, strategies
from semcrawl.relevance.focus import about_text, read_focus
from semcrawl.relevance.rules import relevancy_r
from semcrawl.settings.reader import fill
from semcrawl.sources import in_turns
from semcrawl.sources.endpoints import SEED_PREFIX, endpoint_of_seed, names_endpoint
from semcrawl.sources.negotiation import Wish, may_be_candidate, names_itself, other_form, own_type
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.terminal import aligned, amount, complain, fitted, table_console
from semcrawl.web.urls import Normalisation, normalise
from semcrawl.web.vocabulary import FoundBy, Kind

#: links shown with reasons
_REASONED = 10


#: a spider for a page or an endpoint
_S = TypeVar("_S", bound=ExplainSpider)


class Command(OneLineErrors):
    """Lists the links of a page with their rules, label, group and value."""

    default_settings = {"LOG_ENABLED": False}
    arguments = "[options] URL|FILE|sparql+URL"
    summary = "Show how a strategy ranks the links of one page, and why"
    description = (
        "Fetch one page (or read a file) and list its links in the order in which they would "
        "be fetched, with label, group, the group's value, and the matching rules. To a SPARQL "
        "endpoint (sparql+URL), send two queries and list the next ones. A learning strategy "
        "starts untrained, or with the state in --state FILE."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options to Scrapy's."""
        super().add_options(parser)
        group = parser.add_argument_group("Explain")
        group.add_argument(
            "--relevance", metavar="NAME", help=f"strategy: {', '.join(strategies())}, or a class"
        )
        group.add_argument(
            "--base", metavar="URL", help="URL of a FILE (default: http://localhost/NAME)"
        )
        group.add_argument(
            "--state",
            metavar="FILE",
            help="learned state to start from (written by `semcrawl frontier --export-model`)",
        )
        group.add_argument(
            "--all", action="store_true", help="give reasons for every link, not only ten"
        )
        group.add_argument(
            "--json", action="store_true", help="print the links with all reasons as JSON"
        )
        add_about_options(group, keeps=False)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse invalid options and topics."""
        take_about_options(self.own_settings, opts)
        fetch_topic_files(self.own_settings)
        read_focus(self.own_settings)
        fill(BrowserOptions, self.own_settings).check()
        if len(args) != 1:
            raise UsageError("give one URL or file")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Get the page, rank its links, print them."""
        strategy = self._strategy(opts)
        self._json = opts.json
        if endpoint := endpoint_of_seed(args[0]):
            self._show(strategy, self._endpoint(endpoint), None if opts.all else _REASONED)
            return
        got = self._received(args[0], opts)
        document = asyncio.run(read_for_explanation(self.own_settings, got))
        if not self._json:
            self._show_judgement(document.verdict)
        self._show(strategy, document, None if opts.all else _REASONED)

    def _strategy(self, opts: argparse.Namespace) -> Relevance:
        settings = self.own_settings
        name = opts.relevance or settings.get("SEMCRAWL_RELEVANCE")
        strategy = load_strategy(name, settings)
        if opts.state:
            with os_errors_as(UsageError, f"cannot read {opts.state}"):
                strategy.load_state(Path(opts.state).read_bytes())
            if not strategy.dump_state():
                raise UsageError(f"the strategy {name!r} has no use for --state")
        return strategy

    def _endpoint(self, source: str) -> ReadDocument:
        """Ask an endpoint for its graphs; return the next queries."""
        url = normalise(source, Normalisation(exact=True))
        if url is None:
            raise UsageError(f"not an http or https URL: {source!r}")
        options = fill(EndpointOptions, self.own_settings)
        options.check([SEED_PREFIX + url])
        spider = self._crawled(EndpointSpider, endpoint=url, options=options)
        if spider.problem:
            raise SemcrawlError(f"{url} cannot be read: {spider.problem}")
        for note in spider.notes:
            complain(note)
        return ReadDocument(Page(url, 0), (), Verdict(target=False), spider.queries)

    def _received(self, source: str, opts: argparse.Namespace) -> Received:
        """Fetch a page, or read a file."""
        if "://" in source:
            return self._fetch(source)
        path = Path(source)
        base = normalise(opts.base or f"http://localhost/{path.name}")
        if base is None:
            raise UsageError(f"not an http or https URL: {opts.base!r}")
        with os_errors_as(UsageError, f"cannot read {source}"):
            return Received(base, path.read_bytes(), lambda name: (), is_seed=True)

    def _fetch(self, source: str) -> Received:
        url = normalise(source)
        if url is None:
            raise UsageError(f"not an http or https URL: {source!r}")
        spider = self._crawled(PageSpider, url=url)
        if spider.response is None:
            raise SemcrawlError(f"{url} cannot be fetched: {spider.problem or 'no answer'}")
        response = spider.response
        if not 200 <= response.status < 300:
            raise SemcrawlError(f"{response.url} answers status {response.status}")
        return Received(
            normalise(response.url) or url,
            response.body,
            partial(header_values, response),
            response.status,
            link_url=url,
            is_seed=True,
        )

    def _crawled(self, kind: type[_S], **arguments: Any) -> _S:
        """Run a spider to its end and return it."""
        if (process := self.crawler_process) is None:
            raise UsageError("no crawler process")
        crawler = process.create_crawler(kind)
        process.crawl(crawler, **arguments)
        process.start()
        if not isinstance(crawler.spider, kind):
            raise SemcrawlError("the crawler did not start")
        return crawler.spider

    def _show_judgement(self, verdict: Verdict) -> None:
        """Print the topic's judgement of the document, if there is a topic."""
        if verdict.relevance is None:
            return
        says = "a target" if verdict.target else "no target"
        console = table_console()
        console.print(
            f"Relevance {verdict.relevance:.2f} ({says}) to {about_text(self.own_settings)}",
            style="bold", soft_wrap=True,
        )  # fmt: skip
        for reason_ in verdict.reasons or ("nothing in it relates to the topic",):
            console.print(f"  {printable(reason_)}", highlight=False, soft_wrap=True)

    def _show(self, strategy: Relevance, document: ReadDocument, reasoned: int | None) -> None:
        """Print the links, and the reasons for the first."""
        page, links = document.page, document.links
        weights = topic_weights(self.own_settings, page, links)
        ranked = rank_page(strategy, page, links, document.queries)
        if self._json:
            verdict = document.verdict
            print_json(
                {
                    "url": page.url,
                    "strategy": strategy.name,
                    "relevance": verdict.relevance,
                    "relevance_reasons": verdict.reasons,
                    "target": verdict.target if verdict.relevance is not None else None,
                    "not_followed": document.nofollow,
                    "links": [_as_data(one, strategy, page) for one in ranked],
                }
            )
            return
        console = table_console()
        table = aligned(f"{strategy.name} on {page.url}: {amount(len(ranked), 'link')}", {})
        of_topic = ("RW", "IPR share") if weights else ()
        for name in ("turn", "label", "group", "value", "key", *of_topic, "rules", "found by"):
            number = name in ("turn", "value", "key", *of_topic)
            table.add_column(
                name,
                justify="right" if number else "left",
                no_wrap=number or name == "label",
                overflow="fold",
            )
        table.add_column("link", overflow="fold")
        for one in ranked:
            cells = _cells(one)
            if weight := weights.get(one.ranked.link.url):
                share = "–" if weight.share is None else f"{weight.share:.1%}"
                cells[5:5] = [f"{weight.weight:.2f}", share]
            table.add_row(*cells)
        console.print(fitted(table, console))
        if document.nofollow:
            left = amount(document.nofollow, "link")
            console.print(f"{left} not followed: the page asks robots so (SEMCRAWL_ROBOTS_TAGS)")
        held = {rule for one in ranked for rule in one.rules}
        for rule, meaning in RULE_MEANINGS.items():
            if rule in held:
                console.print(f"  {rule:9} {meaning}", highlight=False, soft_wrap=True)
        first = [one for one in ranked if one.turn is not None][:reasoned]
        if first:
            console.print(f"Why the first {len(first)} come first:", style="bold")
        for one in first:
            why = reason(one, strategy, page)
            console.print(f"{one.turn:3d}. {one.ranked.link.url}\n     {why}", soft_wrap=True)


def _as_data(one: RankedLink, strategy: Relevance, page: Page) -> dict[str, Any]:
    """Return a link's rank and reasons as plain data."""
    ranked = one.ranked
    return {
        "url": ranked.link.url,
        "words": ranked.link.anchor,
        "turn": one.turn,
        "label": str(ranked.label),
        "group": ranked.group,
        "value": one.value,
        "key": ranked.key,
        "rules": one.rules,
        "found_by": str(ranked.link.found_by),
        "reason": reason(one, strategy, page) if one.turn is not None else "",
    }


def _cells(one: RankedLink) -> list[str]:
    ranked = one.ranked
    anchor, way = ranked.link.anchor, ranked.link.found_by
    return [
        str(one.turn or "–"),
        str(ranked.label),
        ranked.group if ranked.group is not None else "dropped",
        "–" if one.value is None else f"{one.value:.4g}",
        "" if one.value is None else f"{ranked.key:.4g}",
        " ".join(one.rules),
        "" if way is FoundBy.LINK else str(way),
        f"{ranked.link.url}{f' “{anchor[:60]}”' if anchor else ''}",
    ]


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document, and its links to rank."""

    page: Page
    links: Sequence[Link]
    verdict: Verdict
    #: queries to endpoints, which no strategy judges
    queries: Sequence[Link] = ()
    #: links that it asks robots not to follow
    nofollow: int = 0


async def read_for_explanation(settings: BaseSettings, got: Received) -> ReadDocument:
    """Read a response as a crawl with these settings does.

    Raises ``UsageError`` for a body that leads nowhere and for wrong settings.
    """
    judge = TopicJudge.from_settings(settings)
    answers = answer_reader(settings, judge.text_chars)
    try:
        answer = await answers.read(got)
        verdict = await _judged(judge, settings, got, answer)
    finally:
        answers.reader.close()
        judge.close()
    links = _links_of(got, answer, fill(LeadOptions, settings))
    if not links and answer.form not in (Form.RDF, Form.PAGE):
        kind = answer.detection.kind if answer.detection is not None else answer.form
        raise UsageError(f"{got.url} is neither a page nor RDF nor a list of links (it is {kind})")
    tags = answers.options.robots
    followed = [link for link in links if answer.is_followed and not tags.passes_over(link.rel)]
    left = len(links) - len(followed)
    found = fill(EndpointOptions, settings).allowed == "found"
    queries = [link for link in followed if found and names_endpoint(link)]
    links = [link for link in followed if link not in queries]
    depth = 1 if answer.form in (Form.SITEMAP, Form.LIST) else 0
    rdf = answer.form is Form.RDF
    page = Page(got.url, depth, rdf=rdf, relevance=verdict.relevance)
    return ReadDocument(page, links, verdict, queries, left)


async def _judged(
    judge: TopicJudge, settings: BaseSettings, got: Received, answer: Answer
) -> Verdict:
    """Judge a document by the crawl's topic, and delete the file of its quads."""
    targets = fill(ReaderOptions, settings).targets
    verdict, media = Verdict(target=False), got.content_type
    if answer.form is Form.RDF and answer.data is not None:
        counts = targets.include(Kind.RDF, media, url=got.url)
        verdict = await judge.rdf(got.url, answer.data, counts=counts)
    elif answer.form is Form.PAGE and isinstance(answer.body, bytes):
        counts = targets.include(Kind.HTML, media, answer.data.quads if answer.data else 0)
        text = answer.text
        verdict = await judge.page(got.url, text, answer.data, answer.body, counts=counts)
    if answer.data is not None:
        discard(answer.data)
    return verdict


def _links_of(got: Received, answer: Answer, leads: LeadOptions) -> list[Link]:
    """Return the links of a document, and its RDF form if it may have one."""
    if answer.sitemap is not None:
        return in_turns(answer.sitemap.shelves)
    if answer.form is not Form.PAGE or not leads.asks_as_rdf:
        return answer.links
    own, named = [*answer.own, *answer.places], own_type(got.url, answer.own)
    itself = answer.data is not None and names_itself(answer.data.nquads, got.url)
    varies = got.varies or bool(named)
    candidate = (varies or itself) and may_be_candidate(got.url, varies=varies)
    shows_rdf = any(relevancy_r(link)[0] is Label.R for link in own if link.url != got.url)
    if not candidate or shows_rdf:
        return answer.links
    return [*answer.links, other_form(got.url, named or Wish.ONLY_RDF)]
