"""Turns bytes, a header and a URL into quads, links and errors.

Knows neither the network nor the crawler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcrawl.faces import face

if TYPE_CHECKING:
    from semcrawl.rdf.datalinks import catalogue_links, data_links, document_links
    from semcrawl.rdf.detection import Detection, detect
    from semcrawl.rdf.documentreader import Member, Reading, read, read_stream
    from semcrawl.rdf.embedded.page import read_embedded
    from semcrawl.rdf.links import RdfLink
    from semcrawl.rdf.options import Embedded, Position, ReadOptions
    from semcrawl.rdf.sink import script_bytes

__all__ = [
    "Detection",
    "Embedded",
    "Member",
    "Position",
    "RdfLink",
    "ReadOptions",
    "Reading",
    "catalogue_links",
    "data_links",
    "detect",
    "document_links",
    "read",
    "read_embedded",
    "read_stream",
    "script_bytes",
]

#: a reader is loaded by those who use it
__getattr__ = face(
    __name__,
    {
        "Detection": "detection",
        "Embedded": "options",
        "Member": "documentreader",
        "Position": "options",
        "RdfLink": "links",
        "ReadOptions": "options",
        "Reading": "documentreader",
        "catalogue_links": "datalinks",
        "data_links": "datalinks",
        "detect": "detection",
        "document_links": "datalinks",
        "read": "documentreader",
        "read_embedded": "embedded.page",
        "read_stream": "documentreader",
        "script_bytes": "sink",
    },
)
