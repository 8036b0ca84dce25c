"""Makes clients of Redis servers, and explains their errors."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AskError,
    ClusterDownError,
    ConnectionError,
    MasterDownError,
    RedisError,
    ResponseError,
    TryAgainError,
)

from semcrawl.errors import UsageError

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
