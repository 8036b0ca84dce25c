"""Commands of the command line."""

__all__ = [
    "crawl",
    "demo",
    "describe",
    "evaluate",
    "explain",
    "frontier",
    "harvest",
    "load",
    "parse",
    "seeds",
    "version",
]
