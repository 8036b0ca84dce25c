"""Where items end up: files, triple stores, databases."""

__all__ = ["documentfeeds", "feeds", "files", "images", "metadata", "quads", "topicpages", "warc"]
