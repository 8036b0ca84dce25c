"""Gives semcrawl's options other bounds than its own, in a process of a test.

``SEMCRAWL_TEST_BOUNDS`` names them, as ``spiders.contexts:ContextRules.patience=0.5`` (a field of a
data class) or ``crawl.crawllimits:INTERVAL=0.1`` (a constant of a module).
"""

from __future__ import annotations

import os
import sys
from ast import literal_eval
from importlib import import_module
from typing import Any


def _give(bound: str) -> None:
    place, _, text = bound.partition("=")
    module_name, _, names = place.partition(":")
    module = import_module(f"semcrawl.{module_name}")
    value = literal_eval(text)
    owner, _, name = names.rpartition(".")
    if not owner:
        assert hasattr(module, name), bound
        setattr(module, name, value)
        return
    cls: Any = getattr(module, owner)
    assert name in cls.__dataclass_fields__, bound
    made = cls.__init__

    def make(self: Any, *arguments: Any, **given: Any) -> None:
        made(self, *arguments, **{name: value, **given})

    cls.__init__ = make


for _bound in os.environ.get("SEMCRAWL_TEST_BOUNDS", "").split():
    try:
        _give(_bound)
    except Exception as error:  # Python would go on without it
        print(f"{_bound}: {error!r}", file=sys.stderr)
        os._exit(70)
