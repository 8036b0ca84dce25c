"""Crawl metadata in any SQL database: attempts, documents, and where their quads are."""

__all__ = ["database", "models"]
