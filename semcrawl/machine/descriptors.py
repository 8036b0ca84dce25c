"""Open files: how many a process may have, and how many a crawl needs."""

from __future__ import annotations

from contextlib import suppress

from scrapy.settings import BaseSettings

from semcrawl.errors import StoreError

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

#: what a crawl of two spiders has open however few requests it sends: results, databases with their
#: locks and journals, the frontier's connections, pipes to processes that read, the log
_ALWAYS = 72
#: what a request may have open: its connections, a body on disk, a file that is looked up
_PER_REQUEST = 4
#: sockets that Python's event loop waits for at a time where the system has no limit (``select``)
_SELECTED = 512


def raise_limit() -> int:
    """Let this process open as many files as it is allowed to; return how many."""
    if resource is None:
        return _SELECTED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # (some systems have no such limit, and still refuse an infinite one)
    for wanted in (hard, 1 << 16, 1 << 13):
        if soft != resource.RLIM_INFINITY and (wanted > soft or wanted == resource.RLIM_INFINITY):
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
                break
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1 << 20 if soft == resource.RLIM_INFINITY else soft


def fit_to_limit(settings: BaseSettings) -> str:
    """Have no more requests at a time than the process may open files for.

    Returns a line that says so, empty if there are enough. Raises ``StoreError`` when results could
    not be written even with one request at a time.
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
    """Return how many connections may be kept for later requests: half of what files are left."""
    limit = _SELECTED if resource is None else resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if resource is not None and limit == resource.RLIM_INFINITY:
        return 1 << 16
    return max(concurrency, (limit - _ALWAYS - concurrency * _PER_REQUEST) // 2)
