"""Reads JSON as the Web writes it: one or several values, whole or damaged, with their places.

A text that is valid JSON costs one call of Python's parser. Where that fails, the text is read
token by token, and each value that is whole again with one call. What is meant beyond doubt is
mended: a comment, a comma too many, a raw line end in a string, single quotes around it. A value
that cannot be read costs itself, a key its value. Where the nesting is in doubt, the rest is left
out.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from semcrawl.rdf.limits import ErrorLog, LimitReached
from semcrawl.rdf.patterns import re


class Unreadable:
    """Stands where a value cannot be read, or is no JSON."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        """Stand for a value; ``reason`` is what is wrong with it."""
        self.reason = reason


class Repeated(list[Any]):
    """The different values of a key that stands several times in its object."""


class CutObject(dict[str, Any]):
    """An object whose rest is missing or cannot be read."""


class CutArray(list[Any]):
    """An array whose rest is missing or cannot be read."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        values: dict[str, list[Any]] = {}
        for key, value in pairs:
            values.setdefault(key, []).append(value)
        for key, several in values.items():
            if any(other != several[0] for other in several):
                found[key] = Repeated(several)
    return found


def _constant(name: str) -> Unreadable:
    return Unreadable(f"{name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
_SPACE = re.compile(r"[ \t\n\r]*+")
_TOKENS = frozenset('{}[]",:0123456789tfn')
#: what may stand between tokens: other white space, comments, the wrappings of scripts
_GAP = re.compile(
    r"(?:[\s\ufeff\x00\x1e]++|//[ \t]*+(?:<!\[CDATA\[|\]\]>|-->)|//[^\n\r]*+|/\*.*?\*/|"
    r"<!\[CDATA\[|\]\]>|<!--(?=\s*+[\[{])|<!--.*?-->|-->|<!--)*+",
    re.DOTALL,
)
#: numbers of JSON5: with a plus sign, or no digit on one side of the point
_LOOSE_NUMBER = re.compile(
    r"[+-]?(?:0|[1-9]\d{0,20}|(?=\.\d))(?:\.\d*+)?(?:[eE][+-]?\d{1,3})?(?![\w.+-])"
)
_BARE_KEY = re.compile(r"[A-Za-z_$@][\w$@-]*+(?=\s*+:)")
#: the rest of a key whose first quotation mark is missing
_HALF_KEY = re.compile(r'[\w@:/.#-]{1,200}+"\s*+:')
_KEY = re.compile(r'"(?:[^"\\\n]|\\.)*+"\s*+:')
_WORD = re.compile(r'[^\s,:{}\[\]"]++')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_PLAIN_QUOTE = re.compile(r'(?<!\\)"')
_SINGLE = re.compile(r"'(?:[^'\\\n]|\\.)*+'")
#: where reading goes on behind what cannot be read: before the next member or item, or at a bracket
_NEXT_MEMBER = re.compile(r',\s*+(?="(?:[^"\\\n]|\\.)*+"\s*+:)|[{}\[\]]')
_NEXT_ITEM = re.compile(r',\s*+(?=["{\[])|[{}\[\]]')
_NEXT_AFTER_WORD = re.compile(r'[,{}\[\]"]')
_ESCAPED_QUOTE = re.compile(r"[\s\ufeff\[]*+\{\s*+&(?:quot|#0*+34|#[xX]0*+22);")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPE = re.compile(r"\\(?:[\"\\/bfnrt]|u[0-9A-Fa-f]{4}|(?P<odd>.))", re.DOTALL)

#: a line's indentation and first sign
_LINE = re.compile(r"\n(?P<indent>[ \t]*+)(?P<sign>[^\s])")

#: keys and indices on the way to a part of a value. The index ``-1 - n`` names the value ``n`` of a
#: key that stands several times
Path = tuple[str | int, ...]


class _Wanted:
    """Which offsets are wanted in a value."""

    __slots__ = ("inner", "numbers")

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.inner: dict[str | int, _Wanted] = {}


class JsonText:
    """A text of one or several JSON values."""

    def __init__(
        self, text: str, max_depth: int, errors: ErrorLog | None = None, first_line: int = 1
    ) -> None:
        """Read ``text``, whose values may be nested ``max_depth`` deep.

        It begins in ``first_line``, and ``errors`` has its faults.
        """
        self.text = text
        self._depth = max_depth
        self._errors, self._first_line = errors, first_line
        self._offsets: list[int] = []
        #: whether the text is more or less than one valid JSON value
        self.is_damaged = False
        #: whether the rest of the text cannot be read
        self._stopped = False

    def values(self) -> Iterator[tuple[int, Any]]:
        """Yield each value with its offset. Raises :class:`LimitReached`."""
        start = _after(_SPACE, self.text, 0)
        found = self._whole(start)
        if found is not None and _after(_SPACE, self.text, found[1]) == len(self.text):
            yield start, found[0]
            return
        self.is_damaged = True
        if _ESCAPED_QUOTE.match(self.text):
            self._mended("JSON with the escapes of HTML", start)
            self.text = _ENTITY.sub(lambda m: html.unescape(m[0]), self.text)
        at, count = self._gap(start), 0
        while at < len(self.text) and not self._stopped:
            sign = self.text[at]
            if sign in ",;}]" and count:
                self._mended(f"{sign!r} behind the end", at)
                at = self._gap(at + 1)
                continue
            if sign not in "{[":
                self._lost("no JSON", at)
                return
            count += 1
            if count == 2:
                self._mended("several JSON values", at)
            value, end = self._value(at, 0, None)
            yield at, value
            wrapped = at > start
            if self._stopped and (
                line := self._next_line(at, "", alone="\n" not in self.text[at:end])
            ):
                self._stopped, end = False, line
            at = self._gap(end, quiet=wrapped)

    def places(self, start: int, paths: list[Path]) -> list[tuple[int, int]]:
        """Return lines and columns of parts of the value at ``start``, of :meth:`values`."""
        return [self._place(offset) for offset in self._offsets_of(start, paths)]

    def _place(self, offset: int) -> tuple[int, int]:
        line = self.text.count("\n", 0, offset) + self._first_line
        return line, offset - self.text.rfind("\n", 0, offset)

    def _lost(self, message: str, at: int) -> None:
        if self._errors is not None:
            self._errors.add(message, *self._place(at))

    def _mended(self, message: str, at: int) -> None:
        if self._errors is not None:
            self._errors.add_mended(message, *self._place(at))

    def _offsets_of(self, start: int, paths: list[Path]) -> list[int]:
        root = _Wanted()
        for number, path in enumerate(paths):
            node = root
            for step in path:
                node = node.inner.setdefault(step, _Wanted())
            node.numbers.append(number)
        self._offsets = [start] * len(paths)
        before = self._errors, self._stopped
        self._errors, self._stopped = None, False
        self._value(start, 0, root)
        self._errors, self._stopped = before
        return self._offsets

    def _gap(self, at: int, *, quiet: bool = False) -> int:
        """Return the offset of the next token."""
        text = self.text
        start = _after(_SPACE, text, at)
        if start < len(text) and text[start] not in _TOKENS:
            end = _after(_GAP, text, start)
            if end > start and not quiet:
                self._mended("a comment, or a sign that says nothing", start)
            return end
        return start

    def _stop(self, message: str, at: int) -> None:
        self._lost(message, at)
        self._stopped = True

    def _whole(self, at: int) -> tuple[Any, int] | None:
        """Return the value that begins at ``at``, and its end, if it is valid JSON."""
        try:
            return _DECODER.raw_decode(self.text, at)
        except RecursionError:
            raise LimitReached(f"nested deeper than {self._depth} levels") from None
        except ValueError:  # also for a number of thousands of digits
            return None

    def _value(self, at: int, depth: int, wanted: _Wanted | None) -> tuple[Any, int]:
        """Read the value that begins at ``at``; return it, and where it ends."""
        if wanted is not None:
            for number in wanted.numbers:
                self._offsets[number] = at
        if not (wanted and wanted.inner) and (found := self._whole(at)) is not None:
            return found
        sign = self.text[at : at + 1]
        if sign in ("{", "["):
            if depth >= self._depth:
                raise LimitReached(f"nested deeper than {self._depth} levels")
            if self._errors is not None:
                self._errors.check_time()
            return self._container(at + 1, depth + 1, "}" if sign == "{" else "]", wanted)
        if sign == '"':
            return self._string(at)
        if sign == "'" and (single := _SINGLE.match(self.text, at)):
            self._mended("a string in single quotes", at)
            inner = single[0][1:-1].replace("\\'", "'")
            return self._text_of('"' + _PLAIN_QUOTE.sub(r'\\"', inner) + '"', at), single.end()
        return self._word(at)

    def _container(
        self, at: int, depth: int, closing: str, wanted: _Wanted | None
    ) -> tuple[Any, int]:
        """Read an object or array from its first member on."""
        text, keys, values = self.text, list[str](), list[Any]()
        begin = at  # of the last value
        comma: bool | None = None  # whether one stands before; None: nothing does
        damaged = alone = False  # alone: the member before has its line to itself
        while True:
            at = self._gap(at)
            if at >= len(text):
                self._stop("the text ends early", at)
                break
            sign = text[at]
            if sign == ",":
                if comma is not False:
                    self._mended("a comma too many", at)
                comma, at = True, at + 1
                continue
            if sign in "}]":
                if sign != closing:
                    self._stop(f"{sign!r} where {closing!r} must stand", at)
                    break
                if comma:
                    self._mended("a comma too many", at)
                at += 1
                break
            comma = False
            member, key = at, ""
            if closing == "}":
                start, (found, at) = at, self._key(at)
                if found is None:
                    damaged = True
                    at, begin = self._without_key(start, begin, keys, values)
                    if self._stopped:
                        break
                    continue
                key = found
            begin = at
            inner = wanted and _inner(wanted, key if closing == "}" else len(values), keys)
            value, end = self._value(at, depth, inner)
            if self._stopped:
                at = self._next_line(member, closing, alone=alone) or end
                self._stopped = at == end
            else:
                at = self._gap(end)
                if not self._may_follow(at, end, value, closing):
                    damaged = True
                    self._lost("a value that cannot be read", begin)
                    at = self._next_line(member, closing, alone=alone) or self._behind(
                        begin, closing
                    )
                    if self._stopped:
                        break
                    continue
                if at == len(text) and isinstance(value, int | float):
                    value = Unreadable("the text ends in a number")
                alone = "\n" not in text[member:end]
            keys.append(key)
            values.append(value)
            if self._stopped:
                break
        if damaged and not values:
            return Unreadable(""), at
        if closing == "}":
            made = _object(list(zip(keys, values, strict=True)))
            return CutObject(made) if self._stopped else made, at
        return CutArray(values) if self._stopped else values, at

    def _key(self, at: int) -> tuple[str | None, int]:
        """Return the key at ``at``, if there is one, and where its value begins."""
        text = self.text
        quoted = _QUOTED.match(text, at) or _SINGLE.match(text, at)
        bare = None if quoted else _BARE_KEY.match(text, at)
        found = quoted or bare
        if found is None:
            return None, at
        colon = self._gap(found.end())
        if text[colon : colon + 1] != ":":
            return None, at
        if bare:
            self._mended("a key without quotation marks", at)
            return bare[0], self._gap(colon + 1)
        key, _ = self._value(at, 0, None)
        return key if isinstance(key, str) else None, self._gap(colon + 1)

    def _without_key(
        self, start: int, begin: int, keys: list[str], values: list[Any]
    ) -> tuple[int, int]:
        """Skip what stands at ``start`` instead of a key; return the new ``at`` and ``begin``."""
        sign = self.text[start]
        if (
            values
            and sign not in '"{['
            and not _HALF_KEY.match(self.text, start)
            and not isinstance(values[-1], dict | list | Unreadable)
        ):  # it may belong to the value before, which began at ``begin``
            keys.pop()
            values.pop()
            start = begin
        self._lost("a member that cannot be read", start)
        if line := self._next_line(start, "}", alone=False):
            return line, start
        if sign in "{[":
            return self._value(start, 0, None)[1], start
        return self._behind(start, "}"), start

    def _may_follow(self, at: int, end: int, value: Any, closing: str) -> bool:
        """Whether what stands at ``at`` may follow a value that ends at ``end``."""
        text = self.text
        if at == len(text) or text[at] in ",}]":
            return True
        if closing == "}":
            lacks = _KEY.match(text, at) and (end < at or type(value) is not str)
        else:
            lacks = text[at] == "{" and isinstance(value, dict)
        if lacks:
            self._mended("a comma is missing", at)
        return bool(lacks)

    def _behind(self, start: int, closing: str) -> int:
        """Return where reading goes on behind what cannot be read, which begins at ``start``."""
        quoted = self.text.startswith('"', start)
        after_item = _NEXT_ITEM if quoted else _NEXT_AFTER_WORD
        pattern = _NEXT_MEMBER if closing == "}" else after_item
        found = pattern.search(self.text, start + 1)
        if found is None:
            self._stop("the text ends early", len(self.text))
            return len(self.text)
        at = found.start()
        if self.text[at] == ",":
            return at
        if self.text[at] != closing or (quoted and not self._closes_string(start, at)):
            self._stop("what follows cannot be read: its nesting is not known", at)
        return at

    def _next_line(self, start: int, closing: str, *, alone: bool) -> int:
        """Return the line on which reading goes on behind the member at ``start``; 0 if unknown.

        Where each member begins a line, indentation shows the nesting. Without indentation, members
        that have their lines to themselves do (``alone``).
        """
        text = self.text
        before = text.rfind("\n", 0, start) + 1
        indent = text[before:start]
        if (indent and not indent.isspace()) or not (indent or alone):
            return 0
        if closing and not before:
            return 0
        for line in _LINE.finditer(text, start):
            sign, at = line["sign"], line.start("sign")
            if len(line["indent"]) > len(indent) or (
                indent and line["indent"] == indent and sign in "}]"
            ):
                continue  # inside of the member, or its end
            if line["indent"] == indent and (
                sign in '{["' if closing != "}" else _KEY.match(text, at)
            ):
                return at
            return at if sign == closing else 0
        return 0

    def _closes_string(self, start: int, at: int) -> bool:
        """Whether a quotation mark stands before ``at``, other than that at ``start``."""
        last = at - 1
        while self.text[last].isspace():
            last -= 1
        return last > start and self.text[last] == '"'

    def _string(self, at: int) -> tuple[Any, int]:
        """Read a string that is no valid JSON."""
        found = _QUOTED.match(self.text, at)
        if found is None:
            return Unreadable("a string without an end"), len(self.text)
        return self._text_of(found[0], at), found.end()

    def _text_of(self, quoted: str, at: int) -> Any:
        """Return what a string with its quotation marks means."""
        odd = {m["odd"] for m in _ESCAPE.finditer(quoted) if m["odd"]}
        if any(sign.isalnum() or sign.isspace() for sign in odd):
            return Unreadable("a string with an escape that JSON has not")
        if odd:
            self._mended("an escape that JSON has not", at)
            quoted = _ESCAPE.sub(lambda m: m["odd"] or m[0], quoted)
        if _CONTROL.search(quoted):
            self._mended("a line end or control character in a string", at)
        try:
            return scanstring(quoted, 1, False)[0]
        except ValueError:
            return Unreadable("a string that cannot be read")

    def _word(self, at: int) -> tuple[Any, int]:
        """Read what is no value of JSON."""
        number = _LOOSE_NUMBER.match(self.text, at)
        if number and number[0][-1:] not in "+-":
            self._mended("a number that is not written as JSON", at)
            value = float(number[0])
            return int(value) if value == int(value) else value, number.end()
        word = _WORD.match(self.text, at)
        if word is None:
            return Unreadable("a value is missing"), at
        return Unreadable(f"{word[0][:60]} is no JSON"), word.end()


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _inner(wanted: _Wanted, step: str | int, keys: list[str]) -> _Wanted | None:
    """Return what is wanted in a member; ``keys`` are those before it."""
    found = wanted.inner.get(step)
    if found is not None and isinstance(step, str):
        found = found.inner.get(-1 - keys.count(step), found)
    return found
