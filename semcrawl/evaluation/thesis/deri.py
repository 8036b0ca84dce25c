"""Domain 3, the trap: a research institute full of XML, with RDF that looks like other XML.

RDF carries the extension ``.xml`` and the content type ``application/xml``; 2,978 documents look
like XML and 326 are RDF. The word "foaf" in the path tells them apart.
"""

from __future__ import annotations

from semcrawl.evaluation.built import RDF_XML, BuiltWorld, Document, SiteBuilder

HOST = "deri.example"
XML = "application/xml"

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: People listed, pages that fail, pages without a record.
_PEOPLE, _NO_PAGE, _NO_RECORD = 182, 3, 2
#: Records behind links that look like RDF: RDF, other XML, gone.
_RIGHT, _WRONG, _GONE = 324, 106, 7
#: Of the wrong ones, those whose link does not have the type "application/rdf+xml".
_WRONG_UNNAMED = 3
_XML_LIKE = 2978
#: Links to .xml files beside them: XML, pages, gone.
_FILES_XML, _FILES_PAGE, _FILES_GONE = 5, 3, 58
#: XML documents and dead links listed near the top of the site.
_SHALLOW = 1650
_STATUS = {"success": 3448, "redirect": 366, "refused": 37, "error": 229}


def build(seed: int = 0) -> BuiltWorld:
    """Build the site."""
    site = SiteBuilder(HOST, seed)
    home = site.page("/", "Research institute")
    featured = site.page("/people/featured", "Featured")
    index = site.page("/index/people", "Index of people")
    shelves = [site.page(f"/index/papers/{n}", f"Papers {n}") for n in range(1, 5)]
    reports = [site.page(f"/reports/{n}", f"Report {n}") for n in range(1, 8)]
    for page in (index, *reports[:2], *shelves, *reports[2:], featured):
        site.link(home, page)
    # two RDF documents with the right content type and without any cue
    for page, path in ((reports[0], "/library/export"), (reports[1], "/projects/summary")):
        site.link(page, site.rdf(path, RDF_XML))

    letters = [site.page(f"/index/people/{letter}") for letter in _LETTERS]
    for page in letters:
        site.link(index, page)
    people = [featured]
    order = list(range(_PEOPLE))
    odd = site.random.sample(order, _NO_PAGE + _NO_RECORD)
    for number in order:
        listed_on = letters[number * len(letters) // _PEOPLE]
        path = f"/people/person-{number}"
        if number in odd[:_NO_PAGE]:
            site.link(listed_on, site.error(path), f"Person {number}")
            continue
        page = site.page(path, f"Person {number}")
        site.link(listed_on, page)
        if number not in odd:
            people.append(page)
    _records(site, people)
    _files(site, reports)
    _fill(site, shelves, reports[2:])
    return site.build("deri")


def _records(site: SiteBuilder, people: list[Document]) -> None:
    """Give every person one or more RDF records, with the wrong ones among them."""
    named = {"right": _RIGHT - len(people), "wrong": _WRONG - _WRONG_UNNAMED}
    kinds = site.shuffled({**named, "unnamed": _WRONG_UNNAMED, "gone": _GONE})
    todo = [(page, "right") for page in people]
    todo += [(people[n % len(people)], kind) for n, kind in enumerate(kinds)]
    for number, (page, kind) in enumerate(todo):
        path = f"/foaf/record-{number}.xml"
        if kind == "right":
            target = site.rdf(path, XML)
        elif kind == "gone":
            target = site.error(path)
        else:
            target = site.other(path, XML)
        anchor = "Record" if kind == "unnamed" else RDF_XML
        site.link(page, target, anchor, before="FOAF record: ")


def _files(site: SiteBuilder, reports: list[Document]) -> None:
    """Link files with an unknown extension."""
    kinds = site.shuffled({"xml": _FILES_XML, "page": _FILES_PAGE, "gone": _FILES_GONE})
    for number, kind in enumerate(kinds):
        path = f"/files/source-{number}.xml"
        if kind == "xml":
            target = site.other(path, XML)
        else:
            target = site.page(path) if kind == "page" else site.error(path)
        site.link(reports[number % len(reports)], target, f"Source {number}")


def _fill(site: SiteBuilder, shelves: list[Document], reports: list[Document]) -> None:
    """List other XML documents, pages, redirects and errors until the counts are reached."""
    looks_xml = sum(1 for d in site.documents.values() if d.content_type == XML) + 2
    missing = site.missing(_STATUS)
    xml = _XML_LIKE - looks_xml
    papers = missing.pop("success") - xml
    marks = site.shuffled({"xml": xml, **missing})
    shallow, deep = marks[:_SHALLOW], marks[_SHALLOW:]
    for number, mark in enumerate(shallow):
        _item(site, shelves[number * len(shelves) // _SHALLOW], f"/text/{number}", mark)
    pages = []
    for number in range(papers):
        page = site.page(f"/papers/{number % 9}/paper-{number}")
        site.link(reports[number % len(reports)], page)
        pages.append(page)
    for number, mark in enumerate(deep):
        _item(site, pages[number % len(pages)], f"/slides/{number}", mark)


def _item(site: SiteBuilder, parent: Document, path: str, mark: str) -> None:
    target = site.other(path, XML) if mark == "xml" else site.without_document(path, mark)
    site.link(parent, target, path.rpartition("/")[2])
