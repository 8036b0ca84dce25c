"""Tag paths: the tags that lead from the root of a page to an element."""

from __future__ import annotations

import re
from typing import Any

#: most tags of a path, counted from the element upwards
_MAX_PATH = 24
_NOT_IN_NAMES = re.compile(r"[^\w-]+")


class TagPaths:
    """The tag paths of one page; of a long path the last 24 tags."""

    def __init__(self) -> None:
        self._paths: dict[Any, tuple[str, ...]] = {}
        self._names: dict[tuple[str, str | None, str | None], str] = {}

    def path_of(self, element: Any) -> str:
        """Return the tag path of an element."""
        name = self._name(element)
        parent = element.getparent()
        return name if parent is None else "/".join((*self._path(parent), name))

    def _path(self, element: Any) -> tuple[str, ...]:
        """Return the last 23 names down to an element."""
        climbed = []
        path: tuple[str, ...] | None = ()
        while element is not None and not (path := self._paths.get(element, ())):
            climbed.append(element)
            element = element.getparent()
        path = path or ()
        for node in reversed(climbed):
            path = self._paths[node] = (*path[2 - _MAX_PATH :], self._name(node))
        return path

    def _name(self, element: Any) -> str:
        """Return :func:`_tag_name` of an element, cached."""
        attributes = element.attrib
        key = (element.tag, attributes.get("id"), attributes.get("class"))
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = _tag_name(*key)
        return name


def _tag_name(tag: str, identifier: str | None, classes: str | None) -> str:
    """Return a tag with its id and its first two classes, as in ``div#nav.menu``."""
    name = str(tag)
    if identifier:
        name += "#" + _NOT_IN_NAMES.sub("", identifier[:40])
    if classes:
        for one in classes[:200].split()[:2]:
            name += "." + _NOT_IN_NAMES.sub("", one[:40])
    return name
