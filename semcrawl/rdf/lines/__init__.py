"""N-Triples and N-Quads, line by line."""
