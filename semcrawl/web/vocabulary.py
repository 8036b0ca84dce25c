"""Media types, file extensions and concept words of RDF, of HTML and of neither.

The RDF ones are the concepts C_R of sources.md T.2. :class:`RdfFormat` has the media types and
extensions of each syntax.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from ahocorasick_rs import BytesAhoCorasick, MatchKind


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
    FORM = "form"  #: a search form that was filled
    FOLDER = "folder"  #: a folder that a page is in, to which no page need link
    TWIN = "twin"  #: made from the address of a page, as those of others' documents are

    @classmethod
    def read(cls, text: str) -> FoundBy | None:
        """Return the member of that name; ``None`` for any other text."""
        return cls._value2member_map_.get(text)  # type: ignore[return-value]


#: ways to addresses that no page need link to: that nothing is there is no fault
TRIED_UNLINKED = frozenset({FoundBy.FOLDER, FoundBy.TWIN})


class RdfFormat(StrEnum):
    """An RDF syntax, with its media types (preferred one first), extensions and weight.

    The weight is that of its first media type in the ``Accept`` header of requests for RDF; 0 =
    it is not named there. Of equals the first member comes first, as many servers take the first:
    these are the syntaxes with named graphs.
    """

    media_types: tuple[str, ...]
    extensions: tuple[str, ...]
    weight: float

    def __new__(
        cls, value: str, media_types: tuple[str, ...], extensions: tuple[str, ...], weight: float
    ) -> RdfFormat:
        """Make a member whose value is the name alone."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.media_types = media_types
        member.extensions = extensions
        member.weight = weight
        return member

    # fmt: off
    N_QUADS = (
        "nquads",
        ("application/n-quads", "text/x-nquads", "text/nquads", "text/n-quads"),
        ("nq", "nquads"),
        1.0,
    )
    TRIG = ("trig", ("application/trig", "application/x-trig", "application/x-trigstar"),
            ("trig",), 1.0)
    N_TRIPLES = (
        "ntriples",
        (
            "application/n-triples", "text/ntriples", "text/n-triples", "application/ntriples",
            "application/x-ntriples",
        ),
        ("nt", "ntriples"),
        1.0,
    )
    TURTLE = (
        "turtle",
        (
            "text/turtle", "application/x-turtle", "application/turtle", "text/x-turtle",
            "text/x-turtlestar",
        ),
        ("ttl", "turtle"),
        1.0,
    )
    RDF_XML = (
        "rdfxml",
        (
            "application/rdf+xml", "text/rdf+xml", "text/rdf", "application/rdf",
            "application/x-rdf+xml", "application/xml+rdf",
        ),
        ("rdf", "owl", "rdfs", "rdfx", "foaf", "doap"),
        0.9,
    )
    JSON_LD = ("jsonld", ("application/ld+json",), ("jsonld", "json-ld"), 0.85)
    N3 = (
        "n3",
        (
            "text/n3", "text/rdf+n3", "application/n3", "application/rdf+n3", "text/x-n3",
            "application/x-n3",
        ),
        ("n3",),
        0.8,
    )
    RDF_JSON = (
        "rdfjson",
        ("application/rdf+json", "text/rdf+json", "application/x-rdf+json"),
        ("rj",),
        0.6,
    )
    YAML_LD = ("yamlld", ("application/ld+yaml",), ("yamlld", "yaml-ld"), 0.5)
    TRIX = ("trix", ("application/trix", "application/trix+xml"), ("trix",), 0.3)
    #: converted by another library, which may be missing
    OWL_XML = ("owlxml", ("application/owl+xml",), ("owx",), 0.0)
    # fmt: on


