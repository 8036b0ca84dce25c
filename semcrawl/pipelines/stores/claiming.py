"""Claims: each graph of a batch of documents gets its name in the store, and an owner.

A document gets a name when nobody has it: no other document by the ledger, and nobody else by what
the store holds. Claims are committed before anything is written, so that a crash leaves no graph
without an owner; and a graph that a crash left in doubt is looked at before it is written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from semcrawl.metadata.models import url_key
from semcrawl.pipelines.graphs import iri
from semcrawl.pipelines.stores.contract import GraphContent, GraphStore
from semcrawl.pipelines.stores.naming import STATED_NAME, GraphNaming, statement_about
from semcrawl.pipelines.stores.owners import Made, Owners
from semcrawl.pipelines.stores.spans import Span
from semcrawl.pipelines.stores.statements import is_part_of


@dataclass(slots=True)
class StatedDocument:
    """A document with the graphs that it states now; none when it is gone."""

    url: str
    #: names its version, in the ledger's claims
    version: str
    #: graph names other than its own → the documents' lines that have them
    graphs: dict[str, list[Span]] = field(default_factory=dict)
    #: all its lines
    spans: list[Span] = field(default_factory=list)

    @property
    def own(self) -> str:
        """The name of its own graph."""
        return iri(self.url)

    @property
    def may_have_empty_graphs(self) -> bool:
        """Whether :meth:`stated` may name graphs of which there are no statements."""
        return bool(self.graphs) or not any(span.length for span in self.spans)

    def stated(self) -> list[str]:
        """Return the names of the graphs that it may have statements in, its own first."""
        own = [self.own] if self.spans else []
        return [*own, *sorted(stated for stated in self.graphs if stated)]

    def parts_of(self, stated: str) -> list[tuple[Span, str]]:
        """Return where the lines of a graph are. Those of the default graph are in its own."""
        if stated != self.own:
            return [(span, stated) for span in self.graphs.get(stated, [])]
        defaults = [(span, "") for span in self.graphs.get("", [])]
        return [*((span, stated) for span in self.spans), *defaults]


@dataclass(slots=True)
class Claimed:
    """The graphs of a document in the store."""

    #: without statements those that are to be dropped
    contents: list[GraphContent]
    #: names of these
    dropped: list[str]
    #: whether its own graph has another name than its address
    is_renamed: bool = False


@dataclass(slots=True)
class _Wish:
    """A graph that wants a name."""

    document: StatedDocument
    stated: str
    names: Iterator[str]

    @property
    def is_own(self) -> bool:
        """Whether it is the document's own graph."""
        return self.stated == self.document.own


#: a document's address and a graph name that it states
_Stated = tuple[str, str]


