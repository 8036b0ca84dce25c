"""The frontier in one SQLite file, for a crawl on one machine."""