class UnreadFormat(StrEnum):
    """A format of RDF, or of data about RDF, that is known and not read.

    Its value is its name for users. ``mark`` is a pattern of what its documents begin with, after
    white space and comments; empty if nothing tells them from others.
    """

    media_types: tuple[str, ...]
    extensions: tuple[str, ...]
    mark: bytes

    def __new__(
        cls,
        value: str,
        media_types: tuple[str, ...],
        extensions: tuple[str, ...],
        mark: bytes,
    ) -> UnreadFormat:
        """Make a member whose value is the name alone."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.media_types = media_types
        member.extensions = extensions
        member.mark = mark
        return member

    # fmt: off
    HDT = ("HDT", ("application/vnd.hdt", "application/x-hdt", "application/hdt"), ("hdt",),
           rb"\$HDT")
    JELLY = ("Jelly", ("application/x-jelly-rdf",), ("jelly",), b"")
    THRIFT = ("RDF Thrift", ("application/rdf+thrift",), ("trdf", "rt"), b"")
    PROTOBUF = ("RDF Protobuf", ("application/rdf+protobuf",), ("rpb", "pbrdf"), b"")
    RDF4J = ("binary RDF of RDF4J", ("application/x-binary-rdf",), ("brf",), b"BRDF")
    CBOR_LD = ("CBOR-LD", ("application/cbor-ld", "application/ld+cbor"), ("cborld",), b"")
    HEXTUPLES = ("HexTuples", ("application/hex+x-ndjson",), ("hext",), b"")
    CSVW = ("CSV on the Web", ("application/csvm+json",), (), b"")
    FUNCTIONAL = ("OWL functional syntax", ("text/owl-functional",), ("ofn", "fss"),
                  rb"Prefix\s*\(\s*[\w.-]*:\s*=\s*<|Ontology\s*\(\s*[<()\w]")
    MANCHESTER = ("OWL Manchester syntax", ("text/owl-manchester",), ("omn",),
                  rb"Prefix:\s+[\w.-]*:\s+<|Ontology:\s+<")
    OBO = ("OBO", ("text/obo", "application/obo"), ("obo",), rb"format-version:\s*\d")
    SHACL_COMPACT = ("SHACL compact syntax", ("text/shaclc",), ("shaclc",), b"")
    # fmt: on


RDF_MEDIA_TYPES: frozenset[str] = frozenset(m for f in RdfFormat for m in f.media_types)
RDF_EXTENSIONS: frozenset[str] = frozenset(e for f in RdfFormat for e in f.extensions)

#: YAML of any kind: YAML-LD if the text shows it
YAML_MEDIA_TYPES: frozenset[str] = frozenset(
    {"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"}
)
YAML_EXTENSIONS: frozenset[str] = frozenset({"yaml", "yml"})

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

#: Feeds, which list documents
FEED_MEDIA_TYPES: frozenset[str] = frozenset({"application/atom+xml", "application/rss+xml"})

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
    # source code, queries, schemas and style sheets of XML
    "xsd xsl xslt dtd rng rnc c h cc cpp hpp py rb java go rs sh bat diff patch rq "
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

#: Accept header where only RDF is wanted. It names no type of pages: many servers choose by
#: patterns, without the weights, and give a page to whoever names ``text/html`` at all.
RDF_ONLY = ", ".join(
    syntax.media_types[0] + (f";q={syntax.weight:g}" if syntax.weight < 1 else "")
    for syntax in sorted(RdfFormat, key=lambda syntax: -syntax.weight)
    if syntax.weight
)
#: Accept header where RDF is expected, and any other answer is better than none
RDF_FIRST = f"{RDF_ONLY}, */*;q=0.1"
#: Accept header for servers that compare the whole header with the name of the usual syntax, or
#: that give something else than RDF to headers with several types
TURTLE_ALONE = RdfFormat.TURTLE.media_types[0]
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
AMBIGUOUS_MEDIA_TYPES: frozenset[str] = frozenset().union(
    VAGUE_MEDIA_TYPES, YAML_MEDIA_TYPES, FEED_MEDIA_TYPES, {
        "application/xml", "text/xml", "application/json", "text/json",
        # RSS 1.0 is RDF, and so are most ontologies labelled OWL
        "application/linkset+json", "application/linkset",
        "application/owl+xml", "application/activity+json",
        "application/gzip", "application/x-gzip", "application/x-bzip2", "application/x-xz",
        "application/zstd", "application/bzip2", "application/zip", "application/x-zip",
        "application/x-tgz", "application/x-zip-compressed", "application/x-tar",
        "application/x-gtar",
    }
)  # fmt: skip

#: bytes to search at a time, whose matches are in memory together
_PIECE = 1 << 16


class WordSearch:
    """Finds several words in a text in one pass.

    It compares many bytes at a time with all words, and needs a tenth of the time of ``in`` for one
    word. That holds for one word, and for three or more; for two it is slower.
    """

    def __init__(self, *words: bytes) -> None:
        self._words = words
        self._overlap = max(map(len, words)) - 1
        # only this kind of match is so fast
        self._find = BytesAhoCorasick(words, MatchKind.LeftmostFirst).find_matches_as_indexes

    def matches(self, text: bytes) -> Iterator[tuple[bytes, int]]:
        """Yield the words in ``text`` and their positions, some of them twice.

        Of two overlapping words, only the first is found.
        """
        for start in range(0, len(text), _PIECE):
            piece = text[start : start + _PIECE + self._overlap]
            for index, at, _ in self._find(piece):
                yield self._words[index], start + at

    def found_in(self, text: bytes) -> set[bytes]:
        """Return the words that are in ``text``."""
        if len(text) <= _PIECE and not self._find(text):  # the usual case
            return set()
        return {word for word, _ in self.matches(text)}
