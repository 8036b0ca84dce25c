"""Words that turn something on or off."""

from __future__ import annotations

import pytest

from semcrawl.errors import UsageError
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.settings.reader import read_switch


@pytest.mark.parametrize("value", ["1", "true", "Yes", " ON ", True, 1])
def test_on(value: object) -> None:
    assert read_switch("it", value) is True


@pytest.mark.parametrize("value", ["0", "false", "No", "off", "None", "", False, None, 0])
def test_off(value: object) -> None:
    assert read_switch("it", value) is False


def test_another_word_gets_one_line() -> None:
    with pytest.raises(UsageError, match=r"^follow_rdf must be 0 or 1, not 'maybe'$"):
        read_switch("follow_rdf", "maybe")
    with pytest.raises(UsageError, match="must be 0 or 1, not 'perhaps'"):
        LearnedOptions.from_settings({"SEMCRAWL_LEARNED_OPTIONS": {"use_prior": "perhaps"}})
