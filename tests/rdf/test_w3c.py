"""The conformance suites, when ``scripts/rdf_suites.py`` has fetched them."""

import pytest

from . import suites

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not suites.SUITES.is_dir(), reason="run scripts/rdf_suites.py first"),
]

#: what the parsers below us do not get right
KNOWN = {
    # the reader of the expected result refuses one of its characters
    ("turtle", "localName_with_assigned_nfc_PN_CHARS_BASE_character_boundaries"),
    ("trig", "localName_with_assigned_nfc_PN_CHARS_BASE_character_boundaries"),
    # IRIs that cannot be read are mended, and the standard drops them or keeps them wrong
    ("jsonld", "te111"),
    ("jsonld", "te112"),
    ("jsonld", "tli12"),
    *(("jsonld", f"twf{number:02}") for number in (1, 2, 3, 4, 5, 7)),
}


@pytest.mark.parametrize("suite", [name for name in suites.FORMATS if name != "trix"])
def test_the_cases_of_a_suite_give_what_it_says(suite: str) -> None:
    """Positive tests give the quads of the suite, negative ones an error; at least 99 % do."""
    wrong = {(suite, case.name): fault for case in suites.cases(suite) if (fault := fault_of(case))}
    assert set(wrong) <= KNOWN, {k: v for k, v in wrong.items() if k not in KNOWN}


def fault_of(case: suites.Case) -> str:
    try:
        return suites.run(case)
    except SyntaxError as error:  # in the expected result
        return str(error)
