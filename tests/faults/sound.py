"""The common part of faulty resources: the host, a sound document, and usual headers."""

from __future__ import annotations

FAULT_HOST = "faults.example"

HTML = (("Content-Type", "text/html; charset=utf-8"),)
TURTLE_TYPE = (("Content-Type", "text/turtle"),)

TURTLE = "".join(
    f'<#{n}> <http://www.w3.org/2000/01/rdf-schema#label> "thing {n}" .\n' for n in range(100)
).encode()
"""A sound Turtle document of 100 statements, one per line."""
