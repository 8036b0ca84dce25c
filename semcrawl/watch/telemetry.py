"""Sends the figures of a crawl to an OpenTelemetry collector, if the environment names one.

They are those of ``/metrics``, as observable instruments. The variables are those of
OpenTelemetry: ``OTEL_EXPORTER_OTLP_ENDPOINT``, ``OTEL_METRIC_EXPORT_INTERVAL`` and so on.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import semcrawl
from semcrawl.config.extras import install_hint
from semcrawl.terminal import complain

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Observation
    from prometheus_client.core import Metric

#: default and least seconds between two exports; most for one
_INTERVAL, _LEAST, _LONGEST = 60.0, 1.0, 10.0


async def send_figures(
    look: Callable[[], Awaitable[Mapping[str, Any]]], ended: asyncio.Event
) -> None:
    """Send what ``look`` sees at intervals, and once more when ``ended`` is set.

    Where that fails, one line says so. Without the extra, it says what to install and returns.
    """
    try:
        figures = _Instruments()
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(("opentelemetry", "prometheus_client")):
            raise
        complain(f"OpenTelemetry needs more packages: {install_hint('telemetry')}")
        return
    except ValueError as error:  # a variable has a wrong value
        complain(f"OpenTelemetry: {error}")
        return
    try:
        pause = float(os.environ.get("OTEL_METRIC_EXPORT_INTERVAL") or "nan") / 1000
    except ValueError:
        pause = math.nan
    pause = _INTERVAL if math.isnan(pause) else max(_LEAST, pause)
    is_last = False
    while not is_last:
        try:
            async with asyncio.timeout(pause):
                await ended.wait()
            is_last = True
        except TimeoutError:
            pass
        await asyncio.to_thread(figures.send, await look())
    figures.close()


class _Instruments:
    """Observable instruments of the last view, and their exporter."""

    def __init__(self) -> None:
        """Raises ``ModuleNotFoundError`` without the extra."""
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.metrics import Observation
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource

        from semcrawl.watch._exposition import metrics_of

        log = logging.getLogger("opentelemetry")
        log.handlers, log.propagate, log.level = [_Once(logging.WARNING)], False, logging.WARNING
        self._metrics_of, self._observation = metrics_of, Observation
        named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get(
            "OTEL_RESOURCE_ATTRIBUTES", ""
        )
        resource = {"service.version": semcrawl.__version__} | (
            {} if named else {"service.name": "semcrawl"}
        )
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(), math.inf)  # we say when
        self._provider = MeterProvider(
            [reader], resource=Resource.create(resource), shutdown_on_exit=False
        )
        self._meter = self._provider.get_meter("semcrawl", semcrawl.__version__)
        #: the last figures by name, and the names of instruments that exist
        self._last: dict[str, Metric] = {}
        self._made: set[str] = set()
        self._crawl = ""

    def send(self, view: Mapping[str, Any]) -> None:
        """Send the figures of a view."""
        self._crawl = view.get("crawl", "")
        self._last = {metric.name: metric for metric in self._metrics_of(view)}
        for name in self._last.keys() - self._made:
            metric, tell = self._last[name], partial(self._tell, name)
            if metric.type == "counter":
                self._meter.create_observable_counter(name, [tell], "", metric.documentation)
            else:
                self._meter.create_observable_gauge(name, [tell], "", metric.documentation)
            self._made.add(name)
        try:
            self._provider.force_flush(_LONGEST * 1000)
        except Exception as error:  # the SDK raises no narrower one
            logging.getLogger("opentelemetry").error("%s", error)

    def _tell(self, name: str, _options: CallbackOptions) -> Iterator[Observation]:
        """Yield the values of one metric."""
        for sample in self._last[name].samples if name in self._last else ():
            yield self._observation(sample.value, {**sample.labels, "crawl": self._crawl})

    def close(self) -> None:
        """End without a further export."""
        self._provider.shutdown(_LONGEST * 1000)


class _Once(logging.Handler):
    """Says in one line why figures cannot be sent, the first time."""

    _said = False

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        if not self._said:
            complain(f"OpenTelemetry: {record.getMessage()}"[:300])
        self._said = True
