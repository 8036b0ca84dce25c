"""Profiles the quads of a job: vocabularies, terms, languages, datatypes, links between hosts.

One pass over the lines counts them without a parser. Memory is bounded: of each kind only the most
frequent entries, up to :data:`MOST`, are kept.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from html import escape
from typing import Any

from semcrawl import __version__
from semcrawl.rdf.shortnames import namespace_of, shorten
from semcrawl.rdf.terms import RDF, XSD
from semcrawl.results.quadsource import QuadSource, Snapshot, Span
from semcrawl.results.standalone import html_text, tiles, whole_page
from semcrawl.web.hosts import netloc_of

#: entries kept per kind; above it, the rarer half is dropped
MOST = 50_000
_TYPE = f"<{RDF}type>".encode()
#: a line: predicate; first byte of the object; class; host of another IRI; language; datatype
_LINE = re.compile(
    rb"\S+ (<[^>]*>) (?=(<<|.))"
    rb"(?:(?<=" + _TYPE + rb" )(<(?!<)[^>]*>)"
    rb"|<(?!<)(?:https?://([^/?#>]*))?[^>]*>"
    rb'|"[^"\\]*(?:\\.[^"\\]*)*"(?:@([A-Za-z0-9-]+)|\^\^(<[^>]*>))?'
    rb")?.*\n"
)


@dataclass(frozen=True, slots=True)
class Use:
    """How often an entry occurs."""

    name: str  #: IRI, language tag, host or format
    documents: int
    statements: int


@dataclass(frozen=True, slots=True)
class HostLink:
    """Statements of one host's documents whose objects are IRIs of another host."""

    source: str
    target: str
    documents: int
    statements: int


