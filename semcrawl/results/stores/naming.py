"""Names of graphs in a store, and who made them.

Names that a document may give to graphs in a triple store.
A document on the web may state any graph name, even that of a graph of the store's user or of
another document. In a store it may write the graph of its own address, and graphs below that
address or on its own host. Any other graph gets a name below the document's address, with the
stated name percent-encoded::

    <http://example.org/doc#graph=urn%3Auntouched>

So names of two documents, or of two graphs, are never the same. Documents of sites that the user
trusts keep the names that they state.

Claims: each graph of a batch of documents gets its name in the store, and an owner.
A document gets a free name: the ledger has given it to no other document, and the store has no such
graph. Claims are committed before anything is written or dropped, so that a crash leaves no graph
without an owner. A claim includes the *witness*, a statement of the document's graph. After a crash
it tells whether a graph in the store is the document's or somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from itertools import chain, count
from typing import cast
from urllib.parse import quote

import pyoxigraph
from sqlalchemy import Connection, Engine, Table, bindparam, delete, insert, select, update

from semcrawl.errors import UsageError
from semcrawl.metadata.records import MadeGraph, in_parts, url_key
from semcrawl.rdf.sink import iri
from semcrawl.results.stores.contract import GraphContent, GraphStore, Span, first_of, is_part_of
from semcrawl.web.hosts import host_of, pay_level_domain

#: property that gives the name which the document states for a graph
STATED_NAME = "https://github.com/semcrawl/semcrawl/ns#statedName"
#: the graph that tells where documents come from; no document may have it
PROVENANCE_GRAPH = "<urn:semcrawl:provenance>"
#: most characters of a percent-encoded name; a longer one is replaced by its SHA-256
MAX_WRITTEN_OUT = 512

_HTTP_SITE = re.compile(r"(https?)://([^/?#\\@<>]+)(?=[/?#]|\Z)", re.IGNORECASE)
_HOST = re.compile(r"[^\s/:@?#]+")


@dataclass(frozen=True, slots=True)
class GraphNaming:
    """Which names the graphs of a document may have in a store."""

    #: hosts and pay-level domains whose documents keep the names that they state
    trusted_sites: frozenset[str] = frozenset()

    @classmethod
    def trusting(cls, sites: Iterable[str]) -> GraphNaming:
        """Trust sites, each a host, or a pay-level domain with all its hosts.

        Raises ``UsageError`` for other texts.
        """
        hosts = set()
        for site in sites:
            host = (host_of(site) if "://" in site else site.strip()).lower().rstrip(".")
            if not _HOST.fullmatch(host):
                raise UsageError(f"SEMCRAWL_TRUSTED_SITES: {site!r} is no host and no domain")
            hosts.add(host)
        return cls(frozenset(hosts))

    def candidates(self, url: str, stated: str) -> Iterator[str]:
        """Yield names for the graph that the document at ``url`` calls ``stated``, best first.

        All are as N-Quads writes them. The first may be the stated name itself; an endless series
        of names below the document's address follows.
        """
        if self.may_keep(url, stated):
            yield stated
        for number in count(1):
            yield scoped_name(url, stated, number)

    def allows(self, url: str, stated: str, name: str) -> bool:
        """Whether ``name`` is among the candidates."""
        if name == stated:
            return self.may_keep(url, stated)
        return name.startswith(f"<{_base(url)}#graph")

    def may_keep(self, url: str, stated: str) -> bool:
        """Whether the document at ``url`` may write a graph under the name that it states."""
        if stated == PROVENANCE_GRAPH:
            return False
        text = stated[1:-1]
        # a name with an escape stands for another name; ``is_iri`` is false for it
        if not (stated.startswith("<") and is_iri(text)):
            return False
        if stated == iri(url):
            return True
        return _is_below(url, text) or _same_site(url, text) or self._is_trusted(url)

    def _is_trusted(self, url: str) -> bool:
        if not self.trusted_sites:
            return False
        host = host_of(url).rstrip(".")
        return bool({host, pay_level_domain(host)} & self.trusted_sites)


def scoped_name(url: str, stated: str, number: int = 1) -> str:
    """Return a name below the document's address for a graph that it calls ``stated``.

    ``number`` counts the names tried.
    """
    text = stated[1:-1] if stated.startswith("<") else stated
    written = quote(text, safe="", errors="replace")
    if len(written) > MAX_WRITTEN_OUT:
        written = f"sha256-{sha256(text.encode('utf-8', 'replace')).hexdigest()}"
    again = f"-{number}" if number > 1 else ""
    return f"<{_base(url)}#graph{again}={written}>"


def statement_about(name: str, stated: str) -> bytes:
    """Return the line of N-Triples that gives the stated name of a graph."""
    return f"{name} <{STATED_NAME}> {stated} .\n".encode("utf-8", "replace")


def is_iri(text: str) -> bool:
    """Whether a text is an absolute IRI that a store accepts."""
    try:
        pyoxigraph.NamedNode(text)
    except ValueError:
        return False
    return True


def _base(url: str) -> str:
    """Return the prefix of a document's names: its address, or a URN if that is no IRI."""
    base = url.partition("#")[0]
    return base if is_iri(base) else f"urn:semcrawl:document:{quote(base, safe='')}"


def _is_below(url: str, name: str) -> bool:
    base = url.partition("#")[0]
    rest = name[len(base) :] if name.startswith(base) else ""
    is_path_end = base.endswith("/")
    return bool(rest) and (is_path_end or rest[0] in "#?/") and "/.." not in f"/{rest}"


