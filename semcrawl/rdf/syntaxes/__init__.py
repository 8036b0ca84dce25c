"""Reads each RDF syntax, with what the parser lacks: recovery, limits, missing syntaxes."""

__all__: list[str] = []
