"""Searches the images that a crawl kept, by words and by similarity."""

__all__ = ["ImageSearch", "SearchOptions"]

from semcrawl.imagesearch.search import ImageSearch, SearchOptions
