"""What the web is made of: URLs, hosts, media types, pages, robots."""

__all__ = ["vocabulary"]
