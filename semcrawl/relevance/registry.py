"""Finds strategies by name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from semcrawl.errors import UsageError
from semcrawl.houses import houses
from semcrawl.relevance.contract import Pretrained, Relevance

#: import paths of the strategies of the core
_STRATEGIES: Mapping[str, str] = {
    "breadth-first": "semcrawl.relevance.orders.BreadthFirst",
    "depth-first": "semcrawl.relevance.orders.DepthFirst",
    "rules": "semcrawl.relevance.thesis.Rules",
    "rules-parents": "semcrawl.relevance.thesis.RulesParents",
    "learned": "semcrawl.relevance.learned.Learned",
}


def strategies() -> dict[str, str]:
    """Return the import paths of the strategies that come with semcrawl, by their names."""
    found = dict(_STRATEGIES)
    for house in houses():
        found.update(house.strategies)
    return found


def load_strategy(name: str, settings: Mapping[str, Any]) -> Relevance:
    """Make a strategy by its name, or by the import path of its class (``package.module.Class``).

    Raises ``UsageError`` for an unknown name and for a class that is not a strategy.
    """
    known = strategies()
    path = known.get(name)
    if path is None:
        if "." not in name:
            raise UsageError(f"unknown strategy {name!r}; there are: {', '.join(known)}")
        path = name
    module_name, _, class_name = path.rpartition(".")
    try:
        strategy_class = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise UsageError(f"cannot load the strategy {name!r}: {error}") from error
    if not callable(getattr(strategy_class, "from_settings", None)):
        raise UsageError(f"{name!r} is not a strategy: it has no from_settings()")
    strategy = strategy_class.from_settings(settings)
    if not isinstance(strategy, Relevance):
        raise UsageError(f"{name!r} is not a strategy: methods of the contract are missing")
    return strategy


def crawl_strategy(settings: Mapping[str, Any]) -> Relevance:
    """Make the strategy that ``SEMCRAWL_RELEVANCE`` names.

    Raises ``UsageError`` as :func:`load_strategy` does, and when ``SEMCRAWL_MODEL`` is set for a
    strategy that cannot start from a model.
    """
    name = settings.get("SEMCRAWL_RELEVANCE") or "learned"
    strategy = load_strategy(name, settings)
    if settings.get("SEMCRAWL_MODEL") and not isinstance(strategy, Pretrained):
        raise UsageError(f"the strategy {name!r} starts from no model; learned does")
    return strategy
