"""The type of a body is detected once; whoever reads it is told."""

from __future__ import annotations

import pytest

from semcrawl.links import ExtractionOptions
from semcrawl.rdf import Detection
from semcrawl.reading.reader import Reader
from semcrawl.web.bodies import BodyFile
from semcrawl.web.vocabulary import Kind, RdfFormat

URL = "http://d.example/data"
TURTLE = b"@prefix v: <http://v.example/> . v:a v:b v:c .\n"


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize(("syntax", "quads"), [(RdfFormat.TURTLE, 1), (RdfFormat.N_TRIPLES, 0)])
async def test_a_body_is_read_as_what_it_was_detected(
    syntax: RdfFormat, quads: int, on_disk: bool
) -> None:
    body: bytes | BodyFile = TURTLE
    if on_disk:
        body = BodyFile()
        body.write(TURTLE)
    reading = await Reader(ExtractionOptions()).read(
        body, URL, "text/turtle", Detection(Kind.RDF, syntax, 1.0, "told")
    )
    assert reading.detection.format is syntax
    assert reading.quads == quads
