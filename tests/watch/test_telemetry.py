"""The figures of a crawl come to a collector of OpenTelemetry, whole and without a page."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from harvest.runs import environment

from semcrawl.lab.demo import DemoWeb, serve

pytestmark = pytest.mark.slow

FIGURES = {
    "requests": "requests",
    "targets": "targets",
    "rdf_documents": "rdf_documents",
    "pages": "html_documents",
    "quads": "quads",
}


@contextmanager
def collector() -> Iterator[tuple[str, list[Any]]]:
    """Receive metrics; yield the address and what was received."""
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
        ExportMetricsServiceRequest,
    )

    received: list[ExportMetricsServiceRequest] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/metrics"
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            received.append(ExportMetricsServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", received
        server.shutdown()


def harvest(out: Path, *options: str, **variables: str) -> tuple[str, dict[str, Any]]:
    """Harvest some of the demonstration web; return standard error and the summary."""
    with serve(DemoWeb()) as server:
        run = subprocess.run(
            [
                *(sys.executable, "-m", "semcrawl", "harvest", DemoWeb.start, "--fast", "--quiet"),
                *("--pages", "40", "--out", str(out), *options),
            ],
            env=environment(server.proxy_url, NO_PROXY="127.0.0.1", **variables),
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert run.returncode == 0, run.stderr
    return run.stderr, json.loads((out / "summary.json").read_text())


@pytest.mark.parametrize("options", [("--workers", "2"), ("--watch", "0")])
def test_the_last_figures_are_those_of_the_summary(tmp_path: Path, options: tuple[str]) -> None:
    with collector() as (url, received):
        told, summary = harvest(
            tmp_path / "out", *options,
            OTEL_EXPORTER_OTLP_ENDPOINT=url, OTEL_METRIC_EXPORT_INTERVAL="1000",
            OTEL_EXPORTER_OTLP_COMPRESSION="gzip",
        )  # fmt: skip
    assert ("watch the crawl" in told) == ("--watch" in options)
    assert "OpenTelemetry" not in told
    (resource,) = received[-1].resource_metrics
    attributes = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert attributes["service.name"] == "semcrawl"
    (scope,) = resource.scope_metrics
    metrics = {metric.name: metric for metric in scope.metrics}
    for name, member in FIGURES.items():
        (point,) = metrics[f"semcrawl_{name}"].gauge.data_points
        assert point.as_double == summary[member], name
    attempts = metrics["semcrawl_attempts"].sum
    assert attempts.is_monotonic
    by_outcome = {
        attribute.value.string_value: point.as_double or point.as_int
        for point in attempts.data_points
        for attribute in point.attributes
        if attribute.key == "outcome"
    }
    assert {name: n for name, n in by_outcome.items() if n} == summary["outcomes"]


def test_a_collector_that_is_away_gives_one_line_and_a_whole_harvest(tmp_path: Path) -> None:
    told, summary = harvest(
        tmp_path / "out",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
        OTEL_METRIC_EXPORT_INTERVAL="1000",
        OTEL_EXPORTER_OTLP_TIMEOUT="1",
    )
    assert told.count("OpenTelemetry") == 1, told
    assert "Traceback" not in told
    assert summary["requests"] >= 40


def test_without_a_collector_nothing_of_it_is_loaded() -> None:
    code = (
        "import sys, semcrawl.commands.harvest;"
        "names = ('opentelemetry', 'prometheus_client', 'semcrawl.watch.telemetry');"
        "assert not [name for name in sys.modules if name.startswith(names)]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
