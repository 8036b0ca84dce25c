"""A browser that runs the scripts of pages and reaches nothing by itself.

Chromium is started without a way into a network. Whatever a page asks for is answered by a function
of the crawl, or refused. So the crawl's rules hold for it: addresses, robots.txt, pace and sizes.
Needs ``semcrawl[browser]``.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from semcrawl.errors import SemcrawlError
from semcrawl.web.hosts import origin_of

if TYPE_CHECKING:
    from playwright.async_api import (
        Browser as Chromium,
    )
    from playwright.async_api import (
        BrowserContext,
        CDPSession,
        Page,
        Playwright,
        Request,
        Route,
        WebSocketRoute,
    )

with suppress(ModuleNotFoundError):  # whoever makes a browser has checked that it is there
    from playwright.async_api import Error, async_playwright

_T = TypeVar("_T")
#: names of the program; without any, one that ``playwright install chromium`` brought is used
PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
_FLAGS = (
    # the way out is a proxy whose name does not exist, as no name does, and that none bypasses
    "--proxy-server=http://nowhere.invalid:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # its former name
    "--disable-quic",
    # a page is not looked at
    "--disable-gpu",
    "--disable-3d-apis",
    "--disable-remote-fonts",
    "--blink-settings=imagesEnabled=false",
)
#: takes away what sends packets of its own, before any script of a frame can have it
_WITHOUT = """for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"])
    delete globalThis[name];"""
#: flags of Playwright that allow pages too much
_UNWANTED = ("--disable-popup-blocking", "--disable-back-forward-cache")
#: variables of the environment that the browser gets; others may be secrets
_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "XDG_RUNTIME_DIR")
#: kinds of requests that are answered; a style sheet gets an empty one, as scripts may wait for it
_ANSWERED = frozenset({"script", "xhr", "fetch"})
_STYLE = "stylesheet"
#: the header by which a server lets scripts of other origins read its answer
_SHARED = "access-control-allow-origin"
#: headers of a page that its scripts depend on
_KEPT = frozenset({"content-type", "content-security-policy", "referrer-policy"})
#: seconds without a request after which a page is finished: loaded, or never loaded; and seconds
#: between two looks
_QUIET, _STUCK, _LOOK = 0.5, 3.0, 0.1
#: seconds for a page that was told to stop to give its content, and for the browser to close
_LAST_WORD, _CLOSING, _STARTING = 5.0, 5.0, 30.0
#: what scripts cannot have changed: it runs beside them, not among them
_CONTENT = """(() => {
    const root = document.documentElement, html = root ? root.outerHTML : "";
    return html.slice(0, %d);
})()"""


class NoBrowserError(SemcrawlError):
    """There is no Chromium, or it does not start."""


class RenderingError(SemcrawlError):
    """The browser, or the page in it, had to be stopped: nothing is known of the document."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one page may use."""

    #: seconds in all, and of processor time of one of its processes
    seconds: float = 60.0
    processor: float = 20.0
    #: bytes of memory of one of its processes, and of the whole browser
    memory: int = 1 << 30
    browser_memory: int = 3 << 30
    #: requests that are answered, and asked for before the page is stopped
    requests: int = 100
    most_asked: int = 1000
    #: bytes of all answers, and characters of the page
    received: int = 32 << 20
    characters: int = 16 << 20
    #: pages at a time, and requests of a page at a time
    pages_at_a_time: int = 4
    requests_at_a_time: int = 6


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a page asks for, by GET."""

    url: str
    #: ``script``, ``xhr`` or ``fetch``
    kind: str
    #: the header ``Accept``
    accept: str


@dataclass(frozen=True, slots=True)
class Part:
    """What it gets."""

    status: int
    #: with names in lower case
    headers: Mapping[str, str]
    body: bytes


#: answers a request of a page; ``None`` refuses it
Answerer = Callable[[Wanted], Awaitable[Part | None]]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page after its scripts have run."""

    html: str
    #: where its scripts wanted to go instead; empty: nowhere
    led_to: str = ""


