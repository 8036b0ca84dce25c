"""Makes the four domains of the thesis from what it states, all by one plan.

Sections link to lists, a list to the things of one folder, and the page of a thing to its RDF. How
many URLs there are of which status, at which depth, and how many of them are RDF, is in
``stated.py``; how each domain writes and links its RDF is told by T.7. What the thesis does not
tell is chosen here, alike for all domains; ``docs/reproduction.md`` lists it. Names, the places of
everything and the order of the links of every page are random.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from semcrawl.lab.thesis import stated
from semcrawl.lab.worlds import RDF_XML, BuiltWorld, Document, SiteBuilder

#: Chosen: share of the things in a folder with RDF that have RDF.
PURITY = 0.9
#: Chosen: folders of things with RDF, and folders of others.
_FOLDERS, _OTHER_FOLDERS = 4, 12
#: Chosen, where RDF links on: links to other RDF of each document, beside that to its page, and
#: the share of the documents to which only RDF links.
_SEE_ALSO, _ONLY_FROM_RDF = 3, 1 / 3
#: Chosen: share of the other XML documents of domain 3 with the extension.
_WITH_EXTENSION = 0.5
_STATUSES = ("success", "redirect", "refused", "error")


@dataclass(frozen=True)
class Syntax:
    """How a domain writes and links its RDF."""

    host: str
    #: extension and media type of an RDF document
    extension: str
    media_type: str = RDF_XML
    #: folder of the RDF documents; empty = beside the page
    folder: str = ""
    #: whether a ``link`` element with the type leads there, else an anchor that names the type
    alternate: bool = True
    #: title of the link; text before an anchor
    title: str = ""
    before: str = ""
    #: extension of the same thing in another format; empty = there is none
    other: str = ""
    #: documents that look like XML, RDF among them
    xml: int = 0


#: Domain 1 has RDF without extension. The extension of domains 2 and 4 is that of RDF. Domain 3
#: wears XML's clothes, and the word "foaf" in the path tells its RDF from other XML.
SYNTAXES: Mapping[str, Syntax] = {
    "dbtune": Syntax("dbtune.example", "", folder="export", title="RDF"),
    "openlylocal": Syntax("openlylocal.example", ".rdf", title=RDF_XML, other=".json"),
    "deri": Syntax(
        host="deri.example",
        extension=".xml",
        media_type="application/xml",
        folder="foaf",
        alternate=False,
        before="FOAF record: ",
        xml=stated.XML_LIKE,
    ),
    "rossettiarchive": Syntax("rossettiarchive.example", ".rdf", other=".bib"),
}


def build(
    name: str,
    seed: int = 0,
    order: int | None = None,
    purity: float = PURITY,
    *,
    linked: bool = False,
) -> BuiltWorld:
    """Make a domain.

    ``seed`` chooses the places of everything, ``order`` the order of the links of each page; as
    the seed, if it is ``None``. ``linked``: RDF links to pages and other RDF (for T §4.4).
    """
    return _Site(name, seed, purity, linked).build(seed if order is None else order)


class _Site:
    """One site in the making."""

    def __init__(self, name: str, seed: int, purity: float, linked: bool) -> None:
        self.name = name
        self.linked = linked
        self.syntax = SYNTAXES[name]
        self.purity = purity
        self.site = SiteBuilder(self.syntax.host, seed)
        self.random = self.site.random
        self.depths = stated.depths_of(name)
        self.made = 0
        #: RDF document → the page of its thing
        self.pages: list[tuple[Document, Document]] = []

    def build(self, order: int) -> BuiltWorld:
        """Fill the depths from the top."""
        site, count = self.site, {depth: urls for depth, (urls, _) in self.depths.items()}
        rdf = {depth: documents for depth, (_, documents) in self.depths.items()}
        folders = [f"kind-{n}" for n in range(_FOLDERS)]
        others = [f"{'text' if n % 2 else 'page'}s-{n}" for n in range(_OTHER_FOLDERS)]
        above = [site.page("/", "Home")]
        sections = [site.page(f"/section-{n}") for n in range(count[1])]
        self._spread(above, sections)
        things = [self._thing(folders) for _ in range(rdf[3])]
        slots = count[3] - rdf[3]
        families = min(slots, round(rdf[4] / self.purity))
        lists, plain = self._lists(count[2] - rdf[3], families / slots, folders, others)
        self._spread(sections, [*things, *lists, *plain])
        marks = self._marks(rdf)
        # depth 3: the lists' things, those with RDF in lists of their folders
        for thing in things:
            self._twin(thing)
        things = [self._thing(folders) for _ in range(rdf[4])]
        mixed = [marks[3].pop() for _ in range(families - rdf[4])]
        by_folder: dict[str, list[Document]] = {}
        for each in [*things, *(self._leaf(mark, folders) for mark in mixed)]:
            by_folder.setdefault(_folder(each), []).append(each)
        for folder, members in by_folder.items():
            self._spread([one for one in lists if _folder(one) == folder], members)
        pages = [each for members in by_folder.values() for each in members if _is_page(each)]
        for number, mark in enumerate(marks[3]):
            parent = plain[number * len(plain) // len(marks[3])]
            leaf = self._leaf(mark, [_folder(parent)])
            site.link(parent, leaf)
            pages += [leaf] * _is_page(leaf)
        # below: RDF of the things above, and the rest on any page above
        for depth in range(4, max(count) + 1):
            for thing in things:
                self._twin(thing)
            self._extras(things, marks[depth])
            leaves = [self._leaf(mark, others) for mark in marks[depth]]
            things = [self._thing(folders) for _ in range(rdf.get(depth + 1, 0))]
            self._spread(pages, [*leaves, *things])
            pages = [each for each in (*leaves, *things) if _is_page(each)]
        if self.linked:
            self._link_rdf()
        shuffle = Random(f"order of {self.syntax.host} {order}")
        for document in site.documents.values():
            shuffle.shuffle(document.items)
        return site.build(self.name)

    def _lists(
        self, count: int, share: float, folders: list[str], others: list[str]
    ) -> tuple[list[Document], list[Document]]:
        """Make the lists of things: of folders with RDF, and of others."""
        with_rdf = max(len(folders), round(count * share))
        lists = [self.site.page(f"/{folders[n % len(folders)]}/list/{n}") for n in range(with_rdf)]
        plain = [
            self.site.page(f"/{others[n % len(others)]}/list/{n}") for n in range(count - with_rdf)
        ]
        return lists, plain

    def _marks(self, rdf: Mapping[int, int]) -> dict[int, list[str]]:
        """Return what the URLs of each depth are that are neither RDF nor have RDF beside them."""
        free = {
            depth: urls - rdf[depth] - rdf.get(depth + 1, 0)
            for depth, (urls, _) in self.depths.items()
            if depth >= 3
        }
        wanted = dict(zip(_STATUSES, stated.STATUS[self.name], strict=True))
        last = max(self.depths)
        structure = sum(urls for depth, (urls, _) in self.depths.items() if depth < 3)
        pages = wanted.pop("success") - structure - sum(rdf.values()) - sum(
            documents for depth, documents in rdf.items() if depth > 3
        )  # fmt: skip
        xml = max(0, self.syntax.xml - sum(rdf.values()))
        # each depth but the last has a page, which leads on
        first = {depth: ["page"] * (depth < last) for depth in free}
        kinds = {**wanted, "xml": xml, "page": pages - xml - len(free) + 1}
        marks = self.site.shuffled(kinds)
        for depth, each in first.items():
            each += [marks.pop() for _ in range(free[depth] - len(each))]
            self.random.shuffle(each)
        return first

    def _extras(self, things: list[Document], marks: list[str]) -> None:
        """Link what things have beside RDF: another format; in domain 3 other XML called so."""
        if self.syntax.other:
            chosen, mark = things, "page"
        else:
            few = round(len(things) * (1 - self.purity)) if self.syntax.xml else 0
            chosen, mark = self.random.sample(things, few), "xml"
        for thing in chosen:
            if mark not in marks:
                return
            marks.remove(mark)
            if self.syntax.other:
                other = self.site.other(f"{thing.path}{self.syntax.other}", "text/plain")
                self.site.link(thing, other, "Other format")
            else:
                self.made += 1
                path = f"/{self.syntax.folder}/{self.made}{self.syntax.extension}"
                self._link(thing, self.site.other(path, self.syntax.media_type))

    def _thing(self, folders: list[str]) -> Document:
        self.made += 1
        return self.site.page(f"/{self.random.choice(folders)}/{self.made}")

    def _twin(self, thing: Document) -> None:
        """Give a thing its RDF."""
        syntax = self.syntax
        path = thing.path
        if syntax.folder:
            path = f"/{syntax.folder}{path if not syntax.xml else path[path.rindex('/') :]}"
        rdf = self.site.rdf(f"{path}{syntax.extension}", syntax.media_type)
        self.pages.append((rdf, thing))
        if not (self.linked and self.random.random() < _ONLY_FROM_RDF):
            self._link(thing, rdf)

    def _link_rdf(self) -> None:
        """Let each RDF document link to its page and to others, each as often as the others."""
        documents = [rdf for rdf, _ in self.pages]
        for rdf, page in self.pages:
            self.site.see_also(rdf, page)
        for _ in range(_SEE_ALSO):
            order = self.random.sample(documents, len(documents))
            for one, other in zip(order, [*order[1:], order[0]], strict=True):
                self.site.see_also(one, other)

    def _link(self, thing: Document, to: Document) -> None:
        if self.syntax.alternate:
            self.site.alternate(thing, to, title=self.syntax.title)
        else:
            self.site.link(thing, to, RDF_XML, before=self.syntax.before)

    def _leaf(self, mark: str, folders: list[str]) -> Document:
        """Make a page without RDF, other XML, or a URL without a document."""
        self.made += 1
        path = f"/{self.random.choice(folders)}/{self.made}"
        if mark == "page":
            return self.site.page(path)
        if mark == "xml":
            named = self.random.random() < _WITH_EXTENSION
            return self.site.other(path + ".xml" * named, self.syntax.media_type)
        return self.site.without_document(path, mark)

    def _spread(self, parents: list[Document], children: list[Document]) -> None:
        """Link children from parents, as many from each."""
        children = self.random.sample(children, len(children))
        for number, child in enumerate(children):
            self.site.link(parents[number * len(parents) // len(children)], child)


def _folder(document: Document) -> str:
    return document.path.split("/")[1]


def _is_page(document: Document) -> bool:
    return document.content_type.startswith("text/html") and document.status == 200
