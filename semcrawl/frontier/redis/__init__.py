"""The frontier on Redis."""
