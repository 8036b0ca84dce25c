"""The view of a crawl as metrics for Prometheus, with few and known labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    StateSetMetricFamily,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from semcrawl.items import FetchOutcome

#: counters by name: the member of ``totals``, and what it counts
_TOTALS = {
    "requests": ("requests", "Requests sent, except for robots.txt and JSON-LD contexts"),
    "targets": ("targets", "Documents, pages and files of the kind that the crawl is for"),
    "rdf_documents": ("rdf_documents", "RDF documents"),
    "pages": ("html_documents", "HTML pages"),
    "quads": ("quads", "Quads of RDF documents"),
    "embedded_quads": ("embedded_quads", "Quads of data in pages"),
    "errors": ("errors", "Attempts that failed"),
    "received_bytes": ("bytes", "Bytes of bodies received"),
}
#: sizes of the frontier by name, and what they are
_SIZES = {
    "leased": "Links that workers hold",
    "seen": "Addresses that were ever added",
    "failed": "Links that failed and may be tried again",
    "withheld": "Links withheld as others like them led nowhere",
    "left_out": "Links left out",
    "dropped": "Links dropped as the frontier was full",
}
_STATES = ("running", "paused", "ended", "starting")
#: labels of links that have a series of their own; others are counted together
_LABELS = ("R", "HR", "H", "N")


class _Figures(Collector):
    """Yields the metrics of one view."""

    def __init__(self, view: Mapping[str, Any]) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        view = self._view
        yield _gauge("up", "Whether the crawl can be read", not view["error"])
        states = {name: name == view["state"] for name in _STATES}
        yield StateSetMetricFamily("semcrawl_state", "State of the crawl", states)
        if "totals" not in view:
            return
        for name, (member, text) in _TOTALS.items():
            # documents that are gone count no more, so that some sums may fall
            yield _gauge(name, text, view["totals"][member])
        done = CounterMetricFamily("semcrawl_links_done", "Links finished")
        done.add_metric([], view["done"])
        yield done
        outcomes = CounterMetricFamily(
            "semcrawl_attempts", "Attempts by outcome", labels=["outcome"]
        )
        for outcome in FetchOutcome:
            outcomes.add_metric([outcome], view["outcomes"].get(outcome, 0))
        yield outcomes
        waiting = GaugeMetricFamily(
            "semcrawl_waiting_links", "Waiting links by label", labels=["label"]
        )
        for label in _LABELS:
            waiting.add_metric([label], view["labels"].get(label, 0))
        rest = sum(n for label, n in view["labels"].items() if label not in _LABELS)
        waiting.add_metric(["other"], rest)
        yield waiting
        for name, text in _SIZES.items():
            yield _gauge(
                f"{name}_links" if name in ("failed", "leased") else name, text, view[name]
            )
        workers = view["workers"]
        yield _gauge("workers", "Active workers", len(workers))
        yield _gauge("in_flight", "Requests under way", sum(w.get("in_flight", 0) for w in workers))
        silent = max((each["silent"] or 0.0 for each in workers), default=0.0)
        yield _gauge("silence_seconds", "Longest time since a worker's last sign", silent)
        yield _gauge("began_seconds", "When the crawl began", view["began"])
        yield _gauge("looked_seconds", "When these figures were read", view["at"])


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"semcrawl_{name}", text, value=float(value))


def metrics_of(view: Mapping[str, Any]) -> list[Metric]:
    """Return a view's metrics."""
    return list(_Figures(view).collect())


def exposition(view: Mapping[str, Any], accept: str) -> tuple[bytes, str]:
    """Return a view's metrics and their media type, as the ``Accept`` header asks."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(view))
    encode, kind = choose_encoder(accept)
    return encode(registry), kind
