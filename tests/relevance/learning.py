"""A crawl as the strategy ``learned`` hears of it, told by hand."""

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Outcome
from semcrawl.relevance.learned import Learned, LearnedOptions
from semcrawl.web.vocabulary import Kind

HOME = Page("http://a.example/")


def links(*urls: str, **texts: str) -> list[Link]:
    """Links to these URLs in this order, all with the same texts."""
    return [Link(url, position=i, **texts) for i, url in enumerate(urls)]


def fetch(strategy, url, kind, found=(), parent=None, gain=None):
    """Tell the strategy that ``url`` was fetched, and held the links ``found``."""
    ranked = strategy.rank(Page(url), found)
    outcome = Outcome(
        url, kind, kind is Kind.RDF, url, parent,
        new_links=tuple(r for r in ranked if r.group is not None), gain=gain,
    )  # fmt: skip
    strategy.learn(outcome)
    return ranked


def keys(strategy, urls, parent="http://a.example/"):
    """Keys of links found on ``parent``, by URL."""
    return {r.link.url: r.key for r in strategy.rank(Page(parent), links(*urls))}


def run(seed):
    """The new keys that a strategy gave after each page of a small crawl."""
    strategy = Learned(LearnedOptions(seed=seed))
    heard = []
    for n in range(30):
        found = links(*(f"http://a.example/{n}/{i}/{'x' * i}.html" for i in range(6)))
        fetch(strategy, f"http://a.example/{n}", Kind.HTML, found)
        heard.append(dict(strategy.rekeyed()))
    return heard
