"""Why links were not harvested, by their records."""

from __future__ import annotations

import pickle

import pytest

from semcrawl.items import FetchOutcome
from semcrawl.metadata.summary import Missed, why_missed

URL = "http://a.example:8080/x"


@pytest.mark.parametrize(
    ("outcome", "status", "errors", "reason"),
    [
        ("robots-denied", None, "Forbidden by robots.txt", "robots-denied"),
        ("robots-denied", None, "robots.txt: HTTP status 503", "failed"),
        ("network-error", None, "", "failed"),
        ("timeout", None, "", "failed"),
        ("host-down", None, "", "failed"),
        ("interrupted", None, "", "failed"),
        ("http-error", 401, "", "unauthorized"),
        ("http-error", 403, "", "forbidden"),
        ("http-error", 404, "", "not-found"),
        ("http-error", 410, "", "not-found"),
        ("http-error", 429, "", "failed"),
        ("http-error", 503, "", "failed"),
        ("http-error", 999, "", "failed"),
        ("http-error", 418, "", "http-error"),
        ("http-error", None, "", "http-error"),
        ("too-large", 200, "", "too-large"),
        ("parse-error", 200, "", "parse-error"),
        ("fetched-rdf", 200, "", ""),
        ("fetched-html", 200, "", ""),
        ("filtered-type", 200, "", ""),
        ("redirected", 302, "", ""),
        ("not-modified", 304, "", ""),
    ],
)
def test_the_reason_is_what_a_user_may_act_on(
    outcome: str, status: int | None, errors: str, reason: str
) -> None:
    assert why_missed(outcome, status, errors) == reason


def test_every_outcome_is_told_of_or_no_loss() -> None:
    had = {
        "fetched-rdf", "fetched-html", "fetched-robots", "fetched-context", "fetched-other",
        "fetched-sitemap", "fetched-list", "fetched-image",
        "not-modified", "sitemap-unchanged", "duplicate", "filtered-type", "redirected",
    }  # fmt: skip
    assert {str(o) for o in FetchOutcome if not why_missed(o, None, "")} == had


def test_the_last_attempt_at_an_address_counts() -> None:
    missed = Missed()
    missed.note(URL, "", "network-error", None, "")
    missed.note(URL, "", "network-error", None, "")
    assert missed.by_reason() == {"failed": {"a.example:8080": 1}}
    missed.note(URL, "", "fetched-rdf", 200, "")
    assert missed.by_reason() == {}
    missed.note(URL, "", "http-error", 410, "")
    assert missed.by_reason() == {"not-found": {"a.example:8080": 1}}


def test_a_redirect_out_of_scope_counts_for_where_it_leads() -> None:
    missed = Missed()
    missed.note(URL, "http://b.example/", "out-of-scope", 302, "")
    assert missed.by_reason() == {"out-of-scope": {"b.example": 1}}


@pytest.mark.parametrize("outcome", FetchOutcome)
def test_an_outcome_says_whether_it_gave_something_or_why_not(outcome: FetchOutcome) -> None:
    means, why = outcome.means, why_missed(outcome, None, "")
    leads_on = means.errand or outcome is FetchOutcome.REDIRECTED
    assert means.gave + leads_on + bool(why) == 1
    assert not means.problem or why
    assert not means.passing or why
    assert FetchOutcome(str(outcome)) is pickle.loads(pickle.dumps(outcome)) is outcome
