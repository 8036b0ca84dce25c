"""Patterns of addresses to request or not: globs and regular expressions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from semcrawl.errors import UsageError, os_errors_as
from semcrawl.web.charsets import text_of
from semcrawl.web.mediatypes import media_type
from semcrawl.web.urls import normalise

#: prefix of a regular expression
_REGEX = "re:"


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """One pattern of addresses.

    ``/data/*`` is matched with path and query, ``*.example.org/x/*`` with host, path and query, a
    pattern with ``://`` with the whole address. ``*`` matches any characters. ``re:…`` is a regular
    expression that is searched in the whole address. ``host:…`` is matched with the host,
    ``type:…`` with the media type of the response.
    """

    text: str
    _expression: re.Pattern[str]
    #: part to match: ``url``, ``place`` (all but the scheme), ``path``, ``host`` or ``type``
    _part: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a pattern; raise ``UsageError`` for a wrong one."""
        text = text.strip()
        if text.startswith(_REGEX):
            try:
                return cls(text, re.compile(text.removeprefix(_REGEX)), "url")
            except re.error as error:
                raise UsageError(f"{text!r} is not a regular expression: {error}") from None
        for kind in ("host", "type"):
            if text.startswith(f"{kind}:"):
                glob = text.removeprefix(f"{kind}:").strip().lower()
                if not glob or "/" in glob.replace("/", "", kind == "type"):
                    raise UsageError(f"{text!r} names no {kind}")
                return cls(text, _compiled(glob), kind)
        if not text:
            raise UsageError("a pattern of addresses is empty")
        part = "path" if text.startswith("/") else "url" if "://" in text else "place"
        glob = text
        if part == "url" and "*" not in text:
            glob = normalise(text) or text
        if part != "path":  # hosts are lower-case in addresses
            scheme, mark, rest = glob.rpartition("://")
            host, slash, path = rest.partition("/")
            glob = scheme.lower() + mark + host.lower() + slash + path
        return cls(text, _compiled(glob), part)

    @property
    def fault(self) -> str:
        """Say why no address can match it; empty if some can. Expressions are not judged."""
        if self.text.startswith((_REGEX, "type:")):
            return ""
        if "#" in self.text:
            return "addresses are compared without their fragment (#…)"
        scheme, mark, rest = self.text.rpartition("://")
        if self._part == "url" and "*" not in scheme and scheme.lower() not in ("http", "https"):
            return f"no address begins with {scheme}{mark}"
        if self._part in ("url", "place") and "*" in self.text and "/" in rest:
            return ""
        if self._part == "place" and "/" not in rest and not rest.endswith("*"):
            name = rest.partition(":")[0]
            return f"an address has a path after its host; give host:{name} or {name}/*"
        return ""

    @property
    def is_type(self) -> bool:
        """Whether it matches media types, which only the response shows."""
        return self._part == "type"

    def holds_type(self, content_type: str) -> bool:
        """Whether it matches a ``Content-Type``."""
        return bool(self._expression.match(media_type(content_type)))

    def holds(self, url: str) -> bool:
        """Whether it matches a normalised address."""
        if self._part == "url":
            return bool(
                self._expression.search(url)
                if self.text.startswith(_REGEX)
                else self._expression.match(url)
            )
        place = url.partition("://")[2]
        if self._part == "host":
            host = place.partition("/")[0]
            return any(map(self._expression.match, (host, host.partition(":")[0])))
        if self._part == "path":
            place = "/" + place.partition("/")[2]
        return bool(self._expression.match(place))


@dataclass(frozen=True, slots=True)
class UrlPatterns:
    """Patterns of addresses to request, and of those not to request."""

    #: if there are any, one must match
    include: tuple[UrlPattern, ...] = ()
    #: none may match
    exclude: tuple[UrlPattern, ...] = ()

    @classmethod
    def parse(cls, include: Iterable[str], exclude: Iterable[str]) -> Self:
        """Read both lists; raise ``UsageError`` for a wrong pattern."""
        return cls(tuple(map(UrlPattern.parse, include)), tuple(map(UrlPattern.parse, exclude)))

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read them from Scrapy's settings; raise ``UsageError`` for wrong ones."""
        return cls.parse(listed(settings, "SEMCRAWL_INCLUDE"), listed(settings, "SEMCRAWL_EXCLUDE"))

    def __bool__(self) -> bool:
        """Whether there are any patterns."""
        return bool(self.include or self.exclude)

    def allow(self, url: str) -> bool:
        """Whether an address may be requested."""
        if not (self.include or self.exclude):  # true of most crawls
            return True
        include = [pattern for pattern in self.include if not pattern.is_type]
        if include and not any(pattern.holds(url) for pattern in include):
            return False
        return not self.exclude_it(url)

    def exclude_it(self, url: str) -> bool:
        """Whether a pattern excludes an address."""
        return any(pattern.holds(url) for pattern in self.exclude if not pattern.is_type)

    def allow_type(self, content_type: str) -> bool:
        """Whether a body of this type may be downloaded."""
        include = [pattern for pattern in self.include if pattern.is_type]
        if include and not any(pattern.holds_type(content_type) for pattern in include):
            return False
        return not any(p.holds_type(content_type) for p in self.exclude if p.is_type)


def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, glob.split("*"))) + r"\Z")


def _read_file(name: str) -> list[str]:
    """Return the patterns in a file, one per line; ``#`` begins a comment."""
    with os_errors_as(UsageError, f"cannot read the patterns in {name}"):
        lines = text_of(Path(name).read_bytes()).splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def listed(settings: Mapping[str, Any], name: str) -> list[str]:
    """Read a list of patterns, and those in its files (``@file``)."""
    found: list[str] = []
    for text in _written(settings, name):
        found += _read_file(text.strip()[1:]) if text.strip().startswith("@") else [text]
    return found


def _written(settings: Mapping[str, Any], name: str) -> list[str]:
    """Read a list of patterns: a list, JSON, or text separated by commas.

    Text that begins with a regular expression is one pattern, as it may contain commas.
    """
    value = settings.get(name) or []
    if not isinstance(value, str):
        return [str(each) for each in value]
    if value.startswith("["):
        try:
            found = json.loads(value)
        except ValueError:
            raise UsageError(f"{name} is not a JSON list: {value!r}") from None
        return [str(each) for each in found]
    if value.startswith(_REGEX):
        return [value]
    return [each for each in value.split(",") if each.strip()]
