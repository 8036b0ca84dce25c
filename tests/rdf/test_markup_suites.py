"""The conformance suites of RDFa 1.1 and Microdata, where they lie beside the project."""

from pathlib import Path

import pytest

from . import markup_suites as suites

pytestmark = [
    pytest.mark.sites,
    pytest.mark.skipif(not suites.ARCHIVES.is_dir(), reason="needs ../shared/suites"),
]

HOSTS = ("html4", "html5", "html5-invalid", "xhtml1", "xhtml5", "xhtml5-invalid")


@pytest.fixture(scope="module")
def rdfa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return suites.unpack("rdfa", tmp_path_factory.mktemp("rdfa"))


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("version", ["rdfa1.1", "rdfa1.1-lite"])
def test_required_rdfa_cases_hold(rdfa: Path, version: str, host: str) -> None:
    """Every required case of RDFa in pages gives the quads that its query asks for."""
    cases = list(suites.rdfa_cases(rdfa, version, host))
    assert {case.number: fault for case in cases if (fault := suites.run_rdfa(case))} == {}
    assert cases or (version, host) == ("rdfa1.1-lite", "xhtml5-invalid")


def test_microdata_cases_hold(tmp_path: Path) -> None:
    """Every page of the Microdata suite gives the graph of the suite."""
    cases = list(suites.microdata_cases(suites.unpack("microdata-rdf", tmp_path)))
    assert len(cases) == 83
    assert {case.name: fault for case in cases if (fault := suites.run_microdata(case))} == {}
