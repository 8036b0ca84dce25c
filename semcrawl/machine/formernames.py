"""Keeps former names of modules and classes working for settings and scripts."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: former → present name of modules that the documentation named or settings name
FORMER = {
    "semcrawl.downloading": "semcrawl.download.handler",
    "semcrawl.exporters.compression": "semcrawl.exporters.feedcompression",
    "semcrawl.exporters.documents": "semcrawl.exporters.documentfeeds",
    "semcrawl.exporters.registry": "semcrawl.settings.feedformats",
    "semcrawl.frontier.acknowledgement": "semcrawl.crawl.acknowledgement",
    "semcrawl.frontier.keys": "semcrawl.frontier.redis.keys",
    "semcrawl.frontier.scheduler": "semcrawl.crawl.scheduler",
    "semcrawl.logformat": "semcrawl.terminal.logformat",
    "semcrawl.middlewares.patterns": "semcrawl.middlewares.addresses",
    "semcrawl.middlewares.resolver": "semcrawl.download.resolver",
    "semcrawl.pipelines.jobdir": "semcrawl.config.jobdir",
    "semcrawl.spiders.failures": "semcrawl.crawl.failures",
    "semcrawl.spiders.spool": "semcrawl.download.spool",
    "semcrawl.vocabulary": "semcrawl.web.vocabulary",
}


class _FormerNames(MetaPathFinder, Loader):
    """Finds modules by their former names."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """Return the spec of a renamed module, or None."""
        return ModuleSpec(fullname, self) if fullname in FORMER else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Copy the names of the present module, and warn in one line."""
        present = FORMER[module.__name__]
        _warn(module.__name__, present)
        names = vars(import_module(present)).items()
        vars(module).update(
            (name, value)
            for name, value in names
            if name == "__getattr__" or not name.startswith("__")
        )


def _warn(former: str, present: str) -> None:
    message = f"{former} is now {present}: please use the new name"
    warnings.warn(message, FutureWarning, stacklevel=3)


def former_classes(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a module that finds classes by their former ``names``."""

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        _warn(f"{module}.{name}", names[name])
        return getattr(sys.modules[module], names[name])

    return find


def present_path(path: str) -> str:
    """Return an object's import path with the present name of its module."""
    module, dot, name = path.rpartition(".")
    return f"{FORMER.get(module, module)}{dot}{name}"


def know_former_names() -> None:
    """Let Python find modules by their former names from now on."""
    if not any(isinstance(finder, _FormerNames) for finder in sys.meta_path):
        sys.meta_path.append(_FormerNames())
