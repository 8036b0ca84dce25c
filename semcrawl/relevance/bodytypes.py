"""The fetch filter: decides by the header whether to download a body (sources.md T.5, step 2)."""

from __future__ import annotations

from collections.abc import Collection

from semcrawl.relevance import Label
from semcrawl.web.mediatypes import media_type
from semcrawl.web.vocabulary import AMBIGUOUS_MEDIA_TYPES, HTML_MEDIA_TYPES, RDF_MEDIA_TYPES


def body_wanted(
    content_type: str, label: Label, also: Collection[str] = AMBIGUOUS_MEDIA_TYPES
) -> bool:
    """Whether to download a body: its type is RDF or HTML, or its link was labelled R.

    A body without a type is downloaded. ``also`` names media types that may hide RDF; it is empty
    in the thesis.
    """
    media = media_type(content_type)
    if not media or label is Label.R:
        return True
    return media in HTML_MEDIA_TYPES or media in RDF_MEDIA_TYPES or media in also
