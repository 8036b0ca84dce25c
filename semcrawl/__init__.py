"""semcrawl: a focused crawler that finds the RDF that web sites publish.

>>> import semcrawl
>>> job = semcrawl.harvest(["https://example.org/"], pages=200, out="example")  # doctest: +SKIP
>>> print(len(job.dataset()), job.failures()[:3])  # doctest: +SKIP
"""

from typing import Any

__all__ = [
    "__version__",
    "addon",
    "aharvest",
    "commandline",
    "errors",
    "evaluate",
    "harvest",
    "items",
    "logformat",
    "settings",
]

__version__ = "0.3.0"


def __getattr__(name: str) -> Any:
    """Return a function that a house offers; nothing of it is imported before."""
    if name in ("aharvest", "evaluate", "harvest"):
        from importlib import import_module

        # by name: the package itself stands below all that it offers
        for house in import_module("semcrawl.houses").houses():
            if module := house.functions.get(name):
                return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
