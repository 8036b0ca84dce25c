"""Crawl metadata in an SQL database: attempts, documents, and the places of their quads."""

__all__ = ["database", "records"]
