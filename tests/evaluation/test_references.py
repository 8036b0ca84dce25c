from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from semcrawl.lab.graph import LinkGraph, SiteMap, map_site
from semcrawl.lab.study import omniscient, perfect_links
from tests.evaluation.worlds import members


def greedy(site, budget):
    """The plain algorithm: look at every page again in every step."""
    parent = dict.fromkeys(site.starts)
    queue = deque(site.starts)
    while queue:
        page = queue.popleft()
        for child in site.pages.get(page, ((), ()))[0]:
            if child not in parent:
                parent[child] = page
                queue.append(child)
    fetched, had = set(), {target for target, depth in site.target_depth.items() if depth == 0}
    curve = list(range(1, len(had) + 1))
    while len(curve) < budget:
        best = None
        for page in parent:
            gain = [t for t in site.pages.get(page, ((), ()))[1] if t not in had]
            path, step = [], page
            while step is not None:
                if step not in fetched:
                    path.append(step)
                step = parent[step]
            if gain and (best is None or len(gain) / (len(path) + len(gain)) > best[0]):
                best = (len(gain) / (len(path) + len(gain)), path, gain)
        if best is None:
            break
        for page in reversed(best[1]):
            fetched.add(page)
            curve.append(len(had))
        for target in best[2]:
            had.add(target)
            curve.append(len(had))
    curve = curve[:budget]
    return curve + [curve[-1] if curve else 0] * (budget - len(curve))


@st.composite
def sites(draw):
    count = draw(st.integers(1, 9))
    names = [f"p{n}" for n in range(count)]
    targets = [f"t{n}" for n in range(6)]
    subset = st.lists(st.sampled_from(names), unique=True, max_size=4)
    some = st.lists(st.sampled_from(targets), unique=True, max_size=3)
    pages = {name: (draw(subset), draw(some)) for name in names}
    depths = {target: draw(st.integers(0, 2)) for target in targets}
    return SiteMap(("p0",), pages, {}, depths)


@given(sites(), st.integers(1, 40))
def test_the_bound_is_the_plain_greedy_crawler(site, budget):
    assert omniscient(site, budget) == greedy(site, budget)


def test_a_start_that_is_a_target_itself_is_had_by_the_bound():
    world = members()
    for starts in (("/hidden.xml",), ("/", "/hidden.xml")):
        urls = tuple(f"http://members.example{path}" for path in starts)
        two = type("Two", (type(world),), {"starts": property(lambda self, urls=urls: urls)})
        site = map_site(LinkGraph(two(world.name, "members.example", world.documents)))
        curve = omniscient(site, 40)
        assert (curve[0], curve[-1]) == (1, len(site.target_depth))


def test_perfect_links_spends_nothing_on_pages():
    site = map_site(LinkGraph(members()))
    assert perfect_links(site, 12)[:3] == [1, 2, 3]
    assert perfect_links(site, 12)[-1] == len(site.target_depth) == 10


def test_a_site_map_counts_documents_once_and_follows_redirects():
    site = map_site(LinkGraph(members()))
    assert site.depth["/members/"] == 1
    assert site.target_depth["/members/0.rdf"] == 3
    assert site.parents == 10
