"""Runs strategies on closed pieces of the web, and measures their finds."""

__all__ = ["folder", "graph", "metrics", "references", "simulate", "world"]
