"""Hosts outside of the society's domain: a related site, and a redirector of identifiers."""

from __future__ import annotations

from pyoxigraph import RdfFormat

from semcrawl.lab.demo.model import Host, Prose, Statement, link

OBSERVATORY = "tide.observatory.example"
REDIRECTOR = "w3id.org"


def build(prose: Prose, crawl_delay: float) -> list[Host]:
    """Build the hosts; ``crawl_delay`` is in seconds."""
    observatory = Host(OBSERVATORY, site="Tide observatory", crawl_delay=crawl_delay)
    observatory.html("/", "Tide observatory", link("/stations.ttl", "Stations"))
    stations: list[Statement] = []
    for number in range(1, 9):
        station = observatory.url(f"/stations.ttl#{number}")
        stations += [
            (station, "rdf:type", "sfs:Gauge"),
            (station, "rdfs:label", f"Station {number}"),
            (station, "sfs:height", prose.number(20, 400)),
        ]
    observatory.rdf("/stations.ttl", stations, RdfFormat.TURTLE)
    redirector = Host(REDIRECTOR, site="Identifiers", crawl_delay=crawl_delay)
    redirector.redirect("/saltmarsh/licence", "http://www.demo.example/licence.ttl")
    return [observatory, redirector]
