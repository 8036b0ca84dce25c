"""Reads YAML-LD as JSON's values, those of YAML 1.2's core schema, bounded against alias bombs.

PyYAML gives the events of YAML. Its own values are those of YAML 1.1, where ``no`` is false,
``12:30:00`` a number and ``2024-01-01`` a date, so the values are made here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from semcrawl.rdf.limits import ErrorLog, LimitReached
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.patterns import re

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE = "tag:yaml.org,2002:"
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INTEGER = re.compile(r"[-+]?[0-9]++\Z")
_OTHER_BASE = re.compile(r"0(?:o[0-7]++|x[0-9a-fA-F]++)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?)(?:[eE][-+]?[0-9]++)?\Z")
_NO_JSON = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
#: digits of the longest number
_MOST_DIGITS = 400
#: events after which the time is checked
_PER_CHECK = 1000
#: values of a stream, those of aliases counted each time
_MOST_VALUES = 1_000_000
#: a value that JSON does not have
_NOTHING: Any = object()


def documents(data: bytes, errors: ErrorLog, options: ReadOptions) -> Iterator[tuple[int, Any]]:
    """Yield the values of the documents of a YAML stream in UTF-8, each with its first line.

    A fault in the YAML costs its document and those after it. A value that JSON does not have costs
    its member. Raises :class:`LimitReached` for deep nesting, and for aliases that make the
    values too many or too long.
    """
    try:
        builder: _Builder | None = None
        for number, event in enumerate(yaml.parse(data, Loader=_Loader)):
            if number % _PER_CHECK == 0:
                errors.check_time()
            if isinstance(event, yaml.DocumentStartEvent):
                builder = _Builder(errors, options, event.start_mark.line + 1)
            elif isinstance(event, yaml.DocumentEndEvent) and builder is not None:
                if isinstance(builder.root, dict | list):
                    yield builder.line, builder.root
                elif builder.root is not _NOTHING and builder.root is not None:
                    errors.add("no object and no array", builder.line)
            elif builder is not None:
                builder.take(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        message = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
        errors.add(f"no YAML: {message}", line, column)


class _Builder:
    """Makes the value of one document of its events."""

    def __init__(self, errors: ErrorLog, options: ReadOptions, line: int) -> None:
        self.root: Any = _NOTHING
        self.line = line
        self._errors = errors
        self._depth = options.max_depth
        self._most_bytes = options.max_in_memory
        #: open containers, each with its anchor, its key at hand, and the sums when it began
        self._open: list[tuple[Any, str | None, list[Any], int, int]] = []
        #: anchor → value, number of its values, their bytes
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        self._values = 0
        self._bytes = 0

    def take(self, event: Any) -> None:
        """Take an event of the document."""
        if isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.ScalarEvent):
            self._count(1, len(event.value))
            value = self._scalar(event)
            if event.anchor is not None:
                self._anchors[event.anchor] = value, 1, len(event.value)
            self._put(value, event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if len(self._open) >= self._depth:
                raise LimitReached(f"YAML is nested more than {self._depth} deep")
            container: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
            self._open.append((container, event.anchor, [], self._values, self._bytes))
            self._count(1, 0)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            container, anchor, _, values, size = self._open.pop()
            if anchor is not None:
                self._anchors[anchor] = container, self._values - values, self._bytes - size
            self._put(container, event)

    def _count(self, values: int, size: int) -> None:
        self._values += values
        self._bytes += size
        if self._values > _MOST_VALUES or self._bytes > self._most_bytes:
            raise LimitReached("the YAML has too many values")

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            # inside itself, or unknown
            self._fail(f"the alias *{event.anchor[:80]} has no value", event)
            self._put(_NOTHING, event)
            return
        value, values, size = self._anchors[event.anchor]
        self._count(values, size)
        self._put(value, event)

    def _put(self, value: Any, event: Any) -> None:
        """Put a value into the innermost container; it may be a key."""
        if not self._open:
            self.root = value
            return
        container, _, key, _, _ = self._open[-1]
        if isinstance(container, list):
            if value is not _NOTHING:
                container.append(value)
        elif not key:
            key.append(self._key(value, event))
        else:
            name = key.pop()
            if name is _NOTHING or value is _NOTHING:
                return
            if name in container:
                self._fail(f"the key {name[:80]} stands twice", event)
                return
            container[name] = value

    def _key(self, value: Any, event: Any) -> Any:
        if isinstance(event, yaml.ScalarEvent) and value is not _NOTHING:
            if event.value == "<<" and event.implicit[0]:
                self._fail("the merge key << is not of YAML 1.2", event)
                return _NOTHING
            return event.value
        if isinstance(value, str):  # an alias of a text
            return value
        if value is not _NOTHING:
            self._fail("a key is no text", event)
        return _NOTHING

    def _scalar(self, event: Any) -> Any:
        """Return the value of a scalar by the core schema (YAML 1.2.2, section 10.3.2)."""
        text, tag = event.value, event.tag or ""
        if tag in ("", "!"):
            return self._plain(text, event) if event.implicit[0] and tag == "" else text
        if tag == _CORE + "str":
            return text
        if tag.startswith(_CORE) and tag.removeprefix(_CORE) in ("null", "bool", "int", "float"):
            return self._plain(text, event)
        self._fail(f"the tag {tag[:80]} is unknown", event)
        return _NOTHING

    def _plain(self, text: str, event: Any) -> Any:
        if text in _NULL:
            return None
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        if _NO_JSON.match(text):
            self._fail(f"JSON has no number {text}", event)
            return _NOTHING
        if len(text) <= _MOST_DIGITS:
            if _INTEGER.match(text):
                return int(text)
            if _OTHER_BASE.match(text):
                return int(text, 0)
            if _FLOAT.match(text) and abs(number := float(text)) != float("inf"):
                return number
        return text

    def _fail(self, message: str, event: Any) -> None:
        mark = event.start_mark
        self._errors.add(message, mark.line + 1, mark.column + 1)
