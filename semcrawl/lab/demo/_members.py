"""members: a directory of people, whose FOAF files have the forms found on the Web."""

from __future__ import annotations

from dataclasses import dataclass

from pyoxigraph import RdfFormat

from semcrawl.lab.demo.model import (
    Host,
    Prose,
    Statement,
    alternate,
    link,
    listing,
    paragraphs,
    slug,
)

HOST = "members.demo.example"
MEMBERS = 48
#: members that no page lists: only their friends' FOAF files lead to theirs
UNLISTED = 6
PER_PAGE = 12


@dataclass(frozen=True, slots=True)
class _Form:
    """How a member publishes FOAF."""

    file: str
    syntax: RdfFormat
    content_type: str
    #: text of the anchor that leads there; empty: a ``link`` in the head does
    anchor: str


_FORMS = (
    _Form("foaf.rdf", RdfFormat.RDF_XML, "application/rdf+xml", ""),
    _Form("foaf", RdfFormat.RDF_XML, "application/rdf+xml; charset=utf-8", "FOAF"),
    _Form("foaf.xml", RdfFormat.RDF_XML, "application/xml", "FOAF profile"),
    _Form("card.ttl", RdfFormat.TURTLE, "text/turtle", "my card"),
)


def build(prose: Prose, crawl_delay: float) -> Host:
    """Build the host."""
    host = Host(HOST, site="Member directory", crawl_delay=crawl_delay)
    names = prose.people(MEMBERS)
    listed = names[: MEMBERS - UNLISTED]
    for number, name in enumerate(names):
        friends = [names[(number * 7 + step) % MEMBERS] for step in (3, 11)]
        _foaf(host, prose, number, name, [f for f in dict.fromkeys(friends) if f != name], names)
        if name in listed:
            _home(host, prose, number, name)
    _index(host, prose, listed)
    return host


def _form(number: int) -> _Form:
    return _FORMS[number % len(_FORMS)]


def _document(host: Host, number: int, name: str) -> str:
    return host.url(f"/members/{slug(name)}/{_form(number).file}")


def _home(host: Host, prose: Prose, number: int, name: str) -> None:
    form = _form(number)
    head = "" if form.anchor else alternate(form.file, form.content_type, "FOAF")
    items = [link("photo.jpg", "Photo"), link("/", "All members")]
    if form.anchor:
        items.insert(0, link(form.file, form.anchor))
    if number % 11 == 5:
        host.dead(f"/members/{slug(name)}/cv.html")
        items.append(link("cv.html", "Curriculum vitae"))
    host.html(
        f"/members/{slug(name)}/",
        name,
        paragraphs([prose.paragraph(), prose.sentence()]) + listing(items),
        head=head,
    )


def _foaf(
    host: Host, prose: Prose, number: int, name: str, friends: list[str], names: list[str]
) -> None:
    form = _form(number)
    path = f"/members/{slug(name)}/{form.file}"
    me = f"{host.url(path)}#me"
    statements: list[Statement] = [
        (me, "rdf:type", "foaf:Person"),
        (me, "foaf:name", name),
        (me, "foaf:nick", name.split()[0].lower()),
        (me, "sfs:memberSince", prose.number(1978, 2024)),
        (me, "rdfs:comment", prose.sentence()),
        (me, "sfs:livesNear", "_:home"),
        ("_:home", "rdfs:label", prose.place()),
    ]
    # every unlisted member is the friend of at least one listed member
    first_unlisted = MEMBERS - UNLISTED
    if number < UNLISTED:
        friends = [*friends, names[first_unlisted + number]]
    for friend in dict.fromkeys(friends):
        document = _document(host, names.index(friend), friend)
        statements += [
            (me, "foaf:knows", f"{document}#me"),
            (f"{document}#me", "rdfs:seeAlso", document),
        ]
    host.rdf(path, statements, form.syntax, content_type=form.content_type)


def _index(host: Host, prose: Prose, listed: list[str]) -> None:
    ordered = sorted(listed, key=lambda name: name.split()[-1])
    pages = [ordered[start : start + PER_PAGE] for start in range(0, len(ordered), PER_PAGE)]
    for number, some in enumerate(pages, 1):
        others = [link("/" if n == 1 else f"/?page={n}", str(n)) for n in range(1, len(pages) + 1)]
        host.html(
            "/" if number == 1 else f"/?page={number}",
            "Members" if number == 1 else f"Members, page {number}",
            paragraphs([prose.sentence()])
            + listing(link(f"/members/{slug(name)}/", name) for name in some)
            + f"<p>Page {' '.join(others)} {link('/?sort=name', 'by name')}</p>",
        )
