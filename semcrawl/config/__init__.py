"""Checks settings and turns them into options, and installs our components in Scrapy."""

__all__ = ["jobdir"]
