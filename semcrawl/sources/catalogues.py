"""Catalogues of data: lists that software of portals gives, page by page.

Reads the answers of OAI-PMH repositories: further requests, links, and RDF in records.
The clients on PyPI (sickle, oaipmh-scythe) fetch by themselves and bypass the frontier.

Recognises lists of addresses and reads their links.
They are linksets, feeds (RSS and Atom), CKAN, ``data.json`` and OAI-PMH.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from lxml import etree

from semcrawl.links import Link, header_links
from semcrawl.links.model import fold
from semcrawl.links.trees import xml_tree
from semcrawl.rdf.datalinks import named_media_type
from semcrawl.rdf.terms import RDF
from semcrawl.sources.negotiation import shape_of
from semcrawl.sources.sitemaps import EntryKind, read_sitemap
from semcrawl.web.bodies import media_type
from semcrawl.web.charsets import to_utf8
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation, dropped_index, resolve
from semcrawl.web.vocabulary import FoundBy, WordSearch

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


#: data sets per request to CKAN
CKAN_ROWS = 100
_NAMES_AT_ONCE = 1000


def ckan_links(data: Mapping[str, Any], url: str, into: LinkCollector) -> DataList:
    """Read an answer of CKAN's action API: a page of data sets, one data set, or names."""
    result = data.get("result")
    if isinstance(result, dict) and isinstance(result.get("results"), list):
        packages = result["results"]
        for package in packages:
            _add_package(package, url, into)
        if packages and (target := _next_page(url, result.get("count"), len(packages))):
            into.add(target, NEXT, rel=NEXT)
    elif isinstance(result, dict):
        _add_package(result, url, into)
    elif isinstance(result, list):
        for name in result[:_NAMES_AT_ONCE]:
            if isinstance(name, str):
                query = urlencode({"id": name})
                into.add(f"{url.partition('/action/')[0]}/action/package_show?{query}", "dataset")
    return into.found


def _add_package(package: Any, url: str, into: LinkCollector) -> None:
    if not isinstance(package, dict):
        return
    for resource in _dicts(package.get("resources")):
        named = named_media_type(_text(resource.get("mimetype")))
        into.add(
            resource.get("url"),
            "resource",
            type=named or named_media_type(_text(resource.get("format"))),
            title=resource.get("name") or package.get("title"),
        )
    into.add(package.get("url"), "page", title=package.get("title"))


