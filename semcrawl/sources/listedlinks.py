"""Links of a list that is no page: what a catalogue or a linkset says of each address."""

from __future__ import annotations

from dataclasses import dataclass, field

from semcrawl.links import Link
from semcrawl.links.texts import fold
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation, dropped_index, resolve
from semcrawl.web.vocabulary import FoundBy

#: ``Link.element`` of what a catalogue lists
CATALOGUE = "catalogue"
#: ``Link.rel`` of a catalogue's next page
NEXT = "next"


@dataclass(slots=True)
class DataList:
    """A list of addresses that was read."""

    #: ``linkset``, ``ckan``, ``data.json`` or ``oai-pmh``
    form: str
    links: list[Link] = field(default_factory=list)
    #: what keeps it from being read to its end, and what is odd about it
    faults: list[str] = field(default_factory=list)
    #: RDF/XML that stands in it (OAI-PMH)
    rdf: bytes = b""


class LinkCollector:
    """Makes links of addresses as a list writes them, each once, a bounded number."""

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
        """Add an address; what is none is passed over."""
        if not isinstance(address, str) or not address:
            return
        target = resolve(self._url, address, self._normalisation)
        if target is None or target in self._seen:
            return
        if len(self.found.links) >= self._limit:
            if not self.found.faults:
                self.found.faults.append(f"only the first {self._limit:,} links are taken")
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
