"""A model of documents, crawls and a user who share a triple store, for stateful tests.

Documents of several hosts state graphs of any name; the user makes graphs by hand; deliveries are
cut off at every point and repeated. Whatever happens, the user's graphs stay as they are, and each
statement of a document is in one graph that this document made, and nowhere else.
"""

from __future__ import annotations

import collections
import shutil
import sqlite3
import tempfile
from abc import abstractmethod
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import pyoxigraph
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from semcrawl.items import EMBEDDED, FetchOutcome, FetchRecord, RdfDocument
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QuadsFile
from semcrawl.results.stores.contract import GraphStore, StoreUnavailable
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.naming import GraphNaming

TRUSTED = "trusted.example"
URLS = [
    "http://a.example/doc",
    "https://a.example/doc",
    "http://a.example/other",
    "http://b.example/doc",
    "http://b.example:8080/doc",
    f"http://data.{TRUSTED}/doc",
]
#: graphs that documents state: own ones, others', the user's, and names made to deceive
GRAPHS = [
    *(f"<{url}>" for url in URLS),
    "<http://a.example/doc#part>",
    "<http://a.example/doc/below>",
    "<http://a.example/doc/../../other>",
    "<http://b.example/graphs/1>",
    "<http://a.example@b.example/doc>",
    "<http://a.example.b.example/doc>",
    f"<http://b.example/doc#graph={quote('urn:untouched', safe='')}>",
    f"<http://a.example/doc#graph={quote('http://a.example/other', safe='')}>",
    "<urn:untouched>",
    "<urn:semcrawl:probe>",
    f"<{'urn:long:' + 'x' * 600}>",
    "_:g1",
    "_:g2",
    "",
]
#: graphs that the user makes by hand
USERS = [graph for graph in GRAPHS if graph.startswith("<")]

contents = st.lists(
    st.tuples(st.sampled_from(GRAPHS), st.integers(0, 3), st.booleans()), max_size=6, unique=True
)


class StoreMachine(RuleBasedStateMachine):
    """Two crawls that deliver to one store, into which the user writes, too."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="owners-"))
        self.crawls = [Crawl(self.top / name) for name in ("first", "second")]
        self.users: dict[str, str] = {}
        self.clock = 1000.0
        self.values = 0
        self.is_delivered = True

    @abstractmethod
    def open_store(self) -> GraphStore:
        """Connect to the store."""

    @abstractmethod
    def write(self, graph: str, value: str) -> None:
        """Put the user's statement into a graph."""

    @abstractmethod
    def held(self) -> dict[str, collections.Counter[str]]:
        """The objects of the store's statements by graph, IRIs and texts alike."""

    @rule(
        crawl=st.integers(0, 1),
        url=st.sampled_from(URLS),
        stated=contents,
        in_page=st.booleans(),
    )
    def read(self, crawl, url, stated, in_page):
        """A document, or the data of a page, is read for the first time or has changed."""
        self.clock += 1
        self.values += 1
        lines = []
        for graph, number, is_blank in stated:
            subject = "_:b" if is_blank else "<urn:s>"
            end = f"{graph} ." if graph else "."
            lines.append(f'{subject} <urn:p> "{self.values} {number} {graph[1:-1]}" {end}\n')
        self.crawls[crawl].read(url, lines, self.clock, in_page=in_page)
        self.is_delivered = False

    @rule(crawl=st.integers(0, 1), url=st.sampled_from(URLS), in_page=st.booleans())
    def vanish(self, crawl, url, in_page):
        """A document is gone."""
        self.clock += 1
        self.crawls[crawl].vanish(url, self.clock, in_page=in_page)
        self.is_delivered = False

    @rule(graph=st.sampled_from(USERS))
    def make(self, graph):
        """The user makes a graph where there is none."""
        self._make(graph)

    def _make(self, graph):
        if graph not in self.users and graph not in self.held():
            self.values += 1
            self.users[graph] = f"user {self.values}"
            self.write(graph, self.users[graph])

    @rule(crawl=st.integers(0, 1), batch=st.integers(1, 4))
    def deliver(self, crawl, batch):
        self.crawls[crawl].deliver(self.open_store(), batch)

    @rule(
        crawl=st.integers(0, 1),
        at=st.integers(0, 3),
        share=st.sampled_from([0.0, 0.5, 1.0]),
        batch=st.integers(1, 4),
        is_awaited=st.booleans(),
    )
    def break_off(self, crawl, at, share, batch, is_awaited):
        """The process ends before, in or after a write to the store, or before it is noted.

        The user may have waited for that, to make a graph that was about to be written, or that has
        just been dropped.
        """
        self.crawls[crawl].deliver(CutOff(self.open_store(), at, share), batch)
        if is_awaited:
            for name in self.crawls[crawl].claimed():
                self._make(name)

    @rule(crawl=st.integers(0, 1))
    def deliver_all_again(self, crawl):
        self.crawls[crawl].start_again(self.open_store())

    @rule(crawl=st.integers(0, 1))
    def compact(self, crawl):
        self.crawls[crawl].compact()

    @rule()
    def deliver_everything(self):
        for crawl in self.crawls:
            crawl.deliver(self.open_store(), 3)
        self.is_delivered = True

    @invariant()
    def the_users_graphs_are_as_they_were(self):
        if self.users:
            held = self.held()
            for graph, value in self.users.items():
                assert held.get(graph) == {value: 1}

    @precondition(lambda self: self.is_delivered)
    @invariant()
    def each_document_has_its_statements_once(self):
        left = {graph: held for graph, held in self.held().items() if graph not in self.users}
        for crawl in self.crawls:
            for url, stated in crawl.documents().items():
                names = crawl.names_of(url)
                assert set(names) >= {graph for graph in stated if graph != f"<{url}>"}
                for graph, name in names.items():
                    assert is_allowed(url, graph, name), (url, graph, name)
                    found = left.pop(name)
                    if graph == f"<{url}>":  # its statements about names are here
                        renamed = [other for other, called in names.items() if other != called]
                        about = collections.Counter(
                            "" if other.startswith("_:") else other[1:-1] for other in renamed
                        )
                        assert found >= about, (found, about)
                        found = found - about
                    assert found == stated.get(graph, {}), (url, graph, name)
        assert left == {}

    def teardown(self):
        for crawl in self.crawls:
            crawl.close()
        shutil.rmtree(self.top)


