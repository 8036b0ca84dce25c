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
    ("rdf-xml", "xml-canon-test001"),  # namespaces in an XML literal
    ("jsonld", "tc013"),  # a type's context under an index
    ("jsonld", "te062"),  # dot segments after an authority
    ("jsonld", "tli12"),  # goes on with a base that is no IRI
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
