"""Settings made into parts: the places of our components, and the bounds of a crawl."""

__all__ = ["feedformats", "jobdir"]
