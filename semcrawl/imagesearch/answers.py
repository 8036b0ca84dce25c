"""Answers in the form of JSON, as the API and the command print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semcrawl.imagesearch.search import Answer
from semcrawl.imagesearch.shownimages import ShownImage


def found_as_dict(answer: Answer, shown: Sequence[ShownImage]) -> dict[str, Any]:
    """Return an answer with its images."""
    scores = {hit.image: hit.score for hit in answer.hits}
    return {
        "asked": answer.asked,
        "searched": answer.searched,
        "did_you_mean": answer.did_you_mean,
        "total": answer.total,
        "images": [{"score": scores[image.id], **image.as_dict()} for image in shown],
        "similar": answer.similar,
        "popular": answer.popular,
    }
