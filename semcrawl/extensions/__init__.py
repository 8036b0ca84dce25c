"""Scrapy extensions."""

__all__ = ["progress"]
