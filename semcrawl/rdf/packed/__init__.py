"""Compressed bodies, archives, and bounded streams."""

__all__: list[str] = []
