"""Loads and runs the frontier's Lua scripts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import NoScriptError


class Scripts:
    """The Lua scripts in ``lua/``, run by name.

    A file whose name starts with an underscore is a part. It precedes the scripts and parts that
    name it in a line ``-- needs:``; ``_base.lua`` precedes all.
    """

    def __init__(self) -> None:
        texts = {
            entry.name.removesuffix(".lua"): entry.read_text("utf-8")
            for entry in (files("semcrawl.frontier.redis") / "lua").iterdir()
            if entry.name.endswith(".lua")
        }
        self._sources: dict[str, str] = {}
        self._shas: dict[str, str] = {}
        for name in texts:
            if not name.startswith("_"):
                source = "".join(texts[part] for part in _parts(name, texts))
                self._sources[name] = source
                digest = hashlib.sha1(source.encode(), usedforsecurity=False)
                self._shas[name] = digest.hexdigest()

    async def run(self, redis: Redis, name: str, keys: Sequence[str], *args: bytes) -> Any:
        """Run a script; load it if the server does not know it."""
        parts: list[Any] = [*keys, *args]
        try:
            return await redis.evalsha(self._shas[name], len(keys), *parts)
        except NoScriptError:
            return await redis.eval(self._sources[name], len(keys), *parts)


def _parts(name: str, texts: Mapping[str, str]) -> list[str]:
    """Return the names of a script's parts and its own, in order."""
    parts = ["_base"]
    needs = re.search(r"^-- needs: (.+)$", texts[name], re.MULTILINE)
    for needed in needs.group(1).split(", ") if needs else ():
        parts += [part for part in _parts("_" + needed, texts) if part not in parts]
    return [*parts, name]
