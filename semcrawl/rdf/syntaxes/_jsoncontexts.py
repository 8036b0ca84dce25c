"""Reads JSON-LD contexts and defines their terms (JSON-LD 1.1 API, sections 4 and 5).

Nothing is loaded from the network. Contexts come from a local table (schema.org's and some of the
W3C's) or from the caller; what is missing is reported, so that a crawler can fetch it under its own
rules and read the document again.

A term is defined when it is first used, so that only what a document uses of a large context costs
time. A wrong definition costs the statements with its term. Beside a missing context, only the
terms that the other contexts define have a meaning.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Any, NamedTuple

from semcrawl.rdf.limits import LimitReached
from semcrawl.rdf.patterns import re
from semcrawl.rdf.syntaxes._jsontext import CutObject, JsonText
from semcrawl.rdf.terms import RDF, XSD, Base, has_scheme, is_iri, language_tag, mended_iri

KEYWORDS = frozenset(
    "@base @container @context @direction @graph @id @import @included @index @json @language @list"
    " @nest @none @prefix @propagate @protected @reverse @set @type @value @version @vocab".split()
)
_KEYWORD_FORM = re.compile(r"@[A-Za-z]+\Z")
_DEFINITION_KEYS = frozenset(
    "@id @reverse @container @context @direction @index @language @nest @prefix @protected @type"
    .split()
)  # fmt: skip
_CONTAINERS = frozenset({"@list", "@set", "@index", "@language", "@graph", "@id", "@type"})
_GRAPH_CONTAINERS = (frozenset({"@graph", "@id"}), frozenset({"@graph", "@index"}))
_CONTEXT_KEYS = frozenset(
    "@base @direction @import @language @propagate @protected @version @vocab".split()
)
_GEN_DELIMS = ":/?#[]@"
#: spellings of schema.org's context that can mean nothing else: a wrong or no scheme, a host of one
#: of its sections, a term's address, and the host in Google's documentation
_SCHEMA_ORG = re.compile(
    r"(?:(?:https?[:/]*+|//)?(?:(?:www|auto|bib|health-lifesci|iot|meta|pending)\.)?schema\.org\.?"
    r"|https?://schema\.googleapis\.com)"
    r"(?:/+(?:docs/jsonldcontext\.json(?:ld)?|(?P<term>[A-Za-z][A-Za-z0-9]*))?/*)?(?:[#?].*)?\Z",
    re.IGNORECASE | re.DOTALL,
)
_MAX_CHAIN = 16
_MAX_CONTEXTS = 20_000
#: layers of definitions after which they are put together, as a search visits each
_MAX_LAYERS = 64
#: meanings that a context remembers, and characters of a name in it
_MAX_REMEMBERED, _MAX_NAME = 50_000, 200
#: characters from which an IRI counts towards the growth of a document
LONG = 1000
#: bytes of a context that is kept for other documents
_MAX_KEPT = 1 << 20
#: schemes of IRIs that no one declares as prefixes
_SCHEMES = frozenset({"data", "did", "info", "mailto", "tag", "tel", "urn"})
_UNSET: Any = object()
#: stands for what follows a string whose language is not known
UNKNOWN = "@?"


class Doubt(Exception):  # noqa: N818 - an answer, not a failure
    """What a name means is not certain; the message says why."""


class Growth:
    """Bounds the characters that contexts add to a document."""

    def __init__(self, limit: int) -> None:
        """Allow ``limit`` characters."""
        self._left = limit

    def add(self, size: int) -> None:
        """Count characters. Raises :class:`LimitReached`."""
        self._left -= size
        if self._left < 0:
            raise LimitReached("the contexts of the document grow too large")


class Term:
    """What a key means."""

    __slots__ = (
        "base_url", "coerce", "container", "context", "fault", "has_context", "index", "iri",
        "keyword", "language", "mended", "plain", "predicate", "prefix", "protected", "reverse",
        "suffix", "type",
    )  # fmt: skip

    def __init__(self, iri: str | None = None, keyword: str = "", fault: str = "") -> None:
        """Mean ``iri``, a keyword, or nothing."""
        #: IRI, keyword or blank node; ``None``: the key says nothing
        self.iri = iri
        self.keyword = keyword
        #: why statements with this key are left out
        self.fault = fault
        #: the IRI as a term of N-Triples, if it can be a property
        self.predicate = ""
        #: what was mended in the IRI or the language
        self.mended = ""
        self.prefix = self.protected = self.reverse = False
        self.container: frozenset[str] = frozenset()
        #: datatype or keyword that values are coerced to
        self.type = ""
        #: language of values: ``None`` for none, unset for the context's default
        self.language: str | None = _UNSET
        #: property of the keys of an index
        self.index = ""
        #: context of the values, and what its URLs are resolved against
        self.context: Any = None
        self.has_context = False
        self.base_url = ""
        #: whether values need no more than :attr:`coerce` and :attr:`suffix`
        self.plain = True
        #: how strings are read: 0 as literals, 1 as IRIs, 2 as terms or IRIs
        self.coerce = 0
        #: what follows a literal's quotation mark; ``None``: the context's default
        self.suffix: str | None = None

    def says_the_same_as(self, other: Term) -> bool:
        """Whether the definitions are equal but for their protection."""
        names = (
            "iri", "prefix", "reverse", "container", "type", "language", "index", "fault",
            "context", "has_context",
        )  # fmt: skip
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def complete(self, growth: Growth) -> Term:
        """Derive what reading values needs; return the term."""
        iri = self.iri
        if iri is None or self.keyword:
            return self
        if iri.startswith("_:"):
            self.fault = f"a blank node as a property: {iri[:200]}"
        elif is_iri(iri):
            self.predicate = f"<{iri}>"
        elif (mended := mended_iri(iri)) is not None:
            self.predicate = f"<{mended}>"
            self.mended = f"the IRI {iri[:200]!r} was mended"
        else:
            self.fault = f"{iri[:200]!r} is no IRI"
        if len(iri) > LONG:
            growth.add(len(iri))
        if self.type in ("@id", "@vocab"):
            self.coerce = 1 if self.type == "@id" else 2
        elif self.type and self.type[0] != "@":
            self.suffix = datatype_suffix(self.type)
            if self.suffix is None:
                self.fault = f"{self.type[:200]} cannot be the datatype of a string"
        if self.language is not _UNSET and self.suffix is None:
            self.suffix = f"@{self.language}" if self.language else ""
        inner = self.container - {"@set"}
        self.plain = not (inner or self.reverse or self.has_context or self.mended) and (
            self.type != "@json"
        )
        return self


@lru_cache(maxsize=4096)
def datatype_suffix(datatype: str) -> str | None:
    """Return what follows the quotation mark of a literal; ``None``: it cannot be a datatype."""
    if datatype == XSD + "string":
        return ""
    if datatype in _NEEDS_MORE or not is_iri(datatype):
        return None
    return f"^^<{datatype}>"


#: datatypes of literals with a language
_NEEDS_MORE = frozenset({RDF + "langString", RDF + "dirLangString"})
_KEYWORD_TERMS = {name: Term(name, name) for name in KEYWORDS}


class _Wrong(Exception):  # noqa: N818 - an answer, not a failure
    """What is wrong with a definition."""


class Context:
    """An active context: a layer of definitions upon those of the context before it."""

    def __init__(self, base: Base | None, growth: Growth, parent: Context | None = None) -> None:
        """Begin with nothing but ``base``, or with what ``parent`` defines."""
        self.base = base
        self.parent = parent
        self.growth = growth
        #: definitions of this layer, and what their URLs are resolved against
        self.local: Mapping[str, Any] = {}
        self.base_url = ""
        #: whether this layer may define protected terms again
        self.overrides = False
        self.vocab: str | None = parent.vocab if parent else None
        #: what is wrong with ``@vocab``
        self.vocab_fault: str = parent.vocab_fault if parent else ""
        #: what follows the quotation mark of a string without a type
        self.suffix: str = parent.suffix if parent else ""
        #: the context that holds again in inner nodes
        self.previous: Context | None = parent.previous if parent else None
        #: missing contexts that may define more. They may replace the terms from ``floor`` down
        self.missing: tuple[str, ...] = parent.missing if parent else ()
        self.floor: Context | None = parent.floor if parent else None
        #: whether no name has a certain meaning
        self.dead = False
        #: what keys mean, and short IRIs as terms of N-Triples, as met so far
        self.terms: dict[str, Term] = dict(_KEYWORD_TERMS)
        self.iris: dict[str, str] = {}
        #: contexts made of this one
        self.derived: dict[Any, Context] = {}
        self.definitions: dict[str, Term | None] = {}
        self._defining: set[str] = set()
        self._layers: int = parent._layers + 1 if parent else 0
        self._owners: dict[str, Context] | None = None
        self._protects: bool | None = None

    def begin(self, local: Mapping[str, Any], base_url: str) -> None:
        """Take the definitions of this layer."""
        self.local, self.base_url = local, base_url
        if self._layers % _MAX_LAYERS == 0:
            owners: dict[str, Context] = {}
            for layer in self._chain():
                for name in layer.local:
                    owners.setdefault(name, layer)
                for name, owner in (layer._owners or {}).items():
                    owners.setdefault(name, owner)
                if layer._owners is not None:
                    break
            self._owners = owners

    def _chain(self) -> Iterator[Context]:
        """Yield this layer and those below it, down to the floor."""
        layer: Context | None = self
        while layer is not None and layer is not self.floor:
            yield layer
            layer = layer.parent

    @property
    def protects(self) -> bool:
        """Whether any term is protected."""
        if self._protects is None:
            self._protects = (
                (self.parent is not None and self.parent.protects)
                or self.local.get("@protected") is True
                or any(isinstance(d, dict) and d.get("@protected") for d in self.local.values())
            )
        return self._protects

    def term(self, key: str) -> Term:
        """Return what a key of a node means."""
        term = self.terms.get(key)
        if term is None:
            term = self._meaning(key)
            if len(self.terms) > _MAX_REMEMBERED:
                self.terms.clear()
                self.terms.update(_KEYWORD_TERMS)
            if len(key) <= _MAX_NAME:
                self.terms[key] = term
        return term

    def _meaning(self, key: str) -> Term:
        term = self.defined(key)
        if term is not None:
            return term
        try:
            iri = self.expand(key, vocab=True, relative=False)
        except Doubt as doubt:
            return Term(fault=str(doubt))
        if iri is None or ":" not in iri:
            return Term()
        return Term(iri).complete(self.growth)

    def defined(self, name: str) -> Term | None:
        """Return what the definition of ``name`` says, if there is one."""
        for layer in self._chain():
            if layer._owners is not None:
                owner = layer._owners.get(name)
                return owner.definition(name) if owner is not None else None
            if name in layer.local:
                return layer.definition(name)
        return None

    def expand(self, value: str, *, vocab: bool = False, relative: bool = True) -> str | None:
        """Expand a name or a reference to an IRI (section 5.2). Raises :class:`Doubt`."""
        if value in KEYWORDS:
            return value
        if value[:1] == "@" and _KEYWORD_FORM.match(value):
            return None
        term = self.defined(value)
        if term is not None and (vocab or term.keyword):
            if term.fault and not term.iri:
                raise Doubt(term.fault)
            return term.iri
        colon = value.find(":", 1)
        if colon > 0:
            prefix, suffix = value[:colon], value[colon + 1 :]
            if prefix == "_" or suffix[:2] == "//":
                return value
            term = self.defined(prefix)
            if term is not None and term.fault and not term.iri:
                raise Doubt(term.fault)
            if term is not None and term.prefix:
                return f"{term.iri}{suffix}"
            if term is None and self.missing and prefix not in _SCHEMES:
                raise self._doubt(value)
            if has_scheme(value):
                return value
        if vocab:
            if self.missing:
                raise self._doubt(value)
            if self.vocab_fault:
                raise Doubt(self.vocab_fault)
            if self.vocab is not None:
                return self.vocab + value
        if relative and self.base is not None:
            return self.base.resolve(value)
        return value

    def _doubt(self, name: str) -> Doubt:
        return Doubt(f"{name[:200]!r} may be defined by {self.missing[0]}, which is not at hand")

    def definition(self, name: str) -> Term | None:
        """Return what this layer defines ``name`` to be (section 4.2)."""
        if name in self.definitions:
            return self.definitions[name]
        if name in self._defining:
            return Term(fault=f"the term {name[:200]!r} is defined by itself")
        self._defining.add(name)
        try:
            term = self._define(name, self.local[name])
            if self.parent is not None and self.parent.protects and not self.overrides:
                before = self.parent.defined(name)
                if before is not None and before.protected:
                    if term is None or not term.says_the_same_as(before):
                        raise _Wrong("it is protected")
                    term.protected = True
        except (_Wrong, Doubt) as wrong:
            term = Term(fault=f"the term {name[:200]!r} is not defined: {wrong}")
        except RecursionError:
            term = Term(fault=f"the term {name[:200]!r} is defined by too many others")
        self._defining.discard(name)
        self.definitions[name] = term
        return term

    def _define(self, name: str, value: Any) -> Term | None:
        if name in _CONTEXT_KEYS:
            return None
        if name in KEYWORDS and not (name == "@type" and _may_contain(value)):
            raise _Wrong("keywords cannot be redefined")
        if name not in KEYWORDS and _KEYWORD_FORM.match(name):
            return None
        if not name:
            raise _Wrong("its name is empty")
        simple = isinstance(value, str)
        definition = value if isinstance(value, dict) else {"@id": value}
        if not (simple or value is None or isinstance(value, dict)):
            raise _Wrong("its definition is neither a string nor an object")
        if unknown := definition.keys() - _DEFINITION_KEYS:
            raise _Wrong(f"a definition has no {sorted(unknown)[0][:80]!r}")
        term = Term()
        term.base_url = self.base_url
        term.protected = _boolean(definition, "@protected", self.local.get("@protected") is True)
        self._set_type(term, definition)
        if "@reverse" in definition:
            if not self._set_reverse(term, definition):
                return None
        elif not self._set_iri(term, name, definition, simple=simple):
            return None
        _set_container(term, definition)
        self._set_rest(term, name, definition)
        return term.complete(self.growth)

    def _set_type(self, term: Term, definition: dict[str, Any]) -> None:
        if "@type" not in definition:
            return
        kind = definition["@type"]
        kind = self.expand(kind, vocab=True, relative=False) if isinstance(kind, str) else None
        if kind is None or (kind not in ("@id", "@json", "@none", "@vocab") and not is_iri(kind)):
            raise _Wrong("its @type is no IRI")
        term.type = kind

    def _set_reverse(self, term: Term, definition: dict[str, Any]) -> bool:
        name = definition["@reverse"]
        if definition.keys() & {"@id", "@nest"} or not isinstance(name, str):
            raise _Wrong("its @reverse is no string, or it has @id or @nest as well")
        if _KEYWORD_FORM.match(name):
            return False
        term.iri, term.reverse = self.expand(name, vocab=True, relative=False), True
        if term.iri is None or ":" not in term.iri:
            raise _Wrong("its @reverse is no IRI")
        if definition.get("@container") not in (None, "@set", "@index"):
            raise _Wrong("a reverse property has no such @container")
        return True

    def _set_iri(self, term: Term, name: str, definition: dict[str, Any], *, simple: bool) -> bool:
        """Find the IRI; return False if the term shall be ignored."""
        iri = definition.get("@id", name)
        compound = ":" in name[1:-1] or "/" in name
        if iri is None:
            return True
        if not isinstance(iri, str):
            raise _Wrong("its @id is no string")
        if iri != name:
            if iri not in KEYWORDS and _KEYWORD_FORM.match(iri):
                return False
            term.iri = self.expand(iri, vocab=True, relative=False)
            if term.iri == "@context":
                raise _Wrong("@context has no other name")
            if term.iri in KEYWORDS:
                term.keyword = term.iri
            elif term.iri is None or ":" not in term.iri:
                raise _Wrong("its @id is no IRI")
            if compound and self._as_written(name) != term.iri:
                raise _Wrong("its name is an IRI that means something else")
            if simple and not compound and not term.keyword:
                term.prefix = term.iri[-1] in _GEN_DELIMS or term.iri.startswith("_:")
        elif name == "@type":
            term.iri = term.keyword = name
        elif compound or ":" in name[1:]:
            term.iri = self._as_written(name)
            if ":" not in term.iri:
                raise _Wrong("its name is no IRI")
        elif self.vocab_fault:
            raise _Wrong(self.vocab_fault)
        elif self.vocab is None:
            raise _Wrong("it has no IRI")
        else:
            term.iri = self.vocab + name
        return True

    def _as_written(self, name: str) -> str:
        """Expand a name that is an IRI, compact or relative, leaving its own definition aside."""
        prefix, colon, suffix = name.partition(":")
        if not colon:
            return (self.vocab or "") + name
        if prefix != "_" and suffix[:2] != "//":
            other = self.defined(prefix)
            if other is not None and other.fault:
                raise _Wrong(other.fault)
            if other is not None and other.iri:
                return other.iri + suffix
        return name

    def _set_rest(self, term: Term, name: str, definition: dict[str, Any]) -> None:
        if "@index" in definition:
            index = definition["@index"]
            iri = self.expand(index, vocab=True, relative=False) if isinstance(index, str) else None
            if "@index" not in term.container or iri is None or ":" not in iri:
                raise _Wrong("its @index is no IRI, or it has no index")
            term.index = index
        if "@context" in definition:
            term.context, term.has_context = definition["@context"], True
        if "@language" in definition and "@type" not in definition:
            language = definition["@language"]
            tag, mended = language_tag(language) if isinstance(language, str) else ("", False)
            if language is not None and not tag:
                raise _Wrong("its @language is no language tag")
            term.language = tag or None
            if mended:
                term.mended = f"no language tag: {language[:80]!r}"
        if definition.get("@direction") not in (None, "ltr", "rtl"):
            raise _Wrong("its @direction is neither ltr nor rtl")
        nest = definition.get("@nest", "@nest")
        if not isinstance(nest, str) or (nest in KEYWORDS and nest != "@nest"):
            raise _Wrong("its @nest is no name")
        if "@prefix" in definition:
            term.prefix = _boolean(definition, "@prefix", False)
            if ":" in name or "/" in name or (term.prefix and term.keyword):
                raise _Wrong("it cannot be a prefix")


def _may_contain(value: Any) -> bool:
    """Whether a definition says of ``@type`` what it may say."""
    return (
        isinstance(value, dict)
        and bool(value)
        and value.keys() <= {"@container", "@protected"}
        and value.get("@container", "@set") == "@set"
    )


def _boolean(definition: dict[str, Any], key: str, default: bool) -> bool:
    value = definition.get(key, default)
    if not isinstance(value, bool):
        raise _Wrong(f"its {key} is neither true nor false")
    return value


def _set_container(term: Term, definition: dict[str, Any]) -> None:
    container = definition.get("@container")
    if container is None:
        return
    names = container if isinstance(container, list) else [container]
    if not all(isinstance(name, str) and name in _CONTAINERS for name in names):
        raise _Wrong("its @container is unknown")
    found = frozenset(names)
    inner = found - {"@set"}
    if (len(inner) > 1 and inner not in _GRAPH_CONTAINERS) or found == {"@list", "@set"}:
        raise _Wrong("its @container is no combination that exists")
    if "@type" in found:
        term.type = term.type or "@id"
        if term.type not in ("@id", "@vocab"):
            raise _Wrong("a map of types needs @id or @vocab as @type")
    if term.keyword == "@type" and inner:
        raise _Wrong("keywords cannot be redefined")
    term.container = found


class _Part(NamedTuple):
    """A context object, ``None``, or an unset value where one is missing."""

    value: Any
    url: str
    remote: bool


class Contexts:
    """The contexts of one document."""

    def __init__(self, base: str, fetched: Mapping[str, bytes], limit: int) -> None:
        """Use ``fetched`` contexts; the contexts of the document have ``limit`` bytes at most."""
        self._base = Base(base)
        self._fetched = fetched
        self._growth = Growth(limit)
        self._loaded: dict[str, Any] = {}
        self._count = 0
        #: URLs of missing contexts
        self.needed: dict[str, None] = {}
        #: what is wrong with contexts since this was emptied, and whether it was mended
        self.faults: list[tuple[str, bool]] = []
        #: whether every default language is a language
        self.knows_languages = True
        self.initial = Context(self._base, self._growth)

    def process(
        self,
        active: Context,
        local: Any,
        base_url: str = "",
        *,
        overrides: bool = False,
        propagates: bool = True,
    ) -> Context:
        """Return the context that ``local`` makes of ``active`` (section 4.1).

        Raises :class:`LimitReached`.
        """
        key: Any = (
            overrides,
            propagates,
            base_url,
            local if isinstance(local, str) else repr(local),
        )
        found = active.derived.get(key)
        if found is None:
            found = self._process(active, local, base_url or self._base.iri, overrides, propagates)
            if len(active.derived) > 1000:
                active.derived.clear()
            if len(key[3]) < 10_000:
                active.derived[key] = found
        return found

    def scoped(self, active: Context, term: Term, *, overrides: bool, propagates: bool) -> Context:
        """Return the context of a term's values, or of the nodes of a type."""
        key = (term, overrides, propagates)
        found = active.derived.get(key)
        if found is None:
            found = self._process(active, term.context, term.base_url, overrides, propagates)
            if len(active.derived) > 1000:
                active.derived.clear()
            active.derived[key] = found
        return found

    def _process(
        self,
        active: Context,
        local: Any,
        base_url: str,
        overrides: bool,
        propagates: bool,
    ) -> Context:
        if isinstance(local, dict) and "@propagate" in local:
            if isinstance(local["@propagate"], bool):
                propagates = local["@propagate"]
            else:
                self.faults.append(("@propagate is neither true nor false", True))
        parts: list[_Part] = []
        self._collect(local, base_url, (), parts)
        nulls = [number for number, part in enumerate(parts) if part.value is None]
        missing = tuple(part.url for part in parts if part.value is _UNSET)
        result = active
        if nulls:
            before, parts = parts[: nulls[-1]], parts[nulls[-1] + 1 :]
            missing = tuple(part.url for part in parts if part.value is _UNSET)
            if not overrides and (
                active.protects
                or any(isinstance(p.value, dict) and p.value.get("@protected") for p in before)
            ):
                self.faults.append(("a context with protected terms cannot be removed", False))
                return self._dead(active)
            result = self.initial
        if missing and len(missing) == len(parts):
            return self._dead(active)
        if missing or nulls or not propagates:
            result = Context(result.base, self._growth, result)
            if missing:
                result.floor, result.missing = result.parent, missing
                result.vocab_fault = (
                    f"@vocab may be that of {missing[0][:200]}, which is not at hand"
                )
            if not propagates and result.previous is None:
                result.previous = active
            result.begin({}, base_url)
        for part in parts:
            if part.value is not _UNSET:
                result = self._layer(result, part, overrides=overrides)
        return result

    def doubtful(self, active: Context, what: str) -> Context:
        """Return a context in which ``what`` may change every meaning."""
        result = Context(active.base, self._growth, active)
        result.floor, result.missing = active, (what,)
        result.begin({}, "")
        return result

    def _dead(self, active: Context) -> Context:
        dead = Context(active.base, self._growth, active)
        dead.begin({}, "")
        dead.dead = True
        return dead

    def _collect(
        self, local: Any, base_url: str, chain: tuple[str, ...], parts: list[_Part]
    ) -> None:
        """Add the parts of a context to ``parts``: nulls, objects, and those that are missing."""
        for item in local if isinstance(local, list) else (local,):
            self._count += 1
            if self._count > _MAX_CONTEXTS:
                raise LimitReached(f"more than {_MAX_CONTEXTS} contexts")
            if item is None:
                parts.append(_Part(None, base_url, remote=bool(chain)))
            elif isinstance(item, str):
                url, loaded = self._load(item, base_url, chain)
                if loaded is _UNSET:
                    parts.append(_Part(_UNSET, url, remote=True))
                else:
                    self._collect(loaded, url, (*chain, url), parts)
            elif isinstance(item, dict):
                if "@import" in item:
                    item = self._with_import(item, base_url, chain, parts)
                parts.append(_Part(item, base_url, remote=bool(chain)))
            else:
                self.faults.append(("a context is neither null nor a string nor an object", False))
                parts.append(_Part(_UNSET, "a context", remote=True))

    def _with_import(
        self,
        local: dict[str, Any],
        base_url: str,
        chain: tuple[str, ...],
        parts: list[_Part],
    ) -> dict[str, Any]:
        """Return a context with what it imports."""
        url, loaded = local["@import"], _UNSET
        if isinstance(url, str):
            url, loaded = self._load(url, base_url, chain)
        if isinstance(loaded, dict) and "@import" not in loaded:
            return {**loaded, **{key: v for key, v in local.items() if key != "@import"}}
        if loaded is not _UNSET or not isinstance(url, str):
            self.faults.append((f"the context {str(url)[:200]} cannot be imported", False))
        parts.append(_Part(_UNSET, str(url)[:200], remote=True))
        return {key: value for key, value in local.items() if key != "@import"}

    def _load(self, url: str, base_url: str, chain: tuple[str, ...]) -> tuple[str, Any]:
        """Return the URL and the value of a context; the value is unset if it is missing."""
        written, url = url, Base(base_url).resolve(url)
        if len(chain) > _MAX_CHAIN or url in chain:
            self.faults.append((f"the context {url[:200]} includes itself", False))
            return url, _UNSET
        if url not in self._loaded:
            self._loaded[url] = self._loaded_from(url, written)
        return url, self._loaded[url]

    def _loaded_from(self, url: str, written: str) -> Any:
        content = self._fetched.get(url)
        if content is None:
            content = self._fetched.get(url.partition("#")[0])
        if content is None:
            table = _local_contexts()
            name = local_name(written)
            local = table.get(name if name in table else local_name(url), _UNSET)
            if local is _UNSET:
                self.needed.setdefault(url)
                self.faults.append((f"the context {url[:200]} is not at hand", False))
            return local
        self._growth.add(len(content))
        document = _parsed(content) if len(content) <= _MAX_KEPT else _parse(content)
        if not isinstance(document, dict) or isinstance(document, CutObject):
            self.faults.append((f"the context {url[:200]} is no JSON object", False))
            return _UNSET
        if "@context" not in document:
            self.faults.append((f"the document {url[:200]} holds no context", False))
            return _UNSET
        return document["@context"]

    def _layer(self, active: Context, part: _Part, *, overrides: bool) -> Context:
        """Put the definitions of an object upon a context."""
        local: dict[str, Any] = part.value
        context = Context(active.base, self._growth, active)
        context.overrides = overrides
        context.begin(local, part.url)
        if "@version" in local and (local["@version"] != 1.1 or local["@version"] is True):
            self.faults.append((f"@version is not 1.1 but {local['@version']!r:.80}", True))
        if not isinstance(local.get("@protected", False), bool):
            self.faults.append(("@protected is neither true nor false", False))
        if "@base" in local and not part.remote:
            context.base = self._new_base(local["@base"], active.base)
        if "@vocab" in local:
            self._set_vocab(context, local["@vocab"], active)
        if "@language" in local:
            self._set_language(context, local["@language"])
        if local.get("@direction") not in (None, "ltr", "rtl"):
            self.faults.append(("@direction is neither ltr nor rtl", True))
        if not part.remote:
            for name in local:
                term = context.definition(name)
                if term is not None and term.fault:
                    self.faults.append((term.fault, False))
                elif term is not None and isinstance(term.context, dict):
                    self.scoped(context, term, overrides=True, propagates=True)
        elif active is self.initial and id(local) in (names := _table_names()):
            context.terms, context.definitions = _known_terms(names[id(local)])
        return context

    def _new_base(self, value: Any, before: Base | None) -> Base | None:
        if value is None:
            return None
        if isinstance(value, str) and (has_scheme(value) or before is not None):
            iri = mended_iri(before.resolve(value) if before is not None else value)
            if iri is not None:
                return Base(iri)
        self.faults.append((f"@base is no IRI: {value!r:.200}", False))
        return None

    def _set_vocab(self, context: Context, value: Any, active: Context) -> None:
        context.vocab, context.vocab_fault = None, ""
        if value is None:
            return
        try:
            iri = (
                active.expand(value, vocab=True, relative=False) if isinstance(value, str) else None
            )
        except Doubt as doubt:
            context.vocab_fault = str(doubt)
        else:
            if iri is not None and ":" not in iri and context.base is not None:
                iri = context.base.resolve(iri)
            if iri is not None and ":" in iri and iri not in KEYWORDS:
                context.vocab = iri
                return
            context.vocab_fault = f"@vocab is no IRI: {value!r:.200}"
        self.faults.append((context.vocab_fault, False))

    def _set_language(self, context: Context, value: Any) -> None:
        tag, mended = language_tag(value) if isinstance(value, str) else ("", False)
        context.suffix = f"@{tag}" if tag else "" if value is None else UNKNOWN
        if value is not None and (mended or not tag):
            self.knows_languages &= bool(tag)
            self.faults.append((f"@language is no language tag: {value!r:.80}", bool(tag)))


