"""Reads documents in processes that are killed when a document takes too long."""

__all__: list[str] = []
