"""Options of what is transferred: bounds of answers, and hosts that may be requested."""

from __future__ import annotations

from dataclasses import dataclass

from semcrawl.settings.reader import setting


@dataclass(frozen=True, slots=True)
class TransferOptions:
    """Bounds of an answer, and of the wait for it."""

    #: most bytes of an answer's headers
    headers_limit: int = setting("SEMCRAWL_MAX_HEADERS_SIZE")
    #: bytes above which a body is kept in a file, and decoded in a thread
    in_memory: int = setting("SEMCRAWL_MAX_SIZE_IN_MEMORY")
    thread_above: int = 262_144
    #: least bytes per second, and the seconds over which they are measured
    least_rate: float = setting("SEMCRAWL_LEAST_RATE")
    grace: float = 10.0
    #: seconds in which a host that gave nothing yet must answer
    first_answer: float = setting("SEMCRAWL_FIRST_ANSWER_TIMEOUT")
    #: longest Retry-After of a link
    longest_retry: float = setting("SEMCRAWL_MAX_RETRY_AFTER")
    delay: float = setting("SEMCRAWL_CRAWL_DELAY")
    #: whether hosts outside of the public internet may be requested
    allow_private: bool = setting("SEMCRAWL_ALLOW_PRIVATE_ADDRESSES")
