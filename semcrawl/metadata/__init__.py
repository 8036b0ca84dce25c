"""Crawl metadata in any SQL database: what was asked for, what came, and where it was put."""

__all__ = ["database", "models"]
