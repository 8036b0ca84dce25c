"""Compressed bodies, archives, and bounded streams."""
