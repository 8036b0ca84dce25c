"""The type and the encoding of a body."""
