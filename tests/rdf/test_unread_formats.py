"""Formats of RDF that are known and not read are recognised, and nothing else is taken for them."""

from __future__ import annotations

import gzip

import pytest

from semcrawl.rdf import detect, read
from semcrawl.web.vocabulary import (
    HTML_EXTENSIONS,
    RDF_EXTENSIONS,
    RDF_MEDIA_TYPES,
    Kind,
    RdfFormat,
    UnreadFormat,
)

URL = "http://h.example/data"
BINARY = b"\x0a\x1a\x0a\x04\x00\x01\x02\xff\xfe"


@pytest.mark.parametrize(
    ("body", "media", "name", "wanted"),
    [
        (b"$HDT\x01<http://purl.org/HDT/hdt#HDTv1>\x00", None, "", UnreadFormat.HDT),
        (b"$HDT\x01", "application/octet-stream", ".bin", UnreadFormat.HDT),
        (BINARY, "application/x-jelly-rdf", "", UnreadFormat.JELLY),
        (BINARY, "application/octet-stream", ".jelly", UnreadFormat.JELLY),
        (b"BRDF\x00\x00\x00\x02", None, "", UnreadFormat.RDF4J),
        (BINARY, "application/rdf+thrift", "", UnreadFormat.THRIFT),
        (BINARY, None, ".rpb", UnreadFormat.PROTOBUF),
        (BINARY, "application/cbor-ld", "", UnreadFormat.CBOR_LD),
        (b'["a","b","c","","",""]\n', "application/hex+x-ndjson", "", UnreadFormat.HEXTUPLES),
        (b'{"url": "table.csv"}', "application/csvm+json", "", UnreadFormat.CSVW),
        (
            b"# tides\nPrefix(:=<http://e.example/>)\nOntology(<http://e.example/>\n)",
            "text/plain",
            "",
            UnreadFormat.FUNCTIONAL,
        ),
        (b"Ontology(\n<http://e.example/>)", None, ".owl", UnreadFormat.FUNCTIONAL),
        (b"Prefix(owl:=<http://x/>)", "text/turtle", ".ttl", UnreadFormat.FUNCTIONAL),
        (
            b"Prefix: : <http://e.example/>\nOntology: <http://e.example/>\n",
            None,
            ".omn",
            UnreadFormat.MANCHESTER,
        ),
        (b"Ontology: <http://e.example/>", "text/plain", ".owl", UnreadFormat.MANCHESTER),
        (b"format-version: 1.2\nontology: tides\n", "text/plain", ".obo", UnreadFormat.OBO),
        (b"BASE <http://e.example/>\nshape x -> y {}", "text/shaclc", "", None),
    ],
)
def test_a_format_that_is_not_read_is_named(
    body: bytes, media: str | None, name: str, wanted: UnreadFormat | None
) -> None:
    found = detect(body, media, URL + name)
    if wanted is None:
        return
    assert (found.kind, found.unread) == (Kind.OTHER, wanted)
    assert read(body, URL + name, media).quads == 0


def test_what_is_inside_a_compressed_file_counts() -> None:
    reading = read(gzip.compress(b"$HDT\x01" + BINARY), f"{URL}.hdt.gz", "application/gzip")
    assert reading.detection.unread is UnreadFormat.HDT


@pytest.mark.parametrize(
    ("body", "media", "name"),
    [
        (b"<!DOCTYPE html><html><body>not found", "text/html", ".hdt"),
        (b"<!DOCTYPE html><html><body>not found", None, ".omn"),
        (b"@prefix e: <http://e.example/> . e:a e:p e:b .", None, ".ofn"),
        (b"Prefix:a Prefix:b Prefix:c .", "text/turtle", ""),
        (b"PREFIX : <http://e.example/> :a :b :c .", "text/turtle", ""),
        (b"Ontology: the study of what there is", "text/plain", ""),
        (b"Prefix: a prefix of words", "text/plain", ".txt"),
        (b'{"@context": {"@vocab": "urn:x:"}, "a": "b"}', "application/csvm+json", ""),
        (b"a,b,c\n1,2,3\n", "text/csv", ".rt"),
        (BINARY, "image/png", ".rt"),
    ],
)
def test_other_bodies_are_what_they_were(body: bytes, media: str, name: str) -> None:
    assert detect(body, media, URL + name).unread is None


def test_the_tables_of_formats_have_nothing_in_common() -> None:
    """Each media type and each extension means one format."""
    types = [name for form in (*RdfFormat, *UnreadFormat) for name in form.media_types]
    extensions = [name for form in (*RdfFormat, *UnreadFormat) for name in form.extensions]
    assert len(types) == len(set(types)) > len(RDF_MEDIA_TYPES)
    assert len(extensions) == len(set(extensions)) > len(RDF_EXTENSIONS)
    assert not HTML_EXTENSIONS & set(extensions)
