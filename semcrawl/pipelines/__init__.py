"""Where items end up: files, triple stores, databases."""

__all__ = ["embedded", "files", "metadata", "quads", "store", "topicpages"]