class Crawl:
    """A job folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.files = (QuadsFile(folder), QuadsFile(folder, EMBEDDED_FILE, EMBEDDED_LEDGER))
        self.now: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})

    def read(self, url: str, lines: list[str], time: float, *, in_page: bool) -> None:
        nquads = "".join(lines).encode()
        item = RdfDocument(
            url=url,
            nquads=nquads,
            quads=len(lines),
            format=EMBEDDED if in_page else "nquads",
            content_hash=sha256(nquads).hexdigest(),
            fetched_at=time,
            revisit=True,
        )
        self.files[in_page].append([item])
        self.now[in_page][url] = lines

    def vanish(self, url: str, time: float, *, in_page: bool) -> None:
        gone = FetchOutcome.HTTP_ERROR
        record = FetchRecord(url, gone, status=404, started_at=time, revisit=True)
        self.files[in_page].append([record])
        self.now[in_page].pop(url, None)

    def deliver(self, store: GraphStore, batch: int) -> None:
        """Deliver what waits, until the store is away."""
        deliverer = self._deliverer(store, batch)
        try:
            while (step := deliverer.step()) is not None:
                assert step.refused == []
        except StoreUnavailable:
            pass
        finally:
            deliverer.close()

    def start_again(self, store: GraphStore) -> None:
        deliverer = self._deliverer(store, 3)
        deliverer.start_again()
        deliverer.close()

    def _deliverer(self, store: GraphStore, batch: int) -> Deliverer:
        naming = GraphNaming.trusting([TRUSTED])
        deliverer = Deliverer(self.folder, store, naming=naming, batch_documents=batch)
        if isinstance(store, CutOff):
            store.keep_from_noting(deliverer)
        return deliverer

    def compact(self) -> None:
        for file in self.files:
            file.compact()

    def close(self) -> None:
        for file in self.files:
            file.close()

    def claimed(self) -> list[str]:
        """The names of graphs of which it is not noted that they are written, or dropped."""
        with sqlite3.connect(self.folder / "crawl.db") as ledger:
            query = "SELECT name FROM made_graph WHERE claimed_for IS NOT NULL ORDER BY id"
            return [name for (name,) in ledger.execute(query)]

    def documents(self) -> dict[str, dict[str, collections.Counter[str]]]:
        """The objects of the statements that documents state now, by URL and graph."""
        found: dict[str, dict[str, collections.Counter[str]]] = {}
        for documents in self.now:
            for url, lines in documents.items():
                graphs = found.setdefault(url, {})
                for line in lines:
                    value, _, rest = line.partition('"')[2].rpartition('"')
                    graph = rest.rpartition(".")[0].strip() or f"<{url}>"
                    graphs.setdefault(graph, collections.Counter())[value] += 1
        return found

    def names_of(self, url: str) -> dict[str, str]:
        """The names that a document's graphs have in the store, by those that it states."""
        key = sha256(url.encode()).hexdigest()
        with sqlite3.connect(self.folder / "crawl.db") as ledger:
            query = "SELECT stated, name FROM made_graph WHERE document_key = ?"
            return dict(ledger.execute(query, [key]).fetchall())


class CutOff:
    """A store whose connection ends after some calls, with a share of the last one done."""

    target = "shared"

    def __init__(self, store: GraphStore, at: int, share: float) -> None:
        self.store, self.at, self.share = store, at, share

    def keep_from_noting(self, deliverer: Deliverer) -> None:
        settle = deliverer._owners.settle

        def noted(*arguments):
            self.count()
            settle(*arguments)

        deliverer._owners.settle = noted

    def count(self) -> None:
        self.at -= 1
        if self.at < 0:
            raise StoreUnavailable("gone")

    def existing(self, names):
        return self.store.existing(names)

    def statements(self, name, limit=10_000):
        return self.store.statements(name, limit)

    def replace(self, found):
        if not self.at:
            self.store.replace(found[: int(len(found) * self.share)])
        self.count()
        self.store.replace(found)

    def close(self):
        self.store.close()


def is_allowed(url: str, stated: str, name: str) -> bool:
    """Whether a document may call a graph so in the store (told apart from the code itself)."""
    if name.startswith(f"<{url}#graph"):
        return True
    if name != stated:
        return False
    host = url.split("/")[2]
    graph_host = stated.strip("<>").partition("#")[0].split("/")[2:3]
    return host.endswith(TRUSTED) or graph_host == [host]


def objects_of(quads) -> dict[str, collections.Counter[str]]:
    """The objects of quads by graph; nothing for the blank nodes among them."""
    found: dict[str, collections.Counter[str]] = {}
    for quad in quads:
        value = "" if isinstance(quad.object, pyoxigraph.BlankNode) else quad.object.value
        found.setdefault(str(quad.graph_name), collections.Counter())[value] += 1
    return found
