"""What commands show, programs get as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harvest.runs import semcrawl, start

from semcrawl.lab.demo import DemoWeb, serve


def refuse(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def printed(*arguments: str, folder: Path) -> Any:
    run = semcrawl(*arguments, folder=folder)
    assert run.status == 0, run.err
    return json.loads(run.out, parse_constant=refuse)


@pytest.mark.slow
def test_frontier_and_limits(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serve(DemoWeb()) as server:
        arguments = (DemoWeb.start, "--pages", "8", "--fast", "--out", str(out))
        start("harvest", *arguments, folder=out, proxy=server.proxy_url).wait()
    state = printed("frontier", str(out), "--json", folder=out)
    assert state["counts"]["waiting"] == sum(state["counts"]["waiting_by_label"].values()) > 5
    assert state["done"] >= 8
    assert state["hosts"][0]["host"] == "demo.example"
    assert state["leases"] == []
    nothing = {"limits": {}, "paused": False, "paused_hosts": [], "ranks": {}, "delays": {}}
    assert printed("limits", str(out), "--json", folder=out) == nothing
    limits = printed(
        "limits", str(out), "--exclude", "/a/*", "--host-budget", "requests=9", "--json", folder=out
    )
    assert limits["limits"] == {"SEMCRAWL_HOST_BUDGET": "requests=9", "SEMCRAWL_EXCLUDE": ["/a/*"]}
    refused = semcrawl("frontier", str(out), "--json", "--requeue", folder=out)
    refused.says_in_one_line("--json")


@pytest.mark.slow
def test_explain_and_evaluate(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text('<a href="a.html">A</a> <a href="b.ttl">data as RDF</a>')
    (site / "b.ttl").write_text("<a> <b> <c> .")
    found = printed("explain", str(site / "index.html"), "--json", folder=tmp_path / "x")
    first, second = found["links"][:2]
    assert first["url"].endswith("/b.ttl")
    assert (first["label"], first["turn"], first["words"]) == ("R", 1, "data as RDF")
    assert first["reason"]
    assert second["turn"] == 2
    assert found["relevance"] is None
    names = ("--strategies", "breadth-first", "--pages", "5", "--out", str(tmp_path / "study"))
    data = printed("evaluate", str(site), *names, "--json", folder=tmp_path / "x")
    assert data == json.loads((tmp_path / "study" / "results.json").read_text())
