"""Serves the view of a crawl: a page, its live updates, JSON, metrics and health."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from hmac import compare_digest
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from aiohttp import web

from semcrawl.config.environment import asks_for_telemetry
from semcrawl.config.extras import install_hint
from semcrawl.localpages import LOOPBACK, guarded, headers_of, serve_pages
from semcrawl.watch.telemetry import send_figures
from semcrawl.watch.view import CrawlView

#: least and most seconds between two looks, and their part of the time that a look takes
_LEAST, _MOST, _SHARE = 1.0, 60.0, 0.05
#: pages that are kept up to date at a time
_MOST_PAGES = 32
#: header with the token of those who may give orders
_HEADER = "X-Semcrawl-Token"
#: seconds without a sign after which a worker counts as stuck
_STUCK = 60.0
#: the page's own style and script may run, and nothing else
_POLICY = (
    "default-src 'none'; connect-src 'self'; img-src data:; style-src {style}; "
    "script-src {script}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


async def serve_watch(
    view: CrawlView,
    port: int,
    started: Callable[[str], None],
    stopped: asyncio.Event,
    *,
    bind: str = LOOPBACK,
) -> None:
    """Serve until ``stopped``; call ``started`` with the address. Port 0 takes a free port.

    The address ends with the token of those who may give orders, behind ``#``: browsers send that
    part to no server. Raises ``OSError`` if the port is taken.
    """
    token = secrets.token_urlsafe(16)

    def tell(address: str) -> None:
        started(f"{address}#token={token}")

    try:
        await serve_pages(watch_app(view, token, stopped), port, tell, stopped, bind=bind)
    finally:
        await view.close()


def watch_app(view: CrawlView, token: str, stopped: asyncio.Event) -> web.Application:
    """Return the web application; ``token`` allows orders, open pages end with ``stopped``."""
    pages = _Pages(view, token, stopped)
    guard = guarded(_problem, pages.policy, addresses=True)
    app = web.Application(middlewares=[guard], client_max_size=1 << 16)
    if asks_for_telemetry():
        app.cleanup_ctx.append(pages.telemetry)
    app.add_routes(
        [
            web.get("/", pages.page),
            web.get("/view", pages.whole),
            web.get("/events", pages.events),
            web.get("/metrics", pages.metrics),
            web.get("/health", pages.health),
            web.get("/ready", pages.ready),
            web.post("/control", pages.control),
        ]
    )
    return app


class _Pages:
    """Answers requests; it looks at the crawl only when somebody asks."""

    def __init__(self, view: CrawlView, token: str, stopped: asyncio.Event) -> None:
        self._view = view
        self._token = token
        self._stopped = stopped
        self._text = (files("semcrawl.watch") / "page.html").read_text("utf-8")
        #: the ``Content-Security-Policy``
        self.policy = _POLICY.format(
            **{part: _hash_of(self._text, part) for part in ("style", "script")}
        )
        self._looking = asyncio.Lock()
        self._looked = float("-inf")
        #: seconds between two looks
        self._pause = _LEAST
        self._open = 0

    async def telemetry(self, _app: web.Application) -> AsyncIterator[None]:
        """Send the figures to a collector while the pages are served."""
        ended = asyncio.Event()
        task = asyncio.create_task(send_figures(self._now, ended))
        yield
        self._looked = float("-inf")  # send the end
        ended.set()
        await task

    async def page(self, _request: web.Request) -> web.Response:
        """Send the page."""
        return web.Response(
            text=self._text, content_type="text/html", headers={"Cache-Control": "no-store"}
        )

    async def whole(self, _request: web.Request) -> web.Response:
        """Send the view as JSON."""
        return web.json_response(await self._now(), headers={"Cache-Control": "no-store"})

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Send the view again and again, each time with the hosts that have changed."""
        if self._open >= _MOST_PAGES:
            raise web.HTTPServiceUnavailable(text=f"{_MOST_PAGES} pages are open; close one")
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        response = web.StreamResponse(headers={**headers, **headers_of(self.policy)})
        self._open += 1
        try:
            await response.prepare(request)
            await self._tell(response)
        except ConnectionError:
            pass  # the page was closed
        finally:
            self._open -= 1
        return response

    async def _tell(self, response: web.StreamResponse) -> None:
        known: dict[str, list[Any]] = {}
        while True:
            if ends := self._stopped.is_set():
                self._looked = float("-inf")  # show the end
            view = await self._now()
            hosts = {row[0]: row for row in view.get("hosts", ())}
            every = not (known.keys() <= hosts.keys())
            changed = [row for name, row in hosts.items() if every or known.get(name) != row]
            data = json.dumps({**view, "hosts": changed, "all_hosts": every or not known})
            known = hosts
            await response.write(f"event: view\ndata: {data}\n\n".encode())
            if ends:
                break
            try:
                async with asyncio.timeout(self._pause):
                    await self._stopped.wait()
            except TimeoutError:
                pass

    async def metrics(self, request: web.Request) -> web.Response:
        """Send the figures as OpenMetrics, or in the text format of Prometheus."""
        try:
            from semcrawl.watch._exposition import exposition
        except ModuleNotFoundError as error:
            if error.name != "prometheus_client":
                raise
            hint = install_hint("metrics")
            raise web.HTTPNotImplemented(text=f"metrics need prometheus-client: {hint}") from None
        body, kind = exposition(await self._now(), request.headers.get("Accept", ""))
        return web.Response(body=body, headers={"Content-Type": kind})

    async def health(self, _request: web.Request) -> web.Response:
        """Answer with status 200 unless a worker is stuck; 503 says which."""
        view = await self._now()
        silent = [each for each in view.get("workers", ()) if (each["silent"] or 0) > _STUCK]
        if silent:
            return _line(
                503, f"no sign of worker {silent[0]['name']} for {silent[0]['silent']:.0f} s"
            )
        return _line(200, f"{len(view.get('workers', ()))} workers run")

    async def ready(self, _request: web.Request) -> web.Response:
        """Answer with status 200 while the crawl can be read and runs; 503 says why not."""
        view = await self._now()
        if view["error"]:
            return _line(503, view["error"])
        status = 200 if view["state"] in ("running", "paused") else 503
        states = {"running": "the crawl runs", "paused": "the crawl is paused"}
        return _line(status, states.get(view["state"], "no worker runs"))

    async def control(self, request: web.Request) -> web.Response:
        """Carry out an order of the page: a JSON list of words. Other sites cannot give any."""
        _refuse_strangers(request)
        if not compare_digest(request.headers.get(_HEADER, "").encode(), self._token.encode()):
            raise web.HTTPForbidden(text="only the address that the command printed gives orders")
        try:
            words = json.loads(await request.text())
        except ValueError:
            words = None
        if not (isinstance(words, list) and all(isinstance(word, str) for word in words)):
            raise web.HTTPBadRequest(text="an order is a JSON list of words")
        orders = await self._view.give(words)
        self._looked = float("-inf")
        return web.json_response({"orders": orders.lines()})

    async def _now(self) -> dict[str, Any]:
        """Return a view that is no older than the pause between looks."""
        async with self._looking:
            now = time.monotonic()
            if now - self._looked >= 0.9 * self._pause:
                first = self._looked < 0
                await self._view.look()
                self._looked = time.monotonic()
                if self._view.last["error"]:  # it may be back soon
                    self._pause = 2 * _LEAST
                elif not first:  # which reads all records
                    self._pause = min(_MOST, max(_LEAST, (self._looked - now) / _SHARE))
            return self._view.last


def _refuse_strangers(request: web.Request) -> None:
    """Refuse what a page of another site made the browser send; no form can send JSON."""
    own = request.headers.get("Sec-Fetch-Site", "same-origin") in ("same-origin", "none")
    origin = request.headers.get("Origin", "")
    if not own or (origin and origin != f"{request.scheme}://{request.headers.get('Host')}"):
        raise web.HTTPForbidden(text="other sites give no orders")
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="an order is JSON")


def _hash_of(page: str, element: str) -> str:
    """Return the source expression that lets a page's own style or script run."""
    text = page.partition(f"<{element}>")[2].partition(f"</{element}>")[0]
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _line(status: int, text: str) -> web.Response:
    return web.Response(text=f"{text}\n", status=status, headers={"Cache-Control": "no-store"})


def _problem(_request: web.Request, status: int, message: str) -> web.Response:
    return _line(status, message or HTTPStatus(status).phrase)