def _same_site(url: str, name: str) -> bool:
    site = _site(url)
    return site is not None and site == _site(name)


@lru_cache(maxsize=4096)
def _site_of(start: str) -> tuple[str, str] | None:
    match = _HTTP_SITE.match(start)
    if match is None:
        return None
    host, _, port = match[2].lower().partition(":")
    usual = {"http": "80", "https": "443"}[match[1].lower()]
    return host, "" if port in ("", usual) else port


def _site(url: str) -> tuple[str, str] | None:
    """Return host and port of a URL; the port is empty if it is the scheme's default."""
    return _site_of("/".join(url.split("/", 3)[:3]))


_MADE_GRAPH = cast("Table", MadeGraph.__table__)
_SETTLED = (
    update(_MADE_GRAPH)
    .where(_MADE_GRAPH.c.target == bindparam("store"), _MADE_GRAPH.c.name_key == bindparam("key"))
    .values(claimed_for=None, witness=None)
)


@dataclass(frozen=True, slots=True)
class Made:
    """A graph that a document has made or is about to make."""

    document_key: str
    #: the graph's name as the document states it
    stated: str
    #: its name in the store
    name: str
    #: the version of the document that is being written; ``None`` once the store has the graph
    claimed_for: str | None = None
    #: statements, one per line; the document's graph has one of them. ``None`` if not known
    witness: str | None = None


class Owners:
    """The graphs of one store, and the documents that made them. Raises SQLAlchemy's errors.

    A graph is *claimed* before it is written, if the store has no graph of that name, and *settled*
    once the store has it. Graphs in the store that this ledger does not list are somebody else's.
    """

    def __init__(self, engine: Engine, target: str) -> None:
        """Use the ledger of a job folder, or one that workers share, for the store ``target``."""
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)
        self._target = target

    def of_documents(self, keys: Collection[str]) -> list[Made]:
        """Return the graphs of documents, by their ``url_key``."""
        found: list[Made] = []
        with self._reading.begin() as connection:
            for part in in_parts(list(keys)):
                query = select(
                    MadeGraph.document_key,
                    MadeGraph.stated,
                    MadeGraph.name,
                    MadeGraph.claimed_for,
                    MadeGraph.witness,
                ).where(MadeGraph.target == self._target, MadeGraph.document_key.in_(part))
                found += [Made(*row) for row in connection.execute(query)]
        return found

    def taken(self, names: Collection[str]) -> set[str]:
        """Return which of the names documents have."""
        found: set[str] = set()
        with self._reading.begin() as connection:
            for part in in_parts([url_key(name) for name in names]):
                query = select(MadeGraph.name).where(
                    MadeGraph.target == self._target, MadeGraph.name_key.in_(part)
                )
                found.update(connection.execute(query).scalars())
        return found

    def claim(self, claims: Iterable[Made], disclaimed: Collection[str] = ()) -> None:
        """Note graphs that are about to be made; delete the rows of ``disclaimed`` names."""
        rows = [self._row(made) for made in claims]
        if not (rows or disclaimed):
            return
        with self._engine.begin() as connection:
            self._forget(connection, disclaimed)
            if rows:
                connection.execute(insert(_MADE_GRAPH), rows)

    def settle(self, made: Iterable[str], dropped: Collection[str]) -> None:
        """Note that the store has the graphs ``made`` and no longer those ``dropped``."""
        rows = [{"store": self._target, "key": url_key(name)} for name in made]
        if not (rows or dropped):
            return
        with self._engine.begin() as connection:
            self._forget(connection, dropped)
            if rows:
                connection.execute(_SETTLED, rows)

    def forget_all(self) -> None:
        """Forget all graphs, as the store is new."""
        with self._engine.begin() as connection:
            connection.execute(delete(MadeGraph).where(MadeGraph.target == self._target))

    def unsettle_all(self) -> None:
        """Mark all graphs as not settled, so that the next delivery checks whether they exist."""
        with self._engine.begin() as connection:
            connection.execute(
                update(MadeGraph)
                .where(MadeGraph.target == self._target, MadeGraph.claimed_for.is_(None))
                .values(claimed_for="")
            )

    def take_over(self, folder: Owners) -> None:
        """Take over the graphs that a job folder's own ledger lists, once the crawl shares another.

        A name that a document has in the shared ledger stays with it.
        """
        with folder._reading.begin() as connection:
            query = select(_MADE_GRAPH).where(_MADE_GRAPH.c.target == self._target)
            rows = [dict(row._mapping) for row in connection.execute(query)]
        known = self.taken([row["name"] for row in rows])
        new = [
            {name: value for name, value in row.items() if name != "id"}
            for row in rows
            if row["name"] not in known
        ]
        if new:
            with self._engine.begin() as connection:
                connection.execute(insert(_MADE_GRAPH), new)

    def close(self) -> None:
        """Close the ledger."""
        self._engine.dispose()

    def _forget(self, connection: Connection, names: Collection[str]) -> None:
        for part in in_parts([url_key(name) for name in names]):
            connection.execute(
                delete(MadeGraph).where(
                    MadeGraph.target == self._target, MadeGraph.name_key.in_(part)
                )
            )

    def _row(self, made: Made) -> dict[str, object]:
        return {
            "target": self._target,
            "name_key": url_key(made.name),
            "name": made.name,
            "document_key": made.document_key,
            "stated": made.stated,
            "claimed_for": made.claimed_for,
            "witness": made.witness,
        }


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
