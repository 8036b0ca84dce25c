"""Names of what one host gives: what tells whether two hosts are mirrors of each other.

Two origins (scheme, host and port) are *mirrors* once a few paths gave the same bytes on both, each
path another body: an error page that is served everywhere counts once. One path that gives other
bytes shows that they are none, whatever they had in common.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import blake2b
from urllib.parse import urlsplit

#: bytes that an origin's name, and a path's, stand for: 48 bits
_NAME_BYTES = 6


def parts(url: str) -> tuple[str, str]:
    """Return a URL's origin (``http://a.example:8080``) and all that follows it."""
    split = urlsplit(url)
    origin = f"{split.scheme}://{split.netloc}"
    return origin, url[len(origin) :]


def name_of(text: str) -> str:
    """Return the name of an origin, or of a path with its query: eight characters."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_NAME_BYTES).digest()
    return urlsafe_b64encode(digest).decode()


def body_name(sha256: str) -> str:
    """Return the name of a body by its SHA-256 (hexadecimal): eight characters."""
    return urlsafe_b64encode(bytes.fromhex(sha256[: 2 * _NAME_BYTES])).decode()