class Claims:
    """Finds names for graphs. Not for several threads."""

    def __init__(
        self, owners: Owners, store: GraphStore, naming: GraphNaming, *, adopting: bool = False
    ) -> None:
        """Keep the owners of the store's graphs.

        ``adopting``: a graph under a document's own address that is in the store counts as made by
        that document.
        """
        self._owners = owners
        self._store = store
        self._naming = naming
        self._adopting = adopting

    def claim(
        self, documents: Sequence[StatedDocument], addresses: frozenset[str] = frozenset()
    ) -> dict[str, Claimed]:
        """Claim the documents' graphs; return what each is to hold, by the documents' URLs.

        ``addresses``: graph names that are addresses of other documents, which nobody gets but
        these. Raises ``StoreUnavailable``, and SQLAlchemy's errors.
        """
        by_key = {url_key(document.url): document for document in documents}
        wishes: dict[_Stated, _Wish] = {}
        for document in documents:
            for stated in document.stated():
                candidates = self._naming.candidates(document.url, stated)
                wishes[document.url, stated] = _Wish(document, stated, candidates)
        left: dict[str, list[str]] = {}
        given: dict[_Stated, Made] = {}
        doubtful: list[tuple[_Wish, Made]] = []
        for made in self._owners.of_documents(by_key):
            url = by_key[made.document_key].url
            wish = wishes.get((url, made.stated))
            if wish is None or not self._naming.allows(url, made.stated, made.name):
                left.setdefault(url, []).append(made.name)
            elif made.claimed_for is None:
                given[url, made.stated] = made
            else:
                doubtful.append((wish, made))
        kept, absent, strangers = self._sort_out(doubtful)
        given |= kept
        held = strangers.union(*left.values(), (made.name for made in given.values()))
        open_wishes = [wish for place, wish in wishes.items() if place not in given]
        fresh, new = self._find_names(open_wishes, held, addresses)
        names = {place: made.name for place, made in (given | fresh).items()}
        result = {
            document.url: _contents(document, names, new | absent, left.get(document.url, []))
            for document in documents
        }
        used = {content.name for claimed in result.values() for content in claimed.contents}
        claims = [made for made in fresh.values() if made.name in used]
        # made for another version than the one that is to be written
        outdated = {made.name for _, made in doubtful if made.name not in strangers}
        self._owners.claim([*claims, *kept.values()], strangers | outdated)
        return result

    def _sort_out(
        self, doubtful: Sequence[tuple[_Wish, Made]]
    ) -> tuple[dict[_Stated, Made], set[str], set[str]]:
        """Look at claims that were not settled: nobody knows whether their graphs were written.

        When the store has such a graph, it is the document's if it holds nothing but what the
        document was to bring. (A version that has changed since cannot be compared.) Return those
        that stay, the names among them that the store has not, and the names that others have.
        """
        there = self._store.existing([made.name for _, made in doubtful])
        kept: dict[_Stated, Made] = {}
        strangers: set[str] = set()
        for wish, made in doubtful:
            document = wish.document
            is_same = made.claimed_for == document.version
            if made.name in there and is_same and not self._is_ours(made, wish):
                strangers.add(made.name)
            else:
                kept[document.url, wish.stated] = replace(made, claimed_for=document.version)
        return kept, {made.name for made in kept.values()} - there, strangers

    def _is_ours(self, made: Made, wish: _Wish) -> bool:
        """Say whether a graph holds nothing but a document's statements, and ours about them."""
        there = self._store.statements(made.name)
        others = (each for each in there if each[1] != f"<{STATED_NAME}>")
        return is_part_of(others, GraphContent("", wish.document.parts_of(wish.stated)).triples())

    def _find_names(
        self, wishes: list[_Wish], held: set[str], addresses: frozenset[str]
    ) -> tuple[dict[_Stated, Made], set[str]]:
        """Give each wish the first of its names that nobody has; tell which the store has not."""
        fresh: dict[_Stated, Made] = {}
        new: set[str] = set()
        # an address is rather its document's than the name of a graph of another
        wishes = sorted(wishes, key=lambda wish: not wish.is_own)
        while wishes:
            asked: dict[str, _Wish] = {}
            waiting: list[_Wish] = []
            for wish in wishes:
                name = next(wish.names)
                if name in asked or name in held or (name in addresses and not wish.is_own):
                    waiting.append(wish)
                else:
                    asked[name] = wish
            taken = self._owners.taken(asked)
            there = self._store.existing([name for name in asked if name not in taken])
            for name, wish in asked.items():
                is_adopted = self._adopting and wish.is_own and name == wish.stated
                if name in taken or (name in there and not is_adopted):
                    waiting.append(wish)
                    continue
                held.add(name)
                if name not in there:
                    new.add(name)
                document = wish.document
                made = Made(url_key(document.url), wish.stated, name, document.version)
                fresh[document.url, wish.stated] = made
            wishes = waiting
        return fresh, new


def _contents(
    document: StatedDocument, names: Mapping[_Stated, str], new: set[str], left: Sequence[str]
) -> Claimed:
    """Return what the graphs of a document are to hold; nothing those that it has ``left``."""
    named = {stated: names[document.url, stated] for stated in document.stated()}
    claimed = Claimed([], list(left))
    about = b"".join(
        statement_about(name, stated) for stated, name in named.items() if name != stated
    )
    for stated, name in named.items():
        content = GraphContent(name, document.parts_of(stated), is_new=name in new)
        if stated == document.own:
            content.about = about
            claimed.is_renamed = name != stated
        if document.may_have_empty_graphs and content.is_empty():
            if not content.is_new:
                claimed.dropped.append(name)
        else:
            claimed.contents.append(content)
    claimed.contents += [GraphContent(name) for name in claimed.dropped]
    return claimed
