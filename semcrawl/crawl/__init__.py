"""One process's part in a crawl: it takes links, learns, and acknowledges."""

__all__ = ["acknowledgement", "downloadhandler", "failures", "liveness", "progress", "scheduler"]
