"""Writers of RDF in random form: one data set in every spelling that a syntax allows.

A writer takes quads and a :class:`Form`, which makes the random choices (white space, escapes,
order, prefixes, comments, nesting, quotes, encodings, line ends), and returns :class:`Written`:
the document as tokens, each with the quads that need it. :meth:`Written.data` is the document,
:meth:`Written.damaged` the same with one token spoilt. A quad without a graph stands in the
default graph. Readers that are not ours have read what the writers write (test_forms.py).
"""

from __future__ import annotations

import codecs
import itertools
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
    parse,
)

URL = "http://h.example/dir/doc?x=1&y=2"
EX = "http://e.example/ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TYPE, FIRST, REST, NIL = (NamedNode(RDF + name) for name in ("type", "first", "rest", "nil"))
STRING, LANG = NamedNode(XSD + "string"), NamedNode(RDF + "langString")

Node = NamedNode | BlankNode
Term = Node | Literal
Owners = frozenset[int]
NOBODY: Owners = frozenset()
T = TypeVar("T")


def examples(usual: int) -> settings:
    """Return settings for ``usual`` examples, the same each time, or as many others as are asked.

    ``FORMS=1000 pytest tests/rdf/test_forms.py`` asks for more.
    """
    return settings(
        max_examples=int(os.environ.get("FORMS", str(usual))),
        deadline=None,
        derandomize="FORMS" not in os.environ,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


# --- the data


NAMES = [
    NamedNode(iri)
    for iri in (
        EX + "a", EX + "b-c", EX + "été", EX + "v1.2", EX + "x_y", "http://h.example/dir/doc#it",
        "http://h.example/dir/other", "https://x.example/p/q?a=1&b=2#f", "http://x.example/%C3%A9/",
        "urn:isbn:0-395-36341-1", "mailto:a@x.example", "http://x.example/a(b),c;d=e!f'g",
        "http://y.example", "http://x.example/東京", "tag:x.example,2020:t", "http://h.example/",
    )
]  # fmt: skip
PREDICATES = [
    NamedNode(iri)
    for iri in (
        EX + "p", EX + "nameOf", EX + "is-a", EX + "v1.0", EX + "größe", "http://purl.org/dc/terms/title",
        "http://x.example/vocab/link", "http://schema.org/url", "urn:x:prop",
    )
]  # fmt: skip
CLASSES = [NamedNode(EX + "Class"), NamedNode("http://x.example/vocab/Sea-Port"), NAMES[0]]
BLANKS = [BlankNode(f"n{number}") for number in range(5)]
PIECES = [
    "a", "pier", " ", "  ", "\n", "\t", '"', "'", "\\", "&", "<", ">", "]]>", "<!--", "&amp;", "/",
    "é", "東", "😀", "\u200b", "{", "}", "@", "#", "# x", ".", ";", ",", '"""', "\\u0041", "%41",
    "_:b",
    "http://x.example/", "\u00a0", "\u0085", "–", "1", "x" * 130, "\r", "\b", "\f", "\u007f",
]  # fmt: skip
NOT_XML = ("\b", "\f")
NOT_HTML = ("\u0085", "\u007f")  # references to C1 mean signs of Windows-1252
TAGS = ["en", "de", "en-gb", "zh-hans", "sr-latn-rs"]
TYPED = [
    Literal(value, datatype=NamedNode(XSD + name))
    for value, name in (
        ("1", "integer"), ("-10", "integer"), ("+07", "integer"), ("1.50", "decimal"),
        ("-.5", "decimal"), ("1.5E0", "double"), ("-1e-9", "double"), ("true", "boolean"),
        ("false", "boolean"), ("1", "boolean"), ("2020-01-02", "date"), ("x", "integer"),
        ("2020-01-02T03:04:05.6Z", "dateTime"),
    )
]  # fmt: skip
TYPED.append(Literal("<&>", datatype=NamedNode("http://x.example/type#T")))
TYPED.append(Literal(" 1", datatype=NamedNode(EX + "v")))


def texts(*, xml: bool = False) -> st.SearchStrategy[str]:
    """Texts of the signs that readers stumble over; with ``xml`` only such as XML can hold."""
    pieces = [piece for piece in PIECES if not xml or piece not in NOT_XML + NOT_HTML]
    return st.lists(st.sampled_from(pieces), max_size=5).map("".join)


def literals(*, xml: bool = False) -> st.SearchStrategy[Literal]:
    return st.one_of(
        texts(xml=xml).map(Literal),
        st.builds(
            lambda text, tag: Literal(text, language=tag), texts(xml=xml), st.sampled_from(TAGS)
        ),
        st.sampled_from(TYPED),
    )


@st.composite
def datasets(
    draw: st.DrawFn,
    *,
    graphs: bool = False,
    lists: bool = True,
    xml: bool = False,
    types: bool = True,
    words: st.SearchStrategy[Literal] | None = None,
) -> list[Quad]:
    """Quads without repetition: names, blank nodes, literals, types, lists and named graphs.

    ``words`` are the literals, if not :func:`literals`.
    """
    words = words or literals(xml=xml)
    nodes = st.sampled_from([*NAMES, *BLANKS])
    plain = st.tuples(nodes, st.sampled_from(PREDICATES), st.one_of(nodes, words, words))
    typing = st.tuples(nodes, st.just(TYPE), st.sampled_from(CLASSES))
    triple = st.one_of(plain, plain, typing) if types else plain
    homes: st.SearchStrategy[NamedNode | BlankNode | DefaultGraph] = st.just(DefaultGraph())
    if graphs:
        homes = st.sampled_from(
            [DefaultGraph(), DefaultGraph(), *NAMES[:3], BlankNode("g1"), BLANKS[0]]
        )
    quads = [
        Quad(*t, home)
        for t, home in draw(st.lists(st.tuples(triple, homes), min_size=1, max_size=9))
    ]
    if lists and draw(st.booleans()):
        home, size = draw(homes), draw(st.integers(0, 3))
        cells: list[Node] = [*(BlankNode(f"cell{n}") for n in range(size)), NIL]
        quads.append(Quad(draw(nodes), draw(st.sampled_from(PREDICATES)), cells[0], home))
        for cell, tail in itertools.pairwise(cells):
            quads.append(Quad(cell, FIRST, draw(st.one_of(nodes, words)), home))
            quads.append(Quad(cell, REST, tail, home))
    return list(dict.fromkeys(quads))


# --- comparing


def quads_of(nquads: bytes, url: str = URL) -> list[Quad]:
    """Parse lines as strictly as pyoxigraph can; those of the document itself have no graph.

    What RDFa tells of its vocabularies is left out.
    """
    itself = NamedNode(url)
    return [
        Quad(q.subject, q.predicate, q.object) if q.graph_name == itself else q
        for q in parse(nquads, RdfFormat.N_QUADS)
        if q.predicate.value != "http://www.w3.org/ns/rdfa#usesVocabulary"
    ]


def canonical(quads: Iterable[Quad]) -> set[str]:
    """Return lines that are equal for isomorphic data sets."""
    dataset = Dataset(quads)
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return set(map(str, dataset))


def folded(quads: Iterable[Quad]) -> Counter[str]:
    """Return lines in which all blank nodes are one, to compare parts of data sets."""
    one = BlankNode("b")

    def fold(term: Term | DefaultGraph) -> Term | DefaultGraph:
        return one if isinstance(term, BlankNode) else term

    return Counter(str(Quad(*(fold(term) for term in quad))) for quad in quads)  # type: ignore[arg-type]


# --- documents


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a document, what it is, and the quads that are lost with it.

    Kinds that can be damaged are keys of :data:`DAMAGES`; ``iri`` is the IRI that the token says.
    """

    text: str
    kind: str = "sign"
    quads: Owners = NOBODY


@dataclass(frozen=True, slots=True)
class Damage:
    """A spoilt token: the new text, and what a reader may make of it with certainty."""

    text: str
    mended: Callable[[str], str] | None = None


@dataclass
class Written:
    """A document in the syntax ``name``, as tokens."""

    name: str
    content_type: str
    tokens: list[Token] = field(default_factory=list)
    encoding: str = "utf-8"
    newline: str = "\n"
    embedded: bool = False

    def add(self, text: str, kind: str = "sign", quads: Iterable[int] = NOBODY) -> None:
        self.tokens.append(Token(text, kind, frozenset(quads)))

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)

    def data(self) -> bytes:
        """The document; U+0000 stands for a line end of the document's own kind."""
        return encoded(self.text.replace("\0", self.newline), self.encoding)

    def damageable(self) -> list[int]:
        return [n for n, token in enumerate(self.tokens) if token.kind in DAMAGES[self.name]]

    def damaged(self, number: int, choice: int) -> tuple[Written, Token, Damage]:
        """Return the document with the damage ``choice`` to one of its damageable tokens."""
        token = self.tokens[number]
        damages = DAMAGES[self.name][token.kind](token.text)
        damage = damages[choice % len(damages)]
        tokens = [*self.tokens[:number], Token(damage.text), *self.tokens[number + 1 :]]
        return (
            Written(
                self.name, self.content_type, tokens, self.encoding, self.newline, self.embedded
            ),
            token,
            damage,
        )


def encoded(text: str, encoding: str) -> bytes:
    if encoding == "utf-8-sig":
        return codecs.BOM_UTF8 + text.encode()
    return text.encode(encoding)  # Python's utf-16 begins with a byte-order mark


class Form:
    """Random choices of spelling, all from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        #: how much is written in an unusual way, from 0 to 1
        self.oddity = self.random.choice([0.0, 0.1, 0.3, 0.7])
        self.minified = self.random.random() < 0.3

    def one(self, *options: T) -> T:
        return self.random.choice(options)

    def odd(self) -> bool:
        return self.random.random() < self.oddity

    def even(self) -> bool:
        return self.random.random() < 0.5

    def shuffled(self, items: Iterable[T]) -> list[T]:
        result = list(items)
        self.random.shuffle(result)
        return result


def forms() -> st.SearchStrategy[Form]:
    return st.integers(0, 2**32).map(Form)


class Index:
    """The quads of a data set by graph and subject, and which nodes can be nested in others."""

    def __init__(self, quads: Sequence[Quad], form: Form, share: float = 0.8) -> None:
        self.quads = quads
        self.form = form
        self.by_subject: dict[tuple[object, Node], list[int]] = {}
        uses: Counter[Node] = Counter()
        referrer: dict[Node, Node] = {}
        homes: dict[Node, set[object]] = {}
        for number, quad in enumerate(quads):
            self.by_subject.setdefault((quad.graph_name, quad.subject), []).append(number)
            homes.setdefault(quad.subject, set()).add(quad.graph_name)
            if isinstance(quad.graph_name, BlankNode):
                uses[quad.graph_name] += 2
            if isinstance(quad.object, BlankNode):
                uses[quad.object] += 1
                referrer[quad.object] = quad.subject
                homes.setdefault(quad.object, set()).add(quad.graph_name)
        #: blank nodes that need no label, as one statement of their only graph leads to them
        self.nestable = {
            node for node, count in uses.items()
            if count == 1 and len(homes[node]) == 1 and not self._circular(node, referrer)
            and form.random.random() < share
        }  # fmt: skip
        #: blank nodes that nothing leads to
        self.unnamed = {
            subject for _, subject in self.by_subject
            if isinstance(subject, BlankNode) and not uses[subject] and len(homes[subject]) == 1
        }  # fmt: skip

    @staticmethod
    def _circular(node: Node, referrer: dict[Node, Node]) -> bool:
        seen = {node}
        while (up := referrer.get(node)) is not None:
            if up in seen:
                return True
            seen.add(up)
            node = up
        return False

    def of(self, graph: object, subject: object) -> list[int]:
        return self.by_subject.get((graph, subject), [])  # type: ignore[arg-type]

    def graphs(self) -> list[object]:
        return list(dict.fromkeys(graph for graph, _ in self.by_subject))

    def roots(self, graph: object) -> list[Node]:
        return [s for home, s in self.by_subject if home == graph and s not in self.nestable]

    def items(self, graph: object, cell: object) -> list[tuple[int, int]] | None:
        """Return the numbers of the quads rdf:first and rdf:rest of each cell of a list."""
        found: list[tuple[int, int]] = []
        while cell != NIL:
            own = self.of(graph, cell)
            if not isinstance(cell, BlankNode) or cell not in self.nestable or len(own) != 2:
                return None
            first, rest = sorted(own, key=lambda n: self.quads[n].predicate != FIRST)
            if (self.quads[first].predicate, self.quads[rest].predicate) != (FIRST, REST):
                return None
            found.append((first, rest))
            cell = self.quads[rest].object
        return found

    def by_predicate(self, numbers: Iterable[int]) -> list[tuple[NamedNode, list[int]]]:
        groups: dict[NamedNode, list[int]] = {}
        for number in self.form.shuffled(numbers):
            groups.setdefault(self.quads[number].predicate, []).append(number)
        return list(groups.items())


# --- the Turtle family

_SHORT = {"\t": "t", "\b": "b", "\n": "n", "\r": "r", "\f": "f", '"': '"', "'": "'", "\\": "\\"}
_LOCAL_ESCAPES = "~.-!$&'()*+,;=/?#@%"
_WORDS = ("name", "number", "boolean", "keyword", "lang", "string", "iri")
_WORD = re.compile(r"[\w:.%@\\\-+]", re.UNICODE)


def u_escape(sign: str, form: Form) -> str:
    code = ord(sign)
    text = f"\\U{code:08X}" if code > 0xFFFF or form.odd() else f"\\u{code:04X}"
    return text[:2] + text[2:].lower() if form.odd() else text


def quoted(text: str, form: Form, *, quotes: Sequence[str] = ('"', "'", '"""', "'''")) -> str:
    """Write a string of the Turtle family."""
    quote = form.one(*quotes)
    result, run = [], 0
    for number, sign in enumerate(text):
        must = sign in "\\\r" or (len(quote) == 1 and sign in ("\n", quote))
        if len(quote) == 3:
            run = run + 1 if sign == quote[0] else 0
            must = must or run == 3 or (run > 0 and number == len(text) - 1)
            run = 0 if run == 3 else run
        if not must and not form.odd():
            result.append(sign)
        elif sign in _SHORT and (must or form.even()):
            result.append("\\" + _SHORT[sign])
        else:
            result.append(u_escape(sign, form))
    return quote + "".join(result) + quote


def iriref(iri: str, form: Form) -> str:
    return "<" + "".join(u_escape(c, form) if form.odd() and form.odd() else c for c in iri) + ">"


class _Turtle:
    """Writes one document of Turtle, TriG or N3."""

    def __init__(self, quads: Sequence[Quad], form: Form, syntax: str) -> None:
        self.quads, self.form, self.syntax = quads, form, syntax
        self.index = Index(quads, form)
        types = {"turtle": "text/turtle", "trig": "application/trig", "n3": "text/n3"}
        self.out = Written(syntax, types[syntax])
        self.out.newline = form.one("\n", "\n", "\r\n", "\r")
        self.out.encoding = form.one("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16")
        self.prefixes: dict[str, str] = {}
        self.base = URL

    def write(self) -> Written:
        self.head()
        for graph in self.form.shuffled(self.index.graphs()):
            roots = self.form.shuffled(self.index.roots(graph))
            if isinstance(graph, DefaultGraph) and (self.syntax != "trig" or self.form.even()):
                for root in roots:
                    self.statement(graph, root)
                    self.token(".")
                    if self.form.odd() and self.form.odd():
                        self.head()
                continue
            while roots:  # a graph may be written in pieces
                size = self.form.one(1, len(roots), len(roots))
                part, roots = roots[:size], roots[size:]
                owners = [n for root in part for n in self.below(graph, root)]
                if not isinstance(graph, DefaultGraph):
                    if self.form.odd():
                        self.token(self.form.one("GRAPH", "graph", "Graph"))
                    self.node(graph, graph, owners)  # type: ignore[arg-type]
                self.token("{")
                for place, root in enumerate(part):
                    self.statement(graph, root)
                    if place < len(part) - 1 or self.form.even():
                        self.token(".")
                self.token("}")
        self.space()
        return self.out

    def below(self, graph: object, node: object) -> list[int]:
        found = []
        for number in self.index.of(graph, node):
            found.append(number)
            if self.quads[number].object in self.index.nestable:
                found += self.below(graph, self.quads[number].object)
        return found

    def head(self) -> None:
        """Declare a base and prefixes, the same ones anew at times."""
        if self.form.odd():
            self.base = self.form.one("http://h.example/dir/", "http://x.example/a/b", URL)
            self.directive("base", [iriref(self.base, self.form)])
        spaces = [
            EX,
            "http://x.example/",
            "http://x.example/vocab/",
            XSD,
            RDF,
            "http://h.example/dir/",
            "urn:x:",
        ]
        names = ["e", "", "x-y", "xsd", "é", "a", "e.f", "true", "rdf"]
        for space in self.form.shuffled(spaces)[: self.form.one(0, 3, 7)]:
            name = self.form.one(*names)
            relative = space.startswith(self.base) and self.base.endswith("/") and self.form.odd()
            self.directive(
                "prefix",
                [name + ":", iriref(space[len(self.base) :] if relative else space, self.form)],
            )
            self.prefixes[name] = space

    def directive(self, word: str, rest: list[str]) -> None:
        sparql = self.form.even()
        self.token(self.form.one(word.upper(), word, word.title()) if sparql else "@" + word)
        for text in rest:
            self.token(text)
        if not sparql:
            self.token(".")
        else:
            self.space(needed=True)

    def space(self, *, needed: bool = False) -> None:
        form = self.form
        if form.odd():
            self.out.add("".join(
                form.one(" ", "\t", "\0", " ", "#\0", "# a <b> \"c\" . { [ (\0", "#'\0", "\0#é\\\0")
                for _ in range(form.one(1, 1, 3))
            ))  # fmt: skip
        elif needed:
            self.out.add(form.one(" ", " ", "\0"))
        elif not form.minified:
            self.out.add(" ")

    def token(self, text: str, kind: str = "sign", quads: Iterable[int] = NOBODY) -> None:
        before = self.out.tokens[-1].text[-1:] if self.out.tokens else ""
        last = self.out.tokens[-1] if self.out.tokens else Token("")
        word = bool(_WORD.match(before)) or (last.kind == "name" and not before.isspace())
        # two strings side by side would be one with three quotation marks
        needed = (word and bool(_WORD.match(text[0]))) or (before in "\"'" and before == text[:1])
        if text == "." and last.kind in _WORDS and self.form.odd() and not before.isspace():
            # a dot may follow a word at once, if white space tells it from the dot of a number
            self.out.add(".")
            self.out.add(self.form.one(" ", "\0"))
            return
        if needed or (before and not before.isspace()) or self.form.odd():
            self.space(needed=needed)
        self.out.add(text, kind, quads)
        if text == "." and not self.form.odd():
            self.out.add(self.form.one(" ", "\0", "\0"))

    def statement(self, graph: object, subject: Node) -> None:
        numbers = self.index.of(graph, subject)
        if subject in self.index.unnamed and self.form.even():
            self.token("[")
            if self.form.even():
                self.pairs(graph, numbers)
                self.token("]")
                return
            self.token("]")
        else:
            self.node(graph, subject, numbers)
        self.pairs(graph, numbers)

    def pairs(self, graph: object, numbers: list[int]) -> None:
        for place, (predicate, own) in enumerate(self.index.by_predicate(numbers)):
            if place:
                self.token(";")
                while self.form.odd() and self.form.odd():
                    self.token(";")
            if predicate == TYPE and self.form.even():
                self.token("a", "keyword", own)
            else:
                self.node(graph, predicate, own)
            for rank, number in enumerate(own):
                if rank:
                    self.token(",")
                self.value(graph, number)
        if numbers and self.form.odd():
            self.token(";")

    def value(self, graph: object, number: int) -> None:
        term = self.quads[number].object
        items = self.index.items(graph, term)
        if items is not None and self.form.even():
            self.token("(")
            for first, _ in items:
                self.value(graph, first)
            self.token(")")
        elif term in self.index.nestable:
            self.token("[")
            self.pairs(graph, self.index.of(graph, term))
            self.token("]")
        elif isinstance(term, Literal):
            self.literal(term, [number])
        else:
            self.node(graph, term, [number])  # type: ignore[arg-type]

    def node(self, graph: object, term: Node, quads: Iterable[int]) -> None:
        if isinstance(term, BlankNode):
            self.token(f"_:{term.value}", "label", quads)
            return
        name = self.name(term.value) if self.form.even() else None
        if name is not None:
            self.token(name, "name", quads)
        else:
            self.token(self.reference(term.value), "iri", quads)

    def reference(self, iri: str) -> str:
        folder = self.base.rpartition("/")[0] + "/"
        rest = iri.removeprefix(folder)
        if iri.startswith(folder) and re.fullmatch(r"\w[^:]*", rest) and self.form.odd():
            return iriref(rest, self.form)
        return iriref(iri, self.form)

    def name(self, iri: str) -> str | None:
        for prefix, space in self.form.shuffled(self.prefixes.items()):
            if iri.startswith(space):
                local = self.local(iri[len(space) :])
                if local is not None:
                    return f"{prefix}:{local}"
        return None

    def local(self, text: str) -> str | None:
        result = []
        for place, sign in enumerate(text):
            inner = 0 < place < len(text) - 1
            if sign == "%":
                result.append(
                    "%" if re.match("%[0-9A-Fa-f]{2}", text[place:]) and self.form.even() else "\\%"
                )
            elif (
                sign.isalnum() or sign in "_:" or (sign == "-" and place) or (sign == "." and inner)
            ):
                result.append("\\_" if sign == "_" and self.form.odd() else sign)
            elif sign in _LOCAL_ESCAPES:
                result.append("\\" + sign)
            else:
                return None
        return "".join(result)

    def literal(self, term: Literal, quads: list[int]) -> None:
        kind, value = term.datatype.value.removeprefix(XSD), term.value
        grammar = {
            "integer": r"[+-]?[0-9]+", "decimal": r"[+-]?[0-9]*\.[0-9]+", "boolean": "true|false",
            "double": r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+",
        }  # fmt: skip
        if kind in grammar and re.fullmatch(grammar[kind], value) and self.form.even():
            self.token(value, "boolean" if kind == "boolean" else "number", quads)
            return
        self.token(quoted(value, self.form), "string", quads)
        if term.language:
            tag = term.language.upper() if self.form.odd() else term.language
            self.out.add("@" + tag, "lang", quads)
        elif term.datatype != STRING or (self.form.odd() and self.form.odd()):
            self.out.add("^^")
            if self.form.odd() and self.form.odd():
                self.space()
            name = self.name(term.datatype.value)
            if name is not None and self.form.even():
                self.out.add(name, "name", quads)
            else:
                self.out.add(iriref(term.datatype.value, self.form), "iri", quads)


def turtle(quads: Sequence[Quad], form: Form) -> Written:
    return _Turtle(quads, form, "turtle").write()


def trig(quads: Sequence[Quad], form: Form) -> Written:
    return _Turtle(quads, form, "trig").write()


def n3(quads: Sequence[Quad], form: Form) -> Written:
    return _Turtle(quads, form, "n3").write()


def _lines(quads: Sequence[Quad], form: Form, out: Written) -> Written:
    out.newline = form.one("\n", "\n", "\r\n", "\r")
    out.encoding = form.one("utf-8", "utf-8", "utf-8-sig")

    def space(*, needed: bool = False) -> None:
        if form.odd():
            out.add(form.one(" ", "\t", "  ", " \t"))
        elif not form.minified or needed:
            out.add(" ")

    for number in form.shuffled(range(len(quads))):
        quad = quads[number]
        terms = [quad.subject, quad.predicate, quad.object]
        if not isinstance(quad.graph_name, DefaultGraph):
            terms.append(quad.graph_name)
        if form.odd():
            out.add(form.one("\0", "# <a> <b> <c> .\0", "  ", "\t"))
        for term in terms:
            if isinstance(term, NamedNode):
                out.add(iriref(term.value, form), "iri", [number])
            elif isinstance(term, BlankNode):
                out.add(f"_:{term.value}", "label", [number])
            else:
                out.add(quoted(term.value, form, quotes=['"']), "string", [number])
                if term.language:
                    out.add("@" + term.language, "lang", [number])
                elif term.datatype != STRING or form.odd():
                    out.add("^^")
                    out.add(iriref(term.datatype.value, form), "iri", [number])
            space(needed=not isinstance(term, NamedNode))
        out.add(".")
        if form.odd():
            space()
            out.add(form.one("# x", "#", "", " "))
        out.add("\0")
    if out.tokens[-1].text == "\0" and form.odd():
        out.tokens.pop()
    return out


def ntriples(quads: Sequence[Quad], form: Form) -> Written:
    return _lines(quads, form, Written("ntriples", "application/n-triples"))


def nquads(quads: Sequence[Quad], form: Form) -> Written:
    return _lines(quads, form, Written("nquads", "application/n-quads"))


# --- XML and HTML


class _Markup:
    """What the writers of XML and HTML have in common."""

    def __init__(self, quads: Sequence[Quad], form: Form, out: Written, *, html: bool) -> None:
        self.quads, self.form, self.out, self.html = quads, form, out, html
        self.index = Index(quads, form)
        out.newline = form.one("\n", "\n", "\r\n", "\r")
        #: entities of the document type, by what they stand for
        self.entities: dict[str, str] = {}

    def reference(self, sign: str) -> str:
        named = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
        if self.html:
            named |= {"é": "&eacute;", "\u00a0": "&nbsp;", "–": "&ndash;"}
        if sign in named and self.form.even():
            return named[sign]
        code = ord(sign)
        return self.form.one(f"&#{code};", f"&#x{code:x};", f"&#x{code:04X};")

    def escaped(self, text: str, must: str) -> str:
        signs = []
        for sign in text:
            try:
                sign.encode(self.out.encoding)
                fits = True
            except UnicodeEncodeError:
                fits = False
            if sign in must or not fits or (self.form.odd() and sign not in "\u0085\u007f"):
                signs.append(self.reference(sign))
            else:
                signs.append("\0" if sign == "\n" else sign)
        return "".join(signs)

    def words(self, text: str) -> str:
        """Return text as content of an element."""
        return self.escaped(text, "&<>\r" if not self.form.odd() or "]]>" in text else "&<\r")

    def quoted(self, text: str) -> str:
        quote = self.form.one('"', '"', "'")
        if self.html:
            if text and self.form.odd() and not re.search("[\\s\"'=<>`&]", text):
                return self.escaped(text, "&") if not text.endswith("/") else f'"{text}"'
            return quote + self.escaped(text, "&\r" + quote) + quote
        body = self.escaped(text, "&<\r\n\t" + quote)
        for stands_for, name in self.entities.items():
            if text.startswith(stands_for) and body.startswith(stands_for) and self.form.even():
                body = f"&{name};" + body[len(stands_for) :]
        return quote + body + quote

    def attribute(
        self, name: str, value: str, kind: str = "sign", quads: Iterable[int] = NOBODY
    ) -> None:
        gap = self.form.one(" ", "\0", "\t", "  ") if self.form.odd() else " "
        equals = self.form.one(" = ", "= ", "\0=") if self.form.odd() else "="
        if self.html and self.form.odd():
            name = self.form.one(name.upper(), name.title())
        self.out.add(f"{gap}{name}{equals}")
        self.out.add(self.quoted(value), kind, quads)

    def gap(self) -> None:
        """Write white space and comments between elements."""
        if self.form.odd():
            options = ["\0", " ", "\t", "<!-- x -->", "<!-- <a b='c'> & -->", "\0\0"]
            if not self.html:
                options += ["<?pi a='b' > ?>", "<!---->"]
            self.out.add(self.form.one(*options))
        elif not self.form.minified:
            self.out.add("\0")

    def close(self) -> None:
        self.out.add(self.form.one(">", " >", "\0>") if self.form.odd() else ">")


_NCNAME = re.compile(r"[^\W\d][\w.\-]*", re.UNICODE)


def split_iri(iri: str) -> tuple[str, str]:
    """Return namespace and the longest local name that XML allows; empty where there is none."""
    for place in range(len(iri)):
        if _NCNAME.fullmatch(iri[place:]) and place and not iri[place - 1].isalnum():
            return iri[:place], iri[place:]
    return iri, ""


class _RdfXml(_Markup):
    def __init__(self, quads: Sequence[Quad], form: Form) -> None:
        out = Written("rdfxml", "application/rdf+xml")
        out.encoding = form.one(
            "utf-8", "utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"
        )
        super().__init__(quads, form, out, html=False)
        self.scopes: list[dict[str, str]] = []
        self.tags: list[str] = [""]
        self.bases = [URL]
        self.ids: set[str] = set()

    def write(self) -> Written:
        form, out = self.form, self.out
        plain = out.encoding in ("utf-8", "utf-8-sig", "utf-16")
        if not plain or form.even():
            quote = form.one('"', "'")
            name = out.encoding.removesuffix("-sig")
            name = name.upper() if form.odd() else name
            out.add(f"<?xml version={quote}1.0{quote} encoding={quote}{name}{quote}?>")
        self.gap()
        if form.odd():
            self.entities = {EX: "e", "http://x.example/": "x.y"}
            out.add("<!DOCTYPE rdf:RDF [\0" + "".join(
                f"<!ENTITY {name} {form.one(repr(text), chr(34) + text + chr(34))} >\0"
                for text, name in self.entities.items()
            ) + "<!-- > -->]>")  # fmt: skip
            self.gap()
        roots = form.shuffled(self.index.roots(DefaultGraph()))
        self.gap()
        # a root element without a name is not known to be RDF
        with_root = len(roots) != 1 or isinstance(roots[0], BlankNode) or form.even()
        if with_root:
            self.open_tag(RDF, "RDF")
            self.scope_attributes()
            self.close()
        for root in roots:
            self.gap()
            self.node(root)
        if with_root:
            self.gap()
            self.end()
        self.gap()
        return out

    # scopes: prefixes, base and language of the open elements

    def prefix_of(self, space: str, *, attribute: bool = False) -> str | None:
        known: dict[str, str] = {}
        for scope in self.scopes:
            known.update(scope)
        for prefix, found in known.items():
            if found == space and (prefix or not attribute):
                return prefix
        return None

    def open_tag(
        self, space: str, local: str, kind: str = "sign", quads: Iterable[int] = NOBODY
    ) -> None:
        """Begin an element whose tag is still open for attributes."""
        self.scopes.append({})
        self.bases.append(self.bases[-1])
        self.tags.append(self.tags[-1])
        prefix = self.prefix_of(space)
        declare = prefix is None
        if prefix is None:
            prefix = self.new_prefix(space)
        name = f"{prefix}:{local}" if prefix else local
        self.names.append(name)
        self.out.add("<")
        self.out.add(name, kind, quads)
        if declare:
            self.declare(prefix, space)

    def declare(self, prefix: str, space: str) -> None:
        """Declare a prefix; no writer spells a namespace with references, but for entities."""
        quote, text = self.form.one('"', "'"), space
        for stands_for, name in self.entities.items():
            if text.startswith(stands_for) and self.form.even():
                text = f"&{name};" + text[len(stands_for) :]
        gap = self.form.one(" ", "\0", "\0\t", "  ") if self.form.odd() else " "
        equals = self.form.one(" = ", "= ", " =") if self.form.odd() else "="
        self.out.add(f"{gap}xmlns{':' if prefix else ''}{prefix}{equals}{quote}{text}{quote}")

    def new_prefix(self, space: str, *, attribute: bool = False) -> str:
        taken = {prefix for scope in self.scopes for prefix in scope}
        usual = {RDF: "rdf", EX: "ex"}.get(space, f"n{len(taken)}")
        options = [usual, usual, "é", "a.b", "x"] + ([] if attribute else [""])
        free = [option for option in options if option not in taken]
        prefix = self.form.one(*(free or [f"m{len(taken)}"]))
        self.scopes[-1][prefix] = space
        return prefix

    def scope_attributes(self) -> None:
        """Declare a base or a language for what is inside."""
        if self.form.odd():
            base = self.form.one(
                "http://h.example/dir/", "http://x.example/a", "http://h.example/dir/doc#f"
            )
            self.bases[-1] = base
            self.attribute("xml:base", base)
        if self.form.odd():
            self.tags[-1] = self.form.one("en", "de", "")
            self.attribute("xml:lang", self.tags[-1])

    def rdf(
        self, local: str, value: str, kind: str = "sign", quads: Iterable[int] = NOBODY
    ) -> None:
        prefix = self.prefix_of(RDF, attribute=True)
        if prefix is None:
            prefix = self.new_prefix(RDF, attribute=True)
            self.declare(prefix, RDF)
        self.attribute(f"{prefix}:{local}", value, kind, quads)

    def end(self) -> None:
        name = self.names.pop()
        self.out.add(f"</{name}{' ' if self.form.odd() else ''}>")
        self.scopes.pop(), self.bases.pop(), self.tags.pop()

    names: list[str]

    def iri(self, iri: str) -> str:
        base = self.bases[-1].partition("#")[0]
        folder = base.rpartition("/")[0] + "/"
        if iri.startswith(base + "#") and self.form.even():
            return iri[len(base) :]
        rest = iri.removeprefix(folder)
        if iri.startswith(folder) and re.fullmatch(r"\w[^:]*", rest) and self.form.odd():
            return rest
        return iri

    def node(self, node: Node, kind: str = "sign") -> None:
        form = self.form
        numbers = form.shuffled(self.index.of(DefaultGraph(), node))
        done: set[int] = set()
        tag = (RDF, "Description")
        types = [n for n in numbers if self.quads[n].predicate == TYPE]
        owner: list[int] = []
        for number in types:
            space, local = split_iri(self.quads[number].object.value)  # type: ignore[union-attr]
            if local and isinstance(self.quads[number].object, NamedNode) and form.even():
                tag, owner = (space, local), [number]
                done.add(number)
                break
        self.open_tag(*tag, "sign", owner)
        self.scope_attributes()
        if isinstance(node, NamedNode):
            text = self.iri(node.value)
            if (
                text.startswith("#")
                and _NCNAME.fullmatch(text[1:])
                and node.value not in self.ids
                and form.even()
            ):
                self.ids.add(node.value)
                self.rdf("ID", text[1:])
            else:
                self.rdf("about", text, "about", numbers)
        elif node not in self.index.nestable and (node not in self.index.unnamed or form.even()):
            self.rdf("nodeID", node.value, "label", numbers)
        # property attributes: one of a name, of the language that holds here
        used: set[NamedNode] = set()
        for number in numbers:
            quad = self.quads[number]
            if number in done or quad.predicate in used or not form.odd():
                continue
            space, local = split_iri(quad.predicate.value)
            if quad.predicate == TYPE and isinstance(quad.object, NamedNode):
                self.rdf("type", self.iri(quad.object.value), "sign", [number])
            elif (
                isinstance(quad.object, Literal) and space != RDF
                and (quad.object.language or "") == self.tags[-1]
                and quad.object.datatype in (STRING, LANG)
            ):  # fmt: skip
                prefix = self.prefix_of(space, attribute=True)
                if prefix is None:
                    prefix = self.new_prefix(space, attribute=True)
                    self.declare(prefix, space)
                self.attribute(f"{prefix}:{local}", quad.object.value)
            else:
                continue
            used.add(quad.predicate)
            done.add(number)
        rest = [n for n in numbers if n not in done]
        if not rest and form.even():
            self.empty()
            return
        self.close()
        for number in rest:
            self.gap()
            self.property(number)
        self.gap()
        self.end()

    def empty(self) -> None:
        self.names.pop()
        self.scopes.pop(), self.bases.pop(), self.tags.pop()
        self.out.add(" />" if self.form.odd() else "/>")

    def property(self, number: int) -> None:
        form, quad = self.form, self.quads[number]
        self.open_tag(*split_iri(quad.predicate.value))
        term = quad.object
        if isinstance(term, Literal):
            language = term.language or ""
            if term.datatype not in (STRING, LANG):
                self.scope_attributes()
                self.rdf("datatype", term.datatype.value, "iri", [number])
            elif not language and self.form.odd():
                self.rdf("datatype", STRING.value)
            elif language != self.tags[-1] or self.form.odd():
                self.attribute("xml:lang", language, "lang" if language else "sign", [number])
            if not term.value and form.even():
                self.empty()
                return
            self.close()
            self.text(term.value)
            self.end()
            return
        items = self.index.items(DefaultGraph(), term)
        if items is not None and form.even() and all(
            not isinstance(self.quads[first].object, Literal) for first, _ in items
        ):  # fmt: skip
            self.rdf("parseType", "Collection")
            self.close()
            for first, _ in items:
                self.gap()
                item = self.quads[first].object
                if item in self.index.nestable:
                    self.node(item)  # type: ignore[arg-type]
                else:
                    self.open_tag(RDF, "Description")
                    self.pointer(item, "about", "about", [first])
                    self.empty()
            self.gap()
            self.end()
        elif term in self.index.nestable:
            below = self.index.of(DefaultGraph(), term)
            if form.odd():
                self.rdf("parseType", "Resource")
                self.scope_attributes()
                self.close()
                for inner in form.shuffled(below):
                    self.gap()
                    self.property(inner)
                self.gap()
                self.end()
                return
            self.scope_attributes()
            self.close()
            self.gap()
            self.node(term)  # type: ignore[arg-type]
            self.gap()
            self.end()
        else:
            self.scope_attributes()
            self.pointer(term, "resource", "iri", [number])
            if form.even():
                self.close()
                if form.odd():
                    self.out.add("<!-- nothing -->")
                self.end()
            else:
                self.empty()

    def pointer(self, term: Term, name: str, kind: str, quads: list[int]) -> None:
        if isinstance(term, NamedNode):
            self.rdf(name, self.iri(term.value), kind, quads)
        else:
            self.rdf("nodeID", term.value, "label", quads)  # type: ignore[union-attr]

    def text(self, text: str) -> None:
        """Write a text in pieces: escaped, in CDATA, with comments and instructions between."""
        form = self.form
        while text:
            size = form.random.randint(1, len(text)) if form.odd() else len(text)
            piece, text = text[:size], text[size:]
            fits = self.escaped(piece, "") == piece.replace("\n", "\0") if not form.odd() else False
            if fits and form.odd() and "]]>" not in piece and "\r" not in piece:
                self.out.add("<![CDATA[" + piece.replace("\n", "\0") + "]]>")
            else:
                self.out.add(self.words(piece))
            if form.odd():
                self.out.add(form.one("<!-- note -->", "<?x y?>", "<![CDATA[]]>"))


def rdfxml(quads: Sequence[Quad], form: Form) -> Written:
    writer = _RdfXml(quads, form)
    writer.names = []
    return writer.write()


def trix(quads: Sequence[Quad], form: Form) -> Written:
    out = Written("trix", "application/trix")
    out.encoding = form.one("utf-8", "utf-16", "iso-8859-1")
    xml = _Markup(quads, form, out, html=False)
    if out.encoding == "iso-8859-1" or form.even():
        out.add(f'<?xml version="1.0" encoding="{out.encoding}"?>')
    p = form.one("", "", "t:")
    xml.gap()
    out.add(f"<{p}TriX")
    out.add(f' xmlns{":t" if p else ""}="http://www.w3.org/2004/03/trix/trix-1/"')
    xml.close()

    def element(
        name: str, text: str, kind: str, number: int, *attributes: tuple[str, str, str]
    ) -> None:
        xml.gap()
        out.add(f"<{p}{name}")
        for key, value, what in attributes:
            xml.attribute(key, value, what, [number])
        xml.close()
        if (
            name != "uri"
            and form.odd()
            and text
            and xml.escaped(text, "\r") == text
            and "]]>" not in text
        ):
            out.add(f"<![CDATA[{text}]]>")
        else:
            out.add(xml.words(text), kind, [number])
        out.add(f"</{p}{name}>")

    for graph in form.shuffled(xml.index.graphs()):
        xml.gap()
        out.add(f"<{p}graph>")
        numbers = [n for n, quad in enumerate(quads) if quad.graph_name == graph]
        if not isinstance(graph, DefaultGraph):
            xml.gap()
            out.add(f"<{p}uri>")
            out.add(xml.words(graph.value), "element", numbers)  # type: ignore[attr-defined]
            out.add(f"</{p}uri>")
        for number in form.shuffled(numbers):
            xml.gap()
            out.add(f"<{p}triple>")
            for term in quads[number].triple:
                if isinstance(term, NamedNode):
                    element("uri", term.value, "element", number)
                elif isinstance(term, BlankNode):
                    element("id", term.value, "sign", number)
                elif term.language:
                    element(
                        "plainLiteral",
                        term.value,
                        "sign",
                        number,
                        ("xml:lang", term.language, "lang"),
                    )
                elif term.datatype == STRING and form.even():
                    element("plainLiteral", term.value, "sign", number)
                else:
                    element(
                        "typedLiteral",
                        term.value,
                        "sign",
                        number,
                        (
                            "datatype",
                            term.datatype.value,
                            "sign" if term.datatype == STRING else "iri",
                        ),
                    )
            xml.gap()
            out.add(f"</{p}triple>")
        xml.gap()
        out.add(f"</{p}graph>")
    xml.gap()
    out.add(f"</{p}TriX>")
    return out


# --- JSON


@dataclass(frozen=True, eq=False)
class Leaf:
    """A string, number or constant of JSON that says a term."""

    value: object
    kind: str = "sign"
    quads: Owners = NOBODY


def json_string(text: str, form: Form) -> str:
    short = {
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        '"': '\\"',
        "\\": "\\\\",
        "/": "\\/",
    }
    result = []
    for sign in text:
        must = sign < " " or sign in '"\\'
        if not must and not form.odd():
            result.append(sign)
        elif sign in short and (form.even() or not form.odd()):
            result.append(short[sign])
        else:
            units = sign.encode("utf-16-be")
            result += [
                f"\\u{units[n]:02x}{units[n + 1]:02{form.one('x', 'X')}}"
                for n in range(0, len(units), 2)
            ]
    return '"' + "".join(result) + '"'


def write_json(value: object, out: Written, form: Form) -> None:
    """Write a value with dictionaries in random order, minified or pretty."""

    def space() -> None:
        if form.odd():
            out.add(form.one(" ", "\0", "\t", "  "))
        elif not form.minified:
            out.add("\0 ")

    if isinstance(value, Leaf):
        text = json_string(value.value, form) if isinstance(value.value, str) else str(value.value)
        out.add(text, value.kind, value.quads)
    elif isinstance(value, dict):
        out.add("{")
        for place, (key, inner) in enumerate(form.shuffled(value.items())):
            if place:
                out.add(",")
            space()
            write_json(key, out, form)
            if form.odd():
                space()
            out.add(":")
            if form.odd() or not form.minified:
                out.add(" ")
            write_json(inner, out, form)
        space()
        out.add("}")
    elif isinstance(value, list):
        out.add("[")
        for place, inner in enumerate(value):
            if place:
                out.add(",")
            space()
            write_json(inner, out, form)
        space()
        out.add("]")
    elif isinstance(value, str):
        out.add(json_string(value, form))
    else:
        out.add({None: "null", True: "true", False: "false"}[value])  # type: ignore[index]


class _JsonLd:
    """Writes expanded or compacted JSON-LD with a context of its own."""

    def __init__(self, quads: Sequence[Quad], form: Form) -> None:
        self.quads, self.form, self.index = quads, form, Index(quads, form)
        self.context: dict[str, object] = {}
        self.prefixes: dict[str, str] = {}
        self.vocab, self.language, self.base = "", "", URL
        self.terms: dict[NamedNode, list[tuple[str, str]]] = {}
        self.aliases: dict[str, str] = {}
        self.written: set[tuple[object, Node]] = set()
        if form.random.random() < 0.8:
            self.make_context()

    def make_context(self) -> None:
        form, context = self.form, self.context
        if form.odd():
            self.base = form.one("http://h.example/dir/", "http://x.example/a/b")
            context["@base"] = self.base
        if form.odd():
            self.vocab = form.one(EX, "http://x.example/vocab/")
            context["@vocab"] = self.vocab
        if form.odd():
            self.language = form.one("en", "de")
            context["@language"] = self.language
        if form.odd():
            context["@version"] = Leaf(1.1)
        for name, space in (
            ("ex", EX),
            ("x", "http://x.example/"),
            ("a b", XSD),
            ("é", "http://x.example/vocab/"),
        ):
            if form.even():
                self.prefixes[name] = space
                context[name] = space
        for keyword in ("@id", "@type", "@value", "@graph", "@language", "@list"):
            if form.odd():
                alias = form.one(keyword[1:], f"my {keyword[1:]}", keyword[1:].upper())
                if alias not in context:
                    self.aliases[keyword] = alias
                    context[alias] = keyword
        for predicate in PREDICATES:
            for kind in ("", "@id", "@set", "@vocab", "date", "en", "none", "@language", "@list"):
                if not form.odd() and (kind or form.even()):
                    continue
                local = re.split("[#/:]", predicate.value)[-1]
                name = form.one(
                    local,
                    f"{local} {kind}",
                    f'{local}"{kind}',
                    f"{local}\\{kind}",
                    f"{local}é{kind}",
                )
                if name in context or name.startswith("@"):
                    continue
                definition: dict[str, object] = {
                    "@id": self.compact(predicate.value, vocab=True, defining=True)
                }
                if kind in ("@id", "@vocab"):
                    definition["@type"] = kind
                elif kind == "date":
                    definition["@type"] = XSD + "date"
                elif kind in ("en", "none"):
                    definition["@language"] = kind if kind == "en" else None
                elif kind:
                    definition["@container"] = [kind] if form.odd() else kind
                context[name] = definition if kind or form.even() else definition["@id"]
                self.terms.setdefault(predicate, []).append((name, kind))

    def keyword(self, keyword: str) -> str:
        return self.aliases.get(keyword, keyword) if self.form.random.random() < 0.9 else keyword

    def compact(self, iri: str, *, vocab: bool = False, defining: bool = False) -> str:
        options = [iri]
        for name, space in self.prefixes.items():
            rest = iri.removeprefix(space)
            if (
                iri.startswith(space)
                and not rest.startswith("//")
                and f"{name}:{rest}" not in self.context
            ):
                options.append(f"{name}:{rest}")
        if vocab and self.vocab and iri.startswith(self.vocab) and not defining:
            rest = iri[len(self.vocab) :]
            if rest not in self.context and ":" not in rest and rest:
                options.append(rest)
        if not vocab:
            folder = self.base.rpartition("/")[0] + "/"
            rest = iri.removeprefix(folder)
            if iri.startswith(folder) and re.fullmatch(r"\w[^:]*", rest):
                options.append(rest)
        return self.form.one(*options)

    def write(self) -> Written:
        form = self.form
        out = Written("jsonld", "application/ld+json")
        out.newline = form.one("\n", "\n", "\r\n", "\r")
        out.encoding = form.one("utf-8", "utf-8", "utf-8-sig")
        top: list[object] = []
        for graph in form.shuffled(self.index.graphs()):
            nodes = [
                self.node(graph, root) for root in form.shuffled(self.index.roots(graph))
                if (graph, root) not in self.written
            ]  # fmt: skip
            if isinstance(graph, DefaultGraph):
                top += nodes
            else:
                numbers = [n for n, quad in enumerate(self.quads) if quad.graph_name == graph]
                top.append({
                    self.keyword("@id"): self.id(graph, numbers),  # type: ignore[arg-type]
                    self.keyword("@graph"): nodes if len(nodes) != 1 or form.even() else nodes[0],
                })  # fmt: skip
        value: object
        if len(top) == 1 and form.even() and isinstance(top[0], dict):
            value = top[0]
            if self.context:
                value["@context"] = self.wrapped()  # type: ignore[index]
        elif self.context or form.even():
            value = {self.keyword("@graph"): top}
            if self.context:
                value["@context"] = self.wrapped()
        else:
            value = top
        if form.odd():
            out.add("\0")
        write_json(value, out, form)
        return out

    def wrapped(self) -> object:
        return [{}, self.context] if self.form.odd() else self.context

    def id(self, term: Node, numbers: Iterable[int]) -> Leaf:
        if isinstance(term, BlankNode):
            return Leaf(f"_:{term.value}", "label", frozenset(numbers))
        return Leaf(self.compact(term.value), "id", frozenset(numbers))

    def node(self, graph: object, node: Node, link: Owners = NOBODY) -> dict[object, object]:
        """Return a node, which the quads ``link`` lead to."""
        self.written.add((graph, node))
        numbers = self.index.of(graph, node)
        result: dict[object, object] = {}
        if not isinstance(node, BlankNode) or (
            node not in self.index.nestable and (node not in self.index.unnamed or self.form.even())
        ):
            result[self.keyword("@id")] = self.id(node, {*numbers, *link})
        for predicate, own in self.index.by_predicate(numbers):
            if predicate == TYPE:
                values: list[object] = []
                for number in own:
                    term = self.quads[number].object
                    text = (
                        self.compact(term.value, vocab=True)
                        if isinstance(term, NamedNode)
                        else f"_:{term.value}"
                    )
                    values.append(
                        Leaf(
                            text,
                            "class" if isinstance(term, NamedNode) else "label",
                            frozenset([number]),
                        )
                    )
                result[self.keyword("@type")] = (
                    values[0] if len(values) == 1 and self.form.even() else values
                )
                continue
            rest = list(own)
            for name, kind in self.form.shuffled(self.terms.get(predicate, [])):
                fitting = [n for n in rest if self.fits(graph, n, kind)]
                if not fitting or (kind == "@list" and len(fitting) > 1):
                    continue
                rest = [n for n in rest if n not in fitting]
                result[name] = self.coerced(graph, fitting, kind)
            if rest:
                values = [self.value(graph, number, None) for number in rest]
                key = self.compact(predicate.value, vocab=True)
                result[Leaf(key, "key", frozenset(rest))] = (
                    values[0] if len(values) == 1 and self.form.even() else values
                )
        return result

    def fits(self, graph: object, number: int, kind: str) -> bool:
        term = self.quads[number].object
        if kind in ("@id", "@vocab", "date", "", "none", "en", "@set"):
            return kind not in ("en", "none") or isinstance(term, Literal) or self.form.even()
        if kind == "@language":
            return isinstance(term, Literal) and bool(term.language)
        return self.index.items(graph, term) is not None

    def coerced(self, graph: object, numbers: list[int], kind: str) -> object:
        if kind == "@language":
            by_tag: dict[object, list[object]] = {}
            for number in numbers:
                term = self.quads[number].object
                by_tag.setdefault(term.language, []).append(
                    Leaf(term.value, "string", frozenset([number]))
                )  # type: ignore[union-attr]
            return {
                tag: v[0] if len(v) == 1 and self.form.even() else v for tag, v in by_tag.items()
            }
        if kind == "@list":
            items = self.index.items(graph, self.quads[numbers[0]].object) or []
            return [self.value(graph, first, None) for first, _ in items]
        values = [self.value(graph, number, kind) for number in numbers]
        return values[0] if len(values) == 1 and self.form.even() else values

    def value(self, graph: object, number: int, kind: str | None) -> object:
        """Return the value of a property, coerced by its term's ``kind`` (None: no term)."""
        form, term, owners = self.form, self.quads[number].object, frozenset([number])
        if not isinstance(term, Literal):
            items = self.index.items(graph, term)
            if items is not None and form.even():
                return {
                    self.keyword("@list"): [self.value(graph, first, kind) for first, _ in items]
                }
            if term in self.index.nestable or (
                self.index.of(graph, term) and (graph, term) not in self.written and form.odd()
            ):
                return self.node(graph, term, owners)  # type: ignore[arg-type]
            leaf = self.id(term, owners)  # type: ignore[arg-type]
            if kind == "@id" and form.even():
                return leaf
            if kind == "@vocab" and isinstance(term, NamedNode) and form.even():
                return Leaf(self.compact(term.value, vocab=True), "id", owners)
            return {self.keyword("@id"): leaf}
        coerced = {"@id": "?", "@vocab": "?", "date": XSD + "date", "en": "en", "none": ""}.get(
            kind or "", self.language
        )
        if kind == "date" and term.datatype.value == coerced and form.even():
            return Leaf(term.value, "string", owners)
        plain = (
            term.datatype in (STRING, LANG)
            and (term.language or "") == coerced
            and coerced != "?"
            and kind != "date"
        )
        if plain and form.even():
            return Leaf(term.value, "string", owners)
        native = re.fullmatch("-?[1-9][0-9]*|0|true|false", term.value)
        if native and term.datatype.value == XSD + (
            "boolean" if term.value in ("true", "false") else "integer"
        ):
            value: object = {"true": True, "false": False}.get(term.value)
            value = value if value is not None else Leaf(int(term.value), "sign", owners)
            if kind != "date" and coerced != "?" and form.even():
                return value
            if form.even():
                return {self.keyword("@value"): value}
        if term.datatype.value == XSD + "double" and term.value == "1.5E0" and form.even():
            return {self.keyword("@value"): Leaf(1.5, "sign", owners)}
        result: dict[object, object] = {self.keyword("@value"): Leaf(term.value, "string", owners)}
        if term.language:
            tag = term.language.upper() if form.odd() else term.language
            result[self.keyword("@language")] = Leaf(tag, "lang", owners)
        elif term.datatype != STRING or form.odd():
            result[self.keyword("@type")] = Leaf(
                self.compact(term.datatype.value, vocab=True), "class", owners
            )
        return result


def jsonld(quads: Sequence[Quad], form: Form) -> Written:
    return _JsonLd(quads, form).write()


def rdfjson(quads: Sequence[Quad], form: Form) -> Written:
    """Write RDF/JSON (Talis)."""
    out = Written("rdfjson", "application/rdf+json")
    index = Index(quads, form)
    top: dict[object, object] = {}

    def name(term: object) -> str:
        return f"_:{term.value}" if isinstance(term, BlankNode) else term.value  # type: ignore[attr-defined]

    for graph in index.graphs():
        for subject in [s for g, s in index.by_subject if g == graph]:
            numbers = index.of(graph, subject)
            node: dict[object, object] = {}
            for predicate, own in index.by_predicate(numbers):
                values: list[object] = []
                for n in own:
                    term, owners = quads[n].object, frozenset([n])
                    kind = (
                        "literal"
                        if isinstance(term, Literal)
                        else "bnode"
                        if isinstance(term, BlankNode)
                        else "uri"
                    )
                    value: dict[object, object] = {"type": kind, "value": name(term)}
                    if kind == "uri":
                        value["value"] = Leaf(term.value, "iri", owners)  # type: ignore[union-attr]
                    if isinstance(term, Literal) and term.language:
                        value["lang"] = Leaf(term.language, "lang", owners)
                    elif isinstance(term, Literal) and term.datatype != STRING:
                        value["datatype"] = Leaf(term.datatype.value, "iri", owners)
                    values.append(value)
                node[Leaf(predicate.value, "iri", frozenset(own))] = values
            kind = "sign" if isinstance(subject, BlankNode) else "iri"
            top[Leaf(name(subject), kind, frozenset(numbers))] = node
    write_json(top, out, form)
    return out


# --- pages


class _Page(_Markup):
    """A page around the data, in one of the encodings of the Web."""

    def __init__(self, quads: Sequence[Quad], form: Form, name: str) -> None:
        out = Written(name, "text/html", embedded=True)
        out.encoding = form.one(
            "utf-8", "utf-8", "utf-8", "utf-8-sig", "windows-1252", "shift_jis", "gb18030", "koi8_r"
        )
        super().__init__(quads, form, out, html=True)
        out.newline = form.one("\n", "\n", "\r\n")
        self.labels = {
            "windows-1252": form.one("iso-8859-1", "windows-1252", "latin1", "us-ascii"),
            "shift_jis": form.one("shift_jis", "x-sjis", "Shift-JIS"),
            "gb18030": form.one("gb2312", "gbk", "gb18030"), "koi8_r": form.one("koi8-r", "koi"),
        }  # fmt: skip

    def escaped(self, text: str, must: str) -> str:
        # what Python and browsers decode in the same way
        if self.out.encoding not in ("utf-8", "utf-8-sig"):
            must += "".join(sign for sign in text if sign >= "\x80" and sign not in "é東–") + "\\~"
        return super().escaped(text, must)

    def head(self) -> None:
        form, out = self.form, self.out
        if form.even():
            out.add(
                form.one(
                    "<!DOCTYPE html>",
                    "<!doctype html>",
                    "<!DOCTYPE html SYSTEM 'about:legacy-compat'>",
                )
            )
        self.gap()
        out.add(form.one("<html>", '<html dir="ltr">', "<HTML>"))
        if form.odd():
            out.add("<head>")
        label = self.labels.get(out.encoding, "utf-8")
        label = label.upper() if form.odd() else label
        out.add(form.one(
            f'<meta charset="{label}">', f"<meta charset={label} />",
            f'<meta http-equiv="Content-Type" content="text/html; charset={label}">',
            f"<META content='text/html;charset={label}' HTTP-EQUIV=content-type>",
        ))  # fmt: skip
        out.add("<title>A page</title>")

    def tag(self, name: str) -> str:
        return name.upper() if self.form.odd() else name


class _Rdfa(_Page):
    def write(self) -> Written:
        form, out = self.form, self.out
        self.head()
        out.add("<body")
        self.prefixes = {"ex": EX, "x": "http://x.example/", "xsd": XSD}
        if form.even():
            gap = form.one(" ", "\n", "  ")
            self.attribute(
                "prefix", gap.join(f"{name}: {space}" for name, space in self.prefixes.items())
            )
        elif form.even():
            for name, space in self.prefixes.items():
                self.attribute(f"xmlns:{name}", space)
        else:
            self.prefixes = {"xsd": XSD}
        self.vocab = ""
        if form.odd():
            self.vocab = EX
            self.attribute("vocab", EX)
        self.lang = ""
        if form.odd():
            self.lang = form.one("en", "de")
            self.attribute("lang", self.lang)
        self.close()
        for root in form.shuffled(self.index.roots(DefaultGraph())):
            self.gap()
            out.add("<div")
            self.resource(form.one("about", "resource"), root, self.index.of(DefaultGraph(), root))
            self.body(root, "div")
        self.gap()
        out.add(form.one("</body></html>", "", "</BODY>"))
        return out

    def curie(self, iri: str) -> str:
        options = [iri]
        for name, space in self.prefixes.items():
            rest = iri.removeprefix(space)
            if iri.startswith(space) and rest and not rest.startswith("//"):
                options += [f"{name}:{rest}"] * 2
        return self.form.one(*options)

    def term(self, iri: str) -> str:
        rest = iri.removeprefix(self.vocab)
        if (
            self.vocab
            and iri.startswith(self.vocab)
            and _NCNAME.fullmatch(rest)
            and self.form.even()
        ):
            return rest
        return self.curie(iri)

    def resource(self, name: str, term: Term, quads: Iterable[int], kind: str = "resource") -> None:
        if isinstance(term, BlankNode):
            label = f"_:{term.value}"
            if term not in self.index.unnamed or self.form.even():
                self.attribute(name, f"[{label}]" if self.form.odd() else label, "sign", quads)
            else:
                self.attribute("typeof", "")
            return
        iri = term.value  # type: ignore[union-attr]
        text = self.curie(iri)
        if (
            text == iri
            and name != "href"
            and self.form.odd()
            and iri.startswith("http://h.example/dir/o")
        ):
            text = "other"
        self.attribute(name, text, kind if text == iri else "sign", quads)

    def body(self, node: Node, name: str) -> None:
        """Write the statements of a node whose tag is still open."""
        form, out = self.form, self.out
        numbers = form.shuffled(self.index.of(DefaultGraph(), node))
        types = [
            n
            for n in numbers
            if self.quads[n].predicate == TYPE and isinstance(self.quads[n].object, NamedNode)
        ]
        if types and form.even() and "typeof" not in out.tokens[-2].text.lower():
            self.attribute("typeof", form.one(" ", "\n", "  ").join(
                self.term(self.quads[n].object.value) for n in types  # type: ignore[union-attr]
            ))  # fmt: skip
            numbers = [n for n in numbers if n not in types]
        self.close()
        for number in numbers:
            self.gap()
            self.property(number)
        self.gap()
        out.add(f"</{name}>")

    def property(self, number: int) -> None:
        form, out, quad = self.form, self.out, self.quads[number]
        term, key = quad.object, self.term(quad.predicate.value)
        if isinstance(term, Literal):
            name = form.one("span", "p", "b", "meta", "td" if form.odd() else "h2")
            out.add(f"<{self.tag(name)}")
            typed = term.datatype not in (STRING, LANG)
            parts: list[tuple[str, str, str]] = [
                ("property", key, "property" if ":" in key else "sign")
            ]
            if typed:
                parts.append(("datatype", self.term(term.datatype.value), "iri"))
            elif term.language and (term.language != self.lang or form.even()):
                parts.append((form.one("lang", "lang", "lang"), term.language, "lang"))
            elif not term.language and self.lang:
                parts.append(
                    form.one(
                        ("lang", "", "sign"),
                        ("datatype", "xsd:string", "sign"),
                    )
                )
            content = name == "meta" or form.odd() or "\0" in term.value
            if content:
                parts.append(("content", term.value, "sign"))
            for key_, value, kind in form.shuffled(parts):
                self.attribute(key_, value, kind, [number])
            self.close()
            if name == "meta":
                return
            if not content:
                self.text(term.value)
            elif form.even():
                out.add("other <i>text</i>")
            out.add(f"</{name}>")
            return
        if term in self.index.nestable:
            out.add("<div")
            if form.even():
                self.attribute("rel", key, "property" if ":" in key else "sign", [number])
                self.close()
                out.add("<div")
                self.attribute("typeof", "")
                self.body(term, "div")  # type: ignore[arg-type]
                out.add("</div>")
            else:
                self.attribute("property", key, "property" if ":" in key else "sign", [number])
                self.attribute("typeof", "")
                self.body(term, "div")  # type: ignore[arg-type]
            return
        name = form.one("a", "link", "span", "img")
        out.add(f"<{self.tag(name)}")
        self.attribute(
            form.one("rel", "property") if ":" in key else "property",
            key,
            "property" if ":" in key else "sign",
            [number],
        )
        if isinstance(term, NamedNode) and name != "span" and form.even():
            self.attribute("src" if name == "img" else "href", term.value, "href", [number])
        else:
            self.resource("resource", term, [number])
        self.close()
        if name not in ("link", "img"):
            out.add("x" if form.even() else "")
            out.add(f"</{name}>")

    def text(self, text: str) -> None:
        """Write text with markup and comments between."""
        form = self.form
        while text:
            size = form.random.randint(1, len(text)) if form.odd() else len(text)
            piece, text = text[:size], text[size:]
            piece = self.words(piece)
            self.out.add(
                form.one(f"<i>{piece}</i>", f"<!-- x -->{piece}", piece) if form.odd() else piece
            )


def rdfa(quads: Sequence[Quad], form: Form) -> Written:
    return _Rdfa(quads, form, "rdfa").write()


class _Microdata(_Page):
    """Data sets without lists whose literals are strings, whose types are the one vocabulary's."""

    def write(self) -> Written:
        form, out = self.form, self.out
        self.head()
        out.add("<body")
        self.lang = ""
        self.close()
        self.index = Index(self.quads, form, 1)
        for root in form.shuffled(self.index.roots(DefaultGraph())):
            self.gap()
            out.add("<div")
            self.item(root)
        out.add(form.one("</body></html>", ""))
        return out

    def item(self, node: Node) -> None:
        form, out = self.form, self.out
        numbers = form.shuffled(self.index.of(DefaultGraph(), node))
        self.attribute("itemscope", "")
        types = [n for n in numbers if self.quads[n].predicate == TYPE]
        if isinstance(node, NamedNode) and types:
            self.attribute("itemid", node.value, "href", numbers)
        if types:
            text = form.one(" ", "\n").join(self.quads[n].object.value for n in types)  # type: ignore[union-attr]
            self.attribute("itemtype", text)
        self.close()
        for number in numbers:
            if number not in types:
                self.gap()
                self.property(number)
        self.gap()
        out.add("</div>")

    def property(self, number: int) -> None:
        form, out, quad = self.form, self.out, self.quads[number]
        term = quad.object
        if isinstance(term, Literal):
            name = form.one("span", "p", "meta", "b", "h3")
            out.add(f"<{self.tag(name)}")
            self.attribute("itemprop", quad.predicate.value, "property", [number])
            if term.language:
                self.attribute("lang", term.language)
            if name == "meta":
                self.attribute("content", term.value)
                self.close()
                return
            self.close()
            out.add(self.words(term.value))
            out.add(f"</{name}>")
        elif term in self.index.nestable:
            out.add("<div")
            self.attribute("itemprop", quad.predicate.value, "property", [number])
            self.item(term)  # type: ignore[arg-type]
        else:
            name = form.one("a", "link", "img", "area", "object", "iframe")
            out.add(f"<{self.tag(name)}")
            self.attribute("itemprop", quad.predicate.value, "property", [number])
            where = {"img": "src", "iframe": "src", "object": "data"}.get(name, "href")
            self.attribute(where, term.value, "href", [number])
            self.close()
            if name in ("a", "object", "iframe"):
                out.add(f"</{name}>")


def microdata(quads: Sequence[Quad], form: Form) -> Written:
    return _Microdata(quads, form, "microdata").write()


def in_script(
    quads: Sequence[Quad], form: Form, inner: Callable[[Sequence[Quad], Form], Written]
) -> Written:
    """Write a page with a script element that holds what ``inner`` writes."""
    page = _Page(quads, form, "script")
    page.out.encoding = "utf-8"
    written = inner(quads, form)
    written.encoding = "utf-8"
    out = Written(written.name, "text/html", embedded=True, newline=page.out.newline)
    page.out = out
    page.head()
    quote = form.one('"', "'", "") if "+" not in written.content_type else '"'
    media = written.content_type.upper() if form.odd() else written.content_type
    media += form.one("; charset=utf-8", "") if quote and form.odd() else ""
    out.add(f"<script type={quote}{media}{quote}>")
    # what would end or change the script is escaped by every publisher
    out.tokens += [
        Token(
            token.text.replace("<!--", "<\\u0021--").replace("</", "<\\u002F"),
            token.kind,
            token.quads,
        )
        for token in written.tokens
    ]
    out.add("</script><p>x")
    return out


def turtle_in_script(quads: Sequence[Quad], form: Form) -> Written:
    return in_script(quads, form, turtle)


def jsonld_in_script(quads: Sequence[Quad], form: Form) -> Written:
    return in_script(quads, form, jsonld)


# --- damage


def _inserted(sign: str, code: str) -> Callable[[str], Damage]:
    """Return what puts a sign that no IRI has at an IRI's end."""

    def spoil(text: str) -> Damage:
        place = len(text) - 1  # no escape is cut in two
        return Damage(text[:place] + sign + text[place:], lambda line: _plain(line, code))

    return spoil


def _plain(line: str, code: str) -> str:
    """Return a line without the code of a sign; a literal with the datatype of strings is one."""
    return line.replace(code, "").replace("^^<http://www.w3.org/2001/XMLSchema#string>", "")


_ODD = (("|", "%7C"), ("{", "%7B"), ("}", "%7D"), ("^", "%5E"), (" ", "%20"))
_Spoil = Callable[[str], list[Damage]]


def _odd_iri(text: str) -> list[Damage]:
    """Insert a sign that no IRI has; a reader may mend it with certainty."""
    return [_inserted(sign, code)(text) for sign, code in _ODD]


def _texts(*changes: str) -> _Spoil:
    """Return what puts a token between the parts of a text, ``*`` for the token itself."""
    return lambda text: [Damage(change.replace("*", text)) for change in changes]


def _locale(text: str) -> Damage:
    """Write a language as the name of a locale, as which a reader may understand it."""
    return Damage("@en_US", lambda line: line.replace("@en-us", text.lower()))


def _escape(text: str) -> list[Damage]:
    size = 3 if text[:3] in ('"""', "'''") else 1
    return [Damage(text[:size] + "\\q" + text[size:])]


_TURTLE: dict[str, _Spoil] = {
    "iri": lambda text: [*_odd_iri(text), _inserted("`", "%60")(text)],
    "name": lambda text: [
        Damage("nowhere:" + text.partition(":")[2]),
        # an object with ~ after it would be sound: it has a reifier
        *_texts("*/x", "*%zz", "*$", "*–x", "*^x", "*\\x")(text),
    ],
    "string": _escape,
    "lang": lambda text: [_locale(text), *_texts("@1", "@en--", "@en-", "@en/x")(text)],
    "number": _texts("*.3.4", "*x", "*-04-25", "*_"),
    "boolean": _texts("*ly", "*-", "True"),
    "keyword": _texts("an", "A"),
    "label": _texts("_:-x", "*/x", "*$"),
}
_LINES: dict[str, _Spoil] = {
    "iri": lambda text: [*_TURTLE["iri"](text), Damage("<>x")],
    "string": lambda text: [*_escape(text), Damage(text + '"'), Damage(text[:-1])],
    "lang": lambda text: [_locale(text), *_texts("@1", "@")(text)],
    "label": _texts("_:", "_:-x", "x:y"),
}
DAMAGES: dict[str, dict[str, _Spoil]] = {
    "turtle": _TURTLE,
    "trig": _TURTLE,
    "n3": _TURTLE,
    "ntriples": _LINES,
    "nquads": _LINES,
    "rdfxml": {"iri": _odd_iri, "lang": _texts("'-'", '"e n"')},
    "trix": {
        # white space at the end says nothing
        "element": lambda text: [_inserted(sign, code)(text + " ") for sign, code in _ODD[:-1]],
        "iri": _odd_iri,
        "lang": _texts('"-"', '"e n"'),
    },
    "jsonld": {"id": _odd_iri, "class": _odd_iri, "lang": _texts('"-"', '"e n"', "5")},
    "rdfjson": {"iri": _odd_iri, "lang": _texts('"-"', '"e n"', "5")},
    "rdfa": {
        "href": _texts('"http://[/"'),
        "iri": _texts('"http://[/"'),
        # the text stays, in no language
        "lang": lambda text: [
            Damage(tag, lambda line: re.sub("@[a-z-]+$", "", line)) for tag in ('"e n"', "'-'")
        ],
    },
    "microdata": {"href": _texts('"http://[/"')},
}

WRITERS: dict[str, Callable[[Sequence[Quad], Form], Written]] = {
    "turtle": turtle, "trig": trig, "n3": n3, "ntriples": ntriples, "nquads": nquads,
    "rdfxml": rdfxml, "trix": trix, "jsonld": jsonld, "rdfjson": rdfjson, "rdfa": rdfa,
    "microdata": microdata, "turtle in a script": turtle_in_script,
    "JSON-LD in a script": jsonld_in_script,
}  # fmt: skip


def data_for(name: str) -> st.SearchStrategy[list[Quad]]:
    """Data sets that the writer ``name`` can write."""
    if name == "microdata":
        return microdata_sets()
    return datasets(
        graphs=name in ("trig", "nquads", "jsonld", "JSON-LD in a script"),
        xml=name in ("rdfxml", "rdfa", "trix"),
        lists=name != "microdata",
    )


@st.composite
def microdata_sets(draw: st.DrawFn) -> list[Quad]:
    """Trees of typed items with names or without, links and texts."""
    quads: list[Quad] = []
    names = iter(NAMES)
    blanks = (BlankNode(f"i{n}") for n in range(99))
    strings = st.one_of(
        texts(xml=True).map(Literal),
        st.builds(
            lambda text, tag: Literal(text, language=tag), texts(xml=True), st.sampled_from(TAGS)
        ),
    )

    def item(depth: int) -> Node:
        node: Node = next(names) if depth == 0 and draw(st.booleans()) else next(blanks)
        quads.append(Quad(node, TYPE, draw(st.sampled_from(CLASSES[:2]))))
        for predicate in draw(st.lists(st.sampled_from(PREDICATES), max_size=4, unique=True)):
            choice = draw(st.integers(0, 3 if depth < 2 else 2))
            value: Term = (
                draw(strings)
                if choice < 2
                else draw(st.sampled_from(NAMES))
                if choice == 2
                else item(depth + 1)
            )
            quads.append(Quad(node, predicate, value))
        return node

    for _ in range(draw(st.integers(1, 2))):
        item(0)
    return quads
