"""Writes changes as a feed that others can follow.

It is a Linked Data Event Stream (LDES) whose members are activities of ActivityStreams 2.0:
``as:Create``, ``as:Update`` and ``as:Delete`` of a document. A change has the same name and content
in every feed of a crawl, as those who follow it read no member twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from semcrawl.errors import StoreError
from semcrawl.metadata.description import iri_node, time_literal
from semcrawl.rdf.terms import RDF, XSD
from semcrawl.results.changes import Change
from semcrawl.results.differences import ADDED, DELETED
from semcrawl.terminal import amount

_AS = "https://www.w3.org/ns/activitystreams#"
_LDES = "https://w3id.org/ldes#"
_TREE = "https://w3id.org/tree#"
PREFIXES = {"as": _AS, "ldes": _LDES, "tree": _TREE, "xsd": XSD}

_TYPES = {"new": "Create", "changed": "Update", "gone": "Delete"}
#: most bytes of the statements that a member carries of each kind
_MOST_BYTES = 1 << 20


def feed_of(
    changes: Iterable[Change], since: float, base: str, damaged: list[str]
) -> Iterator[Triple]:
    """Yield the feed of the changes after a moment; ``base`` is its address.

    Changes whose statements are damaged are left out; their documents are added to ``damaged``.
    """
    page, stream, kept = iri_node(base), iri_node(f"{base}#changes"), BlankNode()
    kind = NamedNode(RDF + "type")
    yield Triple(stream, kind, NamedNode(_LDES + "EventStream"))
    yield Triple(stream, NamedNode(_LDES + "timestampPath"), NamedNode(_AS + "published"))
    yield Triple(stream, NamedNode(_LDES + "versionOfPath"), NamedNode(_AS + "object"))
    for name in _TYPES.values():
        yield Triple(stream, NamedNode(f"{_LDES}version{name}Path"), kind)
        yield Triple(stream, NamedNode(f"{_LDES}version{name}Object"), NamedNode(_AS + name))
    yield Triple(stream, NamedNode(_TREE + "view"), page)
    yield Triple(page, kind, NamedNode(_TREE + "Node"))
    yield Triple(page, NamedNode(_LDES + "retentionPolicy"), kept)
    yield Triple(kept, kind, NamedNode(_LDES + "RetentionPolicy"))
    yield Triple(kept, NamedNode(_LDES + "startingFrom"), time_literal(since))
    for change in changes:
        try:
            yield from _member(change, stream, base)
        except StoreError:
            damaged.append(change.url)


def _member(change: Change, stream: NamedNode, base: str) -> Iterator[Triple]:
    texts = {ADDED: b"", DELETED: b""}
    counts = dict.fromkeys(texts, 0)
    if change.before.is_kept:
        for mark, line in change.rows():
            counts[mark] += 1
            if len(texts[mark]) <= _MOST_BYTES:
                texts[mark] += line
        if not any(counts.values()):
            return  # only the labels of blank nodes differ
    member = iri_node(f"{base}#change-{change.key[:16]}-{change.at * 1000:.0f}")
    kind = NamedNode(RDF + "type")
    yield Triple(stream, NamedNode(_TREE + "member"), member)
    yield Triple(member, kind, NamedNode(_AS + _TYPES[change.kind]))
    yield Triple(member, NamedNode(_AS + "object"), iri_node(change.url))
    yield Triple(member, NamedNode(_AS + "published"), time_literal(change.at))
    if not change.before.is_kept:
        return
    added, removed = amount(counts[ADDED], "statement"), f"{counts[DELETED]:,}"
    yield Triple(member, NamedNode(_AS + "summary"), Literal(f"{added} added, {removed} removed"))
    if max(map(len, texts.values())) > _MOST_BYTES:
        return
    for mark, name in ((ADDED, "added"), (DELETED, "removed")):
        if not texts[mark]:
            continue
        part = BlankNode()
        yield Triple(member, NamedNode(_AS + "attachment"), part)
        yield Triple(part, kind, NamedNode(_AS + "Document"))
        yield Triple(part, NamedNode(_AS + "name"), Literal(name))
        yield Triple(part, NamedNode(_AS + "mediaType"), Literal("application/n-quads"))
        content = texts[mark].decode("utf-8", "replace")
        yield Triple(part, NamedNode(_AS + "content"), Literal(content))
