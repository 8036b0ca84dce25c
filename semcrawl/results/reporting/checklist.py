"""The checks of a report, as data: what each means, where it comes from, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Area(StrEnum):
    """The parts of a report, in order."""

    BROKEN = "broken"  #: data that could not be read, or not all of it
    DEAD = "dead"  #: addresses that lead nowhere
    SERVED = "served"  #: answers that mislead programs
    INVALID = "invalid"  #: data that violate shapes which the user gave
    FINDABLE = "findable"  #: what helps programs to find and reuse the data


@dataclass(frozen=True, slots=True)
class Source:
    """A published document that asks for something."""

    name: str
    url: str


_HOGAN = "https://doi.org/10.1016/j.websem.2012.02.001"
_FUJI = "https://doi.org/10.5281/zenodo.3775793"
_FAIR_CHECKER = "https://doi.org/10.1186/s13326-023-00289-5"
_GOOGLE = Source(
    "Google's guidance on schema.org Dataset",
    "https://developers.google.com/search/docs/appearance/structured-data/dataset",
)
_HTTP = Source("HTTP Semantics (RFC 9110)", "https://www.rfc-editor.org/rfc/rfc9110")
_DWBP = "https://www.w3.org/TR/dwbp/"
_TURTLE = Source("RDF 1.1 Turtle", "https://www.w3.org/TR/turtle/#sec-mime")
_COOL = Source("Cool URIs for the Semantic Web", "https://www.w3.org/TR/cooluris/")
_ROBOTS = Source("Robots Exclusion Protocol (RFC 9309)", "https://www.rfc-editor.org/rfc/rfc9309")
_OWL = Source("OWL 2, imports", "https://www.w3.org/TR/owl2-syntax/#Imports")
_SITEMAPS = Source("sitemaps.org", "https://www.sitemaps.org/protocol.html")
_VOID = Source("VoID", "https://www.w3.org/TR/void/#discovery")
_DCAT = Source("DCAT 3", "https://www.w3.org/TR/vocab-dcat-3/")
_SIGNPOSTING = Source("Signposting", "https://signposting.org/FAIR/")
_CORS = Source("Fetch: CORS protocol", "https://fetch.spec.whatwg.org/#http-cors-protocol")
_JSON_LD = Source("JSON-LD 1.1, remote contexts", "https://www.w3.org/TR/json-ld11/#h-contexts")


def _hogan(guideline: str) -> Source:
    return Source(f"Hogan et al. 2012: {guideline}", _HOGAN)


def _fuji(metric: str) -> Source:
    return Source(f"F-UJI {metric}", _FUJI)


def _fair_checker(metric: str) -> Source:
    return Source(f"FAIR-Checker {metric}", _FAIR_CHECKER)


def _dwbp(number: int) -> Source:
    return Source(f"Data on the Web, best practice {number}", _DWBP)


@dataclass(frozen=True, slots=True)
class Check:
    """Something that is checked."""

    name: str
    area: Area
    #: the fault, as a heading; for :attr:`Area.FINDABLE`, what is wanted
    title: str
    #: how it is judged
    how: str
    #: what to do about it
    advice: str
    sources: tuple[Source, ...]
    #: what the pages of its findings do
    leads: str = "linked from"


_B, _D, _S, _F = Area.BROKEN, Area.DEAD, Area.SERVED, Area.FINDABLE
_SHACL = Source("Shapes Constraint Language (SHACL)", "https://www.w3.org/TR/shacl/")
_ALL = (
    Check(
        "unreadable", _B, "Data that cannot be read",
        "It claims to be RDF, and not one statement could be read.",
        "Mend the syntax at the line and column given, and check the file with any RDF parser "
        "before it is published.",
        (_TURTLE, _fuji("FsF-I1-01M"), _fair_checker("I1")),
    ),
    Check(
        "partly-read", _B, "Data of which a part cannot be read",
        "Statements could be read, and there were errors. Most programs stop at the first one.",
        "Mend the syntax at the line and column given; the first error is named.",
        (_TURTLE, _fuji("FsF-I1-01M")),
    ),
    Check(
        "broken-in-page", _B, "Data in pages that cannot be read",
        "A page's JSON-LD, RDFa or microdata has errors; search engines drop such a block.",
        "Mend the block at the line given: often a comma is missing, or a quotation mark is bare.",
        (_GOOGLE, _fair_checker("F2A")),
    ),
    Check(
        "broken-list", _B, "Sitemaps and catalogues that cannot be read",
        "A sitemap, catalogue or linkset was fetched, and has errors.",
        "Mend its XML or JSON; addresses that it fails to list are not found.",
        (_SITEMAPS,),
    ),
    Check(
        "context-missing", _B, "JSON-LD contexts that cannot be had",
        "A document names a context, and its address did not give one: its names mean nothing.",
        "Serve the context as application/ld+json, or name one that is there.",
        (_JSON_LD,),
        leads="named in",
    ),
    Check(
        "not-found", _D, "Links to what is not there",
        "The address answers 404 or 410.",
        "Correct the link on the pages named, or let the address redirect to where it is now.",
        (_hogan("dereferenceable URIs"), _hogan("stable URIs"), _fuji("FsF-A1-03D")),
    ),
    Check(
        "server-error", _D, "Addresses whose server fails",
        "It answers with an error other than those of missing pages and log-ins, retries included.",
        "The server's own log says why.",
        (_HTTP, _fuji("FsF-A1-03D")),
    ),
    Check(
        "no-answer", _D, "Addresses that do not answer",
        "No answer came: the host's name is unknown, it refuses connections, or it is silent. "
        "Retries are included, yet the fault may be on the way, or have passed.",
        "Look if the host still exists; if not, correct the links on the pages named.",
        (_hogan("dereferenceable URIs"),),
    ),
    Check(
        "subject-dead", _D, "Things that the data describe, whose addresses lead nowhere",
        "A document describes a thing on its own host, and the address of the thing is dead.",
        "Let the address redirect (303) to the document that describes it, or use a name with #.",
        (_hogan("dereferenceable URIs"), _COOL, _fair_checker("F1A")),
        leads="named in",
    ),
    Check(
        "import-dead", _D, "Imports that fail",
        "A document imports another one (owl:imports), and its address is dead.",
        "Correct the address; programs that follow imports refuse the whole ontology.",
        (_OWL,),
        leads="imported by",
    ),
    Check(
        "term-undefined", _D, "Classes and properties that their vocabulary does not define",
        "The document at the vocabulary's address was read, and does not describe the term; "
        "neither does any other document that was read.",
        "Correct the spelling, or add the term to the vocabulary.",
        (_hogan("re-use existing terms"), _fuji("FsF-I2-01M"), _fair_checker("I2")),
        leads="used in",
    ),
    Check(
        "wrong-type", _S, "Data served as something else",
        "The body is RDF, and its Content-Type names another kind: programs do not try to read it.",
        "Set the media type for the file's extension in the server's configuration.",
        (_TURTLE, _HTTP, _fuji("FsF-I1-01M")),
    ),
    Check(
        "no-type", _S, "Data served without a type",
        "The answer has no Content-Type.",
        "Set the media type for the file's extension in the server's configuration.",
        (_HTTP,),
    ),
    Check(
        "vague-type", _S, "Data served as any XML, any JSON, or by an old name",
        "The Content-Type is true, and does not say that it is RDF.",
        "Use the syntax's own media type; programs that ask for it by name then find it.",
        (_HTTP, _dwbp(12)),
    ),
    Check(
        "charset", _S, "A wrong character encoding",
        "The Content-Type names another encoding than UTF-8 for a syntax that is always UTF-8.",
        "Say charset=utf-8, or nothing.",
        (_TURTLE,),
    ),
    Check(
        "page-for-data", _S, "A page instead of data",
        "The address ends like that of an RDF file, and gives a page.",
        "Serve the file there, or answer 404: programs take the page for broken data.",
        (_HTTP, _COOL),
    ),
    Check(
        "only-a-page", _S, "Things whose address gives programs only a page",
        "A document describes a thing on its own host; asked for RDF, its address gives a page "
        "without data.",
        "Answer requests for RDF there with the data (303, or by content negotiation).",
        (_COOL, _hogan("dereferenceable URIs"), _dwbp(19)),
        leads="described in",
    ),
    Check(
        "no-vary", _S, "Negotiated answers that caches mix up",
        "The address answers requests for RDF and for pages differently, and does not send "
        "Vary: Accept: a cache may give browsers RDF, and programs the page.",
        "Send Vary: Accept with every answer of the address, redirects too.",
        (_HTTP, _dwbp(19)),
    ),
    Check(
        "beyond-rdf", _S, "N3 with rules, of which RDF programs read a part",
        "The document uses variables, quantifiers, paths or keywords of N3 that RDF does not have. "
        "Other errors may follow the one named.",
        "Publish the facts as Turtle beside the rules, if RDF programs are to use them.",
        (Source("Notation3", "https://w3c.github.io/N3/spec/"), _dwbp(12)),
    ),
    Check(
        "redirect-chain", _S, "Long chains of redirects",
        "Three redirects or more lead from a link to what it is about.",
        "Link to the last address, and let every old one redirect there at once.",
        (_HTTP,),
    ),
    Check(
        "robots-forbid-data", _S, "Data that robots may not fetch",
        "robots.txt forbids an address that ends like that of an RDF file, or that a catalogue "
        "lists.",
        "Allow it in robots.txt if programs are to use the data.",
        (_ROBOTS, _fuji("FsF-A1-03D")),
    ),
    Check(
        "closed", _S, "Links to what needs a log-in",
        "The address answers 401 or 403.",
        "Nothing, if that is meant; else open it, or do not link to it from public pages.",
        (_HTTP, _fuji("FsF-A1-01M")),
    ),
    Check(
        "shape", Area.INVALID, "Things that violate a shape",
        "All statements of the harvest were validated together against the SHACL shapes given.",
        "Mend the statements about the nodes named, or the shape.",
        (_SHACL,),
        leads="violated by",
    ),
    Check(
        "licence", _F, "The data name their licence",
        "Some document of the host has a property for licences or rights, such as "
        "dcterms:license or schema:license.",
        "State the licence in the data (dcterms:license), with the address of its text.",
        (_hogan("provide licensing information"), _fuji("FsF-R1.1-01M"), _fair_checker("R1.1")),
    ),
    Check(
        "creator", _F, "The data name who made them",
        "Some document has a property for creators, authors or publishers.",
        "State it (dcterms:publisher, schema:creator), with an address if there is one.",
        (_fuji("FsF-R1.2-01M"), _fair_checker("R1.2"), _dwbp(5)),
    ),
    Check(
        "dates", _F, "The data say when they were made or changed",
        "Some document has a property for dates or versions, such as dcterms:modified.",
        "State the date of the last change (dcterms:modified); programs then fetch what is new.",
        (_fuji("FsF-R1.2-01M"), _dwbp(7)),
    ),
    Check(
        "labels", _F, "Things have names for people",
        "At least half of the documents have a label, title, name or description.",
        "Give each thing an rdfs:label, in the languages of its readers.",
        (_hogan("provide human-readable meta-data"),),
    ),
    Check(
        "addresses", _F, "Things have addresses",
        "At most half of the things described are blank nodes, to which nobody can link.",
        "Give things an address (an IRI); one with # on their document will do.",
        (_hogan("avoid blank nodes"), _fuji("FsF-F1-01D"), _fair_checker("F1A")),
    ),
    Check(
        "well-known-terms", _F, "The data use well-known vocabularies",
        "Some document uses terms of a vocabulary that prefix.cc or LOV lists, "
        "besides RDF, RDFS and OWL.",
        "Use known terms beside your own, such as those of schema.org, Dublin Core or SKOS.",
        (_hogan("re-use existing terms"), _fuji("FsF-I2-01M"), _fair_checker("I2")),
    ),
    Check(
        "links-out", _F, "The data link to data of others",
        "Some document has an address on another registered domain as a value; types do not count.",
        "Link to the same or related things elsewhere (owl:sameAs, rdfs:seeAlso, skos:exactMatch).",
        (_hogan("use external URIs"), _fuji("FsF-I3-01M"), _fair_checker("I3")),
    ),
    Check(
        "catalogue", _F, "A catalogue or data set is described",
        "Some document has a dcat:Catalog, dcat:Dataset, schema:DataCatalog or schema:Dataset.",
        "Describe each data set with schema.org or DCAT in the page about it.",
        (_DCAT, _GOOGLE, _fuji("FsF-F4-01M"), _fair_checker("F2B")),
    ),
    Check(
        "set-required", _F, "Data sets have a name and a description",
        "Every data set described has both; search engines leave out the others.",
        "Add the missing property to each data set named.",
        (_GOOGLE, _fuji("FsF-F2-01M")),
    ),
    Check(
        "set-recommended", _F, "Data sets have licence, creator and files",
        "Every data set described has a licence, a creator or publisher, and a distribution.",
        "Add the missing property to each data set named.",
        (_GOOGLE, _DCAT, _fuji("FsF-F3-01M")),
    ),
    Check(
        "void", _F, "A VoID description is there",
        "Some document has a void:Dataset, or /.well-known/void was had.",
        "Describe the whole in VoID at /.well-known/void: vocabularies, sizes, dumps, endpoint.",
        (_VOID,),
    ),
    Check(
        "sitemap", _F, "A sitemap lists the addresses",
        "A sitemap of the host was read: named by robots.txt, or at its usual place.",
        "Make one with dates (lastmod), and name it in robots.txt.",
        (_SITEMAPS,),
    ),
    Check(
        "described-by", _F, "Pages lead programs to their data",
        "Some document was found by a Link header, by a link element or by data in a page, or a "
        "header names data (describedby, linkset, a type of RDF).",
        "Send Link: <data.ttl>; rel=\"describedby\"; type=\"text/turtle\" with each page.",
        (_SIGNPOSTING, _fuji("FsF-F4-01M"), _fair_checker("F2A")),
    ),
    Check(
        "scripts", _F, "Scripts of other sites may read the data",
        "All answers with RDF have the header Access-Control-Allow-Origin.",
        "Send Access-Control-Allow-Origin: * with public data.",
        (_CORS,),
    ),
    Check(
        "https", _F, "The data are served over https",
        "The addresses of the documents begin with https.",
        "Serve them over https, and redirect http there; keep the names of things as they are.",
        (Source("Securing the Web (W3C TAG)", "https://www.w3.org/2001/tag/doc/web-https"),),
    ),
)  # fmt: skip

CHECKS: dict[str, Check] = {check.name: check for check in _ALL}