@dataclass(eq=False)
class _Visit:
    """A page in the browser: answers its requests, and knows whether it is busy."""

    url: str
    first: Part
    answer: Answerer
    bounds: Bounds
    #: set when the page must be stopped, and why
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    why: str = ""
    led_to: str = ""
    _page: Page | None = None
    _inspector: CDPSession | None = None
    _begun: bool = False
    _loaded: bool = False
    _asked: int = 0
    _received: int = 0
    #: requests under way, and when the last one ended (``time.monotonic``)
    _open: int = 0
    _last: float = 0.0

    def __post_init__(self) -> None:
        self._places = asyncio.Semaphore(self.bounds.requests_at_a_time)

    async def prepare(self, context: BrowserContext) -> Page:
        """Make the page; nothing that it or its frames ask for passes by us."""
        await context.add_init_script(_WITHOUT)
        await context.route("**/*", self._route)
        await context.route_web_socket("**/*", _refuse)
        page = self._page = await context.new_page()
        self._inspector = await context.new_cdp_session(page)
        page.on("load", self._note_load)
        page.on("crash", lambda _: self.stop("its process ended"))
        context.on("page", self._popped_up)
        return page

    def stop(self, why: str) -> None:
        """Stop the page; the first reason counts."""
        self.why = self.why or why
        self.stopped.set()

    async def crash(self) -> None:
        """End the page's process."""
        if self._inspector is not None:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(_LOOK):  # there is no answer
                    await self._inspector.send("Page.crash")

    async def settle(self, page: Page) -> None:
        """Wait until the page is loaded and has asked for nothing for a moment."""
        await page.goto(self.url, wait_until="commit", timeout=0)
        self._last = time.monotonic()
        while self._is_busy():  # noqa: ASYNC110 - it waits for time to pass
            await asyncio.sleep(_LOOK)

    async def content(self) -> str:
        """Return the page as HTML, cut off where it is too long."""
        if (inspector := self._inspector) is None:
            return ""
        tree = await inspector.send("Page.getFrameTree")
        frame = tree["frameTree"]["frame"]["id"]
        world = await inspector.send("Page.createIsolatedWorld", {"frameId": frame})
        found = await inspector.send(
            "Runtime.evaluate",
            {
                "expression": _CONTENT % self.bounds.characters,
                "contextId": world["executionContextId"],
                "returnByValue": True,
            },
        )
        value = found["result"].get("value")
        if not isinstance(value, str):
            raise RenderingError("it cannot be written as HTML")
        return value

    def _is_busy(self) -> bool:
        quiet = time.monotonic() - self._last
        return self._open > 0 or quiet < (_QUIET if self._loaded else _STUCK)

    def _note_load(self, page: Page) -> None:
        self._loaded = True

    async def _popped_up(self, page: Page) -> None:
        if page is not self._page:
            with suppress(Error):
                await page.close()

    async def _route(self, route: Route, request: Request) -> None:
        """Answer a request or refuse it."""
        self._asked += 1
        if self.stopped.is_set():
            return
        if self._asked > self.bounds.most_asked:
            self.stop(f"it made more than {self.bounds.most_asked:,} requests")
        self._open += 1
        try:
            with suppress(Error):  # the page is gone
                if request.is_navigation_request():
                    await self._navigate(route, request)
                elif request.resource_type == _STYLE:
                    await route.fulfill(status=200, content_type="text/css", body="")
                elif (part := await self._part(request)) is not None:
                    await _give(route, part)
                else:
                    await route.abort()
        finally:
            self._open -= 1
            if self._asked <= self.bounds.requests:
                self._last = time.monotonic()

    async def _navigate(self, route: Route, request: Request) -> None:
        """Give the page itself; it may go nowhere else, and its frames stay empty."""
        is_main = self._page is not None and request.frame is self._page.main_frame
        if is_main and not self._begun:
            self._begun = True
            await _give(route, self.first)
            return
        self._loaded = self._loaded or is_main  # what it loads is given up
        if is_main and request.method == "GET" and request.url != self.url:
            self.led_to = self.led_to or request.url
        await route.abort("aborted")  # other reasons would show a page about the error

    async def _part(self, request: Request) -> Part | None:
        if request.method != "GET" or request.resource_type not in _ANSWERED:
            return None
        if self._asked > self.bounds.requests or not request.url.startswith(("http:", "https:")):
            return None
        accept = request.headers.get("accept", "*/*")
        async with self._places:
            if self.stopped.is_set() or self._received > self.bounds.received:
                return None
            part = await self.answer(Wanted(request.url, request.resource_type, accept))
        if part is None:
            return None
        self._received += len(part.body)
        if self._received > self.bounds.received:
            return None
        return part if request.resource_type == "script" or self._may_read(part, request) else None

    def _may_read(self, part: Part, request: Request) -> bool:
        """Whether scripts of the page may read an answer (CORS, which Playwright passes over)."""
        own = origin_of(self.url)
        return origin_of(request.url) == own or part.headers.get(_SHARED) in ("*", own)


