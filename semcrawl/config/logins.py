"""What hosts are told to let the crawl in: users, tokens, cookies, headers, client certificates.

The download handler adds it to a request as it is sent, by the request's own address. So it is in
no record, log, WARC file or message, and a redirect takes it nowhere else.
"""

from __future__ import annotations

import json
import os
import re
import ssl
import tomllib
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from semcrawl.errors import UsageError, os_errors_as
from semcrawl.settings.reader import Values
from semcrawl.web.urls import normalise

_NAME = "SEMCRAWL_LOGINS"
_KEYS = ("user", "password", "token", "cookies", "headers", "certificate", "key", "ca")
_PORTS = {"http": 80, "https": 443}
#: what a name, and what a value of a header or cookie cannot hold
_NO_TOKEN, _NO_VALUE = re.compile(r"[^!#$%&'*+.^_`|~0-9A-Za-z-]"), re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Login:
    """What one host, or a folder of it, is told."""

    #: scheme, host and port, and the path below which it holds
    origin: str
    folder: str
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    certificate: Path | None = None
    key: Path | None = None
    #: certificates of authorities that vouch for the host; ``None`` = those of the system
    ca: Path | None = None

    @cached_property
    def context(self) -> ssl.SSLContext:
        """How connections are secured: unlike other hosts, this one must prove who it is.

        Raises ``UsageError`` for certificates that cannot be used.
        """
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.certificate is not None:
                # the empty password keeps OpenSSL from asking for one at the terminal
                context.load_cert_chain(self.certificate, self.key, "")
        except (OSError, ValueError) as error:  # those of TLS among them
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            raise UsageError(
                f"{_NAME}: {self.origin}: the certificate or its key cannot be used: {reason}"
            ) from None
        return context


class Logins:
    """Logins by the addresses for which they are."""

    def __init__(self, logins: Iterator[Login] | tuple[Login, ...] = ()) -> None:
        """Keep them, those of the deepest folders first."""
        self._by_origin: dict[str, list[Login]] = {}
        for login in sorted(logins, key=lambda each: -len(each.folder)):
            self._by_origin.setdefault(login.origin, []).append(login)

    def of(self, url: str) -> Login | None:
        """Return the login for an address, if there is one: same scheme, host, port and folder."""
        if not self._by_origin:
            return None
        origin, path = _parts(url)
        found = (login for login in self._by_origin.get(origin, ()) if _below(path, login.folder))
        return next(found, None)


def _parts(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    try:
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return "", ""
    return f"{parts.scheme}://{parts.hostname}:{port}", parts.path or "/"


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder) or path + "/" == folder


def read_logins(settings: Mapping[str, Any]) -> Logins:
    """Read ``SEMCRAWL_LOGINS``: a TOML file, or a table that names where its secrets are.

    Raises ``UsageError``, without any secret, for what is wrong, and for files that others may
    read.
    """
    given = Values(settings)[_NAME]
    if not given:
        return Logins()
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            given = json.loads(given)
        except ValueError as error:
            raise UsageError(f"{_NAME} is neither the name of a file nor JSON: {error}") from None
    if isinstance(given, str | Path):
        path = Path(given)
        try:
            table = tomllib.loads(_private_text(path, _NAME))
        except tomllib.TOMLDecodeError as error:
            # its message cites no more than a character
            raise UsageError(f"{_NAME}: {path} is not TOML: {error}") from None
        return Logins(_read(table, str(path), shown=False))
    if not isinstance(given, Mapping):
        raise UsageError(f"{_NAME} must be the name of a file, or a table")
    return Logins(_read(given, _NAME, shown=True))


def _read(table: Mapping[str, Any], source: str, *, shown: bool) -> Iterator[Login]:
    """Yield the logins of a table, which is ``shown`` if it may hold no secrets itself."""
    source = source if source == _NAME else f"{_NAME}: {source}"
    for name, given in table.items():
        where = f"{source}: {name}"
        url = normalise(name if "://" in name else f"https://{name}")
        if url is None or "@" in name or "?" in name:
            raise UsageError(f"{where} is no host, such as example.org or http://example.org:8080")
        if not isinstance(given, Mapping):
            raise UsageError(f"{where} must be a table with some of {', '.join(_KEYS)}")
        for key in given:
            if key not in _KEYS:
                [close] = get_close_matches(key, _KEYS, n=1, cutoff=0)
                raise UsageError(f"{where}: there is no {key}; did you mean {close}?")
        yield _login(url, given, where, shown=shown)


