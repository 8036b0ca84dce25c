"""Options of the strategy ``learned``, with the constants of its model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from semcrawl.errors import UsageError
from semcrawl.settings.reader import read_switch

#: families of features that can be switched off (ablations)
FEATURE_FAMILIES: frozenset[str] = frozenset(
    set("extension path query host place anchor context title markup topic".split())
)


@dataclass(frozen=True, slots=True)
class LearnedOptions:
    """Options of the model; figures have no unit unless stated."""

    #: seed of the jitter that orders places that are worth the same
    seed: int = 0
    #: what counts as a target: ``rdf``, ``embedded`` or media types separated by commas
    targets: str = "rdf"
    #: rows of the weight table, as a power of two
    table_bits: int = 18
    #: step of AdaGrad
    learning_rate: float = 0.15
    #: initial sum of squared gradients of each row
    initial_squares: float = 0.05
    #: weight of an observation that was recomputed from its children
    backup_weight: float = 0.5
    #: levels of the discovery tree above a fetch that are recomputed
    backup_depth: int = 4
    #: a page is worth what its best links give within this many requests, so that of pages with the
    #: same yield in the long run, those come first that give it soon
    horizon: float = 3.5
    #: exploration bonus of a link in a cluster, section or subsection without a fetch
    explore_cluster: float = 0.02
    explore_section: float = 0.05
    explore_subsection: float = 0.025
    #: … in crawls for RDF about a topic, added to the share (logits) of a link unlike all that led
    #: to judged documents; less the more is known of its features, and in proportion to the share
    #: of judged documents off the topic
    explore_topic: float = 1.0
    #: weight of a page about the topic, relative to a document, for the share of its link
    page_weight: float = 0.5
    #: weight of what a page teaches of its own link by the shares of its new links, times the index
    #: of the best of them
    links_weight: float = 0.5
    #: number of documents as which the share of all judged ones counts in that of the documents of
    #: pages that name the topic, of pages that hold data about it, and of others; 0: no difference
    page_levels: float = 3.0
    #: part of the logit of the overall share so far that is expected of a document anyway: where
    #: nearly all are off the topic, one more teaches little
    usual_share: float = 0.5
    #: prior of the share about the topic (logits)
    topic_share: float = 0.0
    #: … both for the topic ``new``, whose judgement depends on earlier documents, not on where a
    #: document is: so there is no bonus, most counts as new until something was not, and pages
    #: teach nothing
    explore_new: float = 0.0
    new_share: float = 1.0
    #: links with an index below this get less of the bonus, by the square root of the index
    explore_index: float = 0.10
    #: … bonus of links in a list without a fetch, after many consecutive fruitless fetches
    explore_lists: float = 0.1
    #: … bonus of a link on a seed's page after many consecutive fetches without a target; of others
    #: it is divided by their depth
    explore_near: float = 0.15
    #: taken off the prior of an address whose page is known under another address (logits)
    twin_penalty: float = 3.5
    #: taken off a link's worth in a dry section: once after 32 consecutive fruitless fetches, twice
    #: after 96, three times after 224 … So endless parts of a site fall behind, sooner if they grow
    #: with every fetch
    dry_penalty: float = 0.01
    #: whether the folders that pages are in are links of the pages
    ascend: bool = True
    #: whether documents are guessed from the addresses of pages, as others on the host have theirs
    guess: bool = True
    #: number of documents that a list of links is believed to have given before any was fetched:
    #: its links are worth the share of its fetches that gave one; 0: as much as predicted
    list_belief: float = 4.0
    #: standard deviation of the prior's jitter (logits), the same for all links of a subsection, so
    #: that links of one list with equal worth keep their order
    jitter: float = 0.1
    #: number of first fetches after each of which all links are predicted again
    refresh_always: int = 60
    #: … later, number of fetches between full refreshes
    refresh_every: int = 25
    #: … if their prediction errors sum to this (targets per request); otherwise more
    refresh_all_surprise: float = 0.5
    #: number of first links of a host that are predicted again between full refreshes
    first: int = 64
    #: … once the prediction errors sum to this, where every fetch counts a little
    refresh_surprise: float = 0.1
    #: number of links of a host with an exact key in the frontier
    head: int = 256
    #: a key is changed only if it is off by more than this
    tolerance: float = 0.01
    #: number of fetches after which one more request may be in flight (see ``room``); 0 = no limit
    ramp: float = 100.0
    #: index of a sure target, which is taken whatever is in flight
    sure: float = 0.9
    #: most links in the model; the least promising are forgotten first
    max_links: int = 100_000
    #: most waiting links in a saved state
    saved_links: int = 100_000
    #: switches for ablations
    use_prior: bool = True
    use_backups: bool = True
    use_exploration: bool = True
    families: frozenset[str] = FEATURE_FAMILIES

    def __post_init__(self) -> None:
        """Raise ``UsageError`` for invalid values."""
        if not 8 <= self.table_bits <= 26:
            raise UsageError(f"table_bits must be from 8 to 26, not {self.table_bits}")
        if self.max_links < 1000:
            raise UsageError(f"max_links must be 1000 or more, not {self.max_links}")
        if min(self.first, self.head, self.refresh_every) < 1:
            raise UsageError("first, head and refresh_every must be 1 or more")
        figures = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, figure in figures.items():
            if isinstance(figure, float) and not math.isfinite(figure) and name != "horizon":
                raise UsageError(f"{name} must be a finite number, not {figure}")
        if self.saved_links < 0:
            raise UsageError(f"saved_links must be 0 or more, not {self.saved_links}")
        if not self.horizon >= 1:
            raise UsageError("horizon must be 1 or more")
        if not (self.initial_squares > 0 and self.explore_index > 0 and self.ramp >= 0):
            raise UsageError("initial_squares and explore_index must be above 0, ramp at least 0")
        unknown = self.families - FEATURE_FAMILIES
        if unknown:
            raise UsageError(f"unknown feature families: {', '.join(sorted(map(str, unknown)))}")

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read ``SEMCRAWL_RANDOM_SEED``, ``SEMCRAWL_TARGETS`` and ``SEMCRAWL_LEARNED_OPTIONS``.

        The last is a mapping of field names of this class to values, or JSON of one. Raises
        ``UsageError`` for unknown names and values of the wrong type.
        """
        extra = settings.get("SEMCRAWL_LEARNED_OPTIONS") or {}
        if isinstance(extra, str):
            try:
                extra = json.loads(extra)
            except ValueError as error:
                raise UsageError(f"SEMCRAWL_LEARNED_OPTIONS is no JSON: {error}") from None
        if not isinstance(extra, Mapping):
            raise UsageError("SEMCRAWL_LEARNED_OPTIONS must be a mapping")
        changes: dict[str, Any] = dict(extra)
        if settings.get("SEMCRAWL_RANDOM_SEED") is not None:
            changes.setdefault("seed", settings["SEMCRAWL_RANDOM_SEED"])
        if settings.get("SEMCRAWL_TARGETS"):
            changes.setdefault("targets", settings["SEMCRAWL_TARGETS"])
        options = cls()
        known = {f.name: getattr(options, f.name) for f in fields(cls)}
        for name, value in changes.items():
            if name not in known:
                raise UsageError(f"SEMCRAWL_LEARNED_OPTIONS: unknown option {name!r}")
            changes[name] = _coerce(name, value, known[name])
        return replace(options, **changes)


def _coerce(name: str, value: Any, default: Any) -> Any:
    """Convert ``value`` to the type of ``default``; raise ``UsageError`` if it is invalid."""
    try:
        if isinstance(default, bool):
            return read_switch(f"learned strategy: {name}", value)
        if isinstance(default, frozenset):
            return frozenset(value.split(",") if isinstance(value, str) else value)
        if isinstance(default, str):
            return value if isinstance(value, str) else ",".join(value)
        return type(default)(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"learned strategy: {name} cannot be {value!r}") from None
