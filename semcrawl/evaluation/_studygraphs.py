"""Makes the link graph of a world from the settings of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcrawl.config.leadoptions import EndpointOptions, LeadOptions, SitemapRules
from semcrawl.config.readoptions import read_options, robots_tags
from semcrawl.config.targets import Targets
from semcrawl.config.urlpatterns import UrlPatterns
from semcrawl.crawl.courses import RetryRules
from semcrawl.crawl.redirects import RedirectOptions
from semcrawl.evaluation.graph import NO_LEADS, NO_SITEMAPS, LinkGraph
from semcrawl.evaluation.judgement import Aim
from semcrawl.evaluation.nodes import PageImageLinks
from semcrawl.evaluation.world import World
from semcrawl.links import Link
from semcrawl.settings.reader import Values, fill
from semcrawl.topics import about


def graph_of(
    world: World,
    settings: Mapping[str, Any],
    aim: Aim | None,
    *,
    follow_rdf: bool,
) -> LinkGraph:
    """Return the graph; raise ``UsageError`` if settings are wrong or forbid a seed.

    Without ``SEMCRAWL_SIGNPOSTING``, ``SEMCRAWL_ENDPOINTS`` or ``SEMCRAWL_SITEMAPS``, their ways to
    data are not used.
    """
    leads = NO_LEADS
    if "SEMCRAWL_SIGNPOSTING" in settings:
        leads = fill(LeadOptions, settings)
    sitemaps = NO_SITEMAPS
    if "SEMCRAWL_SITEMAPS" in settings:
        sitemaps = fill(SitemapRules, settings)
    endpoints = EndpointOptions()
    if "SEMCRAWL_ENDPOINTS" in settings:
        endpoints = fill(EndpointOptions, settings)
    endpoints.check(world.starts)
    return LinkGraph(
        world,
        int(settings.get("SEMCRAWL_MAX_LINKS_PER_PAGE") or 10_000),
        aim.judge if aim is not None else None,
        sitemaps=sitemaps,
        leads=leads,
        reading=read_options(settings),
        text=Values(settings)["SEMCRAWL_ABOUT_MAX_SIZE"],
        follow_rdf=follow_rdf,
        images=page_image_links(settings),
        endpoints=endpoints,
        family_tries=int(settings.get("SEMCRAWL_FAMILY_TRIES") or 0),
        robots_tags=robots_tags(settings),
        kinds=Values(settings)["SEMCRAWL_LINK_KINDS"],
        patterns=UrlPatterns.from_settings(settings),
        depth_limit=int(settings.get("DEPTH_LIMIT") or 0),
        redirects=RedirectOptions.from_settings(settings),
        retries=RetryRules.from_settings(settings),
    )


def page_image_links(settings: Mapping[str, Any]) -> PageImageLinks | None:
    """Return the function that finds a page's images; ``None`` if images are not targets."""
    if not Targets.parse(settings.get("SEMCRAWL_TARGETS") or "rdf").images:
        return None
    from semcrawl.images.imagelinks import image_links, near_text_judge
    from semcrawl.images.imageoptions import ImageOptions
    from semcrawl.images.imageplaces import PlaceOptions, image_places

    topic = about(settings.get("SEMCRAWL_ABOUT") or "", settings)
    judge = near_text_judge(topic) if topic is not None else None
    usual = ImageOptions()
    options = PlaceOptions(min_width=usual.min_width, min_height=usual.min_height)

    def links(body: bytes, url: str, content_type: str) -> Sequence[Link]:
        return list(image_links(image_places(body, url, content_type, options).shown, judge))

    return links
