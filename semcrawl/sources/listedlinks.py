"""Collects the links of catalogues and linksets."""

from __future__ import annotations

from dataclasses import dataclass, field

from semcrawl.links import Link
from semcrawl.links.texts import fold
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation, dropped_index, resolve
from semcrawl.web.vocabulary import FoundBy

#: ``Link.element`` of a catalogue's links
CATALOGUE = "catalogue"
#: ``Link.rel`` of a catalogue's next page
NEXT = "next"


@dataclass(slots=True)
class DataList:
    """What was read from a list of addresses."""

    #: ``linkset``, ``feed``, ``ckan``, ``data.json`` or ``oai-pmh``
    form: str
    links: list[Link] = field(default_factory=list)
    #: messages on errors and oddities
    faults: list[str] = field(default_factory=list)
    #: RDF/XML in its records (OAI-PMH)
    rdf: bytes = b""


class LinkCollector:
    """Makes links from the addresses in a list, each once, up to a limit."""

    def __init__(
        self,
        url: str,
        form: str,
        normalisation: Normalisation = DEFAULT_NORMALISATION,
        limit: int = 10_000,
    ) -> None:
        """Collect the links of the list at ``url``."""
        self.found = DataList(form)
        self._url = url
        self._normalisation = normalisation
        self._limit = limit
        self._seen = {url}

    def add(
        self,
        address: object,
        place: str,
        *,
        type: object = "",
        title: object = "",
        rel: str = "",
        element: str = CATALOGUE,
        found_by: FoundBy = FoundBy.CATALOGUE,
    ) -> None:
        """Add an address; anything else is ignored."""
        if not isinstance(address, str) or not address:
            return
        target = resolve(self._url, address, self._normalisation)
        if target is None or target in self._seen:
            return
        if len(self.found.links) >= self._limit:
            if not self.found.faults:
                self.found.faults.append(f"only the first {self._limit:,} links are kept")
            return
        self._seen.add(target)
        self.found.links.append(
            Link(
                target,
                element=element,
                title=fold(title) if isinstance(title, str) else "",
                type=fold(type).lower() if isinstance(type, str) else "",
                rel=rel,
                tag_path=f"{element}/{self.found.form}/{place}",
                position=len(self.found.links),
                index=dropped_index(address) if target[-1] == "/" else "",
                found_by=found_by,
            )
        )
