"""semcrawl: a focused crawler that finds the RDF that web sites publish."""

__all__ = ["__version__", "addon", "commandline", "errors", "items", "logformat", "settings"]

__version__ = "0.2.0"
