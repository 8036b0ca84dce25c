"""How long a server wants to be left alone."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime


def retry_after(value: str) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for (RFC 9110, section 10.2.3).

    It names seconds or a date; ``None`` when it names neither.
    """
    text = value.strip()
    if text.isascii() and text.isdecimal():
        return float(text[:12])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError, OSError):
        return None
