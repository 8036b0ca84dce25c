"""Syntaxes that the parser does not read as they are found."""

__all__: list[str] = []
