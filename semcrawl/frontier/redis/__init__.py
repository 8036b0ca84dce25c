"""The frontier on Redis."""

__all__ = ["packing"]
