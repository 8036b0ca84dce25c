"""The two spiders, ``html`` and ``rdf``."""

__all__ = ["focused", "html", "rdf", "submitting"]
