"""Media types, file extensions and concept words of RDF, of HTML and of neither.

The RDF ones are the concepts C_R of sources.md T.2. :class:`RdfFormat` has the media types and
extensions of each syntax.
"""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The true kind of a fetched body (T.1's classes R, HTML, N)."""

    RDF = "rdf"
    HTML = "html"
    OTHER = "other"


class FoundBy(StrEnum):
    """The kind of link that led to an address.

    A redirect, a retry and a re-visit keep that of the first address. Add new members at the end:
    stored links name theirs by its position.
    """

    LINK = "link"  #: an element of a page
    SEED = "seed"  #: the user, or another program that fills the list of seeds
    RDF = "rdf"  #: an IRI inside an RDF document
    HEADER = "header"  #: an HTTP ``Link:`` header, or a linkset
    SITEMAP = "sitemap"  #: robots.txt or a sitemap; sitemaps themselves as well
    EMBEDDED = "embedded"  #: data inside a page
    CATALOGUE = "catalogue"  #: a catalogue of data sets
    NEGOTIATION = "negotiation"  #: another form of a known address, requested by media type
    WELL_KNOWN = "well-known"  #: an address that is tried on each host
    ENDPOINT = "endpoint"  #: a SPARQL endpoint

    @classmethod
    def read(cls, text: str) -> FoundBy | None:
        """Return the member of that name; ``None`` for any other text."""
        return cls._value2member_map_.get(text)  # type: ignore[return-value]


class RdfFormat(StrEnum):
    """An RDF syntax, with its media types (preferred one first) and file extensions."""

    media_types: tuple[str, ...]
    extensions: tuple[str, ...]

    def __new__(
        cls, value: str, media_types: tuple[str, ...], extensions: tuple[str, ...]
    ) -> RdfFormat:
        """Make a member whose value is the name alone."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.media_types = media_types
        member.extensions = extensions
        return member

    # fmt: off
    RDF_XML = (
        "rdfxml",
        (
            "application/rdf+xml", "text/rdf+xml", "text/rdf", "application/rdf",
            "application/x-rdf+xml", "application/xml+rdf",
        ),
        ("rdf", "owl", "rdfs", "rdfx", "foaf", "doap"),
    )
    TURTLE = (
        "turtle",
        ("text/turtle", "application/x-turtle", "application/turtle", "text/x-turtle"),
        ("ttl", "turtle"),
    )
    N3 = (
        "n3",
        (
            "text/n3", "text/rdf+n3", "application/n3", "application/rdf+n3", "text/x-n3",
            "application/x-n3",
        ),
        ("n3",),
    )
    N_TRIPLES = (
        "ntriples",
        (
            "application/n-triples", "text/ntriples", "text/n-triples", "application/ntriples",
            "application/x-ntriples",
        ),
        ("nt", "ntriples"),
    )
    TRIG = ("trig", ("application/trig", "application/x-trig"), ("trig",))
    N_QUADS = (
        "nquads",
        ("application/n-quads", "text/x-nquads", "text/nquads", "text/n-quads"),
        ("nq", "nquads"),
    )
    JSON_LD = ("jsonld", ("application/ld+json",), ("jsonld", "json-ld"))
    TRIX = ("trix", ("application/trix", "application/trix+xml"), ("trix",))
    #: converted by another library
    OWL_XML = ("owlxml", ("application/owl+xml",), ("owx",))
    # fmt: on


RDF_MEDIA_TYPES: frozenset[str] = frozenset(m for f in RdfFormat for m in f.media_types)
RDF_EXTENSIONS: frozenset[str] = frozenset(e for f in RdfFormat for e in f.extensions)

#: Words near a link that suggest an RDF target (T.2, "RDF concept words").
RDF_CONCEPT_WORDS: frozenset[str] = frozenset(
    {
        "rdf", "rdfs", "owl", "foaf", "triple", "triples", "turtle", "ttl", "n3", "ntriples",
        "nquads", "trig", "jsonld", "sioc", "skos", "doap", "dcat", "void", "linkeddata",
        "rdfxml", "ontology", "sparql",
    }
)  # fmt: skip

HTML_MEDIA_TYPES: frozenset[str] = frozenset({"text/html", "application/xhtml+xml"})
HTML_EXTENSIONS: frozenset[str] = frozenset(
    {
        "html", "htm", "xhtml", "shtml", "xht", "php", "php3", "php5", "phtml", "asp", "aspx",
        "jsp", "jspx", "jsf", "do", "cgi", "pl", "cfm",
    }
)  # fmt: skip

#: Linksets (RFC 9264), JSON first
LINKSET_MEDIA_TYPES: frozenset[str] = frozenset({"application/linkset+json", "application/linkset"})

#: Extensions that are never RDF or HTML; links with them are dropped first (T.5, link filter 1).
NON_SEMANTIC_EXTENSIONS: frozenset[str] = frozenset(
    # images
    "png jpg jpeg jpe jfif gif svg svgz ico webp avif bmp tif tiff psd eps ai heic "
    # styles, scripts, fonts
    "css less scss sass js mjs ts map woff woff2 ttf otf eot "
    # sound and video
    "mp3 mp4 m4a m4v ogg ogv oga webm wav flac avi mov mkv wmv flv mpg mpeg aac mid "
    # office documents and books
    "pdf ps doc docx odt rtf ppt pptx odp xls xlsx ods pages numbers key epub mobi tex dvi "
    # programs and their archives
    "exe msi dmg pkg deb rpm apk jar war class dll so iso img bin swf cab vsix whl "
    # source code, queries
    "c h cc cpp hpp py rb java go rs sh bat diff patch rq "
    # checksums and signatures of files
    "md5 sha1 sha256 sha512 asc sig".split()
)

#: Plain text and tables: not RDF, but servers sometimes give these extensions to RDF files.
PLAIN_EXTENSIONS: frozenset[str] = frozenset("txt csv tsv md log".split())

#: Archives and compressed files: RDF only if an RDF extension precedes theirs (``dump.nt.gz``).
ARCHIVE_EXTENSIONS: frozenset[str] = frozenset("zip gz bz2 xz zst br tar tgz tbz2 7z rar z".split())

#: ``rel`` values of ``<link>`` elements that name resources of the page itself
RESOURCE_RELATIONS: frozenset[str] = frozenset(
    "stylesheet icon apple-touch-icon apple-touch-icon-precomposed mask-icon preload prefetch "
    "modulepreload dns-prefetch preconnect manifest pingback edituri wlwmanifest".split()
)

#: Accept header where RDF is expected
RDF_FIRST = (
    "application/n-quads, application/trig, application/n-triples, text/turtle;q=0.95, "
    "application/rdf+xml;q=0.9, application/ld+json;q=0.85, text/n3;q=0.8, "
    "text/html;q=0.5, application/xhtml+xml;q=0.5, */*;q=0.1"
)
#: Accept header where a page is expected
HTML_FIRST = (
    "text/html, application/xhtml+xml, text/turtle;q=0.8, application/rdf+xml;q=0.8, "
    "application/n-triples;q=0.8, application/ld+json;q=0.7, */*;q=0.5"
)

#: types of servers that do not know better, and of scripts that make browsers save a file
VAGUE_MEDIA_TYPES: frozenset[str] = frozenset(
    {
        "text/plain", "application/octet-stream", "binary/octet-stream", "application/download",
        "application/x-download", "application/force-download", "application/x-force-download",
        "application/unknown", "content/unknown", "unknown/unknown",
    }
)  # fmt: skip

#: media types that may hide RDF; accepted by default besides RDF and HTML
AMBIGUOUS_MEDIA_TYPES: frozenset[str] = VAGUE_MEDIA_TYPES | frozenset(
    {
        "application/xml", "text/xml", "application/json", "text/json",
        # RSS 1.0 is RDF, and so are most ontologies labelled OWL
        "application/rss+xml", "application/linkset+json", "application/linkset",
        "application/owl+xml", "application/activity+json",
        "application/gzip", "application/x-gzip", "application/x-bzip2", "application/x-xz",
        "application/zstd", "application/bzip2", "application/zip", "application/x-zip",
        "application/x-tgz", "application/x-zip-compressed", "application/x-tar",
        "application/x-gtar",
    }
)  # fmt: skip
