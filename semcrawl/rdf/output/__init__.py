"""Quads and links, from what the parsers give."""