def _login(url: str, given: Mapping[str, Any], where: str, *, shown: bool) -> Login:
    def secret(key: str, value: Any) -> str:
        return _secret(value, f"{where}: {key}", shown=shown)

    def path(key: str) -> Path | None:
        if not isinstance(given.get(key, ""), str):
            raise UsageError(f"{where}: {key} must be the name of a file")
        return Path(given[key]) if given.get(key) else None

    origin, folder = _parts(url)
    user = given.get("user", "")
    if not isinstance(user, str) or ":" in user or _NO_VALUE.search(user):
        raise UsageError(f"{where}: user must be a text without colon")
    password = secret("password", given.get("password", "")) if "password" in given else ""
    headers = []
    if user:
        pair = b64encode(f"{user}:{password}".encode()).decode()
        headers.append(("Authorization", f"Basic {pair}"))
    elif "password" in given:
        raise UsageError(f"{where}: password needs a user")
    if "token" in given:
        headers.append(("Authorization", f"Bearer {secret('token', given['token'])}"))
    headers += _pairs(given, "headers", where, secret)
    if cookies := _pairs(given, "cookies", where, secret):
        headers.append(("Cookie", "; ".join(f"{name}={value}" for name, value in cookies)))
    if len({name.lower() for name, _ in headers}) < len(headers):
        raise UsageError(f"{where}: user, token, cookies and headers give one header twice")
    certificate, key, ca = path("certificate"), path("key"), path("ca")
    login = Login(origin, folder, user, password, tuple(headers), certificate, key, ca)
    if origin.startswith("https:"):
        for secret_file in filter(None, (login.key or login.certificate,)):
            _check_private(secret_file, f"{where}: {secret_file}")
        login.context  # noqa: B018 - refuses certificates that cannot be used
    elif login.certificate or login.ca:
        raise UsageError(f"{where}: certificates are for https")
    return login


def _pairs(given: Mapping[str, Any], key: str, where: str, secret: Any) -> list[tuple[str, str]]:
    table = given.get(key, {})
    if not isinstance(table, Mapping):
        raise UsageError(f"{where}: {key} must be a table of names and values")
    for name in table:
        if not name or _NO_TOKEN.search(name):
            raise UsageError(f"{where}: {key}: {name!r} cannot be a name")
    return [(name, secret(f"{key}: {name}", value)) for name, value in table.items()]


def _secret(value: Any, where: str, *, shown: bool) -> str:
    """Return a secret: a text, that of an environment's variable, or that of a private file."""
    if isinstance(value, Mapping) and len(value) == 1:
        [(kind, name)] = value.items()
        if kind == "env" and isinstance(name, str):
            if not (found := os.environ.get(name, "")):
                raise UsageError(f"{where}: the environment has no variable {name}")
            return _value(found, where)
        if kind == "file" and isinstance(name, str):
            return _value(_private_text(Path(name), where).strip(), where)
    if not isinstance(value, str):
        raise UsageError(f'{where} must be a text, {{env = "NAME"}} or {{file = "NAME"}}')
    if shown:
        raise UsageError(
            f'{where} would show a secret: write {{env = "NAME"}} or {{file = "NAME"}}'
        )
    return _value(value, where)


def _value(text: str, where: str) -> str:
    if not text or _NO_VALUE.search(text):
        raise UsageError(f"{where} is empty, or has a character that no header may have")
    return text


def _private_text(path: Path, where: str) -> str:
    """Return the text of a file that only its owner may read."""
    _check_private(path, f"{where}: {path}")
    with os_errors_as(UsageError, f"{where}: cannot read {path}"):
        content = path.read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{where}: {path} is not UTF-8") from None


def _check_private(path: Path, where: str) -> None:
    """Raise ``UsageError`` for a file that others may read or change."""
    if not hasattr(os, "getuid"):
        return  # Windows has other rights
    with os_errors_as(UsageError, f"{where}: cannot be read"):
        found = path.stat()
    # a file of another owner, such as one that a cluster mounts, is read as one of its group
    forbidden = 0o077 if found.st_uid == os.getuid() else 0o037
    if found.st_mode & forbidden:
        raise UsageError(f"{where} may be read or changed by others: chmod 600 {path}")
