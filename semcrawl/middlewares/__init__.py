"""Downloader middlewares."""

__all__ = [
    "addresses",
    "attempts",
    "codings",
    "downloadstats",
    "fetchfilter",
    "health",
    "robots",
]
