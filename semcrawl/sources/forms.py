"""Fills the search forms of a page from a table of labels and values (the hidden web of I).

Only a form that searches is filled: it is sent by GET to the page's own origin, has a field for
words or a choice that the table names, and nothing that belongs to a person. Forms that log in,
upload, or carry a token of a session give nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any
from urllib.parse import urlencode, urlsplit

from semcrawl.errors import UsageError
from semcrawl.links import Link
from semcrawl.links.extraction import base_of
from semcrawl.links.model import fold
from semcrawl.links.pagetexts import texts_in
from semcrawl.links.trees import parse_html
from semcrawl.settings.reader import setting
from semcrawl.web.hosts import join_url
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation, normalise
from semcrawl.web.vocabulary import FoundBy

#: a label for any field of words, and a value for all choices of a field
ANY = "*"
_TYPED = frozenset({"", "text", "search"})
#: types of fields that no search has
_PERSONAL = frozenset({"password", "file", "email", "tel"})
#: parts of names that belong to a person, a session or an entry
_PRIVATE = (
    "password", "passwd", "login", "signin", "username", "user_name", "email", "captcha", "csrf",
    "token", "nonce", "session", "comment", "message", "phone", "iban",
)  # fmt: skip
#: names that fields for words usually have
_WORDS = frozenset(
    "q query s search searchterm search_term term terms keyword keywords text words find".split()
)
#: most fields and choices of a form that is looked at
_MOST_FIELDS, _MOST_CHOICES = 100, 1000

Pair = tuple[str, str]


def _labelled(given: Any) -> dict[str, list[str]]:
    """Return values by label, from a mapping or JSON; raise ``UsageError`` for other things."""
    name = "SEMCRAWL_FORMS"
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except ValueError:
            given = None
    if not isinstance(given, Mapping):
        raise UsageError(f'{name} must be labels with values, such as {{"search": ["water"]}}')
    values: dict[str, list[str]] = {}
    for label, some in given.items():
        several = [some] if isinstance(some, str) else some
        if not (isinstance(several, Sequence) and all(isinstance(v, str) for v in several)):
            raise UsageError(f"{name}: the values of {label!r} must be texts")
        values[" ".join(str(label).casefold().split())] = list(several)
    return values


@dataclass(frozen=True, slots=True)
class FormTable:
    """Values for the fields of forms, and how much is asked."""

    #: values by label, in lower case; ``*`` labels any field for words
    values: Mapping[str, Sequence[str]] = setting("SEMCRAWL_FORMS", _labelled)
    #: most addresses of one host
    most: int = 50

    def __bool__(self) -> bool:
        """Whether forms are filled."""
        return bool(self.values)


def form_links(
    body: bytes,
    url: str,
    content_type: str | None,
    table: FormTable,
    normalisation: Normalisation = DEFAULT_NORMALISATION,
) -> list[Link]:
    """Return the addresses that a page's search forms lead to, filled with every row of values.

    There are at most ``table.most`` of them.

    >>> page = b'<form action=/find><label>Search <input name=q></label></form>'
    >>> found = form_links(page, "http://a.example/", None, FormTable({"search": ["blue cheese"]}))
    >>> [link.url for link in found]
    ['http://a.example/find?q=blue+cheese']
    """
    if not table or b"<form" not in body.lower():
        return []
    page = parse_html(body, content_type)
    if page.root is None:
        return []
    base, labels = base_of(page.root, url), _labels(page.root)
    found: dict[str, Link] = {}
    for form in page.root.iter("form"):
        action = _action(form, base, url)
        fields = _fields(form, labels, table) if action else None
        if fields is None:
            continue
        for filled in islice(_fillings(fields), table.most):
            query = urlencode(filled, encoding="utf-8")
            address = normalise(f"{action}?{query}", normalisation)
            if address is None:
                continue
            words = ", ".join(value for _, value in filled if value)
            link = Link(
                address, "form", anchor=fold(words), tag_path="form", position=len(found),
                found_by=FoundBy.FORM,
            )  # fmt: skip
            found.setdefault(address, link)
            if len(found) >= table.most:
                return list(found.values())
    return list(found.values())


@dataclass(slots=True)
class _Field:
    """What a field may send: one of several lists of names and values."""

    choices: list[list[Pair]]
    #: whether the table gave the choices
    filled: bool = False


def _action(form: Any, base: str, url: str) -> str:
    """Return the address that a form is sent to, without its query; empty if we never send it."""
    if form.get("method", "get").strip().lower() not in ("", "get"):
        return ""
    try:
        action = join_url(base, form.get("action", "").strip() or url)
        to, here = urlsplit(action), urlsplit(url)
    except ValueError:
        return ""
    if (to.scheme, to.netloc) != (here.scheme, here.netloc) or "@" in to.netloc:
        return ""
    return action.partition("#")[0].partition("?")[0]


def _fields(form: Any, labels: Mapping[Any, str], table: FormTable) -> list[_Field] | None:
    """Return the fields of a search form; ``None`` for a form that is not to be filled."""
    fields: list[_Field] = []
    radios: dict[str, list[Any]] = {}
    is_search = form.get("role", "").lower() == "search"
    sends = False
    for count, element in enumerate(form.iter("input", "select", "textarea", "button")):
        tag, name = element.tag, element.get("name", "")
        kind = element.get("type", "").strip().lower()
        if count >= _MOST_FIELDS or kind in _PERSONAL or _is_private(element, name):
            return None
        if element.get("formmethod", "get").lower() != "get" or element.get("formaction"):
            return None
        if not name or element.get("disabled") is not None:
            continue
        label = f"{labels.get(element, '')} {_described(element)}"
        if tag == "button" or kind in ("submit", "image", "button", "reset"):
            if kind in ("", "submit") and not sends:
                sends = True
                fields.append(_Field([[(name, element.get("value", ""))]]))
        elif tag == "select":
            fields.append(_of_choices(name, label, _options(element), table))
        elif kind == "radio":
            radios.setdefault(name, []).append(element)
        elif tag == "input" and kind in _TYPED:
            made = _of_words(element, name, label, table, is_search or kind == "search")
            if made is None:
                return None
            fields.append(made)
        elif kind != "checkbox" or element.get("checked") is not None:
            usual = "on" if kind == "checkbox" else ""
            fields.append(_Field([[(name, element.get("value", usual))]]))
    for name, some in radios.items():
        options = [
            (one.get("value", "on"), labels.get(one, ""), one.get("checked") is not None)
            for one in some
        ]
        fields.append(_of_choices(name, "", options, table))
    return fields if any(one.filled for one in fields) else None


def _of_words(
    element: Any, name: str, label: str, table: FormTable, is_search: bool
) -> _Field | None:
    """Return a field for words; ``None`` if it must be filled and the table has nothing for it."""
    values = _values(table, name, label)
    if values is None and (is_search or name.lower() in _WORDS):
        values = table.values.get(ANY)
    if values:
        return _Field([[(name, value)] for value in values if value != ANY], filled=True)
    given = element.get("value", "")
    if element.get("required") is not None and not given:
        return None
    return _Field([[(name, given)]])


def _of_choices(
    name: str, label: str, options: Sequence[tuple[str, str, bool]], table: FormTable
) -> _Field:
    """Return a field with options (value, text, chosen): those of the table, else the chosen."""
    wanted = _values(table, name, label)
    if wanted:
        folded = {value.casefold() for value in wanted}
        some = [
            [(name, value)]
            for value, text, _ in options
            if ANY in folded or value.casefold() in folded or text.casefold() in folded
        ]
        if some:
            return _Field(some, filled=True)
    chosen = next((value for value, _, is_chosen in options if is_chosen), None)
    return _Field([[] if chosen is None else [(name, chosen)]])


def _values(table: FormTable, name: str, label: str) -> Sequence[str] | None:
    """Return the table's values for a field by its name, or by words of its label."""
    words = f" {' '.join(''.join(c if c.isalnum() else ' ' for c in label).casefold().split())} "
    for wanted, values in table.values.items():
        if wanted != ANY and (wanted == name.casefold() or f" {wanted} " in words):
            return values
    return None


