"""Builds the cloud: sixty nodes of eight kinds, hosts of contexts, and a hub that names half."""

from __future__ import annotations

from hostile.cloud import nodes as publish
from hostile.cloud.model import DEFAULT_DELAY, Cloud, Node, Resource, page

NODES = 60
#: nodes that the hub names; these name the others
NAMED = 30
#: hosts of contexts, and the contexts on each
CONTEXT_HOSTS, CONTEXTS = 4, 6
#: the slowest node: its delay in seconds, and its documents
SLOWEST, DOCUMENTS = 1.5, 20
ELSEWHERE = "elsewhere.example"


def _name(number: int) -> str:
    return f"node-{number:02}.example"


def _with_rules(node: Node, number: int) -> Node:
    """Give a node its robots.txt: one of six kinds."""
    private = (("/private/", ""),)
    kinds: list[tuple[float, str | None, tuple[tuple[str, str], ...], str]] = [
        (DEFAULT_DELAY, None, (), ""),
        (0.5, "User-agent: *\nCrawl-delay: 0.5\nDisallow: /private/\n", private, ""),
        (0.5, "User-agent: *\nRequest-rate: 2/1s\nDisallow: /private/\n", private, ""),
        (
            1.0,
            "User-agent: *\nDisallow: /\n\nUser-agent: semcrawl\nCrawl-delay: 1\n"
            "Disallow: /private/\n",
            private,
            "",
        ),
        (
            0.8,
            "User-agent: *\nCrawl-delay: 0.8\nDisallow: /private/\nDisallow: /*.secret.ttl$\n",
            (*private, ("/", ".secret.ttl")),
            "",
        ),
        (0.5, "User-agent: *\nCrawl-delay: 0.5\nDisallow: /private/\n", private, "/rules.txt"),
    ]
    node.delay, node.robots, node.forbidden, elsewhere = kinds[number % len(kinds)]
    node.robots_at = elsewhere or "/robots.txt"
    return node


def build() -> Cloud:
    """Build it; the same one each time."""
    hub = Node("hub.example")
    names = [_name(number) for number in range(NODES)]
    context_hosts = [
        Node(f"contexts-{n}.example", delay, f"User-agent: *\nCrawl-delay: {delay}\n")
        for n, delay in enumerate((0.5, 1.0, 0.4, 0.6)[:CONTEXT_HOSTS])
    ]
    contexts = [
        publish.context(host, f"/terms-{number}.jsonld")
        for number in range(CONTEXTS)
        for host in context_hosts
    ]
    all_nodes = {hub.host: hub} | {host.host: host for host in context_hosts}
    for number, name in enumerate(names):
        node = all_nodes[name] = _with_rules(Node(name), number)
        sees = [f"http://{ELSEWHERE}/id/{number}"]
        if number < NAMED:
            sees.append(f"http://{names[number + NAMED]}/")
        paths = _publish(node, number, sees, contexts)
        _add_index(node, number, paths, sees)
    slowest = all_nodes[names[1]]
    slowest.delay = SLOWEST
    slowest.robots = f"User-agent: *\nCrawl-delay: {SLOWEST}\nDisallow: /private/\n"
    more = publish.hash_vocabulary(slowest, [], DOCUMENTS)
    _add_index(slowest, 1, more, [f"http://{names[1 + NAMED]}/"])
    links = [f"http://{name}/" for name in names[:NAMED]]
    hub.resources["/"] = Resource((("text/html", page(links)),), links=frozenset(links))
    scope = frozenset({hub.host, *names})
    return Cloud(all_nodes, hub.url("/"), scope)


def _publish(node: Node, number: int, sees: list[str], contexts: list[str]) -> list[str]:
    """Publish in one of eight ways; return the paths to link to."""
    syntaxes = ("turtle", "xml", "json-ld", "nt")
    packings = publish.packings()
    own = [contexts[(number + n) % len(contexts)] for n in range(3)]
    match number % 8:
        case 0:
            return publish.hash_vocabulary(node, sees, 2)
        case 1:
            return publish.slash_303(node, sees, syntaxes[number // 8 % 4])
        case 2:
            return publish.negotiated(node, sees, syntaxes[number // 8 % 4])
        case 3:
            return [
                *publish.packed(node, packings[number // 8 % len(packings)]),
                *publish.hash_vocabulary(node, sees),
            ]
        case 4:
            return [*publish.embedded(node, own[0]), *publish.hash_vocabulary(node, sees)]
        case 5:
            at_home = publish.context(node, "/context.jsonld")
            return [
                *publish.with_contexts(node, [*own, at_home]),
                *publish.hash_vocabulary(node, sees),
            ]
        case 6:
            return [*publish.graphs(node, sees), *publish.hash_vocabulary(node, sees)]
        case _:
            return publish.moved(node, sees)


def _add_index(node: Node, number: int, paths: list[str], sees: list[str]) -> None:
    """Make the page that a node begins with: what it has, what it forbids, what is gone."""
    publish.hash_vocabulary(node, sees)
    forbidden = ["/private/secret.ttl", "/open.secret.ttl"]
    for path in forbidden:
        node.resources[path] = node.resources["/people-0"]
    links = [*paths, "/people-0", forbidden[0]]
    if node.forbids(forbidden[1]):
        links.append(forbidden[1])
    if node.robots is None:
        links.remove(forbidden[0])
    if number % 5 == 0:
        links.append("/gone.ttl")
    if number % 7 == 0:
        node.resources["/people-0"].failures = 1
    links.append(f"http://{ELSEWHERE}/page-{number}.html")
    targets = frozenset(link if "://" in link else node.url(link) for link in links)
    node.resources["/"] = Resource((("text/html", page(links)),), links=targets)
