"""Basics of the web: URLs, hosts, media types, HTML, robots."""

__all__ = ["vocabulary"]
