"""Fits a crawl to the number of files that its process may open."""

from __future__ import annotations

from contextlib import suppress

from scrapy.settings import BaseSettings

from semcrawl.errors import StoreError

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

#: files that a crawl of two spiders opens without any request: results, databases with their locks
#: and journals, the frontier's connections, pipes to reading processes, the log
_ALWAYS = 72
#: files that a request may open: connections, a body on disk, a file to look up
_PER_REQUEST = 4
#: sockets that Python's event loop can wait for on Windows (``select``)
_SELECTED = 512


def raise_limit() -> int:
    """Raise this process's limit of open files as far as allowed; return it."""
    if resource is None:
        return _SELECTED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # some systems report an infinite limit, but refuse it
    for wanted in (hard, 1 << 16, 1 << 13):
        if soft != resource.RLIM_INFINITY and (wanted > soft or wanted == resource.RLIM_INFINITY):
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
                break
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1 << 20 if soft == resource.RLIM_INFINITY else soft


def fit_to_limit(settings: BaseSettings) -> str:
    """Reduce the requests at a time to the files that the process may open.

    Returns a message about it, or an empty string. Raises ``StoreError`` if even one request at a
    time needs too many.
    """
    limit = raise_limit()
    wanted = settings.getint("CONCURRENT_REQUESTS")
    if limit >= _ALWAYS + wanted * _PER_REQUEST:
        return ""
    possible = (limit - _ALWAYS) // _PER_REQUEST
    may = f"this process may have {limit} files open at a time (ulimit -n)"
    if possible < 1:
        raise StoreError(f"{may}; a crawl needs {_ALWAYS + wanted * _PER_REQUEST}: raise the limit")
    settings.set("CONCURRENT_REQUESTS", possible, "cmdline")
    return f"{may}: {possible} requests are sent at a time instead of {wanted}"


def idle_connections(concurrency: int) -> int:
    """Return how many idle connections to keep: half of the files that are left."""
    limit = _SELECTED if resource is None else resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if resource is not None and limit == resource.RLIM_INFINITY:
        return 1 << 16
    return max(concurrency, (limit - _ALWAYS - concurrency * _PER_REQUEST) // 2)
