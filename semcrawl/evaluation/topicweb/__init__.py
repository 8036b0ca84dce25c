"""Generated webs to test topical crawlers, after S and K (sources.md)."""

from semcrawl.evaluation.topicweb.literal import literal_figures
from semcrawl.evaluation.topicweb.madeweb import (
    KEYWORD_STRATEGIES,
    TOPIC_STRATEGIES,
    TopicWeb,
    keyword_webs,
    topic_web,
)
from semcrawl.evaluation.topicweb.siteplans import WebPlan, WebSize

__all__ = [
    "KEYWORD_STRATEGIES",
    "TOPIC_STRATEGIES",
    "TopicWeb",
    "WebPlan",
    "WebSize",
    "keyword_webs",
    "literal_figures",
    "topic_web",
]