def _parse(content: bytes) -> Any:
    text = JsonText(content.decode("utf-8-sig", "replace"), 256)
    try:  # what cannot be read of a context defines nothing
        return next((value for _, value in text.values()), None)
    except LimitReached:
        return None


_parsed = lru_cache(maxsize=16)(_parse)


@cache
def _local_contexts() -> dict[str, Any]:
    """Return the local contexts by their names."""
    text = resources.files("semcrawl.rdf").joinpath("data/contexts.json").read_bytes()
    return dict(json.loads(text))


@cache
def _table_names() -> dict[int, str]:
    return {id(value): name for name, value in _local_contexts().items()}


@cache
def _known_terms(name: str) -> tuple[dict[str, Term], dict[str, Term | None]]:
    """Return what is known of a local context's terms, to which all documents add."""
    return dict(_KEYWORD_TERMS), {}


def local_name(url: str) -> str:
    """Return the name of the local context that a URL may mean.

    >>> local_name(" http:/Schema.org ")
    'schema.org'
    """
    url = url.strip()
    found = _SCHEMA_ORG.match(url)
    if found and (not found["term"] or found["term"] in _local_contexts()["schema.org"]):
        return "schema.org"
    return url.partition("#")[0].partition("://")[2].removeprefix("www.w3.org/").rstrip("/")
