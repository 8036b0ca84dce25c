"""With a topic, what it reads are the targets, unless the user names others."""

from __future__ import annotations

import argparse

import pytest
from scrapy.settings import Settings

from semcrawl.commands._harvestoptions import take_about_options
from semcrawl.crawl.progress import Figures
from semcrawl.errors import UsageError
from semcrawl.relevance.focus import usual_targets


@pytest.mark.parametrize(
    ("about", "targets"),
    [
        ("", ""),
        (["", " "], ""),
        ("vocabulary:schema:Dataset", "rdf,embedded"),
        ("new", ""),
        ("all(new, 0.5*new)", ""),
        ("all(new, shape:ASK { ?s ?p ?o })", "rdf,embedded"),
        ("keywords:merge sort,quick sort", "rdf,embedded,html"),
        ("all(vocabulary:foaf:, 0.5*new + 0.5*any(new, keywords:fish))", "rdf,embedded,html"),
        (["new", "thesaurus:missing.ttl#tuna"], "rdf,embedded,html"),
    ],
)
def test_the_usual_targets_are_what_a_topic_reads(about: str, targets: str) -> None:
    """No topic is made for it, which may take long."""
    assert usual_targets({"SEMCRAWL_ABOUT": about}) == targets


def test_targets_that_the_user_names_stay() -> None:
    options = argparse.Namespace(about=["keywords:fish"])
    for given, targets in ((None, "rdf,embedded,html"), ("rdf", "rdf"), ("images", "images")):
        settings = Settings({"SEMCRAWL_TARGETS": "rdf"})
        if given:
            settings.set("SEMCRAWL_TARGETS", given, "cmdline")
        take_about_options(settings, options)
        assert settings.get("SEMCRAWL_TARGETS") == targets


def test_an_unknown_topic_is_told_of() -> None:
    with pytest.raises(UsageError, match="did you mean keywords"):
        usual_targets({"SEMCRAWL_ABOUT": "keyword:fish"})


def test_progress_speaks_of_targets() -> None:
    """Where they are not the RDF documents."""
    facts = Figures(requests=10, rdf_documents=1, targets=5).facts(1.0)
    assert (facts["targets"], facts["harvest rate"]) == ("5", "50.0%")
    assert "targets" not in Figures(requests=10, rdf_documents=5, targets=5).facts(1.0)
