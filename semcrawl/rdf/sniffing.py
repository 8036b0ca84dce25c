"""Recognises the syntax of a text by its content alone."""

from __future__ import annotations

from dataclasses import dataclass
from html import unescape

from semcrawl.rdf.patterns import re
from semcrawl.web.vocabulary import Kind, RdfFormat

RDF_NAMESPACE = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"
OWL_NAMESPACE = b"http://www.w3.org/2002/07/owl#"
XHTML_NAMESPACE = b"http://www.w3.org/1999/xhtml"
NO_ROOT = "XML without a root element in sight"
TRIX_NAMESPACES = (
    b"http://www.w3.org/2004/03/trix/trix-1/",
    b"http://www.w3.org/2004/03/trix/",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What the shape of a text is evidence for."""

    kind: Kind
    format: RdfFormat | None
    confidence: float
    evidence: str
    #: weak evidence, which a label of HTML overrides: markup not declared as XML, text that begins
    #: with a number or a string, statements that may be tags or prose
    weak: bool = False


_CONTROL = bytes([*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20)])

# --- text that may come before the first token
_XML_MISC = re.compile(
    rb"\s*+(?:<\?.*?\?>\s*+|<!--.*?-->\s*+)*+(<!doctype\s+([\w:.-]+)[^>\[]*+(?:\[.*?\]\s*)?>\s*+"
    rb"(?:<\?.*?\?>\s*+|<!--.*?-->\s*+)*+)?",
    re.DOTALL | re.IGNORECASE,
)
_XML_NAME = rb"[A-Za-z_\x80-\xff][\w.\x80-\xff-]*+"
_TAG = re.compile(rb"<(" + _XML_NAME + rb")(?::(" + _XML_NAME + rb"))?((?=[\s/>])[^<]*)", re.DOTALL)
_XMLNS = re.compile(rb"\sxmlns(?::(" + _XML_NAME + rb"))?\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ENTITY = re.compile(rb"<!ENTITY\s+(" + _XML_NAME + rb")\s+(?:\"([^\"]*)\"|'([^']*)')")
_RDF_ATTRIBUTE = re.compile(
    rb"\s(" + _XML_NAME + rb"):(?:about|ID|nodeID|resource|datatype|parseType)\s*="
)
_HTML_TAG = re.compile(
    rb"<(?:html|head|body|title|meta|link|script|style|base|div|p|table|tr|td|ul|ol|h[1-6]|span|a|"
    rb"br|hr|center|font|form|frameset|iframe|img|main|nav|section|article|header|footer|noscript"
    rb")(?=[\s/>])(?!\s+<)",
    re.IGNORECASE,
)
_RDF_ELEMENT = re.compile(rb"<(?:[\w.-]++:)?RDF[\s>]")
_XML_START = re.compile(rb"<\?xml\b|<!--|<!doctype\s", re.IGNORECASE)
_HTML_ANYWHERE = re.compile(rb"<!doctype\s+html|<html[\s>]|<body[\s>]|<head>", re.IGNORECASE)

# --- the Turtle family
_COMMENTS = re.compile(rb"(?:\s++|#[^\n\r]*+(?:[\n\r]|\Z))*+")
_IRI = rb"<[^<>\"{}|^`\\\x00-\x20]*+>"
_NAME = rb"(?:[A-Za-z\x80-\xff][\w.\x80-\xff-]*+)?:(?:[\w.\x80-\xff%\\:/-]*+)"
_BLANK = rb"_:[\w.\x80-\xff-]++"
_SPACE = rb"(?:\s++|#[^\n\r]*+[\n\r])*+"
_SUBJECT = rb"(?:" + _IRI + rb"|" + _BLANK + rb"|" + _NAME + rb"|\[\s*\]|\[)"
_VERB = rb"(?:" + _IRI + rb"|" + _NAME + rb"|a(?=[\s<\[])|=(?!>)|is\s|has\s)"
_OBJECT = (
    rb"(?:" + _IRI + rb"|" + _BLANK + rb"|" + _NAME + rb"|\[|\(|\"|'|[+-]?\d|true\b|false\b|\?\w)"
)
_STATEMENT = re.compile(
    rb"(?:" + _SUBJECT + _SPACE + _VERB + _SPACE + _OBJECT + rb"|\[" + _SPACE + _VERB + _SPACE
    + _OBJECT + rb"|\(.{0,400}?\)" + _SPACE + _VERB + _SPACE + _OBJECT
    + rb"|<<" + _SPACE + _SUBJECT + _SPACE + _VERB + _SPACE + _OBJECT + rb")",
    re.DOTALL,
)  # fmt: skip
#: may be tags (one touches the next, or is an end tag), or prose with a colon
_LIKE_A_PAGE = re.compile(
    rb"<[/!]|<[\w-]+>(?:<|.*?</[A-Za-z])|[A-Za-z\x80-\xff][\w.\x80-\xff-]*+:", re.DOTALL
)
_ABSOLUTE_IRI = re.compile(rb"<[A-Za-z][A-Za-z0-9+.-]*+:[^<>\"{}|^`\\\x00-\x20]*+>")
#: a statement with an IRI that has signs that no IRI has
_ILL_FORMED = re.compile(
    rb"<[^<>\"\s]*+>\s++<[A-Za-z][A-Za-z0-9+.-]*+:(?:/|[A-Za-z0-9-]++:)[^<>\"\r\n]*+>"
)
#: an empty array of JSON has nothing after it
_NO_ARRAY = re.compile(rb"\[\s*+\]\s*+\S")
_GRAPH = re.compile(rb"(" + _IRI + rb")" + _SPACE + rb"\{")
#: after the opening brace of a graph
_IN_GRAPH = re.compile(_SPACE + rb"(?:\}|" + _STATEMENT.pattern + rb")", re.DOTALL)
#: after three IRIs of a statement
_GOES_ON = re.compile(_SPACE + rb"(?:" + _IRI + _SPACE + rb")?[.;,}]")
_STATEMENT_LINE = re.compile(
    rb"^[ \t]*+(?:" + _IRI + rb"|" + _BLANK + rb"|" + _NAME + rb")\s+(?:" + _IRI + rb"|a|" + _NAME
    + rb")\s+" + _OBJECT,
    re.MULTILINE,
)  # fmt: skip
_DIRECTIVE = re.compile(
    rb"@prefix\s+[^\s:]*:|@base\s*<|@version\s*[\"']|"
    rb"(?i:prefix\s+[^\s:<]*:\s*<|base\s*<[^<>]*>|version\s*[\"'])"
)
_N3_DIRECTIVE = re.compile(rb"@(?:forAll|forSome|keywords)\b")
_SPARQL = re.compile(
    rb"^[ \t]*+(?:select|ask|construct|describe|insert|delete|load|with|clear|drop|create)\b",
    re.IGNORECASE | re.MULTILINE,
)
_OPAQUE = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|'
    rb"'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)|"
    rb'"(?:[^"\\\n\r]|\\.)*+"|'
    rb"'(?:[^'\\\n\r]|\\.)*+'|"
    rb"<[^<>\s\"{}]*+>|#[^\n\r]*+",
    re.DOTALL,
)
_N3_MARKERS = re.compile(
    rb"=>|<=\s|@for(?:All|Some)\b|(?:^|[\s({\[,;.])\?[A-Za-z]|\s=\s|\bis\s+\S+\s+of\b|[\w>]!\S|"
    rb"\}\s*(?:[\w-]*:[\w-]+|<>|a)\s",
    re.MULTILINE,
)
#: every match of ``_N3_MARKERS`` contains one of these
_PARTS_OF_N3_MARKERS = (b"=", b"?", b"!", b"}", b"@for", b"of")
_TRIG_MARKERS = re.compile(
    rb"(?:^|[.}\s])(?:(?i:graph)\s+)?(?:<>|[\w.-]{0,80}:[\w.%-]{0,80}|_:\w+|\[\s*\])\s*\{|\A\s*\{|\.\s*\{"
)
#: before the first brace: a term that is not inside a statement
_NAME_OF_GRAPH = re.compile(
    rb"(?:\A|\.(?:\s+|(?=<))|(?i:prefix)\s+[^\s:]*:\s*<>|(?i:base)\s*<>)\s*(?:(?i:graph)\s+)?"
    rb"(?:<>|[\w.-]{0,80}:[\w.%-]{0,80}|_:\w+|\[\s*\])\s*\Z"
)
_LINE_FORMATS = (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS)
_FAMILY = (RdfFormat.TURTLE, RdfFormat.N3, RdfFormat.TRIG, *_LINE_FORMATS)
_DIRECTIVE_LINE = re.compile(rb"^[ \t]*+(?:@prefix|@base|(?i:prefix|base)\s)", re.MULTILINE)
_LINE_TERM = rb"(?:<[A-Za-z][^<>\"{}|^`\\\x00-\x20]*+>|_:\S++)"
_LINE = re.compile(
    rb"[ \t]*+" + _LINE_TERM + rb"[ \t]*+<[A-Za-z][^<>\s]*+>[ \t]*+(?:" + _LINE_TERM
    + rb"|\"(?:[^\"\\\n\r]|\\.)*+\"(?:@[A-Za-z0-9-]+|\^\^<[^<>\s]*+>)?)"
    rb"[ \t]*+(" + _LINE_TERM + rb"[ \t]*+)?\.[ \t]*+(?:#[^\n\r]*+)?\Z"
)  # fmt: skip
_LINE_START = re.compile(
    rb"^[ \t]*+" + _LINE_TERM + rb"[ \t]*+<[A-Za-z][^<>\s]*+>[ \t]*+(?:[<\"]|_:)", re.MULTILINE
)

# --- JSON
_JSON_OBJECT = re.compile(rb"\s*+(?:\[\s*+)*+(?:\{\s*+(?:\"|\}|\Z)|\]|\"|-?\d|\{\s*/[/*])")
_JSON_KEYWORD = re.compile(rb"\"@(?:context|graph)\"\s*:")
_JSON_EXPANDED = re.compile(rb"\"[a-z][a-z0-9+.-]*://[^\"\s]+\"\s*:")
_JSON_NODE = re.compile(rb"\"@(?:id|type|value|list|set)\"\s*:")
#: a subject, a predicate, and a value with its type
_RDF_JSON = re.compile(
    rb'\s*+\{\s*+"(?:[A-Za-z][A-Za-z0-9+.-]*+|_):[^"]*+"\s*+:\s*+'
    rb'\{\s*+"[A-Za-z][A-Za-z0-9+.-]*+:[^"]*+"\s*+:\s*+\[\s*+\{'
    rb'(?=[^{}\[\]]{0,4000}?"type"\s*+:\s*+"(?:uri|literal|bnode)")'
    rb'(?=[^{}\[\]]{0,4000}?"value"\s*+:)'
)

# --- YAML
#: comments, directives and the beginning of a document; then a quoted keyword as a key
_YAML_START = re.compile(
    rb"(?:[ \t]*+(?:[#%][^\n\r]*+)?[\n\r]|---[ \t]*+(?:#[^\n\r]*+)?[\n\r])*+(?:-[ \t]++)?"
    rb"(?:\"@(?:context|graph|id|type)\"|'@(?:context|graph|id|type)')[ \t]*+:(?:[ \t\n\r])"
)


def is_binary(text: bytes) -> bool:
    """Whether ``text`` has too many control characters for text in any encoding."""
    head = text[:2048]
    return len(head) - len(head.translate(None, _CONTROL)) > len(head) // 100


def without_control(text: bytes) -> bytes:
    """Return ``text`` without control characters."""
    return text.translate(None, _CONTROL)


def sniff(text: bytes, body: bytes, claim: RdfFormat | None) -> Finding | None:
    """Return what the shape of ``text`` shows, or None.

    ``text`` is the beginning in UTF-8, ``body`` all bytes at hand. ``claim`` is the syntax that
    header or extension name. It mainly chooses between syntaxes of one family.
    """
    return (
        _sniff_markup(text, body, claim)
        or _sniff_yaml(text, claim)
        or _sniff_json(text, body, claim)
        or _sniff_turtle(text, claim)
    )


def _sniff_markup(text: bytes, body: bytes, claim: RdfFormat | None) -> Finding | None:
    start = text.lstrip()
    if not start.startswith(b"<"):
        tagged = _HTML_ANYWHERE.search(text[:4096])
        if tagged and not (_STATEMENT_LINE.search(text) or _DIRECTIVE.match(_first_token(text))):
            return Finding(Kind.HTML, None, 0.7, "HTML tags")
        return None
    misc = _XML_MISC.match(text)
    doctype = (misc[2] or b"").lower() if misc else b""
    if doctype in (b"html", b"xhtml"):
        return Finding(Kind.HTML, None, 0.99, "document type html")
    # only white space may precede it
    rest = text[misc.end() :] if misc and misc[0].strip() else start
    root = _TAG.match(rest)
    if root is None:
        if _XML_START.match(start) and not _HTML_ANYWHERE.match(start):
            return Finding(Kind.OTHER, None, 0.8, NO_ROOT)
        if _HTML_ANYWHERE.match(start):
            return Finding(Kind.HTML, None, 0.9, "HTML tags")
        return None
    prefix, local = (root[1], root[2]) if root[2] else (b"", root[1])
    if not prefix and local.lower() == b"html":
        return Finding(Kind.HTML, None, 0.99, "root element html")
    if local == b"svg" and _RDF_ELEMENT.search(body):
        return Finding(Kind.RDF, RdfFormat.RDF_XML, 0.9, "RDF/XML in SVG")
    begins = rest is start and (_begins_statement(start, claim) or _begins_graph(start, claim))
    if begins and not _XMLNS.search(root[3]):
        return None  # Turtle that begins with a relative IRI: <a> <b> <c>
    namespaces = _namespaces(text, root[3])
    namespace = namespaces.get(prefix, b"")
    if local == b"RDF" and (namespace == RDF_NAMESPACE or (prefix == b"rdf" and not namespace)):
        return Finding(Kind.RDF, RdfFormat.RDF_XML, 0.99, "root element rdf:RDF")
    if namespace in TRIX_NAMESPACES or (
        local.lower() == b"trix" and claim is RdfFormat.TRIX and not prefix
    ):
        return Finding(Kind.RDF, RdfFormat.TRIX, 0.99, "root element of TriX")
    if namespace == XHTML_NAMESPACE and local == b"html":
        return Finding(Kind.HTML, None, 0.99, "root element html")
    if not namespaces and _HTML_TAG.match(rest):
        return Finding(Kind.HTML, None, 0.8, "HTML tags")
    # RDF/XML without rdf:RDF: the root needs an RDF attribute, and the label must be RDF/XML
    rdf_prefixes = {p for p, n in namespaces.items() if n == RDF_NAMESPACE}
    used = _RDF_ATTRIBUTE.search(root[3])
    if claim is RdfFormat.RDF_XML and namespace and used and used[1] in rdf_prefixes:
        return Finding(Kind.RDF, RdfFormat.RDF_XML, 0.8, "root is a node element, label RDF/XML")
    if local == b"Ontology" and namespace == OWL_NAMESPACE and not used:
        return Finding(Kind.RDF, RdfFormat.OWL_XML, 0.99, "root element Ontology of OWL/XML")
    if _HTML_ANYWHERE.search(rest[:2048]):
        return Finding(Kind.HTML, None, 0.7, "HTML tags")
    name = local.decode("utf-8", "replace")
    weak = not namespaces and not start.startswith(b"<?xml")
    return Finding(Kind.OTHER, None, 0.9, f"XML with root element {name}", weak)


def _begins_statement(start: bytes, claim: RdfFormat | None) -> bool:
    """Whether text like tags is a statement: ``<a> <b> <c> .`` and not ``<ul><li><b>``.

    Three tags are a statement if they end like one, or if the label says so and a space follows the
    first. A tag directly followed by text (``<p>Price: 5``) begins none.
    """
    match = _STATEMENT.match(start)
    if match is None:
        return claim in _FAMILY and _ILL_FORMED.match(start) is not None
    after = start[start.index(b">") + 1 :][:1]
    apart = after.isspace() or (after == b"#" and claim in _FAMILY)
    if match[0].endswith(b">"):
        return (apart and claim in _FAMILY) or _GOES_ON.match(start, match.end()) is not None
    return apart


def _begins_graph(start: bytes, claim: RdfFormat | None) -> bool:
    """Whether text that begins like a tag is a TriG graph: ``<urn:g> { <a> <b> <c> }``."""
    match = _GRAPH.match(start)
    if match is None:
        return False
    return claim in _FAMILY or (
        b":" in match[1] and _IN_GRAPH.match(start, match.end()) is not None
    )


def _namespaces(text: bytes, attributes: bytes) -> dict[bytes, bytes]:
    entities = {m[1]: m[2] or m[3] or b"" for m in _ENTITY.finditer(text)}
    found = {}
    for match in _XMLNS.finditer(attributes):
        value = match[2] or match[3] or b""
        if value.startswith(b"&") and value.endswith(b";"):
            value = entities.get(value[1:-1], value)
        if b"&#" in value:
            value = unescape(value.decode("utf-8", "replace")).encode()
        found[match[1] or b""] = value
    return found


def _sniff_yaml(text: bytes, claim: RdfFormat | None) -> Finding | None:
    """Recognise YAML-LD: its label, or its first key; in JSON the keys are inside braces.

    JSON is YAML, too.
    """
    if claim is RdfFormat.YAML_LD:
        return Finding(Kind.RDF, RdfFormat.YAML_LD, 0.9, "label YAML-LD")
    if _YAML_START.match(text):
        return Finding(Kind.RDF, RdfFormat.YAML_LD, 0.9, "YAML with a key of JSON-LD")
    return None


def _sniff_json(text: bytes, body: bytes, claim: RdfFormat | None) -> Finding | None:
    if not _JSON_OBJECT.match(text):
        return None
    start = text.lstrip()
    if start.startswith(b"[") and (_STATEMENT.match(start) or _NO_ARRAY.match(start)):
        return None
    whole = body[: 1 << 22] if b"\0" not in body[:8] else text
    if _JSON_KEYWORD.search(whole):
        return Finding(Kind.RDF, RdfFormat.JSON_LD, 0.95, "JSON with @context or @graph")
    if _JSON_NODE.search(whole) and _JSON_EXPANDED.search(whole):
        return Finding(Kind.RDF, RdfFormat.JSON_LD, 0.9, "JSON with expanded properties")
    if claim is RdfFormat.RDF_JSON and text.lstrip().startswith(b"{"):
        return Finding(Kind.RDF, RdfFormat.RDF_JSON, 0.9, "JSON labelled RDF/JSON")
    if _RDF_JSON.match(text):
        return Finding(Kind.RDF, RdfFormat.RDF_JSON, 0.8, "JSON in the shape of RDF/JSON")
    if claim is RdfFormat.JSON_LD:
        return Finding(Kind.RDF, RdfFormat.JSON_LD, 0.6, "JSON labelled JSON-LD")
    weak = text.lstrip()[:1] not in (b"{", b"[")
    return Finding(Kind.OTHER, None, 0.9, "JSON without JSON-LD keywords", weak)


def _first_token(text: bytes) -> bytes:
    """Return text of the Turtle family without leading white space and comments."""
    skipped = _COMMENTS.match(text)
    return text[skipped.end() if skipped else 0 :]


def _sniff_turtle(text: bytes, claim: RdfFormat | None) -> Finding | None:
    start = _first_token(text)
    lines = _line_format(start)
    if lines is not None:
        if claim in (RdfFormat.TURTLE, RdfFormat.N3, RdfFormat.TRIG):
            if lines is RdfFormat.N_QUADS:
                return Finding(Kind.RDF, lines, 0.9, "lines of four terms")
            return Finding(Kind.RDF, claim, 0.9, "lines of three terms")
        if claim is RdfFormat.N_QUADS:
            lines = claim
        weak = not claim and _may_be_a_page(start)
        return Finding(Kind.RDF, lines, 0.95, "lines of three or four terms", weak)
    directive = _DIRECTIVE.match(start) or _N3_DIRECTIVE.match(start)
    bare = _OPAQUE.sub(_hide, start)
    if directive and _SPARQL.search(bare) and not _STATEMENT_LINE.search(start):
        return Finding(Kind.OTHER, None, 0.8, "SPARQL")
    graph = re.match(rb"(?i:graph\s+)?(?:" + _SUBJECT + rb")?\s*\{", start)
    if graph and not re.match(
        _SPACE + rb"(?:\}|\?\w|" + _STATEMENT.pattern + rb")", start[graph.end() :], re.DOTALL
    ):
        graph = None
    if directive or graph or _STATEMENT.match(start):
        confidence, evidence = 0.9, "directive" if directive else "statement"
    elif (claim or _STATEMENT_LINE.search(start[:256])) and (
        _STATEMENT_LINE.search(start) or re.search(rb"^@prefix\s", start, re.MULTILINE)
    ):
        confidence, evidence = 0.6, "a statement after something else"
    else:
        return None
    if not directive and not claim and not _ends_statement(bare):
        return None
    if claim in _LINE_FORMATS and not _DIRECTIVE_LINE.search(start) and _LINE_START.search(start):
        return Finding(Kind.RDF, claim, 0.8, "lines that begin with two IRIs")
    weak = not claim and not directive and _may_be_a_page(start)
    return Finding(Kind.RDF, _family_member(bare, claim), confidence, evidence, weak)


def _may_be_a_page(start: bytes) -> bool:
    """Whether statements may be tags or prose: no prefix declarations, no absolute IRIs."""
    known = _ABSOLUTE_IRI.search(start) or _DIRECTIVE_LINE.search(start)
    return not known and _LIKE_A_PAGE.match(start) is not None


def _hide(match: re.Match[bytes]) -> bytes:
    first = match[0][:1]
    return b"<>" if first == b"<" else b"" if first == b"#" else b'""'


def _ends_statement(bare: bytes) -> bool:
    """Whether the text closes a statement or contains an IRI, unlike prose."""
    return b"<>" in bare or re.search(rb"[\w\"\]):]\s*[.;]\s", bare + b"\n") is not None


def _family_member(bare: bytes, claim: RdfFormat | None) -> RdfFormat:
    if claim in (RdfFormat.N3, RdfFormat.TRIG):
        return claim
    brace = bare.find(b"{")
    if brace >= 0 and _NAME_OF_GRAPH.search(bare[max(brace - 400, 0) : brace]):
        return RdfFormat.TRIG  # after the first statement, `} <b> {` may be N3 or TriG
    # the patterns are slow, and most documents contain none of the parts
    if any(part in bare for part in _PARTS_OF_N3_MARKERS) and _N3_MARKERS.search(bare):
        return RdfFormat.N3
    if b"{" in bare and _TRIG_MARKERS.search(bare):
        return RdfFormat.TRIG
    return RdfFormat.TURTLE


def _line_format(start: bytes) -> RdfFormat | None:
    """Return N-Triples or N-Quads if the first and most of the first 20 lines have their form."""
    lines = [s for line in start.splitlines() if (s := line.strip()) and not s.startswith(b"#")]
    if len(lines) > 1 and not start.endswith((b"\n", b"\r")):
        lines.pop()  # may be cut off
    if not lines:
        return None
    matches = [_LINE.match(line) for line in lines[:20]]
    good = [match for match in matches if match]
    if not good or matches[0] is None or len(good) < len(matches) * 0.7:
        return None
    return RdfFormat.N_QUADS if any(match[1] for match in good) else RdfFormat.N_TRIPLES
