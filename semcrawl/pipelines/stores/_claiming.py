"""Claims: each graph of a batch of documents gets its name in the store, and an owner.

A document gets a free name: the ledger has given it to no other document, and the store has no such
graph. Claims are committed before anything is written or dropped, so that a crash leaves no graph
without an owner. A claim includes the *witness*, a statement of the document's graph. After a crash
it tells whether a graph in the store is the document's or somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from semcrawl.metadata.models import url_key
from semcrawl.pipelines.stores.contract import GraphContent, GraphStore
from semcrawl.pipelines.stores.naming import STATED_NAME, GraphNaming, statement_about
from semcrawl.pipelines.stores.owners import Made, Owners
from semcrawl.pipelines.stores.spans import Span
from semcrawl.pipelines.stores.statements import first_of, is_part_of
from semcrawl.rdf.quadlines import iri

#: version in the claim of a graph that is about to be dropped
DROPPING = "dropping"


@dataclass(slots=True)
class StatedDocument:
    """A document with the graphs that it states now; it has none if it is gone."""

    url: str
    #: name of its version in the ledger's claims
    version: str
    #: for graph names other than its own (empty: the default graph), lines that may have them
    graphs: dict[str, list[Span]] = field(default_factory=dict)
    #: all its lines
    spans: list[Span] = field(default_factory=list)

    @property
    def own(self) -> str:
        """The name of its own graph."""
        return iri(self.url)

    def others(self) -> list[str]:
        """Return the names of other graphs in which it has statements."""
        return sorted(
            stated
            for stated in self.graphs
            if stated and not GraphContent(stated, self.parts_of(stated)).is_empty()
        )

    def has_own(self) -> bool:
        """Whether it has statements in its own graph."""
        if not self.graphs:
            return any(span.length for span in self.spans)
        return not GraphContent(self.own, self.parts_of(self.own)).is_empty()

    def parts_of(self, stated: str) -> list[tuple[Span, str]]:
        """Return where the lines of a graph are; the default graph belongs to its own graph."""
        if stated != self.own:
            return [(span, stated) for span in self.graphs.get(stated, [])]
        defaults = [(span, "") for span in self.graphs.get("", [])]
        return [*((span, stated) for span in self.spans), *defaults]


@dataclass(slots=True)
class Claimed:
    """The graphs of a document in the store."""

    #: the content that each graph must have; none for graphs that are to be dropped
    contents: list[GraphContent] = field(default_factory=list)
    #: names of the graphs to drop
    dropped: list[str] = field(default_factory=list)
    #: whether its own graph has a name other than its address
    is_renamed: bool = False


@dataclass(slots=True)
class _Wish:
    """A graph that needs a name in the store."""

    document: StatedDocument
    stated: str
    about: bytes = b""

    @property
    def is_own(self) -> bool:
        """Whether it is the document's own graph."""
        return self.stated == self.document.own

    def content(self, name: str) -> GraphContent:
        """Return the graph's content under a name."""
        is_renamed = self.is_own and name != self.stated
        about = self.about + (statement_about(name, self.stated) if is_renamed else b"")
        return GraphContent(name, self.document.parts_of(self.stated), about)


@dataclass(slots=True)
class _Changes:
    """Rows to write to the ledger, and each document's changes of graphs."""

    claimed: dict[str, Claimed]
    claims: list[Made] = field(default_factory=list)
    #: names whose rows the ledger deletes
    forgotten: set[str] = field(default_factory=set)
    #: names given in this batch
    given: set[str] = field(default_factory=set)


#: a document's key and a graph name that it states
_Stated = tuple[str, str]


