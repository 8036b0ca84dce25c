"""A headless Chromium, driven by the DevTools protocol: keys, sizes, what it complains of."""

from __future__ import annotations

import asyncio
import base64
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: seconds until something counts as not happening
_PATIENCE = 60


class Page:
    """The one page of the browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self._events: list[dict[str, Any]] = []
        #: errors and warnings of the console, and requests that failed
        self.complaints: list[str] = []

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while True:
            message = await self._receive()
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]

    async def _receive(self) -> dict[str, Any]:
        message = await self._socket.receive_json(timeout=_PATIENCE)
        method, parameters = message.get("method", ""), message.get("params", {})
        if method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            self.complaints.append(str(parameters))
        elif method:
            self._events.append(message)
        return message

    async def _wait_for(self, method: str) -> None:
        while not any(event["method"] == method for event in self._events):
            await self._receive()

    async def open(self, url: str) -> None:
        self._events.clear()
        await self.send("Page.navigate", url=url)
        await self._wait_for("Page.loadEventFired")

    async def value(self, script: str) -> Any:
        found = await self.send("Runtime.evaluate", expression=script, returnByValue=True)
        return found["result"].get("value")

    async def press(self, key: str, *, leads_on: bool = False) -> None:
        """Press a key; ``leads_on``: another page is loaded by it."""
        self._events.clear()
        codes = {"Enter": 13, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40}  # fmt: skip
        code = codes.get(key, ord(key[0]))
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        event = {"key": key, "windowsVirtualKeyCode": code}
        await self.send("Input.dispatchKeyEvent", type="keyDown", **event, **text)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **event)
        if leads_on:
            await self._wait_for("Page.loadEventFired")

    async def type(self, text: str) -> None:
        await self.send("Input.insertText", text=text)

    async def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.send("Emulation.setEmulatedMedia", features=[scheme])

    async def picture(self) -> bytes:
        found = await self.send("Page.captureScreenshot")
        return base64.b64decode(found["data"])


@asynccontextmanager
async def browser(profile: Path) -> AsyncIterator[Page]:
    """Start the browser on a profile of its own."""
    assert CHROMIUM is not None
    process = await asyncio.create_subprocess_exec(
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--disable-background-networking", "--remote-debugging-port=0",
        f"--user-data-dir={profile}", "about:blank", stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        origin = await asyncio.wait_for(_origin(process), _PATIENCE)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{origin}/json/list") as answer:
                targets = await answer.json(content_type=None)
            address = next(one for one in targets if one["type"] == "page")["webSocketDebuggerUrl"]
            async with session.ws_connect(address, max_msg_size=0) as socket:
                page = Page(socket)
                for domain in ("Page", "Runtime", "Log"):
                    await page.send(f"{domain}.enable")
                yield page
    finally:
        process.terminate()
        await process.communicate()


async def _origin(process: asyncio.subprocess.Process) -> str:
    """Read where the browser listens from what it says."""
    assert process.stderr is not None
    async for line in process.stderr:
        if found := re.search(r"listening on ws(://[^/]+)/", line.decode()):
            return f"http{found[1]}"
    raise AssertionError("the browser has ended")
