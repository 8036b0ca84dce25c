"""Search of the images that a crawl kept: by words, and by likeness."""

__all__ = ["ImageSearch", "SearchOptions"]

from semcrawl.imagesearch.search import ImageSearch, SearchOptions
