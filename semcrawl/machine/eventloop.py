"""The event loop that our commands crawl on: uvloop's, where it is installed."""

from __future__ import annotations

from importlib.util import find_spec

#: Scrapy's setting for it, as a command's default: a project or ``-s`` overrides it.
#: Programs that start crawls by themselves keep theirs, as Scrapy refuses a loop that is not the
#: one that this setting names
FASTEST_LOOP = {"ASYNCIO_EVENT_LOOP": "uvloop.Loop"} if find_spec("uvloop") else {}
