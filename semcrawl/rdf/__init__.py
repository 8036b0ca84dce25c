"""Turns bytes, a header and a URL into quads, links and errors.

Knows neither the network nor the crawler.
"""

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
