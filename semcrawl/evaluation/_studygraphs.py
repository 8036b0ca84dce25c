"""The link graph of a world, as the settings of a study say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semcrawl.config.endpointoptions import EndpointOptions
from semcrawl.config.leadoptions import LeadOptions
from semcrawl.evaluation._imageaim import page_image_links
from semcrawl.evaluation.graph import NO_LEADS, LinkGraph
from semcrawl.evaluation.judgement import Aim
from semcrawl.evaluation.world import World


def graph_of(
    world: World, settings: Mapping[str, Any], aim: Aim | None, *, follow_rdf: bool
) -> LinkGraph:
    """Make the graph; raise ``UsageError`` for wrong settings, or where they forbid a seed.

    Where a setting is missing, its way to data is not gone.
    """
    leads = NO_LEADS
    if "SEMCRAWL_SIGNPOSTING" in settings:
        leads = LeadOptions.from_settings(settings)
    endpoints = EndpointOptions()
    if "SEMCRAWL_ENDPOINTS" in settings:
        endpoints = EndpointOptions.from_settings(settings)
    endpoints.check(world.starts)
    return LinkGraph(
        world,
        int(settings.get("SEMCRAWL_MAX_LINKS_PER_PAGE") or 10_000),
        aim.judge if aim is not None else None,
        sitemaps=settings.get("SEMCRAWL_SITEMAPS", "never") != "never",
        leads=leads,
        follow_rdf=follow_rdf,
        images=page_image_links(settings),
        endpoints=endpoints,
    )
