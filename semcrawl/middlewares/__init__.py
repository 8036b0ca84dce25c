"""Downloader middlewares."""

__all__ = ["addresses", "attempts", "codings", "fetchfilter", "health", "robots"]
