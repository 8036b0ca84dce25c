"""Scrapy extensions."""

__all__ = ["liveness", "ping", "progress", "statscollector"]
