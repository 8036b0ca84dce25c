"""The two spiders, ``html`` and ``rdf``."""