def _fillings(fields: Sequence[_Field]) -> Iterator[list[Pair]]:
    """Yield what the form may send, each way once."""
    for parts in product(*(one.choices for one in fields)):
        yield [pair for part in parts for pair in part]


def _is_private(element: Any, name: str) -> bool:
    kind = element.get("autocomplete", "").strip().lower()
    named = f"{name} {element.get('id', '')}".lower().replace("-", "_")
    return kind not in ("", "on", "off") or any(part in named for part in _PRIVATE)


def _options(element: Any) -> list[tuple[str, str, bool]]:
    """Return the options of a list: value, text, and whether it is chosen at first."""
    found = []
    for option in islice(element.iter("option"), _MOST_CHOICES):
        text = fold("".join(texts_in(option)))
        found.append((option.get("value", text), text, option.get("selected") is not None))
    if found and not any(chosen for _, _, chosen in found):
        value, text, _ = found[0]
        found[0] = value, text, True
    return found


def _described(element: Any) -> str:
    """Return the texts by which an element describes itself."""
    return " ".join(element.get(name, "") for name in ("aria-label", "placeholder", "title"))


def _labels(root: Any) -> dict[Any, str]:
    """Return the texts of the labels of fields."""
    texts: dict[str, str] = {}
    found: dict[Any, str] = {}
    for label in root.iter("label"):
        text = fold("".join(texts_in(label)))
        if named := label.get("for"):
            texts[named] = text
        for element in label.iter("input", "select", "textarea"):
            found[element] = text
    for element in root.iter("input", "select", "textarea"):
        if named := texts.get(element.get("id", "")):
            found[element] = named
    return found
