"""Parses ``REDIS_URL``: one server, several, or a cluster."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, urlsplit, urlunsplit

from semcrawl.errors import UsageError
from semcrawl.web.hosts import public_address

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
