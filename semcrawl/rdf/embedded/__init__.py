"""Data in pages: JSON-LD scripts, RDFa and Microdata."""
