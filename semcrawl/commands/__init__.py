"""The commands of the command line, one per module."""

__all__ = [
    "crawl",
    "demo",
    "describe",
    "evaluate",
    "explain",
    "frontier",
    "harvest",
    "init",
    "load",
    "parse",
    "seeds",
    "version",
]
