"""Where items end up: files, triple stores, databases."""

__all__ = ["embedded", "files", "images", "metadata", "quads", "store", "topicpages"]