@dataclass
class Profile:
    """The figures of a job; in every list the most frequent come first."""

    documents: int = 0  #: RDF documents
    pages: int = 0  #: pages with embedded data
    statements: int = 0
    bytes: int = 0  #: of N-Quads
    #: statements by kind of object: ``IRI``, ``literal``, ``blank node``, ``triple``
    objects: dict[str, int] = field(default_factory=dict)
    #: whether rare entries were dropped
    is_cut: bool = False
    hosts: list[Use] = field(default_factory=list)
    formats: list[Use] = field(default_factory=list)
    vocabularies: list[Use] = field(default_factory=list)
    classes: list[Use] = field(default_factory=list)
    properties: list[Use] = field(default_factory=list)
    languages: list[Use] = field(default_factory=list)
    datatypes: list[Use] = field(default_factory=list)
    links: list[HostLink] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the profile as ``profile --json`` prints it."""
        found = asdict(self)
        for name in ("vocabularies", "classes", "properties", "datatypes"):
            for use in found[name]:
                use["short"] = shorten(use["name"])
        return found


def profile_of(sources: Sequence[QuadSource], most: int = MOST) -> Profile:
    """Return the profile of the sources. Raises ``StoreError``."""
    builder = _ProfileBuilder(most)
    for number, source in enumerate(sources):
        with source.snapshot() as snapshot:
            for span in snapshot.spans():
                builder.add(snapshot, span, is_page=number > 0)
    return builder.profile()


class _Tally:
    """Counts documents and statements of the most frequent keys."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._statements: Counter[Any] = Counter()
        self._documents: Counter[Any] = Counter()
        self.is_cut = False

    def add(self, counts: Counter[Any]) -> None:
        """Add the counts of a document."""
        self._statements.update(counts)
        self._documents.update(counts.keys())
        if len(self._statements) > self._most:
            self.is_cut = True
            kept = self._statements.most_common(self._most // 2)
            self._statements = Counter(dict(kept))
            self._documents = Counter({key: self._documents[key] for key, _ in kept})

    def ranked(self) -> Iterable[tuple[Any, int, int]]:
        """Return keys with documents and statements, most statements first."""
        pairs = sorted(self._statements.items(), key=lambda pair: (-pair[1], pair[0]))
        return ((key, self._documents[key], count) for key, count in pairs)

    def uses(self) -> list[Use]:
        """Return the counts with the keys as names."""
        return [Use(str(key), *figures) for key, *figures in self.ranked()]


_KINDS = ("hosts", "formats", "vocabularies", "classes", "properties", "languages", "datatypes")
_OBJECTS = {b"<": "IRI", b'"': "literal", b"_": "blank node", b"<<": "triple"}


class _ProfileBuilder:
    """Builds a profile."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._profile = Profile()
        self._tallies = {name: _Tally(most) for name in (*_KINDS, "links")}
        self._objects: Counter[str] = Counter()

    def add(self, snapshot: Snapshot, span: Span, *, is_page: bool) -> None:
        """Count a document."""
        host = netloc_of(span.url)
        counts: dict[str, Counter[Any]] = {name: Counter() for name in self._tallies}
        statements = 0
        for lines in snapshot.lines(span):
            # the loop handles each distinct combination once
            for match, count in Counter(_LINE.findall(lines)).items():
                statements += count
                self._count(counts, match, count, host)
            if any(len(each) > self._most for each in counts.values()):
                self._merge(counts)  # the parts of so large a document count as documents
        counts["hosts"][host] = counts["formats"][span.format] = statements
        self._merge(counts)
        profile = self._profile
        profile.pages += is_page
        profile.documents += not is_page
        profile.statements += statements
        profile.bytes += span.length

    def _count(
        self, counts: dict[str, Counter[Any]], match: tuple[bytes, ...], count: int, host: str
    ) -> None:
        predicate, first, kind, target, language, datatype = match
        counts["properties"][_iri(predicate)] += count
        counts["vocabularies"][_namespace(predicate)] += count
        self._objects[_OBJECTS[first]] += count
        if kind:
            counts["classes"][_iri(kind)] += count
            if (namespace := _namespace(kind)) != _namespace(predicate):
                counts["vocabularies"][namespace] += count
        elif target:
            if (other := target.decode("utf-8", "replace").lower()) != host:
                counts["links"][host, other] += count
        elif language:
            counts["languages"][language.decode().lower()] += count
            counts["datatypes"][f"{RDF}langString"] += count
        elif first == b'"':
            counts["datatypes"][_iri(datatype) if datatype else f"{XSD}string"] += count

    def _merge(self, counts: dict[str, Counter[Any]]) -> None:
        for name, each in counts.items():
            self._tallies[name].add(each)
            each.clear()

    def profile(self) -> Profile:
        """Return the profile of all documents added."""
        profile = self._profile
        for name in _KINDS:
            setattr(profile, name, self._tallies[name].uses())
        profile.links = [
            HostLink(source, target, *figures)
            for (source, target), *figures in self._tallies["links"].ranked()
        ]
        profile.objects = dict(self._objects.most_common())
        profile.is_cut = any(tally.is_cut for tally in self._tallies.values())
        return profile


@lru_cache(maxsize=10_000)
def _iri(term: bytes) -> str:
    return term[1:-1].decode("utf-8", "replace")


@lru_cache(maxsize=10_000)
def _namespace(term: bytes) -> str:
    return namespace_of(_iri(term))


_WIDTH, _LEFT, _RIGHT, _NODE = 800, 250, 550, 10
#: height per flow, of all flows at most, of the gap between two names, of the thinnest ribbon
_TALL_EACH, _TALL, _GAP, _THIN = 30, 260, 22, 1.5
_COLOURS = 10
_LONGEST = 30

#: rows of a table that show unfolded, and rows at most
_FIRST, _MOST = 12, 300
#: links in the chart
_RIBBONS = 18


def profile_page(profile: Profile, name: str) -> str:
    """Return the page of the job called ``name``."""
    return whole_page(f"{name}: profile", _body(profile, name))


def _body(profile: Profile, name: str) -> str:
    parts = [
        f"<h1>What {html_text(name)} holds</h1>",
        _tiles(profile),
        _objects(profile),
        '<div class="pair">',
        _section("Vocabularies", "vocabulary", profile.vocabularies, 0),
        _section("Hosts", "host", profile.hosts, 8),
        _section("Classes", "class", profile.classes, 2),
        _section("Properties", "property", profile.properties, 5),
        _section("Languages", "language", profile.languages, 3),
        _section("Datatypes", "datatype", profile.datatypes, 6),
        _section("Formats", "format", profile.formats, 1),
        "</div>",
        _links(profile),
        f"<footer>Made by semcrawl {escape(__version__)}. Statements of a vocabulary are those "
        "with one of its properties or classes. A statement links two hosts when its object is an "
        "address on another host than its document’s; classes do not count."
        + (" Rare terms and links are left out." if profile.is_cut else "")
        + "</footer>",
    ]
    return "\n".join(part for part in parts if part)


def _tiles(profile: Profile) -> str:
    figures = {
        "statements": profile.statements,
        "RDF documents": profile.documents,
        "pages with data": profile.pages,
        "hosts": len(profile.hosts),
        "vocabularies": len(profile.vocabularies),
        "classes": len(profile.classes),
        "properties": len(profile.properties),
    }
    return tiles(figures)


def _objects(profile: Profile) -> str:
    """Return a bar of the kinds of objects."""
    total = sum(profile.objects.values())
    bars, keys, at = [], [], 0.0
    for number, (name, count) in enumerate(profile.objects.items()):
        width = 100 * count / total
        look = f"s{number}"
        label = f"{html_text(name)}s {_percent(count, total)}"
        bars.append(
            f'<rect class="{look}" x="{at:.2f}" width="{width:.2f}" height="4">'
            f"<title>{label}</title></rect>"
        )
        keys.append(
            f'<li><svg class="{look}" viewBox="0 0 1 1" aria-hidden="true">'
            f'<rect width="1" height="1"/></svg>{label}</li>'
        )
        at += width
    if not bars:
        return ""
    return (
        '<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" role="img">'
        f"<title>Objects of statements</title>{''.join(bars)}</svg>"
        f'<ul class="key"><li>Objects:</li>{"".join(keys)}</ul>'
    )


def _section(title: str, name: str, uses: Sequence[Use], colour: int) -> str:
    """Return a table with bars in its rows; the end of a long one is folded."""
    if not uses:
        return ""
    most = max(use.statements for use in uses) or 1
    rows = [_row(use, most, colour) for use in uses[:_MOST]]
    note = f'<p class="note">The first {_MOST} of {len(uses):,}.</p>' if len(uses) > _MOST else ""
    return (
        f"<section><h2>{title}</h2>{_table(name, rows[:_FIRST])}"
        + _folded(f"{len(rows) - _FIRST:,} more", _table(name, rows[_FIRST:]) + note, rows)
        + "</section>"
    )


def _folded(summary: str, content: str, rows: Sequence[str]) -> str:
    if len(rows) <= _FIRST:
        return ""
    return f"<details><summary>{summary}</summary>{content}</details>"


def _table(name: str, rows: Sequence[str], *names: str) -> str:
    heads = "".join(f"<th>{each}</th>" for each in (name, *names, "documents", "statements"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row(use: Use, most: int, colour: int) -> str:
    width = max(100 * use.statements / most, 0.5)
    return (
        f'<tr><td title="{html_text(use.name)}">{html_text(shorten(use.name)) or "–"}'
        f'<svg class="s{colour}" viewBox="0 0 100 4" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect width="{width:.2f}" height="4"/></svg></td>'
        f"<td>{use.documents:,}</td><td>{use.statements:,}</td></tr>"
    )


def _links(profile: Profile) -> str:
    if not profile.links:
        return ""
    rows = [
        f"<tr><td>{html_text(link.source)} → {html_text(link.target)}</td>"
        f"<td>{link.documents:,}</td><td>{link.statements:,}</td></tr>"
        for link in profile.links[:_MOST]
    ]
    shown = profile.links[:_RIBBONS]
    chart = flow_chart([(link.source, link.target, link.statements) for link in shown])
    those = f"; the {len(shown)} most frequent" if len(shown) < len(profile.links) else ""
    return (
        '<section><h2>Links between hosts</h2><p class="note">From the hosts of documents (left) '
        f'to the hosts of their objects (right){those}.</p><div class="scroll">{chart}</div>'
        f"{_table('link', rows[:_FIRST])}"
        + _folded(f"{len(rows) - _FIRST:,} more", _table("link", rows[_FIRST:]), rows)
        + "</section>"
    )


def _percent(count: int, total: int) -> str:
    share = 100 * count / total
    return "under 1 %" if 0 < share < 1 else f"{share:.0f} %"


def flow_chart(flows: Sequence[tuple[str, str, int]]) -> str:
    """Draw flows (source, target, amount); each column lists the largest names first."""
    total = sum(amount for _, _, amount in flows) or 1
    all_tall = min(_TALL_EACH * len(flows), _TALL)
    tall = {flow: max(all_tall * flow[2] / total, _THIN) for flow in flows}
    sources: defaultdict[str, float] = defaultdict(float)
    targets: defaultdict[str, float] = defaultdict(float)
    for flow in flows:
        sources[flow[0]] += tall[flow]
        targets[flow[1]] += tall[flow]
    left, left_end = _stacked(sources)
    right, right_end = _stacked(targets)
    colours = {name: number % _COLOURS for number, name in enumerate(left)}
    height = max(left_end, right_end) + 8
    parts = [
        f'<svg class="flow" viewBox="0 0 {_WIDTH} {height:.0f}" role="img">'
        "<title>Links between hosts</title>"
    ]
    at_left, at_right = dict(left), dict(right)
    order = {name: number for number, name in enumerate(right)}
    for flow in sorted(flows, key=lambda flow: order[flow[1]]):
        source, target, amount = flow
        parts.append(_ribbon(at_left[source], at_right[target], tall[flow], colours[source],
                             f"{source} → {target}: {amount:,}"))  # fmt: skip
        at_left[source] += tall[flow]
        at_right[target] += tall[flow]
    parts += [_name(name, left[name], sources[name], _LEFT, f"s{colours[name]}") for name in left]
    parts += [_name(name, right[name], targets[name], _RIGHT, "s8") for name in right]
    return "".join(parts) + "</svg>"


def _stacked(heights: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """Return the vertical position of each name, the largest first, and the end of the last."""
    places, at = {}, 12.0
    for name in sorted(heights, key=lambda name: (-heights[name], name)):
        places[name] = at
        at += max(heights[name], 1) + _GAP
    return places, at


def _ribbon(start: float, end: float, height: float, colour: int, title: str) -> str:
    a, b = _LEFT + _NODE, _RIGHT
    middle = (a + b) / 2
    return (
        f'<path class="s{colour}" d="M{a} {start:.1f}C{middle} {start:.1f} {middle} {end:.1f} '
        f"{b} {end:.1f}V{end + height:.1f}C{middle} {end + height:.1f} {middle} "
        f'{start + height:.1f} {a} {start + height:.1f}Z"><title>{html_text(title)}</title></path>'
    )


def _name(name: str, top: float, height: float, x: int, look: str) -> str:
    is_left = x == _LEFT
    anchor, at = ("end", x - 8) if is_left else ("start", x + _NODE + 8)
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return (
        f'<rect class="{look}" x="{x}" y="{top:.1f}" width="{_NODE}" height="{height:.1f}"/>'
        f'<text x="{at}" y="{top + height / 2 + 4.5:.1f}" text-anchor="{anchor}">{html_text(short)}'
        f"<title>{html_text(name)}</title></text>"
    )
