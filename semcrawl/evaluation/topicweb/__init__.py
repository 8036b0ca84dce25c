"""Made webs to try topical crawlers on, after S and K (sources.md)."""

from semcrawl.evaluation.topicweb.madeweb import TopicWeb
from semcrawl.evaluation.topicweb.siteplans import WebPlan, WebSize
from semcrawl.evaluation.topicweb.studies import (
    KEYWORD_STRATEGIES,
    TOPIC_STRATEGIES,
    keyword_webs,
    topic_web,
)

__all__ = [
    "KEYWORD_STRATEGIES",
    "TOPIC_STRATEGIES",
    "TopicWeb",
    "WebPlan",
    "WebSize",
    "keyword_webs",
    "topic_web",
]