def _next_page(url: str, count: object, got: int) -> str:
    """Return the address of the next page, or an empty string after the last data set."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    start = query.get("start", "0")
    place = int(start) if start.isascii() and start.isdigit() and len(start) < 10 else 0
    if not isinstance(count, int) or place + got >= count:
        return ""
    query["start"] = str(place + got)
    return urlunsplit(parts._replace(query=urlencode(query)))


def data_json_links(data: Mapping[str, Any], into: LinkCollector) -> DataList:
    """Read the distributions and pages of data sets in ``data.json`` (DCAT-US)."""
    for dataset in _dicts(data.get("dataset")):
        title = dataset.get("title")
        for distribution in _dicts(dataset.get("distribution")):
            named = named_media_type(_text(distribution.get("mediaType")))
            kind = named or named_media_type(_text(distribution.get("format")))
            own_title = distribution.get("title") or title
            for name in ("downloadURL", "accessURL"):
                into.add(distribution.get(name), name, type=kind, title=own_title)
        identifier = dataset.get("identifier")
        into.add(dataset.get("landingPage"), "landingPage", title=title)
        if _text(identifier).startswith(("http://", "https://")):
            into.add(identifier, "identifier", title=title)
    return into.found


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_OAI = "{http://www.openarchives.org/OAI/2.0/}"
_DC = "{http://purl.org/dc/elements/1.1/}"
#: metadata prefixes that hold RDF, the richest first, then the one that every repository has
_PREFIXES = ("rdf", "edm", "ore", "oai_ore", "qdc_rdf", "dcat", "didl_rdf", "oai_dc")
#: elements inside of each other, at most
_DEEPEST = 200


def is_oaipmh(head: bytes) -> bool:
    """Whether a body begins like an answer of OAI-PMH."""
    start = head[:2048]
    return b"OAI-PMH" in start and (b"<OAI-PMH" in start or b":OAI-PMH" in start)


def oaipmh_links(body: bytes, url: str, into: LinkCollector) -> DataList:
    """Read an answer: further requests, addresses in its records, their RDF."""
    found = into.found
    try:
        root = xml_tree(body, recover=True)
    except ValueError as error:
        found.faults.append(str(error)[:120])
        return found
    if root.tag != f"{_OAI}OAI-PMH":
        found.faults.append("it is not OAI-PMH")
        return found
    base = url.partition("?")[0]
    for refusal in root.iterfind(f"{_OAI}error"):
        text = " ".join((refusal.text or "").split())[:100]
        found.faults.append(f"the repository answers {refusal.get('code', 'error')}: {text}")
    if root.find(f"{_OAI}Identify") is not None:
        into.add(f"{base}?verb=ListMetadataFormats", "formats")
    names = [
        (name.text or "").strip()
        for name in root.iterfind(f"{_OAI}ListMetadataFormats/*/{_OAI}metadataPrefix")
    ]
    if prefix := next((each for each in _PREFIXES if each in names), ""):
        into.add(
            f"{base}?{urlencode({'verb': 'ListRecords', 'metadataPrefix': prefix})}", "records"
        )
    for listing in root.iterfind(f"{_OAI}ListRecords"):
        _add_records(listing, base, into)
    return found


def _add_records(listing: Any, base: str, into: LinkCollector) -> None:
    statements = etree.Element(f"{{{RDF}}}RDF", nsmap={"rdf": RDF})
    for metadata in listing.iterfind(f"{_OAI}record/{_OAI}metadata"):
        for identifier in metadata.iter(f"{_DC}identifier", f"{_DC}relation", f"{_DC}source"):
            address = (identifier.text or "").strip()
            if address.startswith(("http://", "https://")):
                into.add(address, identifier.tag.rpartition("}")[2])
        for graph in list(metadata.iter(f"{{{RDF}}}RDF")):
            statements.extend(list(graph))
    if len(statements):
        into.found.rdf = etree.tostring(statements)
    for token in listing.iterfind(f"{_OAI}resumptionToken"):
        if text := (token.text or "").strip():
            query = urlencode({"verb": "ListRecords", "resumptionToken": text[:4000]})
            into.add(f"{base}?{query}", NEXT, rel=NEXT)


#: media types of linksets
JSON_TYPE, TEXT_TYPE = "application/linkset+json", "application/linkset"
#: ``Link.element`` of a linkset's links
_ELEMENT = "linkset"
#: links read per context and relation
_MOST_TARGETS = 100_000

#: first bytes, which show that a body is a list
_LIST_HEAD = 4096
_LINKSET = re.compile(rb'\A\s*\{\s*"linkset"\s*:')
#: the root of a feed, behind declarations and comments; one of HTML is none. Nothing is matched in
#: two ways, as a page may begin with any number of comments
_FEED = re.compile(rb"(?:<\?[^>]*>|(?><!--.*?-->)|\s)*+<(?:[\w.-]+:)?(?:rss|feed)[\s>]", re.S)
_CKAN = re.compile(rb'"(?:success|help)"\s*:\s*(?:true|"[^"]*(?:package_|/action/))')
_DATA_JSON = re.compile(rb'"(?:dataset|conformsTo)"\s*:\s*(?:\[|"https://project-open-data)')


def form_of(head: bytes, content_type: str) -> str:
    """Return the form of the list that begins with ``head``: ``linkset``, ``ckan`` …, or empty."""
    media = media_type(content_type)
    if media == TEXT_TYPE:
        return "linkset-text"
    head = head[:_LIST_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] == b"{":
        if media == JSON_TYPE or _LINKSET.match(head):
            return "linkset"
        if _CKAN.search(head):
            return "ckan"
        return "data.json" if _DATA_JSON.search(head) else ""
    if head[:1] != b"<":
        return ""
    return "oai-pmh" if is_oaipmh(head) else "feed" if _FEED.match(head) else ""


def read_list(
    body: bytes,
    form: str,
    url: str,
    normalisation: Normalisation = DEFAULT_NORMALISATION,
    limit: int = 10_000,
) -> DataList:
    """Read a list of a form that :func:`form_of` returned. Never raises because of the content."""
    into = LinkCollector(url, form.partition("-text")[0], normalisation, limit)
    if form == "oai-pmh":
        return oaipmh_links(body, url, into)
    if form == "feed":
        return _feed_links(body, into)
    if form == "linkset-text":
        return _text_linkset(body, url, into.found, normalisation, limit)
    try:
        data = json.loads(to_utf8(body).data)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        into.found.faults.append(f"broken JSON: {reason}"[:120])
        return into.found
    if not isinstance(data, dict):
        return into.found
    return _of_json(data, form, url, into)


def _feed_links(body: bytes, into: LinkCollector) -> DataList:
    """Read RSS or Atom: the documents of its entries, and its next page."""
    feed = read_sitemap([body])
    into.found.faults += feed.faults
    for entry in feed.entries:
        is_next = entry.kind is EntryKind.NEXT
        place, rel = (NEXT, NEXT) if is_next else ("entry", "")
        into.add(entry.address, place, type=entry.type, title=entry.title, rel=rel)
    return into.found


def _of_json(data: Mapping[str, Any], form: str, url: str, into: LinkCollector) -> DataList:
    if form == "linkset":
        return linkset_of_json(data, into)
    return ckan_links(data, url, into) if form == "ckan" else data_json_links(data, into)


def _text_linkset(
    body: bytes, url: str, found: DataList, normalisation: Normalisation, limit: int
) -> DataList:
    """Read a linkset written like a ``Link:`` header (RFC 9264, section 4.1)."""
    seen: set[str] = {url}
    text = " ".join(to_utf8(body).data.decode().split())
    for link in header_links(text, url, normalisation, longest=len(text)):
        if link.url in seen:
            continue
        if len(found.links) >= limit:
            found.faults.append(f"only the first {limit:,} links are kept")
            break
        seen.add(link.url)
        found.links.append(link)
    return found


def linkset_of_json(data: Mapping[str, Any], into: LinkCollector) -> DataList:
    """Read a linkset in JSON; skip and count invalid parts."""
    odd = 0
    contexts = data.get("linkset")
    for context in contexts if isinstance(contexts, list) else ():
        if not isinstance(context, dict):
            odd += 1
            continue
        for relation, targets in context.items():
            if relation == "anchor":
                continue
            for target in targets[:_MOST_TARGETS] if isinstance(targets, list) else ():
                if not isinstance(target, dict):
                    odd += 1
                    continue
                title = target.get("title") or _first_value(target.get("title*"))
                rel = fold(relation).lower()
                into.add(
                    target.get("href"),
                    rel.rpartition("/")[2],
                    type=target.get("type"),
                    title=title,
                    rel=rel,
                    element=_ELEMENT,
                    found_by=FoundBy.HEADER,
                )
    if odd:
        into.found.faults.append(f"{odd:,} parts of the linkset are not links")
    return into.found


def _first_value(titles: object) -> object:
    """Return the text of an internationalised title."""
    if isinstance(titles, list) and titles and isinstance(titles[0], dict):
        return titles[0].get("value")
    return ""


#: bytes of a page that are searched
_PAGE_HEAD = 65_536
_SIGN = WordSearch(b"enerator")
_GENERATOR = re.compile(
    rb"<meta\s[^>]*?name\s*=\s*[\"']?generator\b[^>]*?content\s*=\s*[\"']?([^\"'>]{1,80})", re.I
)
_GENERATOR_LAST = re.compile(
    rb"<meta\s[^>]*?content\s*=\s*[\"']([^\"'>]{1,80})[\"'][^>]*?name\s*=\s*[\"']?generator\b", re.I
)
#: the root that CKAN's pages name
_SITE_ROOT = re.compile(rb"\bdata-site-root\s*=\s*[\"']([^\"'>]{1,300})", re.I)
#: beginning of the generator's name → addresses relative to the root, and media types
_PLACES = (
    (
        "ckan",
        (
            ("catalog.ttl", "text/turtle"),
            (f"api/3/action/package_search?rows={CKAN_ROWS}", "application/json"),
        ),
    ),
    ("dkan", (("data.json", "application/json"),)),
    ("socrata", (("data.json", "application/json"),)),
    ("arcgis hub", (("data.json", "application/json"),)),
    ("eprints", (("cgi/oai2?verb=ListMetadataFormats", "text/xml"),)),
    ("dspace", (("oai/request?verb=ListMetadataFormats", "text/xml"),)),
    ("fair data point", (("", "text/turtle"),)),
)


def catalogue_places(body: bytes, url: str) -> list[Link]:
    """Return links to the catalogue of a page's host, if the page names known software.

    >>> page = b'<meta name="generator" content="ckan 2.10">'
    >>> [link.url for link in catalogue_places(page, "http://example.org/dataset/a")][0]
    'http://example.org/catalog.ttl'
    """
    head = body[:_PAGE_HEAD]
    if not _SIGN.found_in(head):
        return []
    found = _GENERATOR.search(head) or _GENERATOR_LAST.search(head)
    if found is None:
        return []
    generator = found[1].decode("latin-1").strip().lower()
    for name, places in _PLACES:
        if generator.startswith(name):
            into = LinkCollector(url, name.replace(" ", "-"))
            for place, media_type in places:
                into.add(urljoin(_root(head, url), place), "sign", type=media_type)
            return into.found.links
    return []


def _root(head: bytes, url: str) -> str:
    """Return the software's root on the page's own host."""
    parts = urlsplit(url)
    own = f"{parts.scheme}://{parts.netloc}/"
    if named := _SITE_ROOT.search(head):
        root: str = urljoin(url, named[1].decode("latin-1"))
        if root.startswith(own):
            return root if root.endswith("/") else root + "/"
    return own


def next_pages(url: str, links: Sequence[Link]) -> list[Link]:
    """Return the links to further pages of a document on the same host."""
    host = netloc_of(url)
    return [link for link in links if link.is_next and netloc_of(link.url) == host]


class CataloguePages:
    """Counts the pages of catalogues: addresses that differ only in digits and queries.

    It serves one process without a frontier, such as the simulator.
    """

    def __init__(self, most: int) -> None:
        """Allow ``most`` pages per catalogue; 0: any number."""
        self._most = most
        self._pages: defaultdict[str, set[str]] = defaultdict(set)

    def may_follow(self, url: str) -> bool:
        """Whether a page may be followed. If so, count it."""
        pages = self._pages[shape_of(url)]
        if url not in pages and len(pages) >= self._most > 0:
            return False
        pages.add(url)
        return True
