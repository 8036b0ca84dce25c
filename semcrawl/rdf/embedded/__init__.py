"""Data in pages: JSON-LD scripts, RDFa and Microdata."""

__all__: list[str] = []
