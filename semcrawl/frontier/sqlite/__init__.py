"""The frontier in one SQLite file, for a crawl on one machine."""

__all__: list[str] = []
