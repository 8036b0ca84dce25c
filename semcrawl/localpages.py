"""Pages that a command serves to browsers of its user, and that no other site can reach.

A request must name this machine or an address in its ``Host``, so that no site gets at the pages
by DNS rebinding. Pages load nothing from other hosts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import Any

from aiohttp import web
from yarl import URL

from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.metadata.database import one_line

logger = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
#: returns the response for a problem: its request, status and one line
Problem = Callable[[web.Request, int, str], web.Response]

LOOPBACK = "127.0.0.1"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
#: seconds for which a closing server waits for its answers
_LAST_WORD = 1.0


def guarded(
    problem: Problem,
    policy: str,
    *,
    addresses: bool = False,
    errors: tuple[type[Exception], ...] = (),
    failure: str = "",
) -> Any:
    """Refuse foreign hosts, answer errors in one line, and add headers to every response.

    ``policy`` is the ``Content-Security-Policy``. With ``addresses``, any IP address is a good
    ``Host``, as a name that was rebound is none. ``errors`` are answered with status 500, and a
    line that begins with ``failure``.
    """
    failures: tuple[type[Exception], ...] = (SemcrawlError, *errors)

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            if not _is_local(request, addresses=addresses):
                raise web.HTTPForbidden(text=f"ask for {LOOPBACK} or localhost")
            answer = await handler(request)
        except UsageError as error:
            answer = problem(request, 400, str(error))
        except web.HTTPException as error:
            own = "" if error.text == f"{error.status}: {error.reason}" else error.text
            answer = problem(request, error.status, own or "")
        except failures as error:
            answer = problem(request, 500, failure + one_line(error))
        if not answer.prepared:
            answer.headers.update(headers_of(policy))
        return answer

    return guard


def headers_of(policy: str) -> dict[str, str]:
    """Return the headers of every response; an answer that is a stream adds them itself."""
    return {"Content-Security-Policy": policy, **_HEADERS}


async def serve_pages(
    app: web.Application,
    port: int,
    started: Callable[[str], None],
    stopped: asyncio.Event,
    *,
    bind: str = LOOPBACK,
) -> None:
    """Serve until ``stopped``; call ``started`` with the address. Port 0 takes a free port.

    Raises ``OSError`` if the port is taken.
    """
    logger.addFilter(_in_one_line)
    runner = web.AppRunner(app, access_log=None, logger=logger, shutdown_timeout=_LAST_WORD)
    await runner.setup()
    try:
        await web.TCPSite(runner, bind, port).start()
        host = bind if ":" not in bind else f"[{bind}]"
        started(f"http://{host}:{runner.addresses[0][1]}/")
        await stopped.wait()
    finally:
        await runner.cleanup()


def _in_one_line(record: logging.LogRecord) -> bool:
    """Log errors, such as requests that are not HTTP, in one line without a traceback."""
    if record.exc_info and (error := record.exc_info[1]) is not None:
        record.msg, record.args = f"{record.getMessage()}: {one_line(error)}"[:300], ()
        record.exc_info = None
    return True


def _is_local(request: web.Request, *, addresses: bool) -> bool:
    try:
        host = URL(f"http://{request.headers.get('Host', '')}").host or ""
        if host == "localhost":
            return True
        address = ip_address(host)
    except ValueError:
        return False
    return addresses or address.is_loopback
