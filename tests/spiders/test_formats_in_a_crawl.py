"""Crawls that meet syntaxes that are rare, and formats that are not read."""

from __future__ import annotations

from pathlib import Path

import pytest
from harvest.runs import harvest

from semcrawl.lab.demo import DemoWeb, serve
from spiders.site import handler, page

pytestmark = pytest.mark.slow

D = "http://d.example"
RESOURCES = {
    "/": page("/a.rj", "/b.yamlld", "/c.hdt", "/d.ofn", "/rdf/e", "/rdf/f"),
    "/a.rj": (
        "application/rdf+json",
        b'{"urn:a":{"urn:p":[{"type":"literal","value":"rdfjson"}]}}',
    ),
    "/b.yamlld": ("application/ld+yaml", b'"@context": {p: "urn:p"}\n"@id": urn:b\np: yamlld\n'),
    "/c.hdt": ("application/octet-stream", b"$HDT\x01\x00\x01"),
    "/d.ofn": ("text/plain", b"Prefix(:=<http://e.example/>)\nOntology(<http://e.example/>)\n"),
    "/rdf/e": ("application/x-jelly-rdf", b"\x0a\x00\x01\x02"),
    "/rdf/f": (
        "text/yaml",
        b'# metadata\n"@context": {p: "urn:p"}\n"@id": urn:f\np: labelled yaml\n',
    ),
}


def test_rare_syntaxes_are_read_and_others_named(tmp_path: Path) -> None:
    with serve(DemoWeb(), handlers={"d.example": handler(RESOURCES)}) as server:
        run = harvest(f"{D}/", "--fast", folder=tmp_path / "out", proxy=server.proxy_url)
    run.is_calm()
    text = "".join(run.quads)
    assert all(f'"{name}"' in text for name in ("rdfjson", "yamlld", "labelled yaml"))
    types = {record["url"].removeprefix(D): record["real_type"] for record in run.records}
    reasons = {record["url"].removeprefix(D): record["errors"] for record in run.records}
    assert types["/a.rj"] == "rdf:rdfjson"
    assert types["/b.yamlld"] == "rdf:yamlld"
    assert reasons["/rdf/e"] == "Jelly is not read"
    unread = run.summary["not_read"]
    assert unread.pop("Jelly") == 1
    for path, name in (("/c.hdt", "HDT"), ("/d.ofn", "OWL functional syntax")):
        if path in reasons:  # a strategy may leave the links out
            assert reasons[path] == f"{name} is not read"
            assert unread.pop(name) == 1
    assert not unread
    assert "RDF in formats that are not read:" in run.out
