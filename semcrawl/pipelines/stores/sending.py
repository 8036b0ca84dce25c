"""Sends requests to a triple store, logs in, and interprets the responses."""

from __future__ import annotations

import json
import tempfile
import threading
from typing import IO, Any
from urllib.parse import urlencode
from uuid import uuid4

import requests
from requests.auth import AuthBase, HTTPBasicAuth, HTTPDigestAuth

from semcrawl.pipelines.stores.contract import StoreUnavailable

_RESULTS = "application/sparql-results+json"
#: body of a request
Body = IO[bytes] | tempfile.SpooledTemporaryFile[bytes] | bytes


class HttpError(Exception):
    """The server answered with an error status."""

    def __init__(self, status: int, words: str) -> None:
        """``words``: the text of the response, in one line."""
        self.status = status
        super().__init__(f"HTTP {status} {words}".strip())


class Sender:
    """Sends requests; each thread has its own connection."""

    def __init__(self, name: str, user: str, password: str, auth: str, timeout: float) -> None:
        """Log in as ``user`` with ``auth`` (``basic`` or ``digest``)."""
        #: the store's name in messages
        self.name = name
        #: a graph with an unused name, written and dropped to test what the store allows
        self.probe_graph = f"<urn:semcrawl:probe:{uuid4().hex}>"
        self._user = user
        self._password = password
        self._auth = auth
        self._timeout = timeout
        self._threads = threading.local()
        self._sessions: list[requests.Session] = []
        #: value of the ``Server`` header; empty without one, ``None`` before the first response
        self.server: str | None = None

    def send(
        self,
        method: str,
        url: str,
        params: dict[str, str],
        body: Body = b"",
        content_type: str = "",
        *,
        accept: str = "",
        again: bool = False,
        most: int = 0,
    ) -> str:
        """Send a request; return the text of the response.

        ``accept``: the media type that is wanted.
        ``most``: bytes of the response to read, without a last incomplete line; 0 = all.
        ``again``: the request changes nothing, so it may be repeated once if the connection ends,
        as servers close idle connections at any time.

        Raises ``StoreUnavailable`` if the server cannot be reached or refuses the login, and
        ``HttpError`` for an error response. Dropping a graph that does not exist is no error.
        """
        headers = {"Content-Type": content_type} if content_type else {}
        if accept:
            headers["Accept"] = accept
        try:
            answer = self._session(url).request(
                method,
                url,
                params=params,
                data=body,
                headers=headers,
                timeout=self._timeout,
                allow_redirects=False,
                stream=bool(most),
            )
            text = _start(answer, most) if most else answer.text
        except (requests.RequestException, OSError) as error:
            if again and isinstance(error, requests.ConnectionError):
                return self.send(method, url, params, body, content_type, accept=accept, most=most)
            raise StoreUnavailable(f"{self.name}: {_reason(error)}") from None
        self.server = answer.headers.get("Server", "")
        if answer.status_code in (401, 403):
            raise StoreUnavailable(
                f"{self.name}: user or password is wrong, or may not write"
                f" (HTTP {answer.status_code})"
            )
        is_dropped = method == "DELETE" and answer.status_code in (404, 410)
        if not (answer.ok and answer.status_code < 300) and not is_dropped:
            raise HttpError(answer.status_code, _words(text))
        return text

    def update(self, url: str, body: Body) -> None:
        """Send SPARQL 1.1 Update operations; raise as :meth:`send` does."""
        self.send("POST", url, {}, body, "application/sparql-update; charset=utf-8")

    def query(self, url: str, query: str) -> list[Any]:
        """Return the results of a SPARQL 1.1 query; raise as :meth:`send` does."""
        form = urlencode({"query": query, "format": _RESULTS}).encode()
        kind = "application/x-www-form-urlencoded"
        answer = self.send("POST", url, {}, form, kind, accept=_RESULTS, again=True)
        try:
            return list(json.loads(answer)["results"]["bindings"])
        except (ValueError, KeyError, TypeError):
            raise HttpError(200, "with no results in it") from None

    def close(self) -> None:
        """Close the connections."""
        for session in self._sessions:
            session.close()

    def _session(self, url: str) -> requests.Session:
        session: requests.Session | None = getattr(self._threads, "session", None)
        if session is None:
            session = self._threads.session = requests.Session()
            # http_proxy of the environment is for the crawl, not for the store
            session.trust_env = False
            session.auth = self._login()
            self._sessions.append(session)
            if isinstance(session.auth, HTTPDigestAuth):
                # log in first: the server may refuse a large body halfway to ask for the login
                params = {"graph": self.probe_graph[1:-1]}
                session.get(url, params=params, timeout=self._timeout, allow_redirects=False)
        return session

    def _login(self) -> AuthBase | None:
        if not self._user:
            return None
        kind = HTTPDigestAuth if self._auth == "digest" else HTTPBasicAuth
        return kind(self._user, self._password)


def _start(answer: requests.Response, most: int) -> str:
    """Return the whole lines among the first ``most`` bytes of a response, and close it."""
    with answer:
        start = next(answer.iter_content(most), b"")
    whole = start if len(start) < most else start[: start.rfind(b"\n") + 1]
    return whole.decode("utf-8", "replace")


def _reason(error: BaseException) -> str:
    """Return the innermost cause of a connection failure, in one line."""
    while True:
        inner = (
            getattr(error, "reason", None)
            or next((a for a in getattr(error, "args", ()) if isinstance(a, BaseException)), None)
            or error.__cause__
        )
        if not isinstance(inner, BaseException):
            break
        error = inner
    words = getattr(error, "strerror", None) or str(error)
    return " ".join(words.split())[:200] or type(error).__name__


def _words(text: str) -> str:
    """Return the beginning of an error response in one line; empty for most HTML pages."""
    start = text.find("<xmp>") + 5 if "<xmp>" in text else 0
    plain = text[start:] if start or not text.lstrip().startswith("<") else ""
    return " ".join(plain.split())[:200]
