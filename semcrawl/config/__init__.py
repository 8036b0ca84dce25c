"""Settings made into parts: which part stands where, and what a crawl may do."""

__all__ = ["feedformats", "jobdir"]
