"""Serves the search on loopback, as pages and as a small JSON API.

Only this machine may ask: the server listens on 127.0.0.1 and refuses requests whose ``Host`` is
not local, so that no site can reach it by DNS rebinding. Pages load nothing from other hosts and
run one script of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import UsageError
from semcrawl.imagesearch.search import (
    MAX_QUERY,
    ImageSearch,
    ShownImage,
    found_as_dict,
    shown_images,
    thumbnail_of,
    thumbnail_path,
)
from semcrawl.localpages import guarded, serve_pages

#: images per page, and most images per answer of the API
_PER_PAGE, _MOST = 48, 200
_FILES = {"style.css": "text/css", "keys.js": "text/javascript", "icon.svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def search_app(search: ImageSearch) -> web.Application:
    """Return the web application of one search."""
    pages = _Pages(search)
    guard = guarded(
        pages.problem,
        _POLICY,
        errors=(SQLAlchemyError, OSError),
        failure="the images cannot be read: ",
    )
    app = web.Application(middlewares=[guard], client_max_size=0)
    app.add_routes(
        [
            web.get("/", pages.page),
            web.get(r"/image/{number:\d{1,18}}", pages.image),
            web.get(r"/thumbnail/{number:\d{1,18}}", pages.thumbnail),
            web.get("/files/{name}", pages.file),
            web.get("/api/search", pages.api_search),
            web.get(r"/api/images/{number:\d{1,18}}", pages.api_image),
            web.get("/api/queries", pages.api_queries),
        ]
    )
    return app


async def serve_search(
    search: ImageSearch, port: int, started: Callable[[str], None], stopped: asyncio.Event
) -> None:
    """Serve until ``stopped``; call ``started`` with the address. Port 0 takes a free port.

    Raises ``OSError`` if the port is taken.
    """
    await serve_pages(search_app(search), port, started, stopped)


class _Pages:
    """Answers requests."""

    def __init__(self, search: ImageSearch) -> None:
        self._search = search
        self._environment = Environment(
            loader=PackageLoader("semcrawl.imagesearch", "pages"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._files = {
            name: (files("semcrawl.imagesearch") / "pages" / name).read_bytes() for name in _FILES
        }

    async def page(self, request: web.Request) -> web.Response:
        """Answer a query; without one, show the home page."""
        asked = request.query.get("q", "").strip()
        if not asked:
            return await asyncio.to_thread(self._home)
        return await asyncio.to_thread(self._found, request, asked)

    async def image(self, request: web.Request) -> web.Response:
        """Show one image, its places, and similar images."""
        number = int(request.match_info["number"])
        if (query := request.query.get("q", "")) and _is_click(request):
            await asyncio.to_thread(self._search.clicked, query, number)
        return await asyncio.to_thread(self._one, number)

    async def thumbnail(self, request: web.Request) -> web.StreamResponse:
        """Send a thumbnail. The database names the file, never the request."""
        number = int(request.match_info["number"])
        name = await asyncio.to_thread(thumbnail_of, self._search.engine, number)
        path = thumbnail_path(self._search.folder, name)
        if path is None:
            raise web.HTTPNotFound(text="there is no such thumbnail")
        headers = {"Cache-Control": "private, max-age=3600", "Content-Type": "image/jpeg"}
        return web.FileResponse(path, headers=headers)

    async def file(self, request: web.Request) -> web.Response:
        """Send the style sheet, the script or the icon."""
        name = request.match_info["name"]
        if name not in _FILES:
            raise web.HTTPNotFound(text="there is no such file")
        return web.Response(body=self._files[name], content_type=_FILES[name], charset="utf-8")

    async def api_search(self, request: web.Request) -> web.Response:
        """Answer a query in JSON."""
        limit = _number(request, "limit", 20, _MOST)
        offset = _number(request, "offset", 0, 1_000_000)
        exact, remember = _is_set(request, "exact"), _is_own(request)
        answer = await asyncio.to_thread(
            self._search.search, request.query.get("q", ""), limit, offset, exact=exact,
            remember=remember,
        )  # fmt: skip
        shown = await asyncio.to_thread(self._shown, [hit.image for hit in answer.hits])
        return web.json_response(found_as_dict(answer, shown))

    async def api_image(self, request: web.Request) -> web.Response:
        """Describe one image in JSON."""
        number = int(request.match_info["number"])
        shown = await asyncio.to_thread(self._shown, [number])
        if not shown:
            raise web.HTTPNotFound(text="there is no such image")
        similar = [{"image": hit.image, "score": hit.score} for hit in self._search.like(number)]
        return web.json_response(shown[0].as_dict() | {"similar": similar})

    async def api_queries(self, request: web.Request) -> web.Response:
        """List the popular queries in JSON."""
        count = _number(request, "limit", 20, _MOST)
        popular = await asyncio.to_thread(self._search.queries.popular, count)
        return web.json_response({"popular": popular})

    def problem(self, request: web.Request, status: int, message: str) -> web.Response:
        """Return an error in one line: JSON for the API, else a page."""
        message = message or HTTPStatus(status).phrase
        if request.path.startswith("/api/"):
            return web.json_response({"error": message}, status=status)
        return self._rendered("problem.html", status, message=message)

    def _home(self) -> web.Response:
        search = self._search
        return self._rendered(
            "home.html",
            popular=search.queries.popular(search.OFFERED),
            classes=search.largest_classes(2 * search.OFFERED),
            images=self._shown(search.newest(_PER_PAGE)),
        )

    def _found(self, request: web.Request, asked: str) -> web.Response:
        page = max(1, _number(request, "page", 1, 1000))
        exact = _is_set(request, "exact")
        answer = self._search.search(
            asked, _PER_PAGE, (page - 1) * _PER_PAGE, exact=exact, remember=_is_own(request)
        )
        pages = max(1, -(-answer.total // _PER_PAGE))
        if page > pages:
            page = pages
            answer = self._search.search(
                asked, _PER_PAGE, (page - 1) * _PER_PAGE, exact=exact, remember=False
            )
        return self._rendered(
            "search.html",
            asked=asked,
            answer=answer,
            exact=exact,
            page=page,
            pages=pages,
            images=self._shown(hit.image for hit in answer.hits),
        )

    def _one(self, number: int) -> web.Response:
        shown = self._shown([number])
        if not shown:
            raise web.HTTPNotFound(text="there is no such image")
        similar = self._shown(hit.image for hit in self._search.like(number))
        return self._rendered("image.html", image=shown[0], similar=similar)

    def _shown(self, numbers: Iterable[int]) -> list[ShownImage]:
        known = [number for number in numbers if self._search.has(number)]
        return shown_images(self._search.engine, known)

    def _rendered(self, template: str, status: int = 200, **values: Any) -> web.Response:
        common = {
            "folder": self._search.folder.resolve().name,
            "count": len(self._search),
            "longest": MAX_QUERY,
            "asked": "",
        }
        text = self._environment.get_template(template).render(common | values)
        headers = {"Cache-Control": "no-store"}
        return web.Response(text=text, status=status, content_type="text/html", headers=headers)


def _number(request: web.Request, name: str, default: int, most: int) -> int:
    text = request.query.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(f"{name} must be a whole number")
    return min(int(text), most)


def _is_set(request: web.Request, name: str) -> bool:
    return request.query.get(name, "") not in ("", "0")


def _is_own(request: web.Request) -> bool:
    """Whether the request is not from another site's page; such queries are not remembered."""
    return request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")


def _is_click(request: web.Request) -> bool:
    """Whether a user followed a link of our own pages, and the browser did not only look ahead."""
    own = request.headers.get("Sec-Fetch-Site") == "same-origin"
    return own and "Sec-Purpose" not in request.headers
