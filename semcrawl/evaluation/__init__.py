"""Trying strategies on closed pieces of the web, and measuring what they find."""

__all__ = ["folder", "graph", "metrics", "references", "simulate", "world"]
