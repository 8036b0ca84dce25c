"""The connection to a Redis server: its address, its scripts, and calls that wait for it."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import logging
import os
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlsplit, urlunsplit

import msgpack
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AskError,
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,
    MasterDownError,
    MovedError,
    NoPermissionError,
    NoScriptError,
    RedisError,
    ResponseError,
    TimeoutError,
    TryAgainError,
)

from semcrawl.errors import FrontierCorrupt, FrontierUnavailable, UsageError
from semcrawl.web.hosts import public_address

#: errors of a server that refuses temporarily: read-only, out of memory, disk full, loading …
_REFUSED = re.compile(
    r"\b(READONLY|OOM|MISCONF|LOADING|MASTERDOWN|UNBLOCKED|NOREPLICAS|CLUSTERDOWN|TRYAGAIN|BUSY"
    r"|NOPERM|NOAUTH|WRONGPASS)\b"
)

#: redis-py's prefix of errors in pipelines, which contains all arguments
_COMMAND = re.compile(r"^Command # \d+ \(.*\) of pipeline caused error: ")


class AnotherRun(ConnectionError):  # noqa: N818 - no fault
    """A new connection leads to another server, or to another run of the same one."""


def connect(
    server: str | Path, *, timeout: float, greet: Callable[[Any], Awaitable[None]] | None = None
) -> Redis:
    """Make a client for a ``redis://``, ``rediss://`` or ``unix://`` URL, or a socket's path.

    ``greet`` is awaited for each new connection. Raises ``UsageError`` for an invalid address. Does
    not connect yet.
    """
    options: dict[str, Any] = {
        "socket_timeout": timeout,
        "socket_connect_timeout": min(timeout, 10.0),
        "retry": Retry(NoBackoff(), 0),
        "decode_responses": False,
        # keys contain names of URLs, which may have any characters
        "encoding_errors": "surrogatepass",
        "redis_connect_func": greet,
    }
    if isinstance(server, Path) or server.startswith("/"):
        return Redis(unix_socket_path=str(server), **options)
    try:
        return Redis.from_url(server, **options)
    except ValueError as error:
        raise UsageError(f"not the address of a Redis server: {server!r} ({error})") from error


def plain_reason(error: Exception) -> str:
    """Describe an error for users, as redis-py's texts of failed connections show Python."""
    cause = error.__context__ if isinstance(error, RedisError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate cannot be trusted ({cause.verify_message})"
    if isinstance(cause, ssl.SSLError):
        return "no connection by TLS" + (f" ({cause.reason})" if cause.reason else "")
    if isinstance(cause, OSError) and cause.errno is not None:
        # the number of a failed name lookup is negative, and its text is clear
        reason = os.strerror(cause.errno) if cause.errno > 0 else cause.strerror
        return str(reason).lower()
    text = _COMMAND.sub("", " ".join(str(error).split())).rstrip(".")
    # replies to redis-py's greeting without a password
    if text.startswith(("HELLO must be called", "NOAUTH", "Authentication required")):
        return "it asks for a password (authentication required)"
    if not text and isinstance(error, OSError):
        return "no answer"  # a timeout
    return text or type(error).__name__


def refusal(error: ResponseError, text: str) -> str:
    """Return why a server refuses a call temporarily; empty if it does not.

    A half-moved slot refuses scripts, as some of its keys are on another node.
    """
    if isinstance(error, AskError | TryAgainError):
        return "the slot of its keys is being moved"
    if isinstance(error, ClusterDownError | MasterDownError):
        return "the cluster is not whole (CLUSTERDOWN)"
    return text if _REFUSED.search(text) else ""


#: what a login must not hold unencoded
_ENDS_HOST = re.compile(r"[^!-~]|[/?#\[\]]")
#: schemes of clusters, and those of their nodes
_CLUSTER = {"redis+cluster": "redis", "rediss+cluster": "rediss"}


@dataclass(frozen=True, slots=True)
class Addresses:
    """The servers of a frontier: a whole list, or some nodes of a cluster."""

    urls: tuple[str, ...]
    cluster: bool = False

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a ``REDIS_URL``: ``redis://a``, ``redis://a,b:6380,c/1``, ``redis+cluster://a,b``.

        A part of a list takes missing scheme, user and password from the first part, and missing
        database and options from the last. Raises ``UsageError`` for an invalid text.
        """
        text = with_quoted_login(text)
        if "," not in text and "+cluster" not in text.partition(":")[0]:
            return cls((text,))
        parts = [part.strip() for part in text.split(",")]
        shown = public_address(text)
        if not all(parts):
            raise UsageError(f"REDIS_URL {shown}: a list of servers has no empty parts")
        try:
            first, last = urlsplit(parts[0]), urlsplit(_with_scheme(parts[-1], "redis"))
        except ValueError as error:
            raise UsageError(f"REDIS_URL {shown}: {error}") from None
        user, at, _ = first.netloc.rpartition("@")
        urls = []
        for part in parts:
            whole = urlsplit(_with_scheme(part, first.scheme))
            if (whole.scheme in _CLUSTER) != (first.scheme in _CLUSTER):
                raise UsageError(f"REDIS_URL {shown}: servers and clusters do not mix")
            if whole.scheme == "unix":
                urls.append(part)
                continue
            scheme = _CLUSTER.get(whole.scheme, whole.scheme)
            netloc = whole.netloc if "@" in whole.netloc or not at else user + at + whole.netloc
            own = bool(whole.path.strip("/") or whole.query)
            path, query = (whole.path, whole.query) if own else (last.path, last.query)
            urls.append(urlunsplit((scheme, netloc, path, query, "")))
        if first.scheme not in _CLUSTER and len(set(urls)) < len(urls):
            raise UsageError(f"REDIS_URL {shown}: each server of a list is named once")
        return cls(tuple(urls), first.scheme in _CLUSTER)

    def of_shard(self, number: int) -> str:
        """Return the URL of a shard's server; of a cluster, the cluster's."""
        if self.cluster:
            return self.whole
        return self.urls[number % len(self.urls)]

    @property
    def whole(self) -> str:
        """All servers as one address."""
        if not self.cluster:
            return ",".join(self.urls)
        return ",".join(
            url.replace("redis://", "redis+cluster://").replace("rediss://", "rediss+cluster://")
            for url in self.urls
        )


def with_quoted_login(url: str) -> str:
    """Return a URL whose password may hold any character: ``/``, ``?`` and ``#`` end no login.

    What is percent-encoded already stays so. In a list of servers each password must be encoded, as
    nobody can tell where it ends.

    >>> with_quoted_login("redis://:a/b?c#d@r.example:6379/0")
    'redis://:a%2Fb%3Fc%23d@r.example:6379/0'
    """
    scheme, separator, rest = url.partition("://")
    login, at, servers = rest.rpartition("@")
    if not at or "," in login or not _ENDS_HOST.search(login):
        return url
    user, colon, password = login.partition(":")
    return f"{scheme}{separator}{quote(user, '%')}{colon}{quote(password, '%')}@{servers}"


def _with_scheme(part: str, scheme: str) -> str:
    return part if "://" in part else f"{scheme}://{part}"


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


logger = logging.getLogger(__name__)

_ERROR = re.compile(r"FRONTIER-ERROR<(.*)><(.*)>", re.DOTALL)
_RUN = re.compile(rb"^run_id:(\w+)", re.MULTILINE)
_MINIMUM_VERSION = (6, 2)
#: seconds to wait for an answer when the crawl ends
_LAST_ANSWER = 5.0


@dataclass
class _Outage:
    """The outage of a call."""

    #: whether the log says that the call waits
    reported: bool = False


class Server:
    """One Redis server; a call is repeated until it succeeds.

    While the server is away or refuses, calls wait up to ``patience`` seconds. One line in the log
    says so, and one when it is back.
    """

    #: keys that are added to those of each script
    _extra_keys: tuple[str, ...] = ()
    #: seconds to wait for an absent server when a worker opens the frontier
    _opening_patience = 2.0

    def __init__(
        self,
        server: str | Path,
        *,
        meta_key: str,
        worker_id: str,
        timeout: float,
        patience: float,
    ) -> None:
        self.address = public_address(server)
        self._timeout = timeout
        self.redis = self._connected(server)
        #: creation time of the opened crawl's keys; empty before opening
        self.crawl = b""
        #: changes with every run of the server, which may have lost writes
        self._epoch = b""
        #: number of changes to another run, which may lack the last writes
        self.changes = 0
        #: awaited after each change, before any other call
        self.changed: Callable[[], Awaitable[None]] | None = None
        #: run id of the server that has the keys
        self._run = b""
        self._is_another_run = False
        self._is_joining = False
        self._joining = asyncio.Lock()
        self._meta_key = meta_key
        self._patience = patience
        self._hurries = False
        self._scripts = Scripts()
        #: number of calls that wait for the server
        self._waiting = 0
        self._worker = worker_id.encode("utf-8", "surrogatepass")
        self._calls = itertools.count(int.from_bytes(os.urandom(6), "big") << 16)
        # free slots for stored replies
        self._slots: list[int] = []
        self._slots_made = 0

    def _connected(self, server: str | Path) -> Redis:
        return connect(server, timeout=self._timeout, greet=self._greet)

    async def _greet(self, connection: Any) -> None:
        """Begin a connection; raise ``AnotherRun`` if it leads to another run of the server."""
        await connection.on_connect()
        await connection.send_command("INFO", "server")
        found = _RUN.search(bytes(await connection.read_response(disable_decoding=True)))
        run = found.group(1) if found else b""
        if self.crawl and run != self._run and not self._is_joining:
            self._is_another_run = True
            raise AnotherRun("another run of the server answers")
        self._run = run

    async def join(self) -> None:
        """Continue with the crawl's keys as the server has them now.

        Raises ``FrontierCorrupt`` if they are not those of the opened crawl.
        """
        args = (msgpack.packb([self._run], use_bin_type=False), b"")
        created, epoch = await self._scripts.run(self.redis, "join", (self._meta_key,), *args)
        if created != self.crawl:
            raise self._lost(self._meta_key)
        self._epoch = epoch

    async def _rejoin(self) -> None:
        """Continue with another run of the server."""
        async with self._joining:
            if not self._is_another_run:
                return
            self._is_joining = True
            try:
                await self.redis.connection_pool.disconnect(inuse_connections=False)
                await self.redis.ping()
                await self.join()
            finally:
                self._is_joining = False
            self._is_another_run = False
            self.changes += 1
            logger.info("the frontier's Redis at %s is another run, or another", self.address)
        if self.changed is not None:
            await self.changed()

    async def check(self) -> None:
        """Connect; raise ``FrontierUnavailable`` if the server does not answer or is too old.

        A restarting server gets some seconds, at most ``patience``.
        """
        deadline = time.monotonic() + min(self._patience, self._opening_patience)
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
                await self._look_again()
        version = str(info.get("redis_version", "0"))
        numbers = tuple(int(n) for n in re.findall(r"\d+", version)[:2])
        if numbers < _MINIMUM_VERSION:
            raise FrontierUnavailable(
                f"Redis at {self.address} is version {version}; 6.2 or newer is needed"
            )
        await self._warn_of_eviction()

    async def _warn_of_eviction(self) -> None:
        """Warn of a server that evicts keys when it is full, as links would be lost."""
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
        """Wait at most ``patience`` seconds for an absent server from now on."""
        self._patience = min(self._patience, patience)
        self._hurries = True

    async def close(self) -> None:
        """Delete the stored replies and disconnect."""
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
        """Run the script ``name``; return its reply.

        With ``once``, a repetition after a lost connection does not act twice: it gets the reply of
        the first run if that one reached the server.
        """
        packed = msgpack.packb(args, use_bin_type=False, unicode_errors="surrogatepass")
        all_keys = (self._meta_key, *keys, *self._extra_keys)

        def call(*kept: bytes) -> Awaitable[Any]:
            crawl = self.crawl and self.crawl + b"/" + self._epoch
            return self._scripts.run(self.redis, name, all_keys, packed, crawl, *kept)

        if not once:
            return await self.through(call)
        if not self._slots:
            self._slots.append(self._slots_made)
            self._slots_made += 1
        slot = self._slots.pop()
        number = next(self._calls).to_bytes(8, "big")
        try:
            return await self.through(lambda: call(self._worker + b":%d" % slot, number))
        finally:
            self._slots.append(slot)

    async def ask(self, command: str, key: str, *args: Any, **options: Any) -> Any:
        """Run a command of the client on ``key``; return the reply."""
        return await self.through(lambda: getattr(self.redis, command)(key, *args, **options), key)

    async def through(self, once: Callable[[], Awaitable[Any]], key: str = "") -> Any:
        """Await ``once`` (on ``key``), repeatedly during an outage; finally raise an error."""
        outage = _Outage()
        try:
            result = await self._through(once, key, outage)
        finally:
            self._waiting -= outage.reported
        # a server may refuse only some calls: it is back when no call waits
        if outage.reported and not self._waiting:
            logger.warning("the frontier's Redis at %s is back", self.address)
        return result

    async def _through(self, once: Callable[[], Awaitable[Any]], key: str, outage: _Outage) -> Any:
        since: float | None = None
        pause, failures = 0.02, 0
        while True:
            try:
                if self._is_another_run and self.crawl:
                    await self._rejoin()
                if not self._hurries:
                    return await once()
                async with asyncio.timeout(_LAST_ANSWER):
                    return await once()
            except AnotherRun:
                continue
            except (AuthenticationError, AuthorizationError, NoPermissionError) as error:
                raise self._unavailable(error) from error
            except (ConnectionError, TimeoutError, BusyLoadingError, OSError) as error:
                reason: Exception = error
                await self._look_again()
            except ResponseError as error:
                if await self._follows(error):
                    continue
                reason = self._meaning(error, key)
                if not isinstance(reason, FrontierUnavailable):
                    raise reason from error
            now = time.monotonic()
            since = now if since is None else since
            left = since + self._patience - now
            if left <= 0:
                raise self._unavailable(reason) from reason
            failures += 1
            # one failure may be a connection that ended long ago; two are an outage
            if failures > 1 and not outage.reported:
                outage.reported = True
                self._waiting += 1
                if self._waiting == 1:
                    what = self._unavailable(reason)
                    logger.warning("%s; waiting up to %.0f s for it", what, left)
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 2, 2.0)

    def placed(self, key: str) -> str:
        """Return the name of a list of seeds on the server."""
        return key

    async def is_replicated(self, seconds: float) -> bool:
        """Whether a replica has all earlier writes within ``seconds``."""

        async def once() -> int:
            # WAIT counts only writes of its own connection
            pipe = self.redis.pipeline(transaction=False)
            pipe.incr(self._meta_key.removesuffix("meta") + "barrier")
            pipe.wait(1, round(seconds * 1000))
            _, replicas = await pipe.execute()
            return int(replicas)

        return bool(await self.through(once))

    async def has_replicas(self) -> bool:
        """Whether replicas follow the server now."""
        info = await self.through(lambda: self.redis.info("replication"))
        return any(
            isinstance(found, dict) and found.get("state") == "online" for found in info.values()
        )

    async def _look_again(self) -> None:
        """Find the keys' server after a failed call; a single server does nothing."""

    async def _follows(self, error: ResponseError) -> bool:
        """Whether an error only means that the call must be repeated at once."""
        found = _ERROR.search(str(error))
        if found is not None and found.group(2).endswith("EPOCH"):
            self._is_another_run = True
            return True
        return False

    def _lost(self, key: str) -> FrontierCorrupt:
        return FrontierCorrupt(
            f"the Redis at {self.address} has lost the crawl's keys, {key!r} among them: it was"
            " emptied, evicted them, or was started again without its append-only file"
        )

    def _unavailable(self, error: Exception) -> FrontierUnavailable:
        if isinstance(error, FrontierUnavailable):
            return error
        text = plain_reason(error)
        return FrontierUnavailable(f"the frontier's Redis at {self.address} is not usable: {text}")

    def _meaning(self, error: ResponseError, key: str) -> Exception:
        found = _ERROR.search(str(error))
        text = str(error)
        if isinstance(error, MovedError):
            text = "it is a node of a cluster, and another has the keys; give redis+cluster://…"
            raise self._unavailable(ResponseError(text))
        if found is not None:
            key, text = found.groups()
            text = re.sub(r"^@user_script: *\d+: *-?", "", text)
        if why := refusal(error, text):
            return self._unavailable(ResponseError(why))
        if not key:
            return FrontierCorrupt(
                f"a script on {self._meta_key!r} meets what it should not: {text}"
            )
        if text == "LOST":
            return self._lost(key)
        if "WRONGTYPE" in text:
            text = "holds something of another type than the frontier puts there"
        else:
            text = "is corrupt: " + text.removeprefix("CORRUPT ")
        return FrontierCorrupt(f"the frontier's key {key!r} {text}")
