"""Each setting of the frontier and of a crawl's session is read into its own option."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scrapy.settings import Settings

from semcrawl import settings as own
from semcrawl.crawl.session import frontier_options, session_options
from semcrawl.frontier.contract import FrontierOptions

#: as a project has them; the command line gives words
DEFAULTS = {name: getattr(own, name) for name in dir(own) if name.isupper()}


def settings(**changed: str) -> Settings:
    return Settings({**DEFAULTS, **changed})


def test_the_settings_default_to_what_the_frontier_defaults_to() -> None:
    assert frontier_options(settings()) == FrontierOptions()


@pytest.mark.parametrize(
    ("setting", "word", "option", "value"),
    [
        ("SEMCRAWL_LEASE_TIME", "7.5", "lease_time", 7.5),
        ("SEMCRAWL_CRAWL_DELAY", "7.5", "delay", 7.5),
        ("SEMCRAWL_CONCURRENCY_PER_HOST", "7", "concurrency", 7),
        ("SEMCRAWL_FAIRNESS", "equal", "fairness", "equal"),
        ("SEMCRAWL_PENALTY_AFTER", "7", "penalty_after", 7),
        ("SEMCRAWL_PENALTY_TIME", "7.5", "penalty_time", 7.5),
        ("SEMCRAWL_DYNAMIC_DEPTH", "7", "dynamic_depth", 7),
        ("SEMCRAWL_MAX_WAITING", "7", "max_waiting", 7),
        ("SEMCRAWL_FAMILY_TRIES", "7", "family_tries", 7),
        ("SEMCRAWL_SEEN_EXACT", "7", "exact_limit", 7),
        ("SEMCRAWL_REDIS_PATIENCE", "7.5", "patience", 7.5),
    ],
)
def test_options_of_the_frontier(setting: str, word: str, option: str, value: object) -> None:
    assert frontier_options(settings(**{setting: word})) == replace(
        FrontierOptions(), **{option: value}
    )


@pytest.mark.parametrize(
    ("setting", "word", "changes"),
    [
        ("CONCURRENT_REQUESTS", "7", {"concurrency": 7}),
        ("CONCURRENT_REQUESTS", "700", {"concurrency": 700, "leases": 700}),
        ("SEMCRAWL_MAX_LEASES", "70", {"leases": 70}),
        ("SEMCRAWL_SLOW_START", "7", {"slow_start": 7}),
        ("SEMCRAWL_PAGES", "7", {"budget": 7}),
        ("SEMCRAWL_PATIENCE", "7", {"patience": 7}),
        ("SEMCRAWL_PACE_BY", "host", {"pace_by": "host"}),
        ("MAX_IDLE_TIME_BEFORE_CLOSE", "7.5", {"idle_time": 7.5}),
        ("REDIS_URL", "redis://a.example", {"shared": True}),
        ("SEMCRAWL_FAIRNESS", "yield", {"report_yields": True}),
        ("SEMCRAWL_PENALTY_AFTER", "7", {"report_yields": True}),
    ],
)
def test_options_of_a_session(setting: str, word: str, changes: dict[str, object]) -> None:
    usual = session_options(settings(REDIS_URL=""))
    found = session_options(settings(**{"REDIS_URL": "", setting: word}))
    assert found == replace(usual, **changes) != usual
