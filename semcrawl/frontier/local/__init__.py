"""A Redis server of our own."""
