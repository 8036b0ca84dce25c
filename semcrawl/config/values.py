"""Reads settings by type: what is missing has the default of :mod:`semcrawl.settings`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from semcrawl import settings as defaults
from semcrawl.config.numbers import read_number, read_switch, whole_number
from semcrawl.errors import UsageError


class Values(Mapping[str, Any]):
    """Settings, Scrapy's or a plain mapping, over the defaults.

    The methods raise ``UsageError`` for values of another type.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    def __getitem__(self, name: str) -> Any:
        """Return a setting, or its default; raise ``KeyError`` if there is neither."""
        if name in self._settings:
            return self._settings[name]
        try:
            return getattr(defaults, name)
        except AttributeError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the settings that are given."""
        return iter(self._settings)

    def __len__(self) -> int:
        """Return how many settings are given."""
        return len(self._settings)

    def whole(self, name: str) -> int:
        """Return a whole number of at least 0."""
        return whole_number(self, name, 0)

    def number(self, name: str) -> float:
        """Return a number of at least 0."""
        return read_number(self, name, low=0)

    def switch(self, name: str) -> bool:
        """Return whether something is on."""
        return read_switch(name, self.get(name))

    def text(self, name: str) -> str:
        """Return a text; empty for none."""
        value = self.get(name)
        return "" if value is None else str(value).strip()

    def words(self, name: str) -> list[str]:
        """Return the words of a list, or of a text with commas, without empty ones."""
        value = self.get(name) or ()
        parts = value.split(",") if isinstance(value, str) else value
        return [word for part in parts if (word := str(part).strip())]


def checked_iri(name: str, text: str) -> str:
    """Return ``text`` if it is an IRI or empty; else raise ``UsageError``.

    ``name`` is the setting or option.
    """
    from pyoxigraph import NamedNode  # few commands need it

    try:
        NamedNode(text or "urn:none")
    except ValueError as error:
        raise UsageError(f"{name}: {text!r} is not an IRI: {error}") from None
    return text