async def _give(route: Route, part: Part) -> None:
    try:
        await route.fulfill(status=part.status, headers=dict(part.headers), body=part.body)
    except Error:  # a header that the browser refuses
        await route.abort()


async def _refuse(socket: WebSocketRoute) -> None:
    await socket.close()


class Browser:
    """Renders pages, each in a profile of its own that is forgotten afterwards.

    It starts with the first page. A browser that has ended is started again by the next page.
    """

    def __init__(self, agent: str, bounds: Bounds | None = None) -> None:
        """``agent``: the user agent that scripts see."""
        self._agent = agent
        self._bounds = bounds or Bounds()
        self._places = asyncio.Semaphore(self._bounds.pages_at_a_time)
        self._starting = asyncio.Lock()
        self._driver: Playwright | None = None
        self._chromium: Chromium | None = None
        self._system: CDPSession | None = None
        self._watch: asyncio.Task[None] | None = None
        self._visits: set[_Visit] = set()
        self._closed = False
        self._pid = 0
        #: why it cannot be started; empty if it can
        self._unusable = ""

    @property
    def pid(self) -> int | None:
        """The browser's process; ``None`` if none runs."""
        return self._pid if self._chromium is not None and self._chromium.is_connected() else None

    async def render(
        self, url: str, headers: Mapping[str, str], body: bytes, answer: Answerer
    ) -> Rendered:
        """Run the scripts of a page that was fetched; return what it has become.

        ``headers`` have names in lower case. ``answer`` is asked for what the page wants in
        addition. A page that is busy for too long is returned as it is then. Raises
        ``NoBrowserError``, and ``RenderingError`` for a page that uses too much or gives no answer,
        and for a browser that ends meanwhile.
        """
        kept = {name: value for name, value in headers.items() if name in _KEPT}
        visit = _Visit(url, Part(200, kept, body), answer, self._bounds)
        async with self._places:
            chromium = await self._started()
            self._visits.add(visit)
            try:
                return await self._visited(chromium, visit)
            except (Error, TimeoutError) as error:
                why = visit.why or str(error).partition("\n")[0] or "it gave no answer"
                raise RenderingError(why) from error
            finally:
                self._visits.discard(visit)

    async def _visited(self, chromium: Chromium, visit: _Visit) -> Rendered:
        async with asyncio.timeout(_STARTING):
            context = await chromium.new_context(
                user_agent=self._agent, accept_downloads=False, service_workers="block"
            )
        try:
            async with asyncio.timeout(_STARTING):
                page = await visit.prepare(context)
            await _until(visit.settle(page), visit.stopped, self._bounds.seconds)
            if visit.stopped.is_set():
                raise RenderingError(visit.why)
            html = await _until(visit.content(), visit.stopped, _LAST_WORD)
            if html is None:
                raise RenderingError(visit.why or "its scripts did not end")
            return Rendered(html, visit.led_to)
        except RenderingError:
            await visit.crash()  # it may go on to ask
            raise
        finally:
            visit.stop("it is over")
            await self._leave(context)

    async def _leave(self, context: BrowserContext) -> None:
        """Forget a page; end a browser that does not."""
        try:
            async with asyncio.timeout(_CLOSING):
                await context.close()
        except TimeoutError:
            self._kill("it does not close a page")
        except Error:
            pass  # it has ended

    # -- the program

    async def _started(self) -> Chromium:
        async with self._starting:
            if self._closed:
                raise RenderingError("the crawl ends")
            if self._unusable:
                raise NoBrowserError(self._unusable)
            if self._chromium is None or not self._chromium.is_connected():
                try:
                    async with asyncio.timeout(2 * _STARTING):
                        self._chromium = await self._start()
                except (Error, TimeoutError) as error:
                    self._unusable = _told(error)
                    raise NoBrowserError(self._unusable) from error
            return self._chromium

    async def _start(self) -> Chromium:
        if self._driver is None:
            self._driver = await async_playwright().start()
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        is_root = getattr(os, "geteuid", lambda: 1)() == 0  # Chromium's sandbox refuses root
        heap = self._bounds.memory >> 21
        chromium = await self._driver.chromium.launch(
            executable_path=program,
            chromium_sandbox=not is_root,
            args=[*_FLAGS, f"--js-flags=--max-old-space-size={heap}"],
            ignore_default_args=_UNWANTED,
            env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
            handle_sigint=False,  # the crawl ends it
            handle_sigterm=False,
            handle_sighup=False,
            timeout=1000 * _STARTING,
        )
        chromium.on("disconnected", lambda _: self._gone("the browser ended"))
        self._system = await chromium.new_browser_cdp_session()
        processes = await self._processes()
        self._pid = next(each["id"] for each in processes if each["type"] == "browser")
        if self._watch is None:
            self._watch = asyncio.create_task(self._keep_bounds())
        return chromium

    def give_up(self) -> None:
        """Give up the pages that are here and those that wait: the crawl ends."""
        self._closed = True
        self._gone("the crawl ends")

    def _gone(self, why: str) -> None:
        for visit in self._visits:
            visit.stop(why)

    async def _processes(self) -> list[dict[str, Any]]:
        if self._system is None:
            return []
        found = await self._system.send("SystemInfo.getProcessInfo")
        processes: list[dict[str, Any]] = found["processInfo"]
        return processes

    async def _keep_bounds(self) -> None:
        """End processes of pages that use too much, a few times a second while there are pages."""
        bounds = self._bounds
        while True:
            await asyncio.sleep(0.25)
            if not self._visits:
                continue
            try:
                async with asyncio.timeout(_CLOSING):
                    processes = await self._processes()
            except Error:
                continue  # it has ended
            except TimeoutError:
                self._kill("the browser gave no answer")
                continue
            used = {each["id"]: _own_memory(each["id"]) for each in processes}
            if sum(used.values()) > bounds.browser_memory:
                self._kill("the browser used too much memory")
                continue
            for each in processes:
                busy = each["cpuTime"] > bounds.processor or used[each["id"]] > bounds.memory
                if busy and each["type"] == "renderer":
                    _end(each["id"])

    def _kill(self, why: str) -> None:
        self._gone(why)
        if (pid := self.pid) is not None:
            _end(pid)

    async def close(self) -> None:
        """End the browser; pages in it are given up."""
        self.give_up()
        if self._watch is not None:
            self._watch.cancel()
        if self._chromium is not None:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(_CLOSING):
                    await self._chromium.close()
            self._kill("the crawl ends")
        if self._driver is not None:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(_CLOSING):
                    await self._driver.stop()


async def _until(work: Awaitable[_T], stopped: asyncio.Event, seconds: float) -> _T | None:
    """Return a result; ``None`` if it is not there in time, or the page is stopped before."""
    task, stop = asyncio.ensure_future(work), asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait({task, stop}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for each in (task, stop):
            each.cancel()


def _own_memory(pid: int) -> int:
    """Return the bytes of memory that only this process uses; 0 where the system does not say."""
    try:
        resident, shared = map(int, Path(f"/proc/{pid}/statm").read_text().split()[1:3])
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def _end(pid: int) -> None:
    with suppress(OSError):
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def _told(error: Exception) -> str:
    """Say why the browser does not start, and what to do."""
    text = str(error)
    if "Executable doesn't exist" in text:
        return f"there is no {PROGRAMS[0]}: install it, or run `playwright install chromium`"
    if "sandbox" in text.lower():
        return "its sandbox cannot be used: allow user namespaces, or install its setuid helper"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"it does not start: {lines[0] if lines else 'it gave no answer'}"
