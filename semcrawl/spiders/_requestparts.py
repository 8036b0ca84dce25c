"""The parts of a link's request."""

from __future__ import annotations

from typing import Any

from semcrawl.crawl.attempt import ATTEMPT, Attempt
from semcrawl.web.vocabulary import HTML_FIRST, RDF_FIRST


def parts_of_request(attempt: Attempt, *, rdf_first: bool) -> tuple[dict[str, str], dict[str, Any]]:
    """Return headers and ``meta`` of the request for a link, its validators among them."""
    state = attempt.link_state
    headers = {"Accept": RDF_FIRST if rdf_first else HTML_FIRST}
    if state.etag:
        headers["If-None-Match"] = state.etag
    if state.last_modified:
        headers["If-Modified-Since"] = state.last_modified
    return headers, {
        ATTEMPT: attempt,
        "depth": state.depth,
        "dont_redirect": True,
        "dont_retry": True,
        "handle_httpstatus_all": True,
        "retry_times": state.retries,
    }
