"""semcrawl: a focused crawler that finds the RDF that web sites publish."""

__version__ = "0.1.0"
