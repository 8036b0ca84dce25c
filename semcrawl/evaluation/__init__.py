"""Runs strategies on closed pieces of the web, and measures what they find."""

__all__ = ["folder", "graph", "metrics", "references", "simulate", "world"]
