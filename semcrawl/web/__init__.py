"""The web's own parts: URLs, hosts, media types, pages, robots."""

__all__ = ["vocabulary"]
