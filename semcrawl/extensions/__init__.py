"""Scrapy extensions."""

__all__ = ["ping", "progress"]
