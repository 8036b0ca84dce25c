"""K's two crawlers to the letter: a list, first in first out, and a check of keywords.

K (sources.md) does not say when the content of a page matches the keywords. **Reading**: when it
has all of them. That any of them is enough is measured too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence

from lxml import html

from semcrawl.evaluation.graph import LinkGraph
from semcrawl.evaluation.topicweb.madeweb import QUERIES, TopicWeb
from semcrawl.topics.segmentation import words_of


def literal_figures(
    webs: Sequence[TopicWeb], report: Callable[[int], None] = lambda requests: None
) -> dict[str, dict[str, dict[str, float]]]:
    """Crawl the web of each query of K; return query → crawler → precision and recall."""
    figures = {}
    for web, query in zip(webs, QUERIES, strict=True):
        figures[web.name] = literal_crawl(web, query)
        report(web.requests)
    return figures


def literal_crawl(web: TopicWeb, keywords: Collection[str]) -> dict[str, dict[str, float]]:
    """Crawl for the web's number of pages; return precision and recall of what each returns.

    ``traditional``: all pages that it crawled; ``focused``: those in the list of matched pages, as
    they have all keywords; ``any``: as one keyword is enough.
    """
    graph = LinkGraph(web)
    wanted = [set(words_of(keyword)) for keyword in keywords]
    to_crawl = deque(web.starts)
    known = set(to_crawl)
    lists: dict[str, list[str]] = {"traditional": [], "focused": [], "any": []}
    while to_crawl and len(lists["traditional"]) < web.requests:
        url = to_crawl.popleft()
        lists["traditional"].append(url)
        content = set(words_of(html.fromstring(web.body(url)).text_content()))
        found = [words <= content for words in wanted]
        lists["focused"] += [url] * all(found)
        lists["any"] += [url] * any(found)
        for link in graph.look(url).links:
            if link.url not in known:
                known.add(link.url)
                to_crawl.append(link.url)
    relevant = max(1, web.plan.count_topical())
    return {
        name: {
            "precision": sum(map(web.topical, urls)) / max(1, len(urls)),
            "recall": sum(map(web.topical, urls)) / relevant,
        }
        for name, urls in lists.items()
    }
