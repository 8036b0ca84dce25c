"""Documents in the files users ask for: feed exporters and their compression."""

__all__ = ["documentfeeds", "feedcompression", "feeds", "storage", "warc"]
