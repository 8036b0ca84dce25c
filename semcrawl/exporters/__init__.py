"""Writes the files that users configure: feeds, their compression and storage, WARC."""

__all__ = ["documentfeeds", "feedcompression", "feeds", "joining", "storage", "textfeeds", "warc"]