class Claims:
    """Finds names for graphs. Not thread-safe."""

    def __init__(
        self, owners: Owners, store: GraphStore, naming: GraphNaming, *, adopting: bool = False
    ) -> None:
        """``adopting``: a graph in the store that has a document's address belongs to it."""
        self._owners = owners
        self._store = store
        self._naming = naming
        self._adopting = adopting

    def claim(
        self, documents: Sequence[StatedDocument], addresses: frozenset[str] = frozenset()
    ) -> dict[str, Claimed]:
        """Claim the documents' graphs; return the contents to write, by the documents' URLs.

        ``addresses``: graph names that are addresses of documents; no other document may get them.
        Raises ``StoreUnavailable``, and SQLAlchemy's errors.
        """
        by_key = {url_key(document.url): document for document in documents}
        rows: tuple[list[Made], list[Made]] = ([], [])
        for made in self._owners.of_documents(by_key):
            rows[made.stated == by_key[made.document_key].own].append(made)
        changes = _Changes({document.url: Claimed() for document in documents})
        others = {
            (key, stated): _Wish(document, stated)
            for key, document in by_key.items()
            for stated in document.others()
        }
        names = self._resolve(others, rows[0], by_key, addresses, changes)
        about: dict[str, bytes] = {}
        for (key, stated), name in names.items():
            if name != stated:
                about[key] = about.get(key, b"") + statement_about(name, stated)
        own = {
            (key, document.own): _Wish(document, document.own, about.get(key, b""))
            for key, document in by_key.items()
            if key in about or document.has_own()
        }
        self._resolve(own, rows[1], by_key, addresses, changes)
        self._owners.claim(changes.claims, changes.forgotten)
        return changes.claimed

    def _resolve(
        self,
        wishes: Mapping[_Stated, _Wish],
        rows: Iterable[Made],
        documents: Mapping[str, StatedDocument],
        addresses: frozenset[str],
        changes: _Changes,
    ) -> dict[_Stated, str]:
        """Name the graphs in ``wishes``, and take all other graphs away; return the names."""
        names: dict[_Stated, str] = {}
        kept: list[tuple[_Wish, Made]] = []
        left: list[Made] = []
        for made in rows:
            wish = wishes.get((made.document_key, made.stated))
            url = documents[made.document_key].url
            if wish is None or not self._naming.allows(url, made.stated, made.name):
                left.append(made)
            elif made.claimed_for is None:
                names[made.document_key, made.stated] = made.name
                changes.claimed[url].contents.append(wish.content(made.name))
            else:
                kept.append((wish, made))
        there = self._store.existing([made.name for made in (*left, *(made for _, made in kept))])
        for made in left:
            claimed = changes.claimed[documents[made.document_key].url]
            self._leave(made, made.name in there, claimed, changes)
        for wish, made in kept:
            if made.name in there and not self._is_ours(made, wish):
                changes.forgotten.add(made.name)
                continue
            names[made.document_key, made.stated] = made.name
            self._note(wish, made, made.name in there, changes)
        todo = [wish for place, wish in wishes.items() if place not in names]
        for wish, name in self._find_names(todo, addresses, changes):
            names[url_key(wish.document.url), wish.stated] = name
        return names

    def _leave(self, made: Made, is_there: bool, claimed: Claimed, changes: _Changes) -> None:
        """Drop a graph that its document no longer has, if it is in the store and still ours."""
        if is_there and made.claimed_for is None:
            witness = first_of(self._store.statements(made.name, 1))
            changes.forgotten.add(made.name)  # a new row replaces this one
            changes.claims.append(replace(made, claimed_for=DROPPING, witness=witness))
        elif not is_there or not self._has_witness(made):
            changes.forgotten.add(made.name)
            return
        claimed.contents.append(GraphContent(made.name))
        claimed.dropped.append(made.name)

    def _is_ours(self, made: Made, wish: _Wish) -> bool:
        """Whether the document wrote a graph of the store whose claim is not settled.

        It did if the graph has no other statements than the document's. If the document has changed
        since, these cannot be compared, and the witness decides.
        """
        if made.claimed_for != wish.document.version:
            return self._has_witness(made)
        there = self._store.statements(made.name)
        others = (each for each in there if each[1] != f"<{STATED_NAME}>")
        return is_part_of(others, wish.content(made.name).triples())

    def _has_witness(self, made: Made) -> bool:
        """Whether a graph has a statement that its document wrote."""
        if made.witness is None:  # the graph was settled; its delivery is being repeated
            return True
        witnesses = set(made.witness.splitlines())
        there = (first_of([each]) for each in self._store.statements(made.name))
        return any(each in witnesses for each in there)

    def _find_names(
        self, wishes: Iterable[_Wish], addresses: frozenset[str], changes: _Changes
    ) -> Iterator[tuple[_Wish, str]]:
        """Give each graph the first of its candidate names that is free."""
        waiting = [
            (wish, self._naming.candidates(wish.document.url, wish.stated)) for wish in wishes
        ]
        while waiting:
            asked: dict[str, tuple[_Wish, Iterator[str]]] = {}
            later = []
            for wish, candidates in waiting:
                name = next(candidates)
                is_anothers = name in addresses and not wish.is_own
                if name in asked or name in changes.given or is_anothers:
                    later.append((wish, candidates))
                else:
                    asked[name] = wish, candidates
            taken = self._owners.taken(asked)
            there = self._store.existing([name for name in asked if name not in taken])
            for name, (wish, candidates) in asked.items():
                is_adopted = self._adopting and wish.is_own and name == wish.stated
                if name in taken or (name in there and not is_adopted):
                    later.append((wish, candidates))
                    continue
                made = Made(url_key(wish.document.url), wish.stated, name)
                self._note(wish, made, name in there, changes)
                yield wish, name
            waiting = later

    def _note(self, wish: _Wish, made: Made, is_there: bool, changes: _Changes) -> None:
        """Claim a graph that is about to be written."""
        document, content = wish.document, wish.content(made.name)
        content.is_new = not is_there
        claimed = changes.claimed[document.url]
        claimed.contents.append(content)
        claimed.is_renamed |= wish.is_own and made.name != made.stated
        witness, version = content.witness(), document.version
        if is_there:  # the store has an earlier version: keep its witness, and mark the version
            lines = chain((made.witness or "").splitlines(), [witness])
            witness = "\n".join(dict.fromkeys(filter(None, lines)))
            version = f"{version} again"
        if made.claimed_for is not None:
            changes.forgotten.add(made.name)  # a new row replaces this one
        changes.given.add(made.name)
        changes.claims.append(replace(made, claimed_for=version, witness=witness))
