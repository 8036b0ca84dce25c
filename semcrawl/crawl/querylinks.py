"""The links of queries to SPARQL endpoints: those that begin one, and those that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from semcrawl.config.options import EndpointOptions
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.frontier.links import LinkState
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label
from semcrawl.sources.endpoints import Following, first_steps, names_endpoint
from semcrawl.web.vocabulary import FoundBy

#: the address of a query, and its state
QueryLink = tuple[str, LinkState]


def first_links(
    options: EndpointOptions, endpoint: str, state: LinkState | None = None
) -> tuple[QueryLink, QueryLink]:
    """Return an endpoint's first two queries; the second follows whatever the first answers.

    It is added at once if the first is known, as its address was fetched as a page. ``state``: of
    the link to the endpoint; none for seeds.
    """
    description, graphs = first_steps(endpoint, options.page, options.most)
    first = replace(state or LinkState(), query=description.pack())
    then = replace(first, found_by=FoundBy.ENDPOINT, query=graphs.pack())
    return (description.url, first), (graphs.url, then)


def endpoints_among(
    options: EndpointOptions, policy: LinkPolicy, page: Page, links: Sequence[Link]
) -> tuple[list[tuple[QueryLink, QueryLink]], Sequence[Link]]:
    """Return the first two queries of each endpoint among a document's links; the other links."""
    found = [link for link in links if names_endpoint(link)] if options.allowed == "found" else []
    if not found:
        return [], links
    possible, _ = policy.sort(page, found)
    first = [
        first_links(
            options,
            link.url,
            LinkState(page.url, page.depth + 1, Label.R, found_by=link.found_by),
        )
        for link in possible
        if policy.scope.allows(link.url, label_r=True)
    ]
    return first, [link for link in links if not names_endpoint(link)]


def links_after(url: str, state: LinkState, following: Following) -> list[QueryLink]:
    """Return the queries that follow from the answer to one at ``url``."""
    query = LinkState(url, state.depth + 1, Label.R, found_by=FoundBy.ENDPOINT)
    return [(one.url, replace(query, query=one.pack())) for one in following.steps]
