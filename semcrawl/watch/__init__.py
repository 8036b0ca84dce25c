"""A crawl as those see it who watch it: one view for the page, the metrics and the terminal."""

from semcrawl.watch.view import CrawlView

__all__ = ["CrawlView"]
