"""The connection to the frontier's Redis: calls, outages, the meaning of errors."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ConnectionError,
    NoPermissionError,
    RedisError,
    ResponseError,
    TimeoutError,
)

from semcrawl.errors import FrontierCorrupt, FrontierUnavailable, UsageError
from semcrawl.frontier.redis._scripts import Scripts
from semcrawl.web.hosts import public_address

logger = logging.getLogger(__name__)

_ERROR = re.compile(r"FRONTIER-ERROR<(.*)><(.*)>", re.DOTALL)
#: answers of a server that refuses for now: read-only, out of memory, disk full, loading, …
_REFUSED = re.compile(
    r"\b(READONLY|OOM|MISCONF|LOADING|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN|BUSY"
    r"|NOPERM|NOAUTH|WRONGPASS)\b"
)
_MINIMUM_VERSION = (6, 2)
#: seconds that an absent server gets when a worker opens the frontier
_OPENING_PATIENCE = 2.0
#: seconds that an answer may take when the crawl ends
_LAST_ANSWER = 5.0


def connect(server: str | Path, *, timeout: float) -> Redis:
    """Make a client for a ``redis://``, ``rediss://`` or ``unix://`` URL, or a socket's path.

    Raises ``UsageError`` for anything else. Nothing is sent yet.
    """
    options: dict[str, Any] = {
        "socket_timeout": timeout,
        "socket_connect_timeout": min(timeout, 10.0),
        "retry": Retry(NoBackoff(), 0),
        "decode_responses": False,
        # names in keys come from URLs, whatever their characters
        "encoding_errors": "surrogatepass",
    }
    if isinstance(server, Path) or server.startswith("/"):
        return Redis(unix_socket_path=str(server), **options)
    try:
        return Redis.from_url(server, **options)
    except ValueError as error:
        raise UsageError(f"not the address of a Redis server: {server!r} ({error})") from error


def plain_reason(error: Exception) -> str:
    """Describe an error in our words: redis-py's texts of failed connections show Python."""
    cause = error.__context__ if isinstance(error, RedisError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate cannot be trusted ({cause.verify_message})"
    if isinstance(cause, ssl.SSLError):
        return "no connection by TLS" + (f" ({cause.reason})" if cause.reason else "")
    if isinstance(cause, OSError) and cause.errno is not None:
        # (that of a failed look-up of a name is negative, and says so itself)
        reason = os.strerror(cause.errno) if cause.errno > 0 else cause.strerror
        return str(reason).lower()
    text = " ".join(str(error).split()).rstrip(".")
    # answer of a server that wants a password to redis-py's greeting without one
    if text.startswith(("HELLO must be called", "NOAUTH", "Authentication required")):
        return "it asks for a password (authentication required)"
    if not text and isinstance(error, OSError):
        return "no answer"  # in the time that we gave it
    return text or type(error).__name__


@dataclass
class _Outage:
    """The outage that a call has met."""

    #: the log says that the call waits
    reported: bool = False


class Server:
    """One Redis server; a call is repeated until it is through.

    While the server is away or refuses, calls wait up to ``patience`` seconds; that is logged once,
    and once when it is back.
    """

    def __init__(
        self,
        server: str | Path,
        *,
        meta_key: str,
        worker_id: str,
        timeout: float,
        patience: float,
    ) -> None:
        self.redis = connect(server, timeout=timeout)
        self.address = public_address(server)
        #: when the keys of the crawl that was opened were made; empty before
        self.crawl = b""
        self._meta_key = meta_key
        self._patience = patience
        self._hurries = False
        self._scripts = Scripts()
        #: calls that wait for the server
        self._waiting = 0
        self._worker = worker_id.encode("utf-8", "surrogatepass")
        self._calls = itertools.count(int.from_bytes(os.urandom(6), "big") << 16)
        # numbers of this worker's slots for kept replies that no call is using
        self._slots: list[int] = []
        self._slots_made = 0

    async def check(self) -> None:
        """Connect, and raise ``FrontierUnavailable`` unless a new enough server answers.

        A server that just starts again gets some seconds, but no longer than ``patience``.
        """
        deadline = time.monotonic() + min(self._patience, _OPENING_PATIENCE)
        while True:
            try:
                info = await self.redis.info("server")
                break
            except (AuthenticationError, AuthorizationError, ResponseError) as error:
                raise self._unavailable(error) from error
            except BusyLoadingError:
                await asyncio.sleep(0.1)
            except (RedisError, OSError) as error:
                if time.monotonic() >= deadline:
                    raise self._unavailable(error) from error
                await asyncio.sleep(0.05)
        version = str(info.get("redis_version", "0"))
        numbers = tuple(int(n) for n in re.findall(r"\d+", version)[:2])
        if numbers < _MINIMUM_VERSION:
            raise FrontierUnavailable(
                f"Redis at {self.address} is version {version}; 6.2 or newer is needed"
            )
        await self._warn_of_eviction()

    async def _warn_of_eviction(self) -> None:
        """Warn of a server that evicts keys when it is full: links would be lost."""
        memory = await self.through(lambda: self.redis.info("memory"))
        policy = str(memory.get("maxmemory_policy", ""))
        if memory.get("maxmemory") and policy.startswith("allkeys"):
            logger.warning(
                "the frontier's Redis at %s evicts keys when it is full (maxmemory-policy %s), and"
                " the crawl would be lost then: set it to noeviction",
                self.address,
                policy,
            )

    def hurry(self, patience: float) -> None:
        """Wait no longer than ``patience`` seconds for a server that goes away from now on."""
        self._patience = min(self._patience, patience)
        self._hurries = True

    async def close(self) -> None:
        """Forget the kept replies and disconnect."""
        slots = [self._worker + b":%d" % slot for slot in range(self._slots_made)]
        try:
            if slots:
                replies = self._meta_key.removesuffix("meta") + "replies"
                async with asyncio.timeout(_LAST_ANSWER):
                    await self.redis.hdel(replies, *slots)
        except (RedisError, OSError):
            pass
        finally:
            await self.redis.aclose()

    async def run(self, name: str, args: Sequence[Any], *keys: str, once: bool = False) -> Any:
        """Run script ``name`` and return its reply.

        With ``once`` a repetition after a cut connection gets the reply of the first run if
        that one had reached the server, instead of acting twice.
        """
        packed = msgpack.packb(args, use_bin_type=False, unicode_errors="surrogatepass")
        parts = [packed, self.crawl]
        all_keys = (self._meta_key, *keys)
        if not once:
            return await self.through(lambda: self._scripts.run(self.redis, name, all_keys, *parts))
        if not self._slots:
            self._slots.append(self._slots_made)
            self._slots_made += 1
        slot = self._slots.pop()
        parts += [self._worker + b":%d" % slot, next(self._calls).to_bytes(8, "big")]
        try:
            return await self.through(lambda: self._scripts.run(self.redis, name, all_keys, *parts))
        finally:
            self._slots.append(slot)

    async def ask(self, command: str, key: str, *args: Any, **options: Any) -> Any:
        """Have the client run a command on ``key``; return the reply."""
        return await self.through(lambda: getattr(self.redis, command)(key, *args, **options), key)

    async def through(self, once: Callable[[], Awaitable[Any]], key: str = "") -> Any:
        """Await ``once`` (on ``key``), again after an outage; raise ``FrontierError`` at last."""
        outage = _Outage()
        try:
            result = await self._through(once, key, outage)
        finally:
            self._waiting -= outage.reported
        # a server that refuses some calls may do others: it is back when none waits any more
        if outage.reported and not self._waiting:
            logger.warning("the frontier's Redis at %s is back", self.address)
        return result

    async def _through(self, once: Callable[[], Awaitable[Any]], key: str, outage: _Outage) -> Any:
        since: float | None = None
        pause, failures = 0.02, 0
        while True:
            try:
                if not self._hurries:
                    return await once()
                async with asyncio.timeout(_LAST_ANSWER):
                    return await once()
            except (AuthenticationError, AuthorizationError, NoPermissionError) as error:
                raise self._unavailable(error) from error
            except (ConnectionError, TimeoutError, BusyLoadingError, OSError) as error:
                reason: Exception = error
            except ResponseError as error:
                reason = self._meaning(error, key)
                if not isinstance(reason, FrontierUnavailable):
                    raise reason from error
            now = time.monotonic()
            since = now if since is None else since
            left = since + self._patience - now
            if left <= 0:
                raise self._unavailable(reason) from reason
            failures += 1
            # one failure is a connection that ended, perhaps long ago; two are an outage.
            if failures > 1 and not outage.reported:
                outage.reported = True
                self._waiting += 1
                if self._waiting == 1:
                    what = self._unavailable(reason)
                    logger.warning("%s; waiting up to %.0f s for it", what, left)
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 2, 2.0)

    def _unavailable(self, error: Exception) -> FrontierUnavailable:
        if isinstance(error, FrontierUnavailable):
            return error
        text = plain_reason(error)
        return FrontierUnavailable(f"the frontier's Redis at {self.address} is not usable: {text}")

    def _meaning(self, error: ResponseError, key: str) -> Exception:
        found = _ERROR.search(str(error))
        text = str(error)
        if found is not None:
            key, text = found.groups()
            text = re.sub(r"^@user_script: *\d+: *-?", "", text)
        if _REFUSED.search(text):
            return self._unavailable(ResponseError(text))
        if not key:
            return FrontierCorrupt(
                f"a script on {self._meta_key!r} meets what it should not: {text}"
            )
        if text == "LOST":
            return FrontierCorrupt(
                f"the Redis at {self.address} has lost the crawl's keys, {key!r} among them: it was"
                " emptied, evicted them, or was started again without its append-only file"
            )
        if "WRONGTYPE" in text:
            text = "holds something of another type than the frontier puts there"
        else:
            text = "is corrupt: " + text.removeprefix("CORRUPT ")
        return FrontierCorrupt(f"the frontier's key {key!r} {text}")
